"""The console of a verb whose caller is at the other end of a connection: its methods are frames.

`muxwire_client` describes the frames, and carries them out.
"""

from __future__ import annotations

import asyncio  # a connection that another task reads while this one writes
import logging
import math
import os
import signal
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NoReturn, final

import anyio

from muxwire.cli.command_line import run_verb
from muxwire.cli.console import STREAMS, Console, RunsThere
from muxwire.errors import unwrapped
from muxwire.tabs.seat import Seat
from muxwire_reach import HEAD

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Mapping, Sequence

    from muxwire.cli.console import Write
    from muxwire.library.terminals import Terminals
    from muxwire.owner.hello import Hello

_LOG = logging.getLogger("muxwire")
# A longer frame is none of our client's.
_FRAME_MAX = 1 << 20
# Output of any length goes in frames of this size: the client holds one at a time.
_PIECE = 1 << 16


async def serve_verb(terminals: Terminals, hello: Hello, connection: socket.socket) -> None:
    """Run the verb of a client, and tell it the exit code; if the client has gone, the verb has ended as by SIGHUP."""
    reader, writer = await asyncio.open_connection(sock=connection)
    console = _Frames(terminals, hello, reader, writer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(console.listen)
        try:
            code = await run_verb(console)
            if console.successor:
                console.send(b"a", b"\0".join(map(os.fsencode, console.successor)))
            console.send(b"x", str(code).encode())
        except RunsThere:
            console.send(b"l")
        except Exception as error:  # noqa: BLE001 - a defect ends no other client's calls
            cause = unwrapped(error)
            _LOG.error("a verb has failed", exc_info=cause)
            console.warn(f"muxwire: {type(cause).__name__}: {cause}\n  this is a defect in muxwire")
            console.send(b"x", b"1")
        await console.sent()
        tasks.cancel_scope.cancel()
    writer.close()


@final
class _Frames(Console):
    def __init__(
        self, terminals: Terminals, hello: Hello, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.words = hello.words
        self.environ = dict(hello.environ)
        self.sizes = hello.sizes
        self.terminal = hello.terminal
        self.on_signal = lambda _number: None
        # Without a tmux here, words that name no instance may mean another one.
        self.sent_to = terminals.folders.instance if terminals.runs else ""
        self._terminals = terminals
        self._directory = hello.directory
        self._reader = reader
        self._writer = writer
        self._gone = False
        self.successor: Sequence[str] = ()  # what is to take the place of the client
        self._to_verb, self._answers = anyio.create_memory_object_stream[tuple[bytes, bytes]](math.inf)

    async def listen(self) -> None:
        """Take the client's frames until it hangs up."""
        with suppress(asyncio.IncompleteReadError, OSError), self._to_verb:
            while True:
                head = await self._reader.readexactly(HEAD)
                kind, size = head[:1], int.from_bytes(head[1:], "big")
                if size > _FRAME_MAX:
                    break
                body = await self._reader.readexactly(size)
                if kind == b"s" and body and body[0] in signal.valid_signals():
                    self.on_signal(signal.Signals(body[0]))
                else:
                    self._to_verb.send_nowait((kind, body))
        self._gone = True
        self.on_signal(signal.SIGHUP)

    def send(self, kind: bytes, body: bytes = b"") -> None:
        if not self._gone:
            self._writer.write(kind + len(body).to_bytes(HEAD - 1, "big") + body)

    async def sent(self) -> None:
        """Wait until the client has room; nothing, if it has gone."""
        with suppress(OSError):
            await self._writer.drain()

    async def _answer(self, name: str) -> bytes:
        """The client's next frame; OSError about that name if it says so, or has gone."""
        try:
            kind, body = await self._answers.receive()
        except anyio.EndOfStream:
            raise BrokenPipeError from None
        if kind == b"n":
            raise OSError(int(body), os.strerror(int(body)), name)
        return body

    def write(self, data: bytes, *, error: bool = False) -> None:
        self.send(b"e" if error else b"o", data)

    async def write_soon(self, data: bytes) -> None:
        await self._write_soon(b"o", data)

    async def _write_soon(self, kind: bytes, data: bytes) -> None:
        for at in range(0, len(data), _PIECE):
            self.send(kind, data[at : at + _PIECE])
            await self.sent()

    async def read(self, most: int) -> bytes:
        self.send(b"i", b"%d" % most)
        return await self._answer(STREAMS[0])

    async def read_file(self, file: str, most: int) -> bytes:
        self.send(b"r", b"%d\0%b" % (most, os.fsencode(file)))
        parts = list[bytes]()
        while body := await self._answer(file):
            parts.append(body)
        return b"".join(parts)

    @asynccontextmanager
    async def create(self, file: str, *, overwrite: bool) -> AsyncIterator[Write]:
        self.send(b"f", b"%d%b" % (overwrite, os.fsencode(file)))
        await self._answer(file)

        async def write(data: bytes) -> None:
            await self._write_soon(b"d", data)

        try:
            yield write
        finally:
            self.send(b"c")

    def execute(self, words: Sequence[str]) -> int:
        self.successor = words
        return 0

    def claim_process(self) -> NoReturn:
        raise RunsThere

    @asynccontextmanager
    async def opened(self, given: Mapping[str, str]) -> AsyncIterator[Terminals]:
        """The instance, for one call; a verb that means another one runs in the client's process."""
        if given != {"name": self._terminals.folders.instance}:
            raise RunsThere
        with self._terminals.seated(Seat(stays=False), self._directory, self.environ) as seated:
            yield seated
