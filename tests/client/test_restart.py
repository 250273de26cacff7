"""Another `tmux -C` in place of one that has ended: it gets whole lines only."""

from __future__ import annotations

import os
from contextlib import aclosing

import anyio
import pytest

from muxwire.client.transport import PIPE_BYTES, TmuxProcess

SILENT = ("sleep", "1000")
ECHO = ("cat",)


async def test_the_rest_of_a_line_does_not_go_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, woken = anyio.Event(), anyio.Event()

    async def wait_writable(_: int) -> None:
        waits.set()
        await woken.wait()  # later than the reader, which has seen the end and started the next one

    monkeypatch.setattr(anyio, "wait_writable", wait_writable)
    async with aclosing(TmuxProcess(SILENT, socket="", env=dict(os.environ), ephemeral=False)) as process:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.send, b"x" * (PIPE_BYTES + 1000))
            await waits.wait()
            await process.restart(ECHO)
            woken.set()
        await process.send(b"a line\n")
        assert await process.receive() == b"a line\n"
