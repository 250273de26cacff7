"""Transports in place of a tmux: one in memory, and one that plays a transcript.

`client/transport.py` says what each method of a transport does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio
import anyio.lowlevel

from muxwire.client.client import ENDED, RECEIVED, SENT

if TYPE_CHECKING:
    from collections.abc import Iterable

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

    async def wait_sent(self, expected: bytes) -> None:
        """Return when `expected` is part of what was sent."""
        while expected not in self.sent:
            await self._changed.wait()

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


@final
class ScriptedTmux:
    """Says what tmux said, each part only after the lines that came before it were sent.

    Another line than the one in the transcript ends the stream; `ending` then says what was expected.
    """

    def __init__(self, transcript: Iterable[Record]) -> None:
        self._records = list(transcript)
        self._next = 0
        self._open_line = b""
        self._sent: list[bytes] = []
        self._reason = ""
        self._over = False
        self._changed = anyio.Event()

    @property
    def finished(self) -> bool:
        """Whether the whole transcript was played."""
        return self._next == len(self._records)

    async def receive(self) -> bytes:
        """Return what tmux said up to the next line that must be sent first."""
        await anyio.lowlevel.checkpoint()
        while not self._over and self._next < len(self._records):
            kind, line = self._records[self._next]
            if kind == RECEIVED:
                return self._take_received()
            if kind == SENT:
                await self._expect(line)
            else:
                self._next += 1
                if kind == ENDED:
                    self._finish(line.decode())
        return b""

    def receive_soon(self, seconds: float) -> bytes:
        """Return nothing: what tmux said stands in its order with what must be sent first."""
        del seconds
        return b""

    def note_read(self, size: int, *, answers: bool) -> None:
        """Do nothing: reads cost nothing here."""

    def send_nowait(self, data: bytes) -> int:
        *lines, self._open_line = (self._open_line + data).split(b"\n")
        self._sent.extend(lines)
        self._wake()
        return len(data)

    async def send(self, data: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        self.send_nowait(data)

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self._over = True
        self._wake()

    def ending(self) -> str:
        """Return the reason in the transcript, or how the lines sent differ from it."""
        return self._reason

    def _take_received(self) -> bytes:
        lines = []
        while self._next < len(self._records):
            record = self._records[self._next]
            if record.kind != RECEIVED:
                break
            lines.append(record.line + b"\n")
            self._next += 1
        return b"".join(lines)

    async def _expect(self, line: bytes) -> None:
        while not self._sent and not self._over:
            await self._changed.wait()
        if self._over:
            return
        sent = self._sent.pop(0)
        if sent == line:
            self._next += 1
        else:
            self._finish(f"the transcript has {line!r} here, and {sent!r} was sent")

    def _finish(self, reason: str) -> None:
        self._reason = reason
        self._over = True

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def said(transcript: Iterable[Record], kind: bytes) -> bytes:
    """All that was said to tmux (SENT), or that tmux said (RECEIVED): a corpus for what reads control streams."""
    return b"".join(record.line + b"\n" for record in transcript if record.kind == kind)
