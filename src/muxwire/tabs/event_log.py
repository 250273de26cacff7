"""What happened in the tabs, in order: a bounded log with a cursor, and a wait for its next entry.

| kind | details | known from |
|---|---|---|
| `tab_opened` | name, session | a call, or tmux's notification |
| `tab_closed` | reason | the same |
| `tab_renamed` | name | the same |
| `command_started` | by; command, command_id and from_byte if muxwire ran it, line if it was typed | `S`, or `C` |
| `command_finished` | by, exit_code; command_id, ending and next_byte if muxwire ran it | the mark `E`, or `P` |
| `prompt` | cwd, next_byte | the mark `P` |
| `output` | from_byte, next_byte; only if `kinds` names it | the bytes |
| `bell` | count, next_byte | the bytes |
| `title` | title | the bytes |
| `progress` | progress: `normal`, `error`, `paused`, with percent; `indeterminate`, `removed` | the bytes (OSC 9;4) |
| `exited` | exit_code | the mark `X` |
| `client_attached` | client, session | `%client-session-changed` |
| `human_input` | how: `line` or `keys`; command_id of what ran then | the mark `C`, tmux's `session_activity` |
| `link` | host; link: `reconnecting` or `up` | the connection to another machine |

`by` is `execute`, `keys` (`send_keys`) or `person`, who may be a program that types by tmux. `line` is the row of the
screen on which it was entered, with its prompt.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, final, get_args

import anyio

from muxwire.errors import InvalidArgument
from muxwire.values import FLAT
from muxwire.verbs.types import EventKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

KINDS: tuple[EventKind, ...] = get_args(EventKind)
# Output is nearly always there, and would hide what is rare: it is reported to those who ask for it by name.
USUAL_KINDS: frozenset[EventKind] = frozenset(KINDS) - {"output"}
# Four events a command: the last 2,500 commands. About 4 MB when it is full.
CAPACITY = 10_000
# What one answer holds when the caller names no number: a page that a model reads.
DEFAULT_LIMIT = 100

Detail: TypeAlias = str | int | None


@final
@dataclass(frozen=True, slots=True)
class TabEvent:
    """One event. `sequence` counts all events of the instance from 1; `time` is the wall clock in Unix seconds.

    `window_id` is what the tab is called by (`%N` for a further pane of a window), "" for what belongs to no tab.
    `details` depend on `kind`: the reference lists them, under "Events".
    """

    sequence: int
    time: float
    kind: EventKind
    window_id: str
    details: Mapping[str, Detail] = field(metadata=FLAT)


@final
@dataclass(frozen=True, slots=True)
class EventBatch:
    """What `watch_events` returns: `next` is the cursor for the next call.

    `dropped`: how many events after the given cursor, of whatever kind, the bounded log had given up.
    """

    events: tuple[TabEvent, ...]
    next: int
    dropped: int = 0


@final
@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a caller wants; no `windows` means all of them."""

    windows: frozenset[str]
    kinds: frozenset[EventKind]

    @classmethod
    def checked(cls, windows: Collection[str], kinds: Collection[str]) -> EventFilter:
        """Return the filter; InvalidArgument for a kind that does not exist."""
        if unknown := sorted(set(kinds).difference(KINDS)):
            raise InvalidArgument(
                f"unknown kind of event: {', '.join(unknown)}", remedy=f"use some of {', '.join(KINDS)}"
            )
        return cls(frozenset(windows), frozenset(KINDS).intersection(kinds) or USUAL_KINDS)

    def wants(self, kind: EventKind, window: str) -> bool:
        """Whether such an event is wanted. One that belongs to no tab concerns every tab."""
        return kind in self.kinds and (not self.windows or not window or window in self.windows)


# Sequence, time, kind, window and details. The details may still grow: output that continues is one event until
# it was read. A tuple, because Python looks through ten thousand objects of a class for garbage, and not through these.
_Entry: TypeAlias = tuple[int, float, EventKind, str, dict[str, Detail]]
_SEQUENCE: Final = 0
_DETAILS: Final = 4


