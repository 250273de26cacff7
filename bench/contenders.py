"""Ways to run `true` in a terminal and know that it ended: the bare floor, muxwire as a library, muxwire by MCP.

Each is an async context manager that yields an async function which runs the command once. All of them use bash
with an empty home, so that nobody's prompt is measured.
"""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from bench.processes import WORD
from muxwire import open_terminals
from muxwire.client.client import prepared

# Runs the command once; may say itself how many seconds that took.
Once = Callable[[], Awaitable[float | None]]

# A terminal's answer takes a millisecond; a second without one is a fault of the contender.
PATIENCE = 5.0
# Not more: a larger buffer is mapped and given back for each read, 50 us of the floor's 170.
READ = 1 << 16
# tmux may run what it is told before it has made the session that it was started with.
ATTACHED = b"%session-changed"
# What stands in the middle of a text that tmux read from the pane in two pieces.
CUT = b"\n%output %0 "
MUXWIRE = (sys.executable, "-m", "muxwire", "serve")
# The least that a server of the same SDK can be.
BARE = (sys.executable, str(Path(__file__).with_name("bare_server.py")))


def clean_environment(home: Path) -> dict[str, str]:
    """An environment in which every contender finds the same shell and no rc file.

    The folders of a version manager's shims are left out: those are scripts that take 100 ms to find the program, and
    a server that asks for the version of Python at each call is not to blame for them.
    """
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR", WORD) if name in os.environ}
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(":") if Path(folder).name != "shims"]
    kept["PATH"] = ":".join(folders)
    return kept | {"HOME": str(home), "SHELL": shutil.which("bash") or "/bin/sh", "TERM": "xterm-256color"}


def typed_line(command: str, count: int) -> bytes:
    """A line that runs `command` and then prints `<count>`, which the line itself does not contain."""
    return (b"" if command == "true" else command.encode() + b"; ") + b"echo '<'%d'>'\r" % count


@asynccontextmanager
async def bare_pty(home: Path, command: str = "true") -> AsyncIterator[Once]:
    """A bash on a pty, without any tmux: what the shell alone takes."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "--norc"], clean_environment(home))
    count = 0

    def run() -> None:
        nonlocal count
        count += 1
        os.write(descriptor, typed_line(command, count))
        read_until(descriptor, b"<%d>" % count)

    async def once() -> None:
        run()

    try:
        with anyio.fail_after(PATIENCE):
            await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        yield once
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(descriptor)
        os.waitpid(pid, 0)  # noqa: ASYNC222 - it is dead


@asynccontextmanager
async def bare_loop(home: Path, command: str = "true", tabs: int = 1) -> AsyncIterator[Once]:
    """The floor: type a line into bash through `tmux -C`, and read until its output is there. No library at all.

    Of so many tabs, one runs commands.
    """
    socket = str(home / "floor")
    argv = ["tmux", "-u", "-S", socket, "-f", "/dev/null", "-C", "new-session", "--", "bash", "--norc"]
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(home), bufsize=0
    )
    assert process.stdin is not None
    assert process.stdout is not None
    writer, reader = process.stdin.fileno(), process.stdout.fileno()
    count = 0

    def run() -> None:
        nonlocal count
        count += 1
        line = prepared(("set-buffer", "-b", "x", "--", typed_line(command, count)))[0].line
        os.write(writer, line + b" ; paste-buffer -r -d -b x -t %0\n")
        read_until(reader, b"<%d>" % count)

    async def once() -> None:
        run()

    try:
        with anyio.fail_after(PATIENCE):
            await anyio.to_thread.run_sync(read_until, reader, ATTACHED, abandon_on_cancel=True)
            os.write(writer, b"new-window -d bash --norc\n" * (tabs - 1))
            await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        yield once
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
async def library(home: Path, command: str = "true", tabs: int = 1) -> AsyncIterator[Once]:
    """As a library: `await tab.execute("true")`. Of so many tabs, one runs commands."""
    async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
        for _ in range(tabs):
            tab = await terminals.create_tab(shell="bash")
            await tab.execute("true")

        async def once() -> None:
            result = await tab.execute(command)
            assert result.exit_code == 0, result

        yield once


HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class McpServer:
    """An MCP server on stdio, spoken to in raw JSON-RPC; `muxwire serve` if nothing else is said."""

    def __init__(
        self,
        home: Path,
        argv: Sequence[str] = MUXWIRE,
        *,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        """Start it, in that directory; nothing is sent yet."""
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if environ is not None else None,
            cwd=cwd,
            env=clean_environment(home) | {"MUXWIRE_STATE_DIR": str(home / "state")} | dict(environ or {}),
            bufsize=0,
        )
        self._count = 0
        self._rest = b""

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def request(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Send a request and return its result."""
        self._count += 1
        self.send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        assert self._process.stdout is not None
        while True:
            while b"\n" not in self._rest:
                chunk = os.read(self._process.stdout.fileno(), READ)
                if not chunk:
                    raise RuntimeError("the MCP server ended")
                self._rest += chunk
            line, self._rest = self._rest.split(b"\n", 1)
            try:
                message = json.loads(line)
            except ValueError:
                continue  # some servers print to their users on the stream of the protocol
            if message.get("id") == self._count:
                result: dict[str, object] = message["result"]
                return result

    def send(self, message: Mapping[str, object]) -> None:
        """Write one message."""
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), json.dumps(message).encode() + b"\n")

    def call(self, tool: str, **arguments: object) -> dict[str, object]:
        """Call a tool and return its result as it came."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> None:
        """Hang up and wait until it has cleaned up."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()  # not every server goes when its client has gone
            self._process.wait()


@asynccontextmanager
async def mcp_server(home: Path) -> AsyncIterator[McpServer]:
    """A greeted server with one bash tab, `@1`."""
    server = McpServer(home)
    try:
        server.request("initialize", HELLO)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.call("create_tab", shell="bash")
        yield server
    finally:
        server.close()


def mcp_execute(server: McpServer, command: str = "true") -> Once:
    """`execute_command`."""

    async def once() -> None:
        result = server.call("execute_command", window_id="@1", command=command)
        assert not result.get("isError"), result

    return once


def mcp_empty(server: McpServer) -> Once:
    """The cheapest call that the same server answers: a lookup that finds nothing."""

    async def once() -> None:
        server.call("command_result", command_id="none")

    return once


def temporary_home() -> tempfile.TemporaryDirectory[str]:
    """A home without rc files, on a path short enough for sockets."""
    return tempfile.TemporaryDirectory(prefix="mwb", ignore_cleanup_errors=True)
