"""Bells, titles and progress in a pane's output, whatever the chunks they arrive in.

A bell is every BEL that does not end an OSC. A title is what OSC 0 or 2 sets (xterm, "Operating System Commands").
Progress is OSC 9;4;STATE;PERCENT, which ConEmu introduced and Windows Terminal documents.
"""

from __future__ import annotations

import re
from typing import Literal, final

from muxwire.values import dataclass, pattern

# What begins a string, and what ends one of each kind; see vt/text.py for the state machine that this is a part of.
# To tmux any ESC ends an OSC, as ST does.
_BEGIN = pattern(rb"\x1b[\]PX^_k]")
_OSC_END = pattern(rb"[\x07\x18\x1a\x1b]")
_OTHER_END = pattern(rb"[\x18\x1a\x1b]")
# A chunk without a match holds no bell and no string. A chunk whose only sequences are colours costs one search.
_MAY_HOLD = re.compile(rb"\x07|\x1b[\]PX^_k]")
# An OSC of a private number that came whole, as every command's marks do: neither a bell nor a title.
_PRIVATE = re.compile(rb"\x1b\]7770;[^\x07\x1b\x18\x1a]*\x07")
# Many whole OSCs with text between them, or many whole marks, are taken in one step: a flood of them costs little.
_OSCS = pattern(rb"(?:\x1b\](?!7770;)[^\x07\x1b\x18\x1a]*(?:\x07|\x1b\\)[^\x07\x1b]*)+")
_MARKS = pattern(rb"(?:\x1b\]7770;[^\x07\x1b\x18\x1a]*\x07)+")
_TITLE = (b"0;", b"2;")
_PROGRESS = b"9;4;"
# A digit for the state and a number up to 100; an empty percent is 0.
_REPORT = pattern(rb"([0-4])(?:;([0-9]{0,3}))?\Z")
_STATES = "removed", "normal", "error", "indeterminate", "paused"
# A title bar has room for a line; of a longer title the beginning is enough.
TITLE_MAX = 512


@final
@dataclass(frozen=True, slots=True)
class Signal:
    """Bells, a title or progress; `end` is the offset after the last one, `first` that after the first of `count`.

    `text` is the title in bytes, which may be no UTF-8, or the progress as the program reported it.
    """

    kind: Literal["bell", "title", "progress"]
    end: int
    text: bytes = b""
    count: int = 1
    first: int = 0


@final
class BellScanner:
    """Finds bells and titles in a stream; `offset` is that of the next byte to be fed.

    Between two marks in a chunk all bells are one signal, and of titles and of progress only the last one is a signal:
    a program that rings 400,000 times costs what its bytes cost.
    """

    __slots__ = ("_collected", "_held", "_string", "offset")

    def __init__(self, start: int = 0) -> None:
        self.offset = start
        self._held = b""  # an ESC at the end of a chunk
        self._string = b""  # the byte that introduced the string we are in
        self._collected = b""  # what that string held so far, if it may be a title

    def feed(self, data: bytes) -> list[Signal]:
        if not (self._string or self._held or data.endswith(b"\x1b")) and _holds_none(data):
            self.offset += len(data)
            return []
        found = _Found(self.offset - len(self._held))
        held = self._held + data
        self.offset += len(data)
        self._held = b"\x1b" if held.endswith(b"\x1b") else b""
        self._scan(held, len(held) - len(self._held), found)
        return found.all()

    def _scan(self, held: bytes, end: int, found: _Found) -> None:
        at = 0
        while at < (len(held) if self._string else end):
            if self._string:
                at = self._in_string(held, at, found)
                continue
            begin = _BEGIN.search(held, at, end)
            stop = begin.start() if begin is not None else end
            found.bells(held, at, stop)
            if (oscs := _OSCS.match(held, stop, end)) is not None:
                found.titles(held, stop, oscs.end())
                at = oscs.end()
            elif (marks := _MARKS.match(held, stop, end)) is not None:
                found.mark()
                at = marks.end()
            else:
                self._string, self._collected = held[stop + 1 : stop + 2] if begin is not None else b"", b""
                at = stop + 2

    def _in_string(self, held: bytes, at: int, found: _Found) -> int:
        """Go on in a string, to its end or that of the chunk; return where it ended.

        An ESC at the end of the chunk ends it too, and is kept: the next byte says whether it begins another.
        """
        is_osc = self._string == b"]"
        over = (_OSC_END if is_osc else _OTHER_END).search(held, at)
        stop = over.start() if over is not None else len(held)
        if is_osc:
            self._collected += held[at : min(stop, at + TITLE_MAX + len(_TITLE[0]) - len(self._collected))]
        if over is None:
            return stop
        self._string = b""
        if is_osc and over[0] in (b"\x07", b"\x1b"):
            found.string(self._collected, over.end())
        return stop if over[0] == b"\x1b" else over.end()  # an ESC may begin the next one


@final
class _Found:
    """Collects the signals of a chunk whose first byte has the offset `base`."""

    def __init__(self, base: int) -> None:
        self._base = base
        self._before: list[Signal] = []  # before the last mark
        self._since: dict[str, Signal] = {}  # since it, in the order in which they began

    def all(self) -> list[Signal]:
        return [*self._before, *self._since.values()]

    def mark(self) -> None:
        self._before += self._since.values()
        self._since = {}

    def bells(self, held: bytes, begin: int, stop: int) -> None:
        """Count those of a piece in which no string begins."""
        if count := held.count(b"\x07", begin, stop):
            end = self._base + held.rfind(b"\x07", begin, stop) + 1
            known = self._since.get("bell")
            first = known.first if known is not None else self._base + held.find(b"\x07", begin, stop) + 1
            count += known.count if known is not None else 0
            self._since["bell"] = Signal("bell", end, b"", count, first)

    def titles(self, held: bytes, begin: int, stop: int) -> None:
        """Take the last title, and the last progress, of whole OSCs that are no marks, and of text between them."""
        for kinds in (_TITLE, (_PROGRESS,)):
            last = max(held.rfind(b"\x1b]" + kind, begin, stop) for kind in kinds)
            if last >= 0 and (over := _OSC_END.search(held, last + 2, stop)) is not None:
                self.string(held[last + 2 : over.start()], over.end())

    def string(self, text: bytes, end: int) -> None:
        """Take an OSC that has ended, or its beginning; it may belong to a mark."""
        if text.startswith(_TITLE):
            offset = self._base + end
            title = text[len(_TITLE[0]) : len(_TITLE[0]) + TITLE_MAX]
            self._since["title"] = Signal("title", offset, title, 1, offset)
        elif text.startswith(_PROGRESS):
            offset = self._base + end
            self._since["progress"] = Signal("progress", offset, text[len(_PROGRESS) :], 1, offset)
        elif text.startswith(b"7770;"):
            self.mark()


def progress(text: bytes) -> tuple[str, int | None] | None:
    """The state and the percentage that a progress report gives; None if `text` is not one.

    The percentage is None for `removed` and `indeterminate`, which have none.
    """
    found = _REPORT.match(text)
    if found is None:
        return None
    state = _STATES[int(found[1])]
    return state, None if state in ("removed", "indeterminate") else min(100, int(found[2] or 0))


def _holds_none(data: bytes) -> bool:
    # By memchr first: ten times the speed of the pattern, for output without any escape.
    if b"\x1b" not in data and b"\x07" not in data:
        return True
    return _MAY_HOLD.search(_PRIVATE.sub(b"", data)) is None
