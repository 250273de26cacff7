"""One pane's output as it arrives: ring buffer, log file and marks, all counted in the same absolute offsets."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Protocol, final

import anyio

from muxwire.shell.marks import JOIN_LENGTH, MarkScanner, is_join_mark, without_join_marks
from muxwire.shell.session_table import LineTaken, PromptBegan
from muxwire.vt.ring import RingBuffer
from muxwire.vt.screens import ScreenSwitches

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from muxwire.logs.store import PaneLog
    from muxwire.shell.marks import Mark
    from muxwire.shell.session_table import Fact

# What a pane keeps in memory: the output of nearly every command, so that a result needs no disk. 200 tabs: 200 MiB.
RING_CAPACITY = 1 << 20
# The smallest ring that can be set (MUXWIRE_RING_BYTES): the newest output that is read only in memory fits into it.
RING_MIN = 64 << 10
# What shows nothing: colours, and DECSET and DECRST of autowrap, of a blinking cursor and of the cursor (xterm's
# control sequences). prompt_toolkit writes that whenever it looks whether there is anything to draw.
_SHOWS_NOTHING = re.compile(rb"(?:\x1b\[(?:\?(?:7|12|25)[hl]|[0-9;]*m))+")
# What is not in memory any more is read in parts of this size, which go one by one as they are decoded.
PART = 1 << 18


class StreamObserver(Protocol):
    """What is informed of everything that a pane writes. It must not wait."""

    def on_output(self, begin: int, data: bytes) -> None:
        """Bytes came, from that offset on; what the marks in them say comes next."""

    def on_fact(self, fact: Fact, offset: int) -> None:
        """What a mark, or an action of muxwire, says of the shell; every mark before that offset was reported."""

    def on_reached(self, offset: int) -> None:
        """Every mark before that offset was reported; called at the end of what came."""


@final
class PaneStream:
    """Where the bytes of one pane go. `feed` is called by the client's reader and never waits.

    Memory and the marks have the bytes at once, for a caller who waits. The log, the switches of the screen and the
    listener get all that came since the event loop's last turn as one piece (`settle`): tmux sends the output of a
    short command in three.
    """

    def __init__(
        self,
        log: PaneLog,
        on_mark: Callable[[Mark, float, int], None],
        *,
        nonce: str = "",
        start: int = 0,
        capacity: int = RING_CAPACITY,
        owns: Callable[[str], bool] | None = None,
    ) -> None:
        """`on_mark` gets each mark, when it came, and `whole_from`.

        `nonce` is in the pane's own marks; `owns`: whether a mark with that id may be the pane's (None: any may).
        """
        self.nonce = nonce
        self.capacity = capacity  # of the ring, while the pane lives
        self.ring = RingBuffer(capacity, start=start)
        self._screens = ScreenSwitches(start)
        self._log = log
        # When a program last wrote what shows, and the offset after it; a new pane has not been silent yet.
        self.last_output, self._shown_end = time.monotonic(), start
        self.whole_from = 0  # the offset after what was lost last
        self.live_from = start  # the offset from which on output was read as it came, and not from what tmux kept
        self.rejoining = False  # whether what was written while no process was attached is still being read
        self.listener: StreamObserver | None = None
        self._owns = owns
        self._scanner = MarkScanner(start, owns)
        self._on_mark = on_mark
        self._changed: anyio.Event | None = None
        self._reached = start  # every mark before that offset was reported
        # Has `settle` called in the event loop's next turn; at once until it is set.
        self.later: Callable[[Callable[[], None]], None] = lambda call: call()
        self._unsettled: list[bytes] = []  # what came since `settle`, in order
        self._due = False  # whether `settle` will be called
        self._facts: list[tuple[Fact, int]] = []  # the same of what happened, each with the offset before it

    @property
    def end(self) -> int:
        return self.ring.end

    @property
    def log(self) -> PaneLog:
        """The log, with all that came."""
        self.settle()
        return self._log

    @property
    def screens(self) -> ScreenSwitches:
        """The switches of the screen in all that came."""
        self.settle()
        return self._screens

    @property
    def written_end(self) -> int:
        """The offset after what a program wrote last: marks R at the end are no program's output."""
        end = self.ring.end
        while is_join_mark(self.ring.read(end - JOIN_LENGTH, end), self.nonce):
            end -= JOIN_LENGTH
        return end

    @property
    def shown_end(self) -> int:
        """The offset after what a program wrote last that shows."""
        return min(self._shown_end, self.written_end)

    def written(self, begin: int) -> bytes:
        """What programs have written from that offset on, as far as it is in memory: without marks R."""
        return without_join_marks(self.ring.read(begin, self.ring.end), self.nonce)

    def holds(self, offset: int) -> bool:
        """Whether what came from that offset on is in memory; what was written before we came to this pane is not."""
        return offset >= self.ring.start

    @property
    def settled(self) -> int:
        """The offset up to which no byte may still turn out to be part of a mark."""
        return self._scanner.pending

    def feed(self, data: bytes) -> None:
        now = time.monotonic()
        self.ring.append(data)
        end = self.ring.end
        self._unsettled.append(data)
        for mark in self._scanner.feed(data):
            self._reached = mark.begin
            self._on_mark(mark, now, self.whole_from)
        self._reached = end
        if not (is_join_mark(data, self.nonce) or _SHOWS_NOTHING.fullmatch(data)):
            self.last_output, self._shown_end = now, end
        if not self._due:
            self._due = True
            self.later(self.settle)
        self.wake()

    def goes_live(self, data: bytes) -> None:
        """All that was written while no process was attached was read, up to this; what comes next is live."""
        self.settle()
        self.rejoining = False
        self.feed(data)
        self.live_from = self.end

    def tell(self, fact: Fact) -> None:
        """Report a fact about the shell to the listener."""
        self._facts.append((fact, self._reached))
        if not self._due:
            self._due = True
            self.later(self.settle)
        if isinstance(fact, LineTaken) and not fact.ours:  # by the time of its call the listener judges who typed it
            self.settle()

    def settle(self) -> None:
        """Hand on all that came and happened, now."""
        if not self._due:
            return
        self._due = False
        if self._unsettled:
            data, self._unsettled = b"".join(self._unsettled), []
            begin = self.ring.end - len(data)
            self._log.append(data)
            self._screens.feed(begin, data)
            if self.listener is not None:
                self.listener.on_output(begin, data)
        facts, self._facts = self._facts, []
        for fact, offset in facts:
            if isinstance(fact, PromptBegan):
                self._screens.left(fact.end)
            if self.listener is not None:
                self.listener.on_fact(fact, offset)
        if self.listener is not None:
            self.listener.on_reached(self._reached)

    def lose(self, size: int, **details: object) -> None:
        """What the pane wrote next is lost: continue after a hole of that size, whose record says why."""
        self.settle()
        self._log.lose(size, **details)
        # Nothing before the hole is joined to what comes after it: not a mark, not a screen.
        self.ring = RingBuffer(self.capacity, start=self.ring.end + size)
        self._scanner = MarkScanner(self.ring.end, self._owns)
        self._screens.lose()
        self.whole_from = self._shown_end = self.ring.end
        self.wake()

    def close(self, *, ended: bool = False) -> None:
        """Nothing more will come, to this process or, with `ended`, to any: what is in memory goes, the log has it."""
        self.settle()
        self._log.close(ended=ended)
        self.ring = RingBuffer(1, start=self.ring.end)

    def wake(self) -> None:
        """Wake each wait in `changed`: bytes came, or the pane's state has changed."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    async def changed(self) -> None:
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()

    async def until(self, holds: Callable[[], bool], seconds: float, *, look: float | None = None) -> bool:
        """Wait, for so long at most, until it holds; return whether it does.

        Only a change may bring that about, unless it is looked for again every `look` seconds.
        """
        with anyio.move_on_after(seconds):
            while not holds():
                await (self.changed() if look is None else self.changed_within(look))
            return True
        return holds()

    async def changed_within(self, seconds: float) -> bool:
        """As `changed`, but return after that many seconds in any case; whether something has changed."""
        with anyio.move_on_after(seconds) as still:
            await self.changed()
        return not still.cancelled_caught

    async def read(self, begin: int, end: int) -> tuple[bytes, int]:
        """Return the bytes from `begin` to `end`, and how many at the front no store holds any more.

        The ring answers where it reaches back; what it gave up comes from the log.
        """
        if self.holds(begin):
            return self.ring.read(begin, end), 0
        older_end = min(end, self.ring.start)
        newer = self.ring.read(older_end, end)  # before the await: the ring moves on while the log is read
        older = await self.log.read(begin, older_end)
        return older + newer, (older_end - begin) - len(older)

    async def parts(self, begin: int, end: int) -> AsyncIterator[tuple[bytes, int]]:
        """The same as `read`, in parts: one, if all of it is in memory."""
        if self.holds(begin):
            yield self.ring.read(begin, end), 0
            return
        for first in range(begin, end, PART):
            yield await self.read(first, min(end, first + PART))
