"""Our own typed lines in a pane's output: as they were typed, and as a shell's line editor may have drawn them."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import final

from muxwire.values import dataclass

# Between two characters of a line an editor may move the cursor, set a colour, or break the line at the right edge.
# Seen: readline and zsh write a blank and CR at the edge, ksh a blank and BS after `$`, fish a CSI and SI.
_DRAWING_MAX = 4
_DRAWING_LENGTH = 2 + 16 + 1
_DRAWING = rb"(?:\x1b\[[\x20-\x3f]{0,16}[\x40-\x7e]|[\r\n\x08\x0f]| (?=[\r\x08])){0,%d}" % _DRAWING_MAX
_NOTHING = rb"(?!)"
_DRAWING_BEGUN = rb"(?: |\x1b(?:\[[\x20-\x3f]{0,16})?)?"


@final
@dataclass(frozen=True)
class TypedLines:
    """Patterns for a shell's typed lines; `longest` is the longest match of any. Made by `typed_lines_of`."""

    exact: tuple[bytes, ...]
    longest: int

    # They take 20 ms to compile, and not every process reads a log.
    @cached_property
    def _drawn(self) -> re.Pattern[bytes]:
        drawn = b"|".join(_DRAWING.join(re.escape(bytes((byte,))) for byte in line) for line in self.exact)
        return re.compile(drawn or _NOTHING, re.DOTALL)

    @cached_property
    def _begun(self) -> re.Pattern[bytes]:
        begun = b"|".join(map(_beginning, self.exact))
        return re.compile(b"(?:" + begun + b")" + _DRAWING_BEGUN + rb"\Z" if begun else _NOTHING, re.DOTALL)

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
        found = None
        while match := self._drawn.search(data, first, last):
            found = match.span()
            first = match.start() + 1
        return found

    def begun(self, data: bytes) -> int:
        """Return the index from which the end of `data` may be the beginning of a line, however drawn; else its end."""
        match = self._begun.search(data, max(0, len(data) - self.longest))
        return match.start() if match else len(data)


@lru_cache(maxsize=8)
def typed_lines_of(lines: tuple[bytes, ...]) -> TypedLines:
    """Return the patterns for these lines."""
    exact = tuple(sorted({line for line in lines if line}, key=lambda line: (-len(line), line)))
    return TypedLines(exact, max(map(len, exact), default=0) * (1 + _DRAWING_MAX * _DRAWING_LENGTH))


def _beginning(line: bytes) -> bytes:
    """Return a pattern for every beginning of a line that is not all of it, with the drawing that follows it."""
    pattern = b""
    for byte in reversed(line[:-1]):
        rest = b"(?:" + pattern + b")?" if pattern else b""
        pattern = re.escape(bytes((byte,))) + _DRAWING + rest
    return pattern or _NOTHING
