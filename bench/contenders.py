"""Ways to run a command in a terminal and know that it ended: the bare floor, muxwire as a library, muxwire by MCP.

`python -m bench.contenders WAY FOLDER COMMAND TABS` is one of them, for `timing.py`. Each is an async context manager
that yields an async function which runs the command once. All of them use bash with an empty home.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from bench.homes import clean_environment
from bench.server import BARE, MUXWIRE, McpServer
from bench.stopwatch import timed
from muxwire import open_terminals
from muxwire.client.client import prepared

Once = Callable[[], Awaitable[None]]

# A terminal's answer takes a millisecond; some seconds without one are a fault of the contender.
PATIENCE = 5.0
# Not more: a larger buffer is mapped and given back for each read, 50 us of the floor's 170.
READ = 1 << 16
# tmux may run what it is told before it has made the session that it was started with.
ATTACHED = b"%session-changed"
# What stands in the middle of a text that tmux read from the pane in two pieces.
CUT = b"\n%output %0 "
# Not counted, before each burst: what the way needs was pushed out of the caches by the others.
WARM_UP = 10


def typed_line(command: str, count: int) -> bytes:
    """A line that runs `command` and then prints `<count>`, which the line itself does not contain."""
    return (b"" if command == "true" else command.encode() + b"; ") + b"echo '<'%d'>'\r" % count


def type_into(writer: int, pane: int, command: str, count: int) -> None:
    """Have tmux type that into a pane, through a buffer of the pane's own."""
    line = prepared(("set-buffer", "-b", f"x{pane}", "--", typed_line(command, count)))[0].line
    os.write(writer, line + b" ; paste-buffer -r -d -b x%d -t %%%d\n" % (pane, pane))


@asynccontextmanager
async def bare_pty(home: Path, command: str, _tabs: int) -> AsyncIterator[Once]:
    """A bash on a pty, without any tmux: what the shell alone takes."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "--norc"], clean_environment(home))
    count = 0

    async def once() -> None:
        nonlocal count
        count += 1
        os.write(descriptor, typed_line(command, count))
        read_until(descriptor, b"<%d>" % count)

    try:
        yield once
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(descriptor)
        os.waitpid(pid, 0)  # noqa: ASYNC222 - it is dead


@asynccontextmanager
async def bare_loop(home: Path, command: str, tabs: int) -> AsyncIterator[Once]:
    """The floor: type a line into bash through `tmux -C`, and read until its output is there. No library at all.

    Of so many tabs, one runs commands.
    """
    with floor(home, tabs) as (writer, reader):
        count = 0

        def run() -> None:
            nonlocal count
            count += 1
            type_into(writer, 0, command, count)
            read_until(reader, b"<%d>" % count)

        async def once() -> None:
            run()

        with anyio.fail_after(PATIENCE):
            await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        yield once


@contextmanager
def floor(home: Path, tabs: int) -> Iterator[tuple[int, int]]:
    """A `tmux -C` of its own with so many tabs of bash; gives the descriptors of its input and its output."""
    socket = str(home / "floor")
    argv = ["tmux", "-u", "-S", socket, "-f", "/dev/null", "-C", "new-session", "--", "bash", "--norc"]
    process: Any = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(home), bufsize=0
    )
    try:
        read_until(process.stdout.fileno(), ATTACHED)
        os.write(process.stdin.fileno(), b"new-window -d bash --norc\n" * (tabs - 1))
        yield process.stdin.fileno(), process.stdout.fileno()
    finally:
        subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)
        process.wait()


def read_until(descriptor: int, wanted: bytes) -> None:
    """Read until `wanted` is there; what came before is not kept, only its last bytes."""
    seen = b""
    while wanted not in seen and wanted not in seen.replace(CUT, b""):
        chunk = os.read(descriptor, READ)
        if not chunk:
            raise RuntimeError("the terminal ended")
        seen = seen[-len(wanted) - len(CUT) :] + chunk


@asynccontextmanager
async def library(home: Path, command: str, tabs: int) -> AsyncIterator[Once]:
    """As a library: `await tab.execute("true")`. Of so many tabs, one runs commands."""
    async with open_terminals(environ=clean_environment(home)) as terminals:
        for _ in range(tabs):
            tab = await terminals.create_tab(shell="bash")
            await tab.execute("true")

        async def once() -> None:
            result = await tab.execute(command)
            assert result.exit_code == 0, result

        yield once


@asynccontextmanager
async def by_mcp(
    home: Path, command: str, _tabs: int, *, tool: str = "", argv: Sequence[str] = MUXWIRE
) -> AsyncIterator[Once]:
    """A call of one tool; without a name it is `execute_command`, whose command must succeed."""
    with closing(McpServer(home, argv)) as server:
        arguments = {"window_id": "@1", "command": command} if not tool else {"command_id": "none"}
        if not tool:
            server.call("create_tab", shell="bash")

        async def once() -> None:
            result = server.call(tool or "execute_command", **arguments)
            assert tool or not result.get("isError"), result

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
    PTY: bare_pty,
    FLOOR: bare_loop,
    LIBRARY: library,
    MCP: by_mcp,
    EMPTY: partial(by_mcp, tool="command_result"),  # the cheapest call that the same server answers: it finds nothing
    SDK: partial(by_mcp, tool="empty", argv=BARE),  # an empty tool of a server that is nothing but the SDK
}


async def serve(name: str, folder: Path, command: str, tabs: int) -> None:
    """Run what the lines of standard input ask for."""
    async with WAYS[name](folder, command, tabs) as once:
        for line in sys.stdin:
            asked = json.loads(line)
            for _ in range(min(WARM_UP, asked["runs"])):
                await once()
            times = list[float]()
            for _ in range(asked["runs"]):
                if asked["pause"]:
                    await anyio.sleep(asked["pause"] / 1000)
                with timed(times):
                    await once()
            print(json.dumps({"took": times}), flush=True)


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
