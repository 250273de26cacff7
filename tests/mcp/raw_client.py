"""A client that is nothing but lines on two descriptors, to see what really goes over the wire."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import anyio

READ_BYTES = 1 << 16
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
HELLO = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


def envelope(version: str = MODERN) -> dict[str, Any]:
    """The `_meta` of every request in the stateless protocol."""
    return {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    }


class RawClient:
    """JSON-RPC by hand: `to_server` and `from_server` are descriptors, made non-blocking here."""

    def __init__(self, to_server: int, from_server: int) -> None:
        self.to_server = to_server
        self.from_server = from_server
        self.notifications: list[dict[str, Any]] = []
        self._buffer = b""
        self._next_id = 0
        self._open = {to_server, from_server}
        os.set_blocking(to_server, False)
        os.set_blocking(from_server, False)

    def hang_up(self) -> None:
        """Close the server's stdin."""
        self._close(self.to_server)

    def stop_reading(self) -> None:
        """Close the server's stdout."""
        self._close(self.from_server)

    def _close(self, fd: int) -> None:
        if fd in self._open:
            self._open.discard(fd)
            os.close(fd)

    async def write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self.to_server, data) :]
            except BlockingIOError:
                await anyio.wait_writable(self.to_server)

    async def send(self, message: object) -> None:
        await self.write(json.dumps(message).encode() + b"\n")

    async def line(self) -> bytes:
        while b"\n" not in self._buffer:
            await anyio.wait_readable(self.from_server)
            data = os.read(self.from_server, READ_BYTES)
            if not data:
                raise EOFError
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    async def receive(self) -> dict[str, Any]:
        """The next message that is not a notification."""
        while True:
            message = json.loads(await self.line())
            assert message["jsonrpc"] == "2.0"
            if "method" not in message:
                return dict(message)
            self.notifications.append(message)

    async def start(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        self._next_id += 1
        await self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params or {}})
        return self._next_id

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        request_id = await self.start(method, params)
        answer = await self.receive()
        assert answer["id"] == request_id
        return answer

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    async def initialize(self, version: str = LEGACY) -> dict[str, Any]:
        answer = await self.request("initialize", HELLO | {"protocolVersion": version})
        await self.notify("notifications/initialized")
        return dict(answer["result"])

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.request("tools/call", {"name": tool, "arguments": arguments})
        return dict(answer["result"])

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call that succeeds."""
        result = await self.call(tool, **arguments)
        assert not result.get("isError"), result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return dict(result["structuredContent"])
