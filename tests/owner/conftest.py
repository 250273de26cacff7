"""What the tests of the owner share: a user of its own, raw connections, agents, and the end of every owner."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

import muxwire_reach
from tests.mcp.raw_client import RawClient
from tests.users import environ_of, short_folder, write_rc_files

# -P: as an installed program, it looks for no module in the directory in which it is called.
PROGRAM = [sys.executable, "-P", "-c", "import muxwire_client; muxwire_client.main()"]
NAME = "n"


class Agent(RawClient):
    """An MCP client behind `muxwire serve --name`; `process` is that."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        super().__init__(os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno()))
        process.stdin.close()

    async def call_any(self, tool: str, **arguments: object) -> dict[str, Any]:
        """What a call gives; if that is an error, its text as `error`."""
        answer = await self.request("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            return {"error": answer["error"]["message"]}
        result: dict[str, Any] = answer["result"]
        return {"error": result["content"][0]["text"]} if result.get("isError") else dict(result["structuredContent"])

    async def shell(self, command: str, **arguments: object) -> str:
        return str((await self.done("execute_command", command=command, **arguments))["output"])


class User:
    """A user with short paths, and the instance `NAME` of theirs."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self.home = home
        self.environ = environ_of(home, runtime=home / "run") | {"TMPDIR": str(home), "TERM": "xterm"}
        self.runtime = home / "run" / "muxwire"
        self.path = self.runtime / f"{NAME}.owner"
        self.owners = set[int]()
        self._stack = stack

    def hello(self, **changed: object) -> bytes:
        fields = {
            "version": muxwire_reach.VERSION, "kind": "mcp", "words": ["serve", "--name", NAME],
            "directory": str(self.home), "sizes": (None, None, None), "terminal": "", "environ": self.environ,
        }  # fmt: skip
        return ascii((muxwire_reach.PROTOCOL, fields | changed)).encode() + b"\n"

    def connect(self) -> socket.socket:
        """A connection on which nothing was said."""
        made = self._stack.enter_context(socket.socket(socket.AF_UNIX))
        made.connect(str(self.path))  # with a time-out it would not wait where too many wait already
        made.settimeout(40)
        return made

    @property
    def owner(self) -> int:
        """The process that listens; 0 if there is none."""
        try:
            with self.connect() as made:
                pid: int = struct.unpack("3i", made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        except OSError:
            return 0
        self.owners.add(pid)
        return pid

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start `muxwire` as an installed program."""
        usual: dict[str, Any] = {
            "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.home,
            "env": self.environ,
            # Whoever runs the tests in the background has SIGINT ignored.
            "preexec_fn": partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        }  # fmt: skip
        process = self._stack.enter_context(subprocess.Popen([*PROGRAM, *words], **usual | options))
        self._stack.callback(process.kill)
        return process

    @asynccontextmanager
    async def agent(
        self, *words: str, environ: Mapping[str, str] | None = None, **options: Any
    ) -> AsyncIterator[Agent]:
        """An agent that has greeted."""
        given = {"env": self.environ | dict(environ or {}), "stderr": None, **options}
        agent = Agent(self.start("serve", "--name", NAME, *words, **given))
        try:
            with anyio.fail_after(60):
                await agent.initialize()
                yield agent
        finally:
            agent.hang_up()
            agent.stop_reading()

    def tmux(self, *command: str) -> str:
        argv = ["tmux", "-N", "-S", str(self.runtime / f"{NAME}.sock"), *command]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


@pytest.fixture
def user() -> Iterator[User]:
    with short_folder() as home, ExitStack() as stack:
        write_rc_files(home)
        made = User(home, stack)
        yield made
        if owner := made.owner:
            os.kill(owner, signal.SIGKILL)
