"""The last lines of a log that match a pattern, with the lines around them: from the end backwards, in flat memory."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, final

from muxwire.host.patterns import matching
from muxwire.logs.read import TAIL_BYTES_MAX, LogFileReader, is_alternate
from muxwire.results import LogMatch, LogTail
from muxwire.vt.readable import LEFT_OUT, first_switch, main_screen, readable
from muxwire.vt.text import strip_ansi, undo_onlcr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from muxwire.host.patterns import Pattern
    from muxwire.logs.read import Piece, View
    from muxwire.vt.readable import Size

# A line whose start is further back than this is taken as two.
_LINE_MAX = 1024 * 1024

# The event loop waits for the interpreter's lock: let go of it every so many lines, which take some 0.1 ms.
_LINES_AT_ONCE = 200

# How long to look before giving up: an agent's call has some such patience. Measured, that is 4 GB of plain text for a
# plain word, 0.8 GB for other patterns.
GREP_SECONDS = 10.0
# How long to count the lines before the first that is shown, once there are enough: a number is not worth a wait.
COUNT_SECONDS = 1.0

# grep(1) writes it between lines that do not follow each other.
_SEPARATOR = "--"

_PLAIN = bytes(range(0x20, 0x7F)) + b"\t\n\r"


@final
@dataclass(frozen=True, slots=True)
class Search:
    """What to look for, and how many lines around each match to show."""

    pattern: Pattern
    before: int = 0
    after: int = 0

    def in_lines(self, lines: Sequence[str], seconds: float) -> list[bool]:
        """Return for each line whether it matches; fewer than all if the time is over. Raises InvalidArgument."""
        # A CR at the beginning moves nothing: Python's prompt ends a line by LF CR from 3.13 on.
        texts = [line if line.isprintable() else strip_ansi(line).lstrip("\r") for line in lines]
        return matching(self.pattern, texts, seconds)

    def in_block(self, block: bytes) -> bool:
        """Return False if no line of a block can match; cheap, and sure only for plain words in plain text."""
        word = self.pattern.plain
        if word is None or b"\x1b" in block or not block.isascii():
            return True
        return word in strip_ansi(block).decode()


def last_matches(path: Path, search: Search, lines: int, view: View, *, as_read: bool = False) -> LogTail:
    """Return the last `lines` lines that match or stand around one that does.

    Patterns are looked for in the text of a line, escape sequences left out; with `as_read` in the lines that a person
    would have read, and these are returned. InvalidArgument for what is no pattern, or takes too long for a line.
    """
    found = _Matches(search, lines)
    deadline = time.monotonic() + GREP_SECONDS
    with LogFileReader(path, view.within) as log:
        searched = log.end
        blocks = _blocks(log, view, as_read=as_read)
        for block in blocks:
            if found.full or time.monotonic() > deadline:
                found.count(chain([block], blocks))
                return found.result(log, more=True, note="" if found.full else _late(searched))
            found.left_out = found.left_out or block.left_out
            if not search.in_block(block.text):
                found.pass_over(block)
            elif left := found.take(block, deadline):
                found.count(blocks)
                return found.result(log, more=True, note=_late(block.begin(left) if left < block.count else searched))
            searched = block.first
        found.counted = True
        return found.result(log, more=log.lost)


def _blocks(log: LogFileReader, view: View, *, as_read: bool) -> Iterator[_Block]:
    """Yield whole lines, from the log's end to its start, without drawing if that is not wanted."""
    ends_alternate: bool | None = None
    for pieces in _blocks_backwards(log, view):
        last = max((offset for piece in pieces for offset, _ in piece), default=0)
        size = log.size_at(last) if as_read else None
        if not as_read and view.drawing:
            yield _Block(pieces, view, size)
            continue
        parts = [part for piece in pieces for part in piece]
        entered = first_switch(b"".join(data for _, data in parts))
        if entered is not None:
            begins_alternate = not entered
        elif ends_alternate is not None:
            begins_alternate = ends_alternate
        else:
            begins_alternate = bool(parts) and is_alternate(log, parts[0][0], view)
        left_out = begins_alternate or entered is not None
        if left_out:
            parts = main_screen(parts, alternate=begins_alternate)
        yield _Block([parts], view, size, left_out=left_out)
        ends_alternate = begins_alternate


def _late(searched: int) -> str:
    return f"stopped after {GREP_SECONDS:g} s: nothing was searched before byte {searched}"


def _blocks_backwards(log: LogFileReader, view: View) -> Iterator[list[Piece]]:
    """Yield what was seen in blocks of whole lines, from the log's end to its start."""
    begun: list[Piece] = []  # the rest of a line whose start lies further back, in reverse
    begun_size = 0
    for start, piece in log.parts_backwards(view):
        number = next((number for number, (_, data) in enumerate(piece) if b"\n" in data), -1)
        # The log begins with a line, so its first piece is not cut: the lines after the first one may draw over it.
        if start == log.ranges[0][0] or (number < 0 and begun_size < _LINE_MAX):
            begun.append(piece)
            begun_size += sum(len(data) for _, data in piece)
            continue
        before, after = _cut_after_newline(piece, number) if number >= 0 else ([], piece)
        yield [after, *reversed(begun)]
        begun, begun_size = [before], sum(len(data) for _, data in before)
    yield list(reversed(begun))


def _cut_after_newline(piece: Piece, number: int) -> tuple[Piece, Piece]:
    """Return a piece in two, the first of which ends with the first line end of that part."""
    offset, data = piece[number]
    end = data.find(b"\n") + 1
    return [*piece[:number], (offset, data[:end])], [(offset + end, data[end:]), *piece[number + 1 :]]


