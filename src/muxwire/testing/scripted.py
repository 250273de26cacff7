"""ScriptedTmux: a transport that plays a transcript, for whoever says the same lines again."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio
import anyio.lowlevel

from muxwire.testing.transcript import Ended, Passed, Received, Sent

if TYPE_CHECKING:
    from muxwire.testing.transcript import Record, Transcript


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
        """Take everything, at once."""
        *lines, self._open_line = (self._open_line + data).split(b"\n")
        self._sent.extend(lines)
        self._wake()
        return len(data)

    async def send(self, data: bytes) -> None:
        """Take everything."""
        await anyio.lowlevel.checkpoint()
        self.send_nowait(data)

    async def aclose(self) -> None:
        """Stop playing."""
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
