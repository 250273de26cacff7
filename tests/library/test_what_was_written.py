"""What rests on the order of things: whatever a program has written is here after tmux has answered so often.

A terminal's output goes through a worker of the kernel (`tty_insert_flip_string_and_push_buffer`, pty.c), so this is no
promise of anybody's. Measured: 12,800 times, with and without four programs that compute, it was here after one answer
all but twice, and after two each time. Here it is tried some hundred times.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from muxwire import Terminals
from muxwire.shell.port import caught_up
from tests.library.opened import seen, tab_for

DEADLINE = 60.0
TIMES = 300
# It writes when it is told to, and says so when write(2) has returned.
WRITES = """
import os, sys
told, says = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY)
number = 0
while os.read(told, 1):
    os.write(1, b"." * int(sys.argv[3]) + b"<%d>" % number)
    os.write(says, b"x")
    number += 1
"""


@pytest.mark.parametrize("size", [0, 3000])
async def test_what_a_program_has_written_is_here_when_tmux_has_answered(
    terminals: Terminals, tmp_path: Path, size: int
) -> None:
    for name in ("tell", "says"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "writes.py").write_text(WRITES)
    async with tab_for(DEADLINE, terminals) as tab:
        await tab.start_process(f"{sys.executable} {tmp_path}/writes.py {tmp_path}/tell {tmp_path}/says {size}")
        tell, says = os.open(tmp_path / "tell", os.O_WRONLY), os.open(tmp_path / "says", os.O_RDONLY)
        try:
            late = 0
            for number in range(TIMES):
                before = tab.next_byte
                os.write(tell, b"x")
                assert os.read(says, 1) == b"x"
                # It says no where output came meanwhile: of a long one a part may come, and the rest be on its way.
                while not await caught_up(tab.runner.port):
                    pass
                late += tab.pane.stream.ring.find(b"<%d>" % number, before) < 0
                await seen(tab, b"<%d>" % number, before)
            assert late <= TIMES // 100  # where the kernel's worker that carries it is held up
        finally:
            os.close(tell)
            os.close(says)