@final
class _Block:
    """Whole lines: as they were seen (`raw`), and the `text` that is searched and shown.

    `left_out`: what was drawn on the alternate screen is not in them.
    """

    def __init__(self, pieces: list[Piece], view: View, size: Size | None, *, left_out: bool = False) -> None:
        """`size`: that of the screen on which it was read, if it is to be read as a person would have."""
        self.left_out = left_out
        self._parts = [part for piece in pieces for part in piece]
        self.raw = b"".join(view.joint.join(data for _, data in piece) for piece in pieces)
        self.text = _as_read(self.raw, size) if size is not None else self.raw

    @property
    def first(self) -> int:
        return self._parts[0][0] if self._parts else 0

    @property
    def count(self) -> int:
        return self.text.count(b"\n") + (self.text[-1:] not in (b"", b"\n"))

    @cached_property
    def lines(self) -> list[str]:
        return _split(self.text)

    @cached_property
    def _begins(self) -> list[int]:
        ends = [offset + end.end() for offset, data in self._parts for end in re.finditer(b"\n", data)]
        return [self._parts[0][0], *ends]

    @cached_property
    def _stripped(self) -> str:
        return strip_ansi(undo_onlcr(self.raw)).decode("utf-8", "replace")

    def begin(self, number: int) -> int:
        """Return the offset at which a line begins, or one near it if the cursor moved between lines to draw it."""
        if self.text is self.raw or self.raw.count(b"\n") == self.text.count(b"\n"):
            return self._begins[number]
        # Line N of the text comes from raw line N or a later one: each raw line adds one line to the text at most.
        before = next(islice(re.finditer("\n", self._stripped), number - 1, None), None) if number else None
        drawn = self._stripped.find(self.lines[number], before.end() if before is not None else 0)
        number = self._stripped.count("\n", 0, drawn) if drawn >= 0 else number
        return self._begins[min(number, len(self._begins) - 1)]


def _as_read(block: bytes, size: Size) -> bytes:
    """Return the text of whole lines; most blocks of most logs have nothing to be played."""
    if not block.translate(None, _PLAIN) and block.count(b"\r") == block.count(b"\r\n"):
        return block
    return readable(block.decode("utf-8", "replace"), size).text.encode("utf-8", "replace")


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
        self._search = search
        self._lines = lines
        self._later: deque[str] = deque(maxlen=search.after)  # lines that follow, if a match comes now
        self._wanted = 0  # lines to be shown before the match that was last taken
        self._skipped = False  # a line since the last one shown is not shown
        self._shown: list[str] = []
        self._count = 0
        self._size = 0
        self._found: list[tuple[int, int]] = []  # of each match shown: how many lines follow it, and its offset
        self._passed = 0  # how many lines were taken
        self.full = False
        self.left_out = False
        self.counted = False  # all lines were

    def take(self, block: _Block, deadline: float) -> int:
        """Take the lines before all that were taken; return how many were not searched for want of time."""
        lines, passed = block.lines, self._passed
        self._passed += len(lines)
        for last in range(len(lines), 0, -_LINES_AT_ONCE):
            some = lines[max(0, last - _LINES_AT_ONCE) : last][::-1]
            found = self._search.in_lines(some, deadline - time.monotonic())
            for taken, matches in enumerate(found):
                if matches:
                    self._match(some[taken])
                    if not self.full:
                        number = last - 1 - taken
                        self._found.append((passed + len(lines) - 1 - number, block.begin(number)))
                else:
                    self._other(some[taken])
            time.sleep(0)
            if self.full:
                return 0
            if len(found) < len(some):
                return last - len(found)
        return 0

    def count(self, blocks: Iterable[_Block]) -> None:
        """Count the lines of all blocks that are left, if that is soon done."""
        deadline = time.monotonic() + COUNT_SECONDS
        for block in blocks:
            if time.monotonic() > deadline:
                return
            self._passed += block.count
        self.counted = True

    def pass_over(self, block: _Block) -> None:
        """Take lines of which none matches; they are counted only, if no context is wanted."""
        self._passed += block.count
        if not self._search.before and not self._search.after:
            return
        lines = block.lines
        wanted = min(self._wanted, len(lines))
        for line in reversed(lines[len(lines) - wanted :]):
            self._other(line)
        rest = lines[: len(lines) - wanted]
        kept = rest[: self._search.after]
        self._skipped = self._skipped or len(self._later) + len(rest) > self._search.after
        self._later.extend(reversed(kept))

    def _match(self, line: str) -> None:
        if self._skipped and self._shown and not self.full and (self._search.before or self._search.after):
            self._shown.append(_SEPARATOR)
        for later in self._later:
            self._show(later)
        self._later.clear()
        self._skipped = False
        self._show(line)
        self._wanted = self._search.before

    def _other(self, line: str) -> None:
        if self._wanted:
            self._wanted -= 1
            self._show(line)
        else:
            self._skipped = self._skipped or len(self._later) == self._search.after
            self._later.append(line)

    def _show(self, line: str) -> None:
        self.full = self._count >= self._lines or self._size > TAIL_BYTES_MAX
        if not self.full:
            self._shown.append(line)
            self._count += 1
            self._size += len(line)

    def result(self, log: LogFileReader, *, more: bool, note: str = "") -> LogTail:
        if self._shown and self._shown[-1] is _SEPARATOR:
            self._shown.pop()
        content = "".join(line + "\n" for line in reversed(self._shown))
        matches = [LogMatch(begin, self._passed - after if self.counted else None) for after, begin in self._found]
        found = tuple(reversed(matches))
        note = "; ".join(filter(None, (note, LEFT_OUT if self.left_out else "")))
        return LogTail(content, self._count, self.full or more, log.end, log.first, note, found)
