"""Our own typed lines in a pane's output: as they were typed, and as a shell's line editor may have drawn them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import final

# Between two characters of a line an editor may move the cursor, set a colour, or break the line at the right edge.
# Seen: readline and zsh write a blank and CR at the edge, ksh a blank and BS after `$`, fish a CSI and SI.
_DRAWING_MAX = 4
_DRAWING_LENGTH = 2 + 16 + 1
_DRAWING = rb"(?:\x1b\[[\x20-\x3f]{0,16}[\x40-\x7e]|[\r\n\x08\x0f]| (?=[\r\x08])){0,%d}" % _DRAWING_MAX
_NOTHING = rb"(?!)"
_DRAWING_BEGUN = rb"(?: |\x1b(?:\[[\x20-\x3f]{0,16})?)?"
# To compile the patterns of all lines takes 35 ms, and short processes read logs. So a line has its whole pattern once
# text has its first bytes, which other text seldom has.
_HEAD_LENGTH = 4
# No line and no drawing goes across the end of a mark.
_MARK_END = b"\x07"
# A pattern for each set of lines that text may have at once: there are four lines.
_PATTERNS = 64


@final
@dataclass(frozen=True, slots=True)
class TypedLines:
    """A shell's typed lines; `longest` is the longest that one can be, however drawn. Made by `typed_lines_of`."""

    exact: tuple[bytes, ...]
    longest: int

    def all(self, data: bytes) -> list[tuple[int, int]]:
        """Return the range of every line as it was typed."""
        found = []
        for line in self.exact:
            begin = data.find(line)
            while begin >= 0:
                found.append((begin, begin + len(line)))
                begin = data.find(line, begin + 1)
        return found

    def last_drawn(self, data: bytes, first: int, last: int) -> tuple[int, int] | None:
        """Return the range of the last line, however drawn, between two indexes."""
        # Most are drawn as they were typed. Then no whole pattern is needed, if no other line may begin there or later.
        at, typed = max(((data.rfind(line, first, last), line) for line in self.exact), default=(-1, b""))
        found = (at, at + len(typed)) if at >= 0 else None
        first = max(first, at)
        if found and not any(
            heads.search(data, first + own, last) for own, heads in enumerate(_heads(self.exact, typed))
        ):
            return found
        others = {
            line for line in self.exact if _has_head(line, data, first + (found is not None and line == typed), last)
        }
        if not others:
            return found
        lines = tuple(line for line in self.exact if line in others or (found and line == typed))
        while match := _drawn(lines).search(data, first, last):
            found = match.span()
            first = match.start() + 1
        return found

    def begun(self, data: bytes) -> int:
        """Return the index from which the end of `data` may be the beginning of a line, however drawn; else its end."""
        first = max(0, len(data) - self.longest, data.rfind(_MARK_END) + 1)
        # If the head of a line is not there, less than the head of that line can stand at the end.
        lines = tuple(line if _has_head(line, data, first, len(data)) else line[:_HEAD_LENGTH] for line in self.exact)
        match = _begun(lines).search(data, first)
        return match.start() if match else len(data)


@lru_cache(maxsize=8)
def typed_lines_of(lines: tuple[bytes, ...]) -> TypedLines:
    """Return the patterns for these lines."""
    exact = tuple(sorted({line for line in lines if line}, key=lambda line: (-len(line), line)))
    return TypedLines(exact, max(map(len, exact), default=0) * (1 + _DRAWING_MAX * _DRAWING_LENGTH))


def _has_head(line: bytes, data: bytes, first: int, last: int) -> bool:
    """Whether the line may be drawn between two indexes: its first bytes are."""
    head = line[:_HEAD_LENGTH]
    if any(data.find(byte, first, last) < 0 for byte in head):
        return False
    return _drawn((head,)).search(data, first, last) is not None


@lru_cache(_PATTERNS)
def _drawn(lines: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Return a pattern for any of these lines, the first that fits, however drawn."""
    return re.compile(b"|".join(_DRAWING.join(re.escape(bytes((byte,))) for byte in line) for line in lines), re.DOTALL)


@lru_cache(_PATTERNS)
def _heads(lines: tuple[bytes, ...], typed: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return a pattern for the heads of all lines but one, however drawn, and one for the head of that one."""
    others = tuple(line[:_HEAD_LENGTH] for line in lines if line != typed)
    return _drawn(others) if others else re.compile(_NOTHING), _drawn((typed[:_HEAD_LENGTH],))


@lru_cache(_PATTERNS)
def _begun(lines: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Return a pattern for what ends text that one of these lines has begun in."""
    begun = b"|".join(map(_beginning, lines))
    return re.compile(b"(?:" + begun + b")" + _DRAWING_BEGUN + rb"\Z" if begun else _NOTHING, re.DOTALL)


def _beginning(line: bytes) -> bytes:
    """Return a pattern for every beginning of a line that is not all of it, with the drawing that follows it."""
    pattern = b""
    for byte in reversed(line[:-1]):
        rest = b"(?:" + pattern + b")?" if pattern else b""
        pattern = re.escape(bytes((byte,))) + _DRAWING + rest
    return pattern or _NOTHING
