"""StreamView: what was seen of a control stream, in both directions; and a filter.

It is told what the client of a live connection sends and hears, the library's own commands included, or what a `Player`
reads in a recording. Times are seconds on the clock of what feeds it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict, deque
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, Self, final

from muxwire.errors import InvalidArgument
from muxwire.ids import PaneId, pane_id
from muxwire.logs.sizes import PaneSize, is_sure
from muxwire.protocol.commands import ASKS_SENTINEL, sent_line, typed_line
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
from muxwire.testing.transcript import Ended, Received, Sent
from muxwire.vt.ring import RingBuffer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muxwire.protocol.commands import Command
    from muxwire.protocol.events import Event
    from muxwire.testing.transcript import Record

# A screen or two of each pane, for `:ring`; an instance's tabs have rings of their own, which are larger.
RING_BYTES = 64 * 1024
# The wire's last lines, for `:raw`.
KEPT_LINES = 500
# The newest round trips, of which `:stats` shows the median.
KEPT_ROUND_TRIPS = 1000
# Seconds of which `:stats` shows the mean rate, to compare that of the last second with.
KEPT_SECONDS = 10

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
OUR_KINDS = ("block", "hook", "stray", "lost")
KINDS = (*sorted(name.decode() for name in READERS), *OUR_KINDS)
_PANE = re.compile(r"%[0-9]+\Z")
_SENTINEL = re.compile(re.escape(ASKS_SENTINEL) + rb"(muxwire-[0-9a-f]{16})")
# What makes a word of `:filter` a pattern.
_WILD = re.compile(r"[*?\[]")


@final
@dataclass(frozen=True, slots=True)
class Question:
    """A line that was sent: when, and its command."""

    time: float
    command: Command

    @property
    def own(self) -> bool:
        """Whether it was typed at the prompt of the REPL: only such a line has a sentinel."""
        return bool(self.command.sentinel)

    @property
    def line(self) -> bytes:
        """The line without its sentinel."""
        return self.command.line.partition(b"\n")[0]


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
    """What one control stream has said; `begin` is its time 0.

    `heard` takes the lines as they are on the wire. `sent` and `received` take what they mean, from the client of a
    live connection or from a `Player`.
    """

    def __init__(self, begin: float = 0.0) -> None:
        self.begin = begin
        self.rings: dict[PaneId, RingBuffer] = {}
        self.sizes: defaultdict[str, list[PaneSize]] = defaultdict(list)
        self.wire: deque[tuple[float, Record]] = deque(maxlen=KEPT_LINES)
        self.bytes_received, self.output = Rate(), Rate()
        self.lines = self.sent_bytes = self.answered = self.hook_blocks = 0
        self.round_trips: deque[float] = deque(maxlen=KEPT_ROUND_TRIPS)
        self.last_block: Seen | None = None
        self.last_own: Seen | None = None
        self.ended = False
        self._written: dict[PaneId, float] = {}  # since tmux answered last
        self._questions: deque[Question] = deque()
        self._skipped = 0

    @property
    def unanswered(self) -> int:
        return len(self._questions)

    def heard(self, records: Iterable[Record], now: float) -> None:
        """Take lines as they were said."""
        for record in records:
            self.wire.append((now, record))
            match record:
                case Received(line):
                    self.lines += 1
                    self.bytes_received.add(len(line) + 1, now)
                case Sent(line):
                    self.sent_bytes += len(line) + 1
                case Ended():
                    self.ended = True

    def sent(self, command: Command, now: float) -> None:
        """Take a command that was sent: the first blocks that answer no earlier line answer it."""
        self._questions.append(Question(now, command))

    def received(self, event: Event, now: float) -> Seen | None:
        """Take one event, and return what is shown of it.

        None for the answer to a sentinel, and for a lost connection that was never made: to a person's server muxwire
        connects only when a call needs it.
        """
        if isinstance(event, ConnectionLost) and not (self.lines or self.sent_bytes):
            return None
        if isinstance(event, CommandBlock):
            if event.command is not None:
                self._written.clear()
            return self._block(event, now)
        if isinstance(event, Output | ExtendedOutput):
            self.output.add(len(event.data), now)
            self._written[event.pane] = now
            self.ring(event.pane).append(event.data)
        elif isinstance(event, LayoutChange):
            for name, size in event.sizes.items():
                pane = pane_id(name)
                sure = is_sure(now, self._written.get(pane, -math.inf), -math.inf)
                self.sizes[name].append(PaneSize(self.ring(pane).end, *size, sure=sure))
        return Seen(now, kind_of(event), getattr(event, "pane", None), event)

    def ring(self, pane: PaneId) -> RingBuffer:
        """The last bytes of a pane that this stream carried."""
        if pane not in self.rings:
            self.rings[pane] = RingBuffer(RING_BYTES)
        return self.rings[pane]

    def _block(self, event: CommandBlock, now: float) -> Seen | None:
        if event.command is None:
            self.hook_blocks += 1
            self._skipped += 1
            return Seen(now, kind_of(event), None, event)
        # A view that began in the middle has not seen the line.
        question = self._questions[0] if self._questions else Question(now, event.command)
        if event.last and self._questions:
            self._questions.popleft()
            self.answered += 1
            self.round_trips.append(now - question.time)
        if event.last and question.own:
            return None
        # The sentinel of a typed line is in the queue too, and is not counted.
        waiting = len(self._questions) - question.own
        seen = Seen(now, kind_of(event), None, event, question, waiting, self._skipped)
        self._skipped = 0
        self.last_block = seen
        if seen.own:
            self.last_own = seen
        return seen


@final
class Player:
    """Reads the records of a transcript as the client read the stream when it was recorded."""

    def __init__(self, records: Sequence[Record]) -> None:
        """`records`: all of the transcript, which are then given one by one to `take`."""
        self._protocol = ControlProtocol()
        sent = [record.line for record in records if isinstance(record, Sent)]
        # What follows each line: a sentinel says that the line before was typed.
        self._sent = deque(pairwise([*sent, b""]))
        self._ended = False

    @property
    def failure(self) -> str:
        """Why the stream cannot be read on, if it cannot."""
        return str(self._protocol.failure or "")

    def take(self, record: Record) -> list[Event | Command]:
        """What one record means: the command that was sent, or the events that it completes."""
        match record:
            case Received(line):
                self._protocol.receive_data(line + b"\n")
                return [*self._protocol.events_received()]
            case Ended():
                self._ended = True
                self._protocol.receive_eof()
                return [*self._protocol.events_received()]
            case Sent():
                line, following = self._sent.popleft()
                # An empty line is how a client detaches.
                if line and not _SENTINEL.fullmatch(line) and not self._ended and not self.failure:
                    made = sent_line(line)
                    if found := _SENTINEL.fullmatch(following):
                        made = typed_line(line, found[1])
                    self._protocol.send_command(made)
                    return [made]
        return []


def kind_of(event: Event) -> str:
    """The name by which an event is filtered: tmux's own without the `%`, or one of four that muxwire adds.

    Added: `block` (an answer), `hook` (a block that no line asked for), `stray` (a line outside of blocks), and `lost`
    (the end).
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
    `patterns` are globs, as in `#{m:}` of tmux: one of them must be in the text that is shown, and none of those that
    are hidden.
    """

    panes: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset(("block",))
    patterns: frozenset[str] = frozenset()

    def shows(self, seen: Seen) -> bool:
        if seen.own:
            return True
        pane = seen.pane or ""
        if seen.kind in self.hidden or pane in self.hidden:
            return False
        return (not self.panes or pane in self.panes) and (not self.kinds or seen.kind in self.kinds)

    def matches(self, lines: Iterable[str]) -> bool:
        """Whether one of the patterns, if there are any, is in the lines that would be shown, and no hidden one is."""
        texts = [*lines]
        hidden = [word for word in self.hidden if _WILD.search(word)]
        return (not self.patterns or _one_in(self.patterns, texts)) and not _one_in(hidden, texts)

    def changed(self, words: Sequence[str]) -> Self:
        """The filter after these words; InvalidArgument.

        `%1`, `output` or a pattern (only these), `-KIND`, `+KIND` (kinds, panes and patterns), `all`.
        """
        panes: set[str] = set()
        kinds: set[str] = set()
        patterns: set[str] = set()
        hidden = set(self.hidden)
        start = self
        for word in words:
            sign, name = (word[0], word[1:]) if word[:1] in ("-", "+") else ("", word)
            if name == "all" and not sign:
                start, hidden = type(self)(), set()
                continue
            wild = bool(_WILD.search(name))
            if not wild:
                checked(name)
            if sign == "-":
                hidden.add(name)
            else:
                hidden.discard(name)
                if not sign:
                    (patterns if wild else panes if _PANE.match(name) else kinds).add(name)
        return replace(
            start,
            panes=frozenset(panes) or start.panes,
            kinds=frozenset(kinds) or start.kinds,
            hidden=frozenset(hidden),
            patterns=frozenset(patterns) or start.patterns,
        )

    def describe(self) -> str:
        only = " ".join(sorted(self.panes | self.kinds | self.patterns)) or "everything"
        return f"shown: {only}; hidden: {' '.join(sorted(self.hidden)) or 'nothing'}"


def _one_in(patterns: Iterable[str], lines: Sequence[str]) -> bool:
    globs = [f"*{pattern}*" for pattern in patterns]
    return any(fnmatchcase(line, glob) for line in lines for glob in globs)


def checked(name: str) -> str:
    if _PANE.match(name) or name in KINDS:
        return name
    raise InvalidArgument(
        f"{name!r} is neither a pane nor a kind of notification",
        remedy=f"kinds: {', '.join(KINDS)}; or a pattern with *",
    )
