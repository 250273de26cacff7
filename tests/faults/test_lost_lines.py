"""A line that is typed into a connection as that is lost: its command ends, whether the shell got the line or not."""

from __future__ import annotations

import os
import signal

import pytest

import muxwire
from tests.faults.test_lost_connection import lose

DEADLINE = 40
ROUNDS = 3


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash", "ksh", "busybox"])
async def test_its_command_ends(alone: muxwire.Terminals, shell: str) -> None:
    tab = await alone.create_tab(shell=shell)
    assert (await tab.execute("echo before")).output == "before\n"
    for number in range(ROUNDS):
        # The pipe to a `tmux -C` that is stopped takes the line, and nobody reads it.
        os.kill((await alone.server()).process.pid, signal.SIGSTOP)
        started = await tab.execute(f"echo {number}", async_=True)
        await lose(alone, "kill", tab, times=number + 1)
        result = await alone.command_result(started.command_id, wait=DEADLINE)
        assert not result.running
        if result.exit_code is None:  # the line, or the end mark, was lost: the echo of the line is no output
            assert "and with it the mark of its end" in result.note
            assert "eval" not in result.output
        else:
            assert (result.exit_code, result.output) == (0, f"{number}\n")
        assert (await tab.execute("echo on")).output == "on\n"
