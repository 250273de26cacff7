"""A transport in place of a tmux, in memory; and what a transcript has of one direction.

`client/transport.py` says what each method of a transport does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import anyio
import anyio.lowlevel

from muxwire.repl.transcript import Record


@final
class MemoryTransport:
    """A transport whose two ends are in memory.

    `room` is how many bytes the pipe still takes (None: any number). `sent` holds what was written.
    """

    def __init__(self, *, room: int | None = None) -> None:
        self.sent = bytearray()
        self.closed = False
        self._room = room
        self._incoming = bytearray()
        self._eof = False
        self._reason = ""
        self._changed = anyio.Event()

    def feed(self, data: bytes) -> None:
        """Say `data` as tmux would; the next read returns all that was fed."""
        self._incoming += data
        self._wake()

    def feed_eof(self, reason: str = "") -> None:
        """End the stream after what was fed."""
        self._eof = True
        self._reason = reason
        self._wake()

    def make_room(self, count: int | None) -> None:
        """Let the pipe take `count` bytes more (None: any number)."""
        self._room = None if count is None or self._room is None else self._room + count
        self._wake()

    async def receive(self) -> bytes:
        await anyio.lowlevel.checkpoint()
        while not (self._incoming or self._eof or self.closed):
            await self._changed.wait()
        data = bytes(self._incoming)
        self._incoming.clear()
        return b"" if self.closed else data

    def receive_soon(self, seconds: float) -> bytes:
        """Return what was fed, if anything: nothing can come while the only thread waits."""
        del seconds
        data = bytes(self._incoming)
        self._incoming.clear()
        return data

    def note_read(self, size: int, *, answers: bool) -> None:
        """Do nothing: reads cost nothing here."""

    def send_nowait(self, data: bytes) -> int:
        if self.closed:
            return 0
        count = len(data) if self._room is None else min(len(data), self._room)
        if self._room is not None:
            self._room -= count
        self.sent += data[:count]
        if count:
            self._wake()
        return count

    async def send(self, data: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        while data and not self.closed:
            data = data[self.send_nowait(data) :]
            if data:
                await self._changed.wait()

    async def aclose(self) -> None:
        self.closed = True
        self._wake()
        await anyio.lowlevel.checkpoint()

    def ending(self) -> str:
        """Return the reason given to `feed_eof`."""
        return self._reason

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def said(transcript: Iterable[Record], kind: bytes) -> bytes:
    """All that was said to tmux (SENT), or that tmux said (RECEIVED): a corpus for what reads control streams."""
    return b"".join(record.line + b"\n" for record in transcript if record.kind == kind)
