"""RecordingTransport: writes the transcript of another transport, or passes it to whoever listens."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio

from muxwire.testing.transcript import Ended, Passed, Received, Sent, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.client.transport import Transport
    from muxwire.testing.transcript import Record

# Shorter silences are the machine's noise, and would double the number of lines.
_NOTABLE_PAUSE_S = 0.005


@final
class RecordingTransport:
    """Passes everything on, and keeps it.

    With `listen`, each batch of records goes there as soon as it is complete, and nothing is kept here. It is called by
    the reader of the connection, so it may not wait.
    """

    def __init__(self, transport: Transport, *, listen: Callable[[Sequence[Record]], None] | None = None) -> None:
        self._transport = transport
        self._records: list[Record] = []
        self._listen = listen or self._records.extend
        self._open_sent = b""
        self._open_received = b""
        self._last = anyio.current_time()
        self._ended = False

    def transcript(self, *comments: str) -> Transcript:
        """Return what was said so far."""
        return Transcript(tuple(self._records), comments)

    async def receive(self) -> bytes:
        """Receive, and keep the complete lines."""
        data = await self._transport.receive()
        if data:
            self._keep_received(data)
        elif not self._ended:
            # A client may begin again on the same transport; what is cut here never comes whole.
            self._ended, self._open_received, self._open_sent = True, b"", b""
            self._keep([Ended(self._transport.ending())])
        return data

    def receive_soon(self, seconds: float) -> bytes:
        """As `receive`, for what comes soon."""
        data = self._transport.receive_soon(seconds)
        self._keep_received(data)
        return data

    def note_read(self, size: int, *, answers: bool) -> None:
        """Tell the other transport."""
        self._transport.note_read(size, answers=answers)

    def send_nowait(self, data: bytes) -> int:
        """Send, and keep what was taken."""
        count = self._transport.send_nowait(data)
        self._keep_sent(data[:count])
        return count

    async def send(self, data: bytes) -> None:
        """Send, and keep it."""
        # Before it is written: tmux answers the first line while the last one still waits for room in the pipe.
        self._keep_sent(data)
        await self._transport.send(data)

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._transport.aclose()

    def ending(self) -> str:
        """Ask the other transport."""
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
