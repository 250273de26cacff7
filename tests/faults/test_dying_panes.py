"""A pane that prints and dies at once leaves its last byte and its true status, however it died."""

from __future__ import annotations

import os
import random
import signal
from dataclasses import dataclass

import anyio
import pytest

import muxwire
from muxwire.logs.read import read_raw
from tests.library.opened import closed

# All thousand by MUXWIRE_LONG_TESTS=1; as many as CI has time for otherwise.
PANES = 1000 if os.environ.get("MUXWIRE_LONG_TESTS") else 50
AT_ONCE = 40
LINES_MAX = 20_000
DEADLINE = 300


@dataclass(frozen=True)
class Death:
    """How a pane ends after its last line: a piece of shell, and the status that it must be seen to end with."""

    last_words: str
    status: int


DEATHS = (
    Death("exit 0", 0),
    Death("exit 7", 7),
    Death("exec true", 0),
    Death("exec false", 1),
    Death("exec no-such-program-anywhere 2>/dev/null", 127),
    Death("kill -9 $$", 128 + signal.SIGKILL),
    Death("kill -TERM $$", 128 + signal.SIGTERM),
    Death("ulimit -c 0; kill -SEGV $$", 128 + signal.SIGSEGV),
    Death("trap '' HUP; (sleep 1000; echo never) & exit 3", 3),
)


def printed(lines: int) -> bytes:
    return b"".join(b"%d\r\n" % number for number in range(1, lines + 1))


async def check(terminals: muxwire.Terminals, tab: muxwire.Tab, lines: int, status: int) -> None:
    """The raw log is what the program wrote and then our mark of its end, and nothing else."""
    await closed(tab)
    assert await tab.pane.stream.log.flushed()
    mark = b"\x1b]7770;X;%s;%d\x07" % (tab.pane.session.nonce.encode(), status)
    raw = read_raw(tab.log_path, 0, tab.next_byte)
    assert raw[-200:] == (printed(lines) + mark)[-200:], (lines, status)
    assert raw == printed(lines) + mark, (lines, status)
    assert (tab.pane.session.exit_status, tab.end_reason) == (status, f"its program ended with status {status}")


@pytest.mark.timeout(DEADLINE + 30)
async def test_panes_that_print_and_die_at_once_leave_whole_logs(alone: muxwire.Terminals) -> None:
    chosen = random.Random(20261121)
    # One in ten is as long as they get, one in ten is a line or two; every death comes with all of them.
    lengths = [chosen.choice((1, 2, LINES_MAX, *chosen.choices(range(1, LINES_MAX), k=17))) for _ in range(PANES)]
    left = iter(enumerate(lengths))

    async def work() -> None:
        for number, lines in left:
            death = DEATHS[number % len(DEATHS)]
            command = ["sh", "-c", f"seq 1 {lines}; {death.last_words}"]
            await check(alone, await alone.create_tab(command=command), lines, death.status)

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)
    # Nothing is left of them, and nothing hung up the server on the way.
    server = await alone.server()
    assert (server.generation, len(await server.client.command("list-windows", "-a"))) == (1, 1)
