"""StreamView: the lines of a control stream, in both directions, to what was seen, whoever sent them; and a filter.

It reads next to the client and with the same parser, so it shows a live connection, the library's own commands
included, and a recording in one way. Times are seconds on the clock of whoever feeds it.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, final

from muxwire.errors import InvalidArgument
from muxwire.ids import PaneId, pane_id
from muxwire.protocol.control import ControlProtocol
from muxwire.protocol.events import (
    CommandBlock,
    ConnectionLost,
    ExtendedOutput,
    LayoutChange,
    Output,
    StrayLine,
    UnknownNotification,
)
from muxwire.protocol.notifications import READERS
from muxwire.repl.tmux_parser import sent_command
from muxwire.testing.transcript import Ended, Received, Sent
from muxwire.vt.past import PaneSize
from muxwire.vt.ring import RingBuffer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from muxwire.protocol.commands import Command
    from muxwire.protocol.events import Event
    from muxwire.testing.transcript import Record

# A screen or two of each pane, for `:ring`; an instance's tabs have rings of their own, which are larger.
RING_BYTES = 64 * 1024
# The wire's last lines, for `:raw`.
KEPT_LINES = 500
# Round trips that the middle one is taken of.
KEPT_ROUND_TRIPS = 1000
# What a person means by "now", and a little more to compare it with.
KEPT_SECONDS = 10

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
OUR_KINDS = ("block", "hook", "stray", "lost")
KINDS = (*sorted(name.decode() for name in READERS), *OUR_KINDS)
_PANE = re.compile(r"%[0-9]+\Z")


@final
@dataclass(frozen=True, slots=True)
class Question:
    """A line that was sent: when, its command, and whether it was typed here."""

    time: float
    command: Command
    own: bool


@final
@dataclass(frozen=True, slots=True)
class Seen:
    """One event of the stream. `question` is what a block answers, `unanswered` how many lines wait after it.

    `skipped` counts the blocks with flags 0 (start-up, hooks) since the block before.
    """

    time: float
    kind: str
    pane: PaneId | None
    event: Event
    question: Question | None = None
    unanswered: int = 0
    skipped: int = 0

    @property
    def own(self) -> bool:
        return self.question is not None and self.question.own


@final
class Rate:
    """Counts amounts by the second in which they came, for the last KEPT_SECONDS; times are seconds of any clock."""

    __slots__ = ("_seconds", "total")

    def __init__(self) -> None:
        self.total = 0
        self._seconds: deque[tuple[int, int]] = deque(maxlen=KEPT_SECONDS + 1)

    def add(self, amount: int, now: float) -> None:
        self.total += amount
        second = int(now)
        if self._seconds and self._seconds[-1][0] == second:
            amount += self._seconds.pop()[1]
        self._seconds.append((second, amount))

    def per_second(self, now: float, seconds: int = KEPT_SECONDS) -> float:
        """The mean of the last whole `seconds` before this one."""
        this = int(now)
        return sum(amount for second, amount in self._seconds if this - seconds <= second < this) / seconds


@final
class StreamView:
    """What one control stream has said; `begin` is its time 0."""

    def __init__(self, begin: float = 0.0) -> None:
        self.begin = begin
        self.rings: dict[PaneId, RingBuffer] = {}
        self.sizes: defaultdict[str, list[PaneSize]] = defaultdict(list)
        self.wire: deque[tuple[float, Record]] = deque(maxlen=KEPT_LINES)
        self.received, self.output = Rate(), Rate()
        self.lines = self.sent_bytes = self.answered = self.hook_blocks = 0
        self.round_trips: deque[float] = deque(maxlen=KEPT_ROUND_TRIPS)
        self.last_block: Seen | None = None
        self.last_own: Seen | None = None
        self.ended = False
        self._protocol = ControlProtocol()
        self._questions: deque[Question] = deque()
        self._claimed: list[bytes] = []
        self._skipped = 0

    @property
    def unanswered(self) -> int:
        return self._protocol.unanswered

    @property
    def quiet(self) -> bool:
        return self._protocol.quiet

    @property
    def failure(self) -> str:
        return str(self._protocol.failure or "")

    def claim(self, line: bytes) -> None:
        """Say that this line, which is sent next, was typed here."""
        self._claimed.append(line)

    def take(self, records: Iterable[Record], now: float) -> list[Seen]:
        """Take lines as they were said, and return what they mean."""
        seen: list[Seen] = []
        held: list[bytes] = []
        for record in records:
            self.wire.append((now, record))
            match record:
                case Received(line):
                    held.append(line)
                case Sent(line):
                    seen += self._receive(held, now)
                    self._send(line, now)
                case Ended():
                    seen += self._receive(held, now)
                    self.ended = True
                    self._protocol.receive_eof()
                    seen += self._events(now)
        seen += self._receive(held, now)
        return seen

    def _send(self, line: bytes, now: float) -> None:
        self.sent_bytes += len(line) + 1
        made = sent_command(line)
        if made is None or self.ended or self._protocol.failure is not None:
            return  # an empty line, by which a client detaches
        own = line in self._claimed
        if own:
            self._claimed.remove(line)
        self._protocol.send_command(made)
        self._questions.append(Question(now, made, own))

    def _receive(self, held: list[bytes], now: float) -> list[Seen]:
        if not held:
            return []
        data = b"\n".join(held) + b"\n"
        self.lines += len(held)
        held.clear()
        self.received.add(len(data), now)
        self._protocol.receive_data(data)
        return list(self._events(now))

    def _events(self, now: float) -> Iterator[Seen]:
        for event in self._protocol.events_received():
            if isinstance(event, CommandBlock):
                yield self._block(event, now)
                continue
            pane = getattr(event, "pane", None)
            if isinstance(event, Output | ExtendedOutput):
                self.output.add(len(event.data), now)
                self.ring(event.pane).append(event.data)
            elif isinstance(event, LayoutChange):
                for name, size in event.sizes.items():
                    self.sizes[name].append(PaneSize(self.ring(pane_id(name)).end, *size))
            yield Seen(now, kind_of(event), pane, event)

    def ring(self, pane: PaneId) -> RingBuffer:
        """The last bytes of a pane that this stream carried."""
        if pane not in self.rings:
            self.rings[pane] = RingBuffer(RING_BYTES)
        return self.rings[pane]

    def _block(self, event: CommandBlock, now: float) -> Seen:
        if event.command is None:
            self.hook_blocks += 1
            self._skipped += 1
            return Seen(now, kind_of(event), None, event)
        question = self._questions[0]
        if event.last:
            self._questions.popleft()
            self.answered += 1
            self.round_trips.append(now - question.time)
        seen = Seen(now, kind_of(event), None, event, question, len(self._questions), self._skipped)
        self._skipped = 0
        self.last_block = seen
        if seen.own:
            self.last_own = seen
        return seen


def kind_of(event: Event) -> str:
    """The name by which an event is filtered: tmux's own without the `%`, or one of ours.

    Ours: `block` (an answer), `hook` (a block that nobody asked for), `stray` (a line outside), `lost` (the end).
    """
    match event:
        case CommandBlock():
            return "block" if event.command is not None else "hook"
        case UnknownNotification():
            return event.name.decode("ascii", "replace")
        case StrayLine():
            return "stray"
        case ConnectionLost():
            return "lost"
        case _:
            return _CAMEL.sub("-", type(event).__name__).lower()


@final
@dataclass(frozen=True, slots=True)
class Filter:
    """Show only these panes and kinds (none named: all), and never those that are hidden.

    Blocks that answer what was typed are always shown; those of the library's own commands are hidden at first.
    """

    panes: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset(("block",))

    def shows(self, seen: Seen) -> bool:
        if seen.own:
            return True
        pane = seen.pane or ""
        if seen.kind in self.hidden or pane in self.hidden:
            return False
        return (not self.panes or pane in self.panes) and (not self.kinds or seen.kind in self.kinds)

    def changed(self, words: Sequence[str]) -> Self:
        """The filter after these words: `%1` or `output` (only these), `-KIND`, `+KIND`, `all`; InvalidArgument."""
        panes: set[str] = set()
        kinds: set[str] = set()
        hidden = set(self.hidden)
        start = self
        for word in words:
            sign, name = (word[0], word[1:]) if word[:1] in ("-", "+") else ("", word)
            if name == "all" and not sign:
                start, hidden = replace(self, panes=frozenset(), kinds=frozenset()), set()
                continue
            checked(name)
            if sign == "-":
                hidden.add(name)
            else:
                hidden.discard(name)
                if not sign:
                    (panes if _PANE.match(name) else kinds).add(name)
        return replace(
            start,
            panes=frozenset(panes) or start.panes,
            kinds=frozenset(kinds) or start.kinds,
            hidden=frozenset(hidden),
        )

    def describe(self) -> str:
        only = " ".join(sorted(self.panes | self.kinds)) or "everything"
        return f"shown: {only}; hidden: {' '.join(sorted(self.hidden)) or 'nothing'}"


def checked(name: str) -> str:
    if _PANE.match(name) or name in KINDS:
        return name
    raise InvalidArgument(f"{name!r} is neither a pane nor a kind of notification", remedy=f"kinds: {', '.join(KINDS)}")
