"""Bells, titles and progress in a pane's output, whatever the chunks they arrive in.

A bell is every BEL that does not end an OSC. A title is what OSC 0 or 2 sets (xterm, "Operating System Commands").
Progress is OSC 9;4;STATE;PERCENT, which ConEmu introduced and Windows Terminal documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, final

from muxwire.vt.text import WholeSequences

# A string, of which an OSC has a text, if BEL or ESC ended it and not CAN or SUB. To tmux any ESC ends one, as ST does.
_STRING = re.compile(rb"\x1b(?:\]([^\x07\x18\x1a\x1b]*+)(?:\x07|(?=\x1b|\Z))|[\]PX^_k][^\x18\x1a\x1b]*)")
_BEGIN = re.compile(rb"\x1b(?:[\]PX^_k]|\Z)")
# As every command prints some: neither bells nor titles.
_MARK = re.compile(rb"\x1b\]7770;[^\x07\x1b\x18\x1a]*\x07")
_TITLE = (b"0;", b"2;")
_PROGRESS = b"9;4;"
# A digit for the state and a number up to 100; an empty percent is 0.
_REPORT = re.compile(rb"([0-4])(?:;([0-9]{0,3}))?\Z")
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

    __slots__ = ("_sequences", "offset")

    def __init__(self, start: int = 0) -> None:
        self.offset = start
        self._sequences = WholeSequences()

    def feed(self, data: bytes) -> list[Signal]:
        self.offset += len(data)
        if not self._sequences.held and _holds_none(data):
            return []
        whole = self._sequences.feed(data)
        found = _Found(self.offset - self._sequences.held_back - len(whole))
        at = 0
        for string in _STRING.finditer(whole):
            found.bells(whole, at, string.start())
            at = string.end()
            if string[1] is not None:  # the ESC of an end by ESC is not in it
                found.string(string[1], at + (whole[at - 1] != 0x07))
        found.bells(whole, at, len(whole))
        return found.all()


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

    def string(self, text: bytes, end: int) -> None:
        """Take an OSC that has ended, or its beginning; it may belong to a mark."""
        offset = self._base + end
        if text.startswith(_TITLE):
            self._since["title"] = Signal("title", offset, text[len(_TITLE[0]) :][:TITLE_MAX], 1, offset)
        elif text.startswith(_PROGRESS):
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
    """Whether there is no bell and nothing that may be a title, as in most chunks: found out in a microsecond."""
    rest = _MARK.sub(b"", data) if b"\x1b" in data else data
    return b"\x07" not in rest and (b"\x1b" not in rest or _BEGIN.search(rest) is None)