@final
class EventLog:
    """The last events of one instance. Recording never waits; what no longer fits is dropped from the front."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._entries: deque[_Entry] = deque(maxlen=capacity)
        self._end = 0
        self._growing: dict[str, dict[EventKind, _Entry]] = {}  # by window
        self._waiters: dict[anyio.Event, EventFilter] = {}  # what is set when an event comes that is wanted
        self.sources: list[Callable[[], None]] = []  # calls after which all that has happened is recorded

    def catch_up(self) -> None:
        """Record all that has happened by now."""
        for record in self.sources:
            record()

    @property
    def end(self) -> int:
        """The cursor after the newest event: a caller that continues from it gets only what happens from now on."""
        self.catch_up()
        self._growing.clear()
        return self._end

    def record(self, kind: EventKind, window_id: str, **details: Detail) -> None:
        """Something happened."""
        self._growing.pop(window_id, None)
        self._append(kind, window_id, details)

    def output(self, window_id: str, begin: int, end: int) -> None:
        """Bytes came. They add to the last `output` event of the tab until that was read, or `record` was called."""
        self._growing_details("output", window_id, from_byte=begin)["next_byte"] = end

    def bell(self, window_id: str, next_byte: int, count: int = 1) -> None:
        """`count` bells rang. They add to the last `bell` event as bytes do to an `output` event."""
        details = self._growing_details("bell", window_id, count=0)
        details |= {"count": int(details["count"] or 0) + count, "next_byte": next_byte}

    def title(self, window_id: str, title: str) -> None:
        """The title changed; of titles that were not read only the last one counts."""
        self._growing_details("title", window_id)["title"] = title

    def progress(self, window_id: str, state: str, percent: int | None) -> None:
        """A program reported how far it is; of reports that were not read only the last one counts."""
        details = self._growing_details("progress", window_id)
        details.clear()
        details |= {"progress": state} | ({} if percent is None else {"percent": percent})

    def _growing_details(self, kind: EventKind, window: str, **first: Detail) -> dict[str, Detail]:
        """The details of the event of that kind that may still grow, or of a new event that begins with `first`."""
        growing = self._growing.setdefault(window, {})
        entry = growing.get(kind)
        if entry is None or entry[_SEQUENCE] <= self._end - len(self._entries):  # a dropped one must not grow unseen
            entry = growing[kind] = self._append(kind, window, first)
        return entry[_DETAILS]

    def _append(self, kind: EventKind, window: str, details: dict[str, Detail]) -> _Entry:
        self._end += 1
        entry = (self._end, time.time(), kind, window, details)
        self._entries.append(entry)
        for woken, wanted in self._waiters.items():
            if wanted.wants(kind, window):
                woken.set()
        return entry

    def since(self, cursor: int, wanted: EventFilter, limit: int) -> EventBatch:
        """The first `limit` events after a cursor that are wanted; InvalidArgument for one that was not reached."""
        self.catch_up()
        if not 0 <= cursor <= self._end:
            raise InvalidArgument(
                f"since is {cursor}; the events have the numbers 0 to {self._end}",
                remedy="use next of an earlier answer of this server, or 0 for all that is remembered",
            )
        first = self._end - len(self._entries)  # the cursor before the oldest entry
        found: list[TabEvent] = []
        reached = max(cursor, first)
        for sequence, when, kind, window, details in islice(self._entries, reached - first, None):
            if wanted.wants(kind, window):
                if len(found) == limit:
                    break
                found.append(TabEvent(sequence, when, kind, window, dict(details)))
            reached = sequence
        self._growing.clear()
        return EventBatch(tuple(found), reached, max(0, first - cursor))

    async def wait(self, cursor: int, wanted: EventFilter, limit: int = DEFAULT_LIMIT) -> EventBatch:
        """As `since`, but wait until there is a wanted event. Only such an event wakes it."""
        while not (batch := self.since(cursor, wanted, limit)).events:
            woken = anyio.Event()
            self._waiters[woken] = wanted
            try:
                await woken.wait()
            finally:
                del self._waiters[woken]
        return batch


async def watch(log: EventLog, wanted: EventFilter, *, since: int | None, limit: int, timeout: float) -> EventBatch:
    """Return the events after `since` (None: from now on), as soon as there is one; InvalidArgument."""
    cursor = log.end if since is None else since
    with anyio.move_on_after(timeout):
        return await log.wait(cursor, wanted, limit)
    return log.since(cursor, wanted, limit)
