"""What muxwire writes to a pane's terminal reaches no other one, and the mark that joins two streams is no output."""

from __future__ import annotations

import os
import re
import subprocess
from functools import partial
from tty import setraw
from typing import Any

import pytest

from muxwire.far.bootstrap import helper_script
from muxwire.host.processes import restore_line_modes, tty_modes, write_tty
from muxwire.shell.look import TtyModes
from muxwire.shell.marks import ID_RANDOM, join_mark

NONCE = "0123456789abcdef"


def there(function: str, *words: object) -> bool:
    """As the helper of another machine does it, whose tmux server this process is; whether it succeeds."""
    wanted = r"^(?:number_of|is_ours|is_its_terminal|write_tty|line_modes)\(\) \{(?: .*|\n(?:.*\n)*?)\}$"
    called = "\n".join(
        (*re.findall(wanted, helper_script(), re.MULTILINE), f"server={os.getpid()}", f'{function} "$@"')
    )
    return subprocess.run(["sh", "-c", called, "sh", *map(str, words)], check=False).returncode == 0


def written_there(tty: str, data: bytes, leader: int) -> None:
    there("write_tty", tty, "".join(f"\\0{byte:o}" for byte in data), leader)


@pytest.mark.parametrize(
    ("write", "restore"), [(write_tty, restore_line_modes), (written_there, partial(there, "line_modes"))]
)
def test_what_is_done_to_a_terminal_is_done_to_that_of_its_pane_only(write: Any, restore: Any) -> None:
    """Another terminal may have the path of one that is gone: then marks stood in the output of another instance."""
    mark, other = (join_mark(bytes(random), NONCE) for random in (range(ID_RANDOM), range(1, 1 + ID_RANDOM)))
    master, terminal = os.openpty()
    try:
        tty = os.ttyname(terminal)
        takes = ["sh", "-c", 'exec <"$1"; echo; exec sleep 1000', "sh", tty]
        with subprocess.Popen(takes, stdout=subprocess.PIPE, start_new_session=True) as leader:
            assert leader.stdout is not None
            leader.stdout.readline()
            setraw(terminal)
            write(tty, other, os.getpid())
            restore(tty, os.getpid())
            assert tty_modes(tty) == TtyModes(icanon=False, echo=False, isig=False, opost=False)
            write(tty, mark, leader.pid)
            restore(tty, leader.pid)
            assert tty_modes(tty) == TtyModes(icanon=True, echo=True, isig=True, opost=True)
            assert [there("is_ours", pid) for pid in (leader.pid, os.getpid(), 1 << 30)] == [True, False, True]
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
