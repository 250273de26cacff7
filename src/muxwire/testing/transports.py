"""Transports in place of a tmux: one in memory, one that records what another carries, one that plays a transcript.

`client/transport.py` says what each method of a transport does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio
import anyio.lowlevel

from muxwire.testing.transcript import Ended, Passed, Received, Sent, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.client.transport import Observer, Transport
    from muxwire.protocol.commands import Command
    from muxwire.protocol.events import Event
    from muxwire.testing.transcript import Record

# Shorter silences are the machine's noise, and would double the number of lines.
_NOTABLE_PAUSE_S = 0.005


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
class RecordingTransport:
    """Passes everything on, and keeps it.

    With `listen`, each batch of records goes there as soon as it is complete, and nothing is kept here. `observer` also
    gets what the client of the connection makes of them. Both are called by the reader of the connection, so they may
    not wait.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        listen: Callable[[Sequence[Record]], None] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._transport = transport
        self._observer = observer
        self._records: list[Record] = []
        self._listen = listen or self._records.extend
        self._open_sent = b""
        self._open_received = b""
        self._last = anyio.current_time()
        self._ended = False

    def on_sent(self, command: Command) -> None:
        """Pass on what the client sends."""
        if self._observer is not None:
            self._observer.on_sent(command)

    def on_event(self, event: Event) -> None:
        """Pass on what the client hears."""
        if self._observer is not None:
            self._observer.on_event(event)

    def transcript(self, *comments: str) -> Transcript:
        """Return what was said so far."""
        return Transcript(tuple(self._records), comments)

    async def receive(self) -> bytes:
        data = await self._transport.receive()
        if data:
            self._keep_received(data)
        elif not self._ended:
            # A client may begin again on the same transport; what is cut here never comes whole.
            self._ended, self._open_received, self._open_sent = True, b"", b""
            self._keep([Ended(self._transport.ending())])
        return data

    def receive_soon(self, seconds: float) -> bytes:
        data = self._transport.receive_soon(seconds)
        self._keep_received(data)
        return data

    def note_read(self, size: int, *, answers: bool) -> None:
        self._transport.note_read(size, answers=answers)

    def send_nowait(self, data: bytes) -> int:
        count = self._transport.send_nowait(data)
        self._keep_sent(data[:count])
        return count

    async def send(self, data: bytes) -> None:
        # Before it is written: tmux answers the first line while the last one still waits for room in the pipe.
        self._keep_sent(data)
        await self._transport.send(data)

    async def aclose(self) -> None:
        await self._transport.aclose()

    def ending(self) -> str:
        return self._transport.ending()

    def _keep_received(self, data: bytes) -> None:
        self._ended = self._ended and not data
        *lines, self._open_received = (self._open_received + data).split(b"\n")
        self._keep([Received(line) for line in lines])

    def _keep_sent(self, data: bytes) -> None:
        *lines, self._open_sent = (self._open_sent + data).split(b"\n")
        self._keep([Sent(line) for line in lines])

    def _keep(self, records: Sequence[Record]) -> None:
        if not records:
            return
        now = anyio.current_time()
        if now - self._last >= _NOTABLE_PAUSE_S:
            records = [Passed(round(now - self._last, 3)), *records]
        self._last = now
        self._listen(records)


@final
class ScriptedTmux:
    """Says what tmux said, each part only after the lines that came before it were sent.

    Another line than the one in the transcript ends the stream; `ending` then says what was expected. With
    `timed`, the recorded pauses are kept.
    """

    def __init__(self, transcript: Transcript, *, timed: bool = False) -> None:
        self._records: list[Record] = list(transcript.records)
        self._timed = timed
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
            match self._records[self._next]:
                case Received():
                    return self._take_received()
                case Sent(line):
                    await self._expect(line)
                case Passed(seconds):
                    self._next += 1
                    if self._timed:
                        await anyio.sleep(seconds)
                case Ended(reason):
                    self._next += 1
                    self._finish(reason)
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
            if not isinstance(record, Received):
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
