"""What the prompt works on: the connection or the recording, and what is shown of the stream as it arrives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import InvalidArgument
from muxwire.protocol.events import ExtendedOutput, Output
from muxwire.repl.showing import Shower, failure, note, plain
from muxwire.repl.view import Filter, StreamView
from muxwire.testing.transcript import Received
from muxwire.testing.transports import RecordingTransport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from anyio.abc import TaskGroup

    from muxwire.client.transport import Transport
    from muxwire.errors import MuxwireError
    from muxwire.protocol.commands import Command
    from muxwire.protocol.events import Event
    from muxwire.repl.live import Live
    from muxwire.repl.writers import Printer, Recorder
    from muxwire.testing.transcript import Record, Transcript

# The beginnings of the names of notifications after which tmux has to be asked for its windows and panes again.
_STRUCTURE = ("window-add", "window-close", "unlinked-window-", "sessions-changed", "layout-change", "window-renamed")


async def yes() -> bool:
    """Agree without asking."""
    return True


@final
@dataclass(slots=True)
class Recording:
    """A transcript that is shown in place of a connection."""

    path: str
    transcript: Transcript


@final
@dataclass(slots=True)
class Session:
    """What the prompt works on. `live` is None for a recording; `shows_raw` while the connection's lines are shown."""

    printer: Printer
    tasks: TaskGroup
    live: Live | None = None
    recording: Recording | None = None
    view: StreamView = field(default_factory=StreamView)
    shower: Shower = field(default_factory=Shower)
    filter: Filter = field(default_factory=Filter)
    recorder: Recorder | None = None
    shows_raw: bool = False
    failure: str = ""  # why the recording that was played cannot be read to its end
    over: bool = False
    # Asks the person a question that is answered by yes or no. Without a person (a script) the answer is yes.
    confirm: Callable[[str], Awaitable[bool]] = field(default=lambda _: yes())

    # -- the stream

    def wrap(self, transport: Transport) -> Transport:
        """Return the transport of a new connection, wrapped so that its stream is shown here.

        A person's server has a connection for each session: only the first of them is shown, and wrapped.
        """
        if self.view.wire and not self.view.ended:
            return transport
        self._begin()
        return RecordingTransport(transport, listen=self.hear, observer=self)

    def _begin(self) -> None:
        now = anyio.current_time()
        self.view, self.shower = StreamView(now), Shower(begin=now)

    def _go_on(self) -> None:
        """Begin anew if the connection has ended: the client has found its server again, over the same transport."""
        if self.view.ended:
            self._begin()

    def hear(self, records: Sequence[Record]) -> None:
        """Take lines that were just sent or received. Called by the reader of the connection: this must not wait."""
        self._go_on()
        if self.recorder is not None:
            # The client has not read these lines yet: so `quiet` is what was true before them.
            quiet = self.live is not None and self.live.quiet and isinstance(records[-1], Received)
            self.recorder.take(records, quiet=quiet)
        self.show_wire(records, anyio.current_time(), self.view, self.shower)

    def on_sent(self, command: Command) -> None:
        """Take a command that the client sends, which may be written only once tmux has said that it attached."""
        self._go_on()
        self.view.sent(command, anyio.current_time())

    def on_event(self, event: Event) -> None:
        """Take an event that the client has read from the stream."""
        self.show(event, anyio.current_time(), self.view, self.shower)

    def show_wire(self, records: Sequence[Record], now: float, view: StreamView, shower: Shower) -> None:
        if self.shows_raw:
            self.printer.offer([line for line in map(shower.raw, records) if line is not None])
        view.heard(records, now)

    def show(self, event: Event, now: float, view: StreamView, shower: Shower) -> None:
        seen = view.received(event, now)
        if seen is None:
            return
        if self.live is not None and seen.kind.startswith(_STRUCTURE):
            self.live.stale_targets = True
        if seen.own:
            self.printer.put(shower.lines(seen))
        elif self.filter.shows(seen) and not (self.shows_raw and isinstance(seen.event, Output | ExtendedOutput)):
            lines = shower.lines(seen)
            if self.filter.matches(map(plain, lines)):
                self.printer.offer(lines)

    def connection(self) -> Live:
        if self.live is None:
            raise InvalidArgument(
                "this is a recording, to which nothing can be sent", remedy="start `muxwire repl` without --replay"
            )
        return self.live

    def fail(self, error: MuxwireError) -> None:
        self.printer.put(failure(str(error), error.remedy))

    def say(self, *texts: str) -> None:
        self.printer.put([note(text) for text in texts])
