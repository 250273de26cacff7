"""A stand-in for the API server of Kubernetes: one pod, which is this machine, and `exec` by WebSocket.

`POST or GET .../pods/NAME/exec` is upgraded to a WebSocket (RFC 6455) of the subprotocol v5.channel.k8s.io: each binary
message is a channel's number and its bytes, 0 for stdin, 1 stdout, 2 stderr, 3 the status at the end, 255 a channel
that is closed (client-go, tools/remotecommand/websocket.go).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, final
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Mapping

_PROTOCOL = "v5.channel.k8s.io"
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_STDIN, _STDOUT, _STDERR, _STATUS, _CLOSED = 0, 1, 2, 3, 255
_BINARY, _CLOSE, _PING, _PONG = 2, 8, 9, 10
_READ_BYTES = 1 << 16
_REASONS = {200: "OK", 400: "BadRequest", 404: "NotFound"}
# What kubectl asks before anything else: which kinds there are.
_PODS = {
    "name": "pods",
    "singularName": "pod",
    "namespaced": True,
    "kind": "Pod",
    "verbs": ["get"],
    "shortNames": ["po"],
}
_DISCOVERY: dict[str, dict[str, object]] = {
    "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [_PODS]},
    "/api/v1/namespaces/lab": {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "lab"}},
}


def _frame(opcode: int, data: bytes) -> bytes:
    if len(data) < 126:
        return bytes((0x80 | opcode, len(data))) + data
    if len(data) < 1 << 16:
        return struct.pack("!BBH", 0x80 | opcode, 126, len(data)) + data
    return struct.pack("!BBQ", 0x80 | opcode, 127, len(data)) + data


async def _message(reader: StreamReader) -> tuple[int, bytes]:
    """The opcode and the bytes of a frame of the client's, which is masked."""
    first, second = await reader.readexactly(2)
    size = second & 0x7F
    if size == 126:
        (size,) = struct.unpack("!H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack("!Q", await reader.readexactly(8))
    mask = await reader.readexactly(4) if second & 0x80 else bytes(4)
    data = await reader.readexactly(size)
    key = (mask * (size // 4 + 1))[:size]
    return first & 0x0F, (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")


@final
class ApiServer:
    """Serves one pod of that name in the namespace `lab`, on a port of the loopback interface."""

    def __init__(self, pod: str, environ: Mapping[str, str]) -> None:
        """`environ` is what a program in the pod starts with."""
        self.pod = pod
        self.port = 0
        self.opened = 0  # how many programs were started there
        self._environ = dict(environ)
        self._server: asyncio.Server | None = None
        self._writers: set[StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> ApiServer:
        self._server = await asyncio.start_server(self._served, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Drop every connection, as a proxy does that has seen nothing for its idle time."""
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def _served(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while head := await reader.readuntil(b"\r\n\r\n"):
                    if not await self._answered(head.decode("latin-1"), reader, writer):
                        break
        finally:
            self._tasks.discard(task)
            self._writers.discard(writer)
            writer.close()

    async def _answered(self, head: str, reader: StreamReader, writer: StreamWriter) -> bool:
        """Answer one request; return whether more may come."""
        line, *rest = head.split("\r\n")
        url = urlsplit(line.split(" ")[1])
        headers = {name.strip().lower(): value.strip() for name, _, value in (one.partition(":") for one in rest)}
        place = f"/api/v1/namespaces/lab/pods/{self.pod}"
        asked = parse_qs(url.query)
        container = asked.get("container", ["main"])[0]
        runs = url.path == f"{place}/exec" and container == "main"
        if runs and _PROTOCOL in headers.get("sec-websocket-protocol", ""):
            digest = hashlib.sha1((headers["sec-websocket-key"] + _GUID).encode(), usedforsecurity=False).digest()
            accept = base64.b64encode(digest).decode()
            writer.write(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: {_PROTOCOL}\r\n\r\n".encode()
            )
            await self._run(asked["command"], reader, writer)
            return False
        code, document = 200, {place: _pod(self.pod), **_DISCOVERY}.get(url.path)
        if document is None:
            pod = url.path.removeprefix("/api/v1/namespaces/lab/pods/").partition("/")[0]
            code, said = 404, f'pods "{pod}" not found'
            if pod == self.pod:
                code, said = 400, f"container {container} is not valid for pod {pod}"
            document = _status("Failure", said, code)
        body = json.dumps(document).encode()
        writer.write(
            f"HTTP/1.1 {code} {_REASONS[code]}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        return True

    async def _run(self, argv: list[str], reader: StreamReader, writer: StreamWriter) -> None:
        """Start a program, and carry its streams until it or the connection ends."""
        self.opened += 1
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=self._environ, cwd="/",
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        outputs = [
            asyncio.create_task(self._carry(stream, channel, writer))
            for stream, channel in ((process.stdout, _STDOUT), (process.stderr, _STDERR))
        ]
        typing = asyncio.create_task(self._type(reader, process, writer))
        try:
            await asyncio.gather(*outputs)
            status = _status("Success" if await process.wait() == 0 else "Failure", "", 200)
            writer.write(_frame(_BINARY, bytes((_STATUS,)) + json.dumps(status).encode()) + _frame(_CLOSE, b"\x03\xe8"))
            await writer.drain()
        finally:
            for task in (*outputs, typing):
                task.cancel()
            await asyncio.gather(*outputs, typing, return_exceptions=True)
            if process.returncode is None:  # its connection is gone: what reads its input comes to an end
                assert process.stdin is not None
                process.stdin.close()
                await process.wait()

    @staticmethod
    async def _carry(stream: StreamReader, channel: int, writer: StreamWriter) -> None:
        while data := await stream.read(_READ_BYTES):
            writer.write(_frame(_BINARY, bytes((channel,)) + data))
            await writer.drain()

    @staticmethod
    async def _type(reader: StreamReader, process: asyncio.subprocess.Process, writer: StreamWriter) -> None:
        assert process.stdin is not None
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                opcode, data = await _message(reader)
                if opcode == _PING:
                    writer.write(_frame(_PONG, data))
                elif opcode == _CLOSE or data == bytes((_CLOSED, _STDIN)):
                    break
                elif opcode == _BINARY and data[:1] == bytes((_STDIN,)):
                    process.stdin.write(data[1:])
                    await process.stdin.drain()
        process.stdin.close()


def _pod(name: str) -> dict[str, object]:
    container = {"name": "main", "image": "none"}
    return {
        "kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "lab"},
        "spec": {"containers": [container]}, "status": {"phase": "Running"},
    }  # fmt: skip


def _status(status: str, message: str, code: int) -> dict[str, object]:
    return {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": status, "message": message, "code": code,
        "reason": _REASONS[code],
    }  # fmt: skip
