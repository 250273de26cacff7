"""Ways to run a command, each in a process of its own, with an event loop, a tmux and a shell of its own.

`python -m bench.apart WAY FOLDER COMMAND TABS` reads lines of JSON: how often to run, and the pause between two runs;
it answers each with a line: the milliseconds of every run. Between two lines it does nothing else.

With `exclusive` all that belongs to a way runs before every ordinary process of the machine (SCHED_FIFO), in bursts
that are short enough for the others; no other way runs meanwhile. On a machine that does other things, ratios repeat
only so.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.contenders import (
    BARE,
    HELLO,
    McpServer,
    bare_loop,
    bare_pty,
    clean_environment,
    library,
    mcp_empty,
    mcp_execute,
    mcp_server,
    temporary_home,
)
from bench.machine import ROOT
from bench.measure import Timing, milliseconds, timing
from bench.processes import Belongings, forked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterable
    from contextlib import AbstractAsyncContextManager

    from bench.contenders import Once

# So many runs of one way on end: a burst of 100 is over in 30 to 100 ms.
BURST = 100
# Not counted, before each burst: what the way needs was pushed out of the caches by the others.
WARM_UP = 10
# Any real-time priority is above every ordinary process; the kernel's own threads that matter have higher ones.
EXCLUSIVE = ("chrt", "--fifo", "5")


@functools.cache
def may_be_exclusive() -> bool:
    """Whether this machine lets a process run before all ordinary ones."""
    try:
        return subprocess.run([*EXCLUSIVE, "true"], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


@asynccontextmanager
async def _mcp(home: Path, command: str, tabs: int) -> AsyncIterator[Once]:
    assert tabs == 1
    async with mcp_server(home) as server:
        yield mcp_execute(server, command)


@asynccontextmanager
async def _mcp_empty(home: Path, _command: str, _tabs: int) -> AsyncIterator[Once]:
    async with mcp_server(home) as server:
        yield mcp_empty(server)


@asynccontextmanager
async def _bare_sdk(home: Path, _command: str, _tabs: int) -> AsyncIterator[Once]:
    """An empty tool of a server that is nothing but the SDK."""
    server = McpServer(home, BARE)

    async def once() -> None:
        server.call("empty")

    try:
        server.request("initialize", HELLO)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield once
    finally:
        server.close()


@asynccontextmanager
async def _bare_pty(home: Path, command: str, _tabs: int) -> AsyncIterator[Once]:
    async with bare_pty(home, command) as once:
        yield once


PTY, FLOOR, LIBRARY, MCP, EMPTY, SDK = (
    "bare pty",
    "bare loop (floor)",
    "muxwire library",
    "muxwire MCP execute_command",
    "muxwire MCP empty call",
    "bare SDK server, empty tool",
)
WAYS: dict[str, Callable[[Path, str, int], AbstractAsyncContextManager[Once]]] = {
    PTY: _bare_pty,
    FLOOR: bare_loop,
    LIBRARY: library,
    MCP: _mcp,
    EMPTY: _mcp_empty,
    SDK: _bare_sdk,
}


async def serve(name: str, folder: Path, command: str, tabs: int) -> None:
    """Run what the lines of standard input ask for."""
    async with WAYS[name](folder, command, tabs) as once:
        for line in sys.stdin:
            asked = json.loads(line)
            for _ in range(min(WARM_UP, asked["runs"])):
                await once()
            times = []
            for _ in range(asked["runs"]):
                if asked["pause"]:
                    await anyio.sleep(asked["pause"] / 1000)
                times.append(await milliseconds(once))
            print(json.dumps(times), flush=True)


@dataclass(frozen=True, slots=True)
class How:
    """How ways are run: the pause in ms between two runs, and whether before all other processes."""

    pause: float = 0.0
    exclusive: bool = False


class Apart:
    """One of them, seen from here."""

    def __init__(self, way: str, home: Path, *, command: str = "true", tabs: int = 1, exclusive: bool = False) -> None:
        """Start its process."""
        folder = home / f"{list(WAYS).index(way)}-{tabs}"
        folder.mkdir(exist_ok=True)
        self.way = way
        self.times: list[float] = []
        self.belongings = Belongings()
        first = EXCLUSIVE if exclusive and may_be_exclusive() else ()
        self._process = subprocess.Popen(
            [*first, sys.executable, "-m", "bench.apart", way, str(folder), command, str(tabs)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env=clean_environment(folder) | self.belongings.environ,
        )  # fmt: skip

    def run(self, count: int, pause: float = 0.0) -> list[float]:
        """Have it run so many times; return how long each took, which is kept too."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"runs": count, "pause": pause}), file=self._process.stdin, flush=True)
        found: list[float] = json.loads(self._process.stdout.readline())
        self.times += found
        return found

    async def once(self) -> float:
        """One run, in seconds."""
        return self.run(1)[0] / 1000

    def close(self) -> None:
        """End it, and what it started."""
        self._process.communicate()
        self.belongings.kill()


def in_processes(
    ways: Collection[str], runs: int, how: How | None = None, *, command: str = "true", tabs: int = 1
) -> dict[str, Timing]:
    """Run each way `runs` times, in bursts and in turn, each in a process of its own."""
    how = how or How()
    with temporary_home() as home, ExitStack() as ends:
        started = []
        for way in ways:
            started.append(Apart(way, Path(home), command=command, tabs=tabs, exclusive=how.exclusive))
            ends.callback(started[-1].close)
        in_bursts(started, runs, how)
        return {one.way: timing(one.way, one.times) for one in started}


def in_bursts(started: Iterable[Apart], runs: int, how: How) -> None:
    """Run each so many times, a burst of each in turn, the order turned round each time."""
    order = list(started)
    burst = min(BURST, runs)
    for one in order:  # each is at its first prompt before anything counts
        one.run(1)
        one.times.clear()
    for _ in range(runs // burst):
        for one in order:
            one.run(burst, how.pause)
        order.reverse()


async def forks_of(ways: Iterable[str], times: int) -> dict[str, float]:
    """How many processes one `true` of each way starts, its own and all that belong to it."""
    found = {}
    for way in ways:
        with temporary_home() as home, ExitStack() as ends:
            one = Apart(way, Path(home))
            ends.callback(one.close)
            one.run(1)
            found[way] = await forked(one.once, times, one.belongings)
    return found


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
