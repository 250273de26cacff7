"""An MCP server on stdio, spoken to in raw JSON-RPC."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.homes import clean_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MUXWIRE = (sys.executable, "-m", "muxwire", "serve")
# The least that a server of the same SDK can be.
BARE = (sys.executable, str(Path(__file__).with_name("bare_server.py")))
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
READ = 1 << 16
# What a server may take to go when its client has gone.
LEAVE_SECONDS = 5.0


class McpServer:
    """One that runs; it has been greeted."""

    def __init__(
        self,
        home: Path,
        argv: Sequence[str] = MUXWIRE,
        *,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        """Start it in that directory, and greet it."""
        self._process: Any = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=READ, cwd=cwd,
            stderr=subprocess.DEVNULL if environ is not None else None,
            env=clean_environment(home) | dict(environ or {}),
        )  # fmt: skip
        self._count = 0
        self.request("initialize", HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def pid(self) -> int:
        """Its process id."""
        return int(self._process.pid)

    def request(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """Send a request and return its result."""
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        while True:
            line = self._process.stdout.readline()
            if not line:
                raise RuntimeError("the MCP server ended")
            try:
                message = json.loads(line)
            except ValueError:
                continue  # some servers print to their users on the stream of the protocol
            if message.get("id") == self._count and "method" not in message:
                result: dict[str, Any] = message["result"]
                return result

    def _send(self, message: Mapping[str, object]) -> None:
        os.write(self._process.stdin.fileno(), json.dumps(message).encode() + b"\n")

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its result as it came."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> None:
        """Hang up and wait until it has cleaned up."""
        self._process.stdin.close()
        try:
            self._process.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # not every server goes when its client has gone
            self._process.wait()
