"""Ways to run `true` in a terminal and know that it ended: the bare floor, muxwire, MCP, and capture-pane polling.

Each is an async context manager that yields an async function which runs the command once. All of them use bash
with an empty home, so that nobody's prompt is measured.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from muxwire import open_terminals

if TYPE_CHECKING:
    from pathlib import Path

Once = Callable[[], Awaitable[None]]

# A terminal's answer takes a millisecond; a second without one is a fault of the contender.
PATIENCE = 5.0
READ = 1 << 20


def clean_environment(home: Path) -> dict[str, str]:
    """An environment in which every contender finds the same shell and no rc file."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return kept | {"HOME": str(home), "SHELL": shutil.which("bash") or "/bin/sh", "TERM": "xterm-256color"}


@asynccontextmanager
async def bare_loop(home: Path) -> AsyncIterator[Once]:
    """The floor: type a line into bash through `tmux -C`, and read until its output is there. No library at all."""
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
        os.write(writer, b"set-buffer -b x -- \"echo '<'%d'>'\\015\"\npaste-buffer -r -d -b x -t %%0\n" % count)
        wanted, seen = b"<%d>" % count, b""
        while wanted not in seen:
            chunk = os.read(reader, READ)
            if not chunk:
                raise RuntimeError("tmux ended")
            seen += chunk

    async def once() -> None:
        run()

    try:
        with anyio.fail_after(PATIENCE):
            await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        yield once
    finally:
        subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)
        process.wait()


@asynccontextmanager
async def library(home: Path) -> AsyncIterator[Once]:
    """As a library: `await tab.execute("true")`."""
    async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
        tab = await terminals.create_tab(shell="bash")

        async def once() -> None:
            result = await tab.execute("true")
            assert (result.exit_code, result.output) == (0, "")

        yield once


@asynccontextmanager
async def capture_pane(home: Path) -> AsyncIterator[Once]:
    """What most tools do: send-keys, then capture-pane in a tight loop until an end marker shows, by subprocess."""
    tmux = ["tmux", "-S", str(home / "capture"), "-f", "/dev/null"]
    env = clean_environment(home)
    subprocess.run([*tmux, "new-session", "-d", "-x", "200", "-y", "50", "bash --norc"], check=True, env=env)
    count = 0

    def run() -> None:
        nonlocal count
        count += 1
        subprocess.run([*tmux, "send-keys", "-t", ":0", f"true; echo end-''{count}-$?", "Enter"], check=True, env=env)
        wanted = f"end-{count}-0"
        while True:
            done = subprocess.run([*tmux, "capture-pane", "-p", "-t", ":0"], capture_output=True, text=True, check=True)
            if wanted in done.stdout:
                return

    async def once() -> None:
        run()

    try:
        yield once
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)


class McpServer:
    """A `muxwire serve` process, spoken to in raw JSON-RPC."""

    def __init__(self, home: Path) -> None:
        """Start it; nothing is sent yet."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "muxwire", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=clean_environment(home) | {"MUXWIRE_STATE_DIR": str(home / "state")},
            bufsize=0,
        )
        self._count = 0
        self._rest = b""

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
            message = json.loads(line)
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
        self._process.wait(PATIENCE)


@asynccontextmanager
async def mcp_server(home: Path) -> AsyncIterator[McpServer]:
    """A greeted server with one bash tab, `@1`."""
    server = McpServer(home)
    try:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        server.request("initialize", hello)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.call("create_tab", shell="bash")
        yield server
    finally:
        server.close()


def mcp_execute(server: McpServer) -> Once:
    """`execute_command` with `true`."""

    async def once() -> None:
        result = server.call("execute_command", window_id="@1", command="true")
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
