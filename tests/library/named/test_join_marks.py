"""What muxwire writes to a pane's terminal reaches no other one, and the mark that joins two streams is no output."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

import pytest

from muxwire.far.bootstrap import helper_script
from muxwire.host.processes import write_tty
from muxwire.shell.marks import ID_RANDOM, join_mark

NONCE = "0123456789abcdef"


def written_there(tty: str, data: bytes, leader: int) -> None:
    """As the helper of another machine does it."""
    wanted = r"^number_of\(\) \{.*\}$|^write_tty\(\) \{\n(?:.*\n)*?\}$"
    functions = re.findall(wanted, helper_script(), re.MULTILINE)
    assert len(functions) == 2
    words = (tty, "".join(f"\\0{byte:o}" for byte in data), str(leader))
    called = "\n".join((*functions, 'write_tty "$@"'))
    subprocess.run(["sh", "-c", called, "sh", *words], check=False)


@pytest.mark.parametrize("write", [write_tty, written_there])
def test_what_is_written_reaches_the_terminal_of_its_pane_only(write: Any) -> None:
    """Another terminal may have the path of one that is gone: then marks stood in the output of another instance."""
    mark, other = (join_mark(bytes(random), NONCE) for random in (range(ID_RANDOM), range(1, 1 + ID_RANDOM)))
    master, terminal = os.openpty()
    try:
        tty = os.ttyname(terminal)
        takes = ["sh", "-c", 'exec <"$1"; echo; exec sleep 1000', "sh", tty]
        with subprocess.Popen(takes, stdout=subprocess.PIPE, start_new_session=True) as leader:
            assert leader.stdout is not None
            leader.stdout.readline()
            write(tty, other, os.getpid())
            write(tty, mark, leader.pid)
            leader.kill()
        write(tty, other, leader.pid)
        write(tty, other, 0)
        os.write(terminal, b"end")
        shown = b""
        while not shown.endswith(b"end"):
            shown += os.read(master, 4096)
        assert shown == mark + b"end"
    finally:
        os.close(master)
        os.close(terminal)
