"""What records a control stream, and what reads a recording as the client read the stream then."""

from __future__ import annotations

import re
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, final

import anyio

from muxwire.protocol.commands import ASKS_SENTINEL, sent_line, typed_line
from muxwire.protocol.control import ControlProtocol
from muxwire.repl.transcript import Ended, Passed, Received, Sent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.client.transport import Transport
    from muxwire.protocol.events import Event
    from muxwire.repl.transcript import Record

# Shorter silences are the machine's noise, and would double the number of lines.
_NOTABLE_PAUSE_S = 0.005
_SENTINEL = re.compile(re.escape(ASKS_SENTINEL) + rb"(muxwire-[0-9a-f]{16})")


@final
class RecordingTransport:
    """Passes everything on, and gives it to `take`, whole lines at a time.

    `on_event` gets what the client of the connection makes of them. Both are called by the reader of the connection, so
    they may not wait.
    """

    def __init__(
        self,
        transport: Transport,
        take: Callable[[Sequence[Record]], None],
        on_event: Callable[[Event], None] = lambda _: None,
    ) -> None:
        self._transport = transport
        self._take = take
        self.on_event = on_event
        self._sent = self._received = b""  # lines that are not whole yet
        self._last = anyio.current_time()
        self._ended = False

    async def receive(self) -> bytes:
        """Receive from the transport; `client/transport.py` says what each method does."""
        data = await self._transport.receive()
        if data:
            self._take_received(data)
        elif not self._ended:
            # A client may begin again on the same transport; what is cut here never comes whole.
            self._ended, self._received, self._sent = True, b"", b""
            self._timed([Ended(self._transport.ending())])
        return data

    def receive_soon(self, seconds: float) -> bytes:
        data = self._transport.receive_soon(seconds)
        self._take_received(data)
        return data

    def note_read(self, size: int, *, answers: bool) -> None:
        self._transport.note_read(size, answers=answers)

    def send_nowait(self, data: bytes) -> int:
        count = self._transport.send_nowait(data)
        self._take_sent(data[:count])
        return count

    async def send(self, data: bytes) -> None:
        # Before it is written: tmux answers the first line while the last one still waits for room in the pipe.
        self._take_sent(data)
        await self._transport.send(data)

    async def aclose(self) -> None:
        await self._transport.aclose()

    def ending(self) -> str:
        return self._transport.ending()

    def _take_received(self, data: bytes) -> None:
        self._ended = self._ended and not data
        *lines, self._received = (self._received + data).split(b"\n")
        self._timed([Received(line) for line in lines])

    def _take_sent(self, data: bytes) -> None:
        *lines, self._sent = (self._sent + data).split(b"\n")
        self._timed([Sent(line) for line in lines])

    def _timed(self, records: Sequence[Record]) -> None:
        if records:
            now = anyio.current_time()
            passed, self._last = now - self._last, now
            self._take([*([Passed(round(passed, 3))] if passed >= _NOTABLE_PAUSE_S else []), *records])


@final
class Player:
    """Reads the records of a recording, all of which it is given, one by one."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._protocol = ControlProtocol()
        sent = [record.line for record in records if isinstance(record, Sent)]
        # What follows each line: a sentinel says that the line before was typed.
        self._sent = deque(pairwise([*sent, b""]))

    @property
    def failure(self) -> str:
        """Why the stream cannot be read on, if it cannot."""
        return str(self._protocol.failure or "")

    def events(self, record: Record) -> list[Event]:
        """What one record completes."""
        match record:
            case Received(line):
                self._protocol.receive_data(line + b"\n")
            case Ended():
                self._protocol.receive_eof()
            case Sent():
                line, following = self._sent.popleft()
                # An empty line is how a client detaches.
                if line and not _SENTINEL.fullmatch(line) and not self.failure:
                    sentinel = _SENTINEL.fullmatch(following)
                    self._protocol.send_command(typed_line(line, sentinel[1]) if sentinel else sent_line(line))
        return [*self._protocol.events_received()]
