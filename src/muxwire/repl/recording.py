"""What makes records of a control stream, and what reads records as the client read the stream then."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, final

from muxwire.client.client import ENDED, RECEIVED, SENT
from muxwire.protocol.commands import ASKS_SENTINEL, sent_line, typed_line
from muxwire.protocol.control import ControlProtocol
from muxwire.repl.transcript import PASSED, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muxwire.protocol.events import Event

# Shorter silences are the machine's noise, and would double the number of lines.
_NOTABLE_PAUSE_S = 0.005
_SENTINEL = re.compile(re.escape(ASKS_SENTINEL) + rb"(muxwire-[0-9a-f]{16})")


@final
class Recorder:
    """Makes records, whole lines at a time, of what `ControlClient.taps` are told."""

    def __init__(self, begun: float = 0.0) -> None:
        self._last = begun
        self._rests = {SENT: b"", RECEIVED: b""}  # lines that are not whole yet

    def records(self, now: float, kind: bytes, data: bytes) -> list[Record]:
        """The records that this completes."""
        if kind == ENDED:
            # A client may begin again on the same transport; what is cut here never comes whole.
            self._rests = {SENT: b"", RECEIVED: b""}
            lines = [data.replace(b"\n", b" ")]
        else:
            *lines, self._rests[kind] = (self._rests[kind] + data).split(b"\n")
        made = [Record(kind, line) for line in lines]
        if made:
            passed, self._last = now - self._last, now
            if passed >= _NOTABLE_PAUSE_S:
                made.insert(0, Record(PASSED, b"%.3f" % passed))
        return made


@final
class Player:
    """Reads the records of a stream as its client does."""

    def __init__(self) -> None:
        self._protocol = ControlProtocol()

    @property
    def failure(self) -> str:
        """Why the stream cannot be read on, if it cannot."""
        return str(self._protocol.failure or "")

    @property
    def quiet(self) -> bool:
        """Whether a recording may begin here: no answer is due. Else a replay could not tell which line it is of."""
        return self._protocol.quiet

    def play(self, records: Sequence[Record]) -> Iterator[tuple[Record, list[Event]]]:
        """Each record, and what it completes. A sentinel, which says that the line before was typed, is among them."""
        following = pairwise([*(record.line for record in records if record.kind == SENT), b""])
        for record in records:
            if record.kind == RECEIVED:
                self._protocol.receive_data(record.line + b"\n")
            elif record.kind == SENT:
                self._send(*next(following))
            elif record.kind == ENDED:
                self._protocol.receive_eof()
            yield record, [*self._protocol.events_received()]
            if record.kind == ENDED and not self.failure:
                self._protocol = ControlProtocol()

    def _send(self, line: bytes, following: bytes) -> None:
        # An empty line is how a client detaches.
        if line and not _SENTINEL.fullmatch(line) and not self.failure:
            sentinel = _SENTINEL.fullmatch(following)
            self._protocol.send_command(typed_line(line, sentinel[1]) if sentinel else sent_line(line))
