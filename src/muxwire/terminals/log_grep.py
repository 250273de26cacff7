"""The last lines of a log that match a pattern, with the lines around them: from the end backwards, in flat memory."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.errors import InvalidArgument
from muxwire.pane.text import strip_ansi, undo_onlcr
from muxwire.terminals.log_read import TAIL_BYTES_MAX, LastLines, LogFileReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from muxwire.terminals.log_read import View

# A line longer than this is searched in pieces of about this size.
_LINE_MAX = 1024 * 1024

# How far back to look: at a hundred MB/s, a few seconds.
GREP_BYTES_MAX = 512 * 1024 * 1024

# grep(1) writes it between lines that do not follow each other.
_SEPARATOR = "--"


@final
@dataclass(frozen=True, slots=True)
class Search:
    """What to look for: a pattern of `re`, and how many lines around each match to show."""

    pattern: re.Pattern[str]
    before: int = 0
    after: int = 0


def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a search; InvalidArgument if it is none."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidArgument(
            f"{pattern!r} is no regular expression: {error}", remedy="escape special characters with a backslash"
        ) from None


def last_matches(path: Path, search: Search, lines: int, view: View) -> LastLines:
    """Return the last `lines` lines that match or stand around one that does.

    Patterns are looked for in the text of a line, escape sequences left out, whatever the view.
    """
    found = _Matches(search, lines)
    scanned = 0
    with LogFileReader(path) as log:
        for block, size in _lines_backwards(log, view):
            scanned += size
            for line in reversed(block):
                if found.full:
                    break
                found.take(line)
            if found.full or scanned > GREP_BYTES_MAX:
                break
        else:
            return found.result(log.end, more=False)
        return found.result(log.end, more=True)


def _lines_backwards(log: LogFileReader, view: View) -> Iterator[tuple[list[str], int]]:
    """Yield the lines of a log in blocks from its end to its start, each block in the order of the log."""
    begun: list[bytes] = []  # the rest of a line whose start lies further back, in reverse
    begun_size = 0
    for piece in log.backwards(view):
        newline = piece.find(b"\n")
        if newline < 0 and begun_size < _LINE_MAX:
            begun.append(piece)
            begun_size += len(piece)
            continue
        text = piece[newline + 1 :] + b"".join(reversed(begun))
        begun, begun_size = [piece[: newline + 1]], newline + 1
        yield _split(text), len(piece)
    yield _split(b"".join(reversed(begun))), begun_size


def _split(text: bytes) -> list[str]:
    """Return the lines of a text that begins where a line begins; the last may be without its end."""
    lines = undo_onlcr(text).decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


@final
class _Matches:
    """Takes lines from the last to the first."""

    def __init__(self, search: Search, lines: int) -> None:
        self._search = search.pattern.search
        self._lines = lines
        self._before = search.before
        self._context = bool(search.before or search.after)
        self._later: deque[str] = deque(maxlen=search.after)  # lines that follow, if a match comes now
        self._wanted = 0  # lines to be shown before the match that was last taken
        self._skipped = False  # a line since the last one shown is not shown
        self._shown: list[str] = []
        self._count = 0
        self._size = 0
        self.full = False

    def take(self, line: str) -> None:
        """Take the line that stands before all that were taken."""
        plain = strip_ansi(line) if "\x1b" in line or not line.isprintable() else line
        if self._search(plain):
            if self._skipped and self._shown and self._context:
                self._shown.append(_SEPARATOR)
            for later in self._later:
                self._show(later)
            self._later.clear()
            self._skipped = False
            self._show(line)
            self._wanted = self._before
        elif self._wanted:
            self._wanted -= 1
            self._show(line)
        else:
            self._skipped = self._skipped or len(self._later) == self._later.maxlen
            self._later.append(line)

    def _show(self, line: str) -> None:
        self.full = self.full or self._count >= self._lines or self._size > TAIL_BYTES_MAX
        if not self.full:
            self._shown.append(line)
            self._count += 1
            self._size += len(line)

    def result(self, end: int, *, more: bool) -> LastLines:
        """Return what was shown, in the order of the log."""
        if self._shown and self._shown[-1] is _SEPARATOR:
            self._shown.pop()
        content = "".join(line + "\n" for line in reversed(self._shown))
        return LastLines(content, self._count, self.full or more, end)
