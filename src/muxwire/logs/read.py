"""Reading a pane's log file: raw ranges, pieces as a person saw them or would have read them, the last lines.

Everything here blocks on the disk, so it runs in a worker thread. A log that is not there reads as an empty one.
A log is one row of bytes, whatever files it lies in (`logs/segments.py`). Holes are never shown: what lies before and
after one is read as if it were a log of its own.

A piece that is read with the cursor's moves played out ends with a line, or where the log ends now. The next piece is
played together with a screen of lines before it, and gives what has changed: the rest of a line that was shown before
it was whole, and a line that was drawn over since, again, on a line of its own.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from muxwire.logs.segments import open_log
from muxwire.results import LogTail
from muxwire.shell.visible import (
    LOOKAHEAD,
    LOOKBEHIND,
    alternate_at,
    known_from,
    visible_parts,
    visible_range,
    visible_slice,
)
from muxwire.vt.readable import (
    PLAYED_MAX,
    SIZE,
    Readable,
    continued,
    first_switch,
    lines_before,
    needs_playing,
    opened,
    readable,
    switches,
    without_drawing,
)
from muxwire.vt.screens import on_alternate
from muxwire.vt.text import text_of, undo_onlcr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from muxwire.vt.readable import Size
    from muxwire.vt.screens import ScreenSwitches

    # A block of what was seen, in the parts between cuts, each after the offset at which it begins.
    Piece = list[tuple[int, bytes]]

# Blocks of the way back from a log's end: 500 lines are usually in the first. For fewer lines it is smaller, because
# finding the marks of commands in it takes longer than all else.
_BLOCK_FIRST = 64 * 1024
_BLOCK_MIN = 4 * 1024
# What a line of a log of short commands takes: with the marks, two lines are some 300 bytes.
_LINE_BYTES = 128
_BLOCK_MAX = 1024 * 1024
# A block is read with what lies before it, because a typed line may begin there (`LOOKBEHIND`: 32 KiB). Mostly so much
# is enough, because a command has ended nearer: it holds three short ones.
_NEAR = 1024

# The most that the last lines may hold: a pane that writes 100 MB without a newline has one line.
TAIL_BYTES_MAX = 16 * 1024 * 1024
# How far back the line that a piece continues with is looked for, and those above it.
_BEFORE_MAX = 64 << 10
# How far back the switch to an alternate screen is looked for in a log that this process has not seen written: there a
# full-screen program that writes more than this without an end is read as if it had drawn on the main one.
_SWITCH_MAX = 1 << 20
# `ESC [ ? 1049 h`.
_SWITCH_BYTES = 8


@final
@dataclass(frozen=True, slots=True)
class LogPiece:
    """What was seen of a piece of a log; `next_offset` is the raw offset that comes after it.

    `end` is where the log ended when it was read. `eof`: nothing more can be shown now; the bytes before `end` that
    are left, if any, may be half a mark, typed line, character or line end. `dropped`: raw bytes before `data` that are
    not kept. `first`: the offset of the oldest byte that is kept. `note`: what there is to say of how it was read.
    """

    data: bytes
    next_offset: int
    end: int
    eof: bool
    dropped: int
    first: int = 0
    note: str = ""


@final
@dataclass(frozen=True, slots=True)
class View:
    """How a log is to be shown; `final` if it grows no more.

    `typed_from`: where a line begins that muxwire typed and that no shell has begun to run, as for `visible_slice`.
    `joint` stands where something was cut.
    `within`: the offsets of the part of the log to which a read of its last lines is limited. `drawing`: with what was
    drawn on the alternate screen, where the last lines are asked for as they are. `screens`: which screen was shown at
    an offset, as far as that is known; else it is looked for in the log.
    """

    final: bool = False
    typed_from: int | None = None
    joint: bytes = b""
    within: tuple[int, int] | None = None
    drawing: bool = True
    screens: ScreenSwitches | None = None

    def alternate_at(self, offset: int) -> bool | None:
        """Whether the alternate screen was shown there; None if that is not known."""
        return None if self.screens is None else self.screens.at(offset)


def read_raw(path: Path, begin: int, end: int) -> bytes:
    with LogFileReader(path) as log:
        return b"".join(
            log.pread(max(begin, first), min(end, last)) for first, last in log.ranges if first < end and last > begin
        )


def read_range(path: Path, start: int, max_bytes: int, view: View) -> LogPiece:
    """Return what was seen from a raw offset on: of about `max_bytes` raw bytes, as far as that is final yet."""
    with LogFileReader(path) as log:
        dropped = 0
        for first, last in log.ranges:
            if start < first:
                dropped += first - start
                start = first
            if start >= last:
                continue
            data, following = log.seen(start, max_bytes, first, last, view)
            if data or following < last or last == log.end:
                return LogPiece(data, following, log.end, last == log.end <= start + max_bytes, dropped, log.first)
            start = following
        if start < log.end:  # nothing is kept of what lies there
            dropped, start = dropped + log.end - start, log.end
        return LogPiece(b"", start, log.end, True, dropped, log.first)


def last_lines(path: Path, lines: int, view: View, *, as_read: bool = False) -> LogTail:
    """The last lines, as they were written or, with `as_read`, as a person would have read them.

    As written they are without the alternate screen, if the view is without drawing.
    """
    with LogFileReader(path, view.within) as log:
        pieces: list[bytes] = []
        found = size = tried = 0
        text, start = None, log.first
        # What probably holds so many lines.
        for start, piece in log.backwards(view, min(max(lines * _LINE_BYTES, _BLOCK_MIN), _BLOCK_FIRST)):
            pieces.append(piece)
            found += piece.count(b"\n")
            size += len(piece)
            # Lines that were drawn over leave fewer: play what there is, and each time twice as much.
            if (found > lines and size >= 2 * tried) or size > TAIL_BYTES_MAX:
                tried = size
                text = _played(log, start, pieces, view, as_read=as_read)
                if text is None or text.text.count("\n") > lines or size > PLAYED_MAX:
                    break
        else:
            found = -1  # this is the whole log
            text = _played(log, start, pieces, view, as_read=as_read)
        if text is None:
            pieces.reverse()
            return cut_to_lines(pieces, lines, log, whole=found < 0)
        parts = [text.text.encode("utf-8", "replace")]
        tail = cut_to_lines(parts, lines, log, whole=found < 0, as_text=lambda cut: _decoded(b"".join(cut)))
        return replace(tail, note=text.note)


def cut_to_lines(
    parts: list[bytes], lines: int, log: LogFileReader, *, whole: bool, as_text: Callable[[list[bytes]], str] = text_of
) -> LogTail:
    """Return the last `lines` lines of `parts`: the visible text of a log's end, or of all of the log if `whole`.

    `as_text` makes text of parts. They go as it does: `parts` has none after that.
    """
    parts[:] = filter(None, parts)
    size = sum(map(len, parts))
    if not parts:
        return LogTail("", 0, log.lost, log.end, log.first)
    index, stop, count = len(parts) - 1, len(parts[-1]) - parts[-1].endswith(b"\n"), 0
    while count < lines and index >= 0:
        while index >= 0 and (newline := parts[index].rfind(b"\n", 0, stop)) < 0:
            index -= 1
            stop = len(parts[index])
        count, stop = count + 1, newline
    cut = [parts[index][stop + 1 :], *parts[index + 1 :]] if index >= 0 else parts[:]
    parts.clear()
    kept = sum(map(len, cut))
    if kept > TAIL_BYTES_MAX:
        cut = [b"".join(cut)[-TAIL_BYTES_MAX:]]
        kept = TAIL_BYTES_MAX
        count = cut[0].count(b"\n") + (not cut[0].endswith(b"\n"))
    truncated = kept < size or (index < 0 and not whole) or log.lost
    return LogTail(as_text(cut), count, truncated, log.end, log.first)


@final
class LogFileReader(AbstractContextManager["LogFileReader"]):
    """A log, opened: `ranges` are the offsets it has, in order; `first` and `end` are where it begins and ends.

    With `within` only that part of it is there. `lost`: the beginning of what was opened is not kept.
    """

    def __init__(self, path: Path, within: tuple[int, int] | None = None) -> None:
        layout, self._files = open_log(path)
        first = self._files[0][1] if self._files else layout.first
        end = self._files[-1][2] if self._files else layout.first
        begin, stop = within or (0, end)
        self.lost = first > begin
        self.first, self.end = max(first, begin), min(end, stop)
        self.ranges = [one for one in _ranges(layout.gaps, self.first, self.end) if one[0] < one[1]]
        self.sizes = layout.sizes

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for descriptor, _, _ in self._files:
            os.close(descriptor)

    def size_at(self, offset: int) -> Size:
        """How many columns and rows the pane had there."""
        return next(((one.columns, one.rows) for one in reversed(self.sizes) if one.at <= offset), SIZE)

    def pread(self, begin: int, end: int) -> bytes:
        """Return the raw bytes of a range, holes as NULs."""
        if begin >= end:
            return b""
        return b"".join(
            os.pread(descriptor, min(end, last) - max(begin, first), max(begin, first) - first)
            for descriptor, first, last in self._files
            if first < end and last > begin
        )

    def seen(self, start: int, limit: int, first: int, last: int, view: View) -> tuple[bytes, int]:
        """Return what was seen of about `limit` bytes from `start`, in the range from `first` to `last`."""
        base = max(first, start - LOOKBEHIND)
        stop = min(last, start + limit + LOOKAHEAD)
        final = stop == last and (view.final or last < self.end)
        data = self.pread(base, stop)
        return visible_slice(data, base, start, limit, final=final, typed_from=view.typed_from, joint=view.joint)

    def backwards(self, view: View, first_block: int = _BLOCK_FIRST) -> Iterator[tuple[int, bytes]]:
        """Yield what was seen, in blocks from the end to the start, each after the offset at which it begins."""
        for start, parts in self.parts_backwards(view, first_block):
            yield start, view.joint.join(part for _, part in parts)

    def parts_backwards(self, view: View, first_block: int = _BLOCK_FIRST) -> Iterator[tuple[int, Piece]]:
        size = first_block
        for first, last in reversed(self.ranges):
            stop = last
            while stop > first:
                start = max(first, stop - size)
                yield start, self._between(start, stop, first, last, view)
                stop = start
                size = min(2 * size, _BLOCK_MAX)

    def _between(self, start: int, stop: int, first: int, last: int, view: View) -> Piece:
        """Return what was seen of exactly these bytes; at the log's end, as far as it is final."""
        ahead = min(last, stop + LOOKAHEAD)
        base = max(first, start - LOOKBEHIND)
        data = self.pread(base, ahead)
        if skipped := known_from(data, start - base, start - base - _NEAR):
            base, data = base + skipped, data[skipped:]
        grows = ahead == self.end and not view.final
        return visible_parts(data, base, start, stop, grows=grows, typed_from=view.typed_from)


def _ranges(gaps: Sequence[tuple[int, int]], first: int, end: int) -> list[tuple[int, int]]:
    ranges = []
    for gap_begin, gap_end in [*gaps, (end, end)]:
        if first < min(gap_begin, end):
            ranges.append((first, min(gap_begin, end)))
        first = max(first, gap_end)
    return ranges


def read_readable(path: Path, start: int, max_bytes: int, view: View) -> LogPiece:
    """As `read_range`, but what a person would have read of it."""
    piece = read_range(path, start, min(max_bytes, PLAYED_MAX), view)
    first = start + piece.dropped
    with LogFileReader(path) as log:
        if not piece.eof and piece.next_offset < log.end:
            line_end = log.pread(first, piece.next_offset).rfind(b"\n") + 1
            if line_end:
                piece = replace(read_range(path, first, line_end, view), dropped=piece.dropped, eof=False)
        size = log.size_at(piece.next_offset)
        before, alternate = (b"", False) if piece.dropped else _before(log, first, size[1], view)
    text = continued(_decoded(before), _decoded(piece.data), size, alternate=alternate)
    return replace(piece, data=text.text.encode("utf-8", "replace"), note=text.note)


def _played(log: LogFileReader, start: int, pieces: list[bytes], view: View, *, as_read: bool) -> Readable | None:
    """The text of what was seen from `start` on, if it is another than was written; its end comes first."""
    if not as_read and (view.drawing or not (switches(pieces[::-1]) or is_alternate(log, start, view))):
        return None
    data = b"".join(reversed(pieces))
    if not as_read:
        entered = first_switch(data)
        return without_drawing(
            _decoded(undo_onlcr(data)), alternate=is_alternate(log, start, view) if entered is None else not entered
        )
    line = data.find(b"\n") + 1 if start > log.first else 0
    known, begin = _around(log, start)
    switched = on_alternate(data[:line])
    switched = _alternate(known, begin, start, view) if switched is None else switched
    size = log.size_at(log.end)
    text = _decoded(opened(known[:begin] + data[:line], size[1]) + data[line:])
    alternate = switched or (switched is None and start > log.first and first_switch(data[line:]) is False)
    if len(text) <= PLAYED_MAX or not needs_playing(text):
        return readable(text, size, alternate=alternate)
    # The end is what is asked for: play that, and what lies before it only as far as it can be.
    cut = text.find("\n", len(text) - PLAYED_MAX) + 1 or len(text) - PLAYED_MAX
    front, end = readable(text[:cut], size, alternate=alternate), readable(text[cut:], size)
    return Readable(front.text + end.text, front.left_out or end.left_out, front.unplayed)


def is_alternate(log: LogFileReader, offset: int, view: View) -> bool:
    """Whether the alternate screen is shown at an offset, or from the switch on within which the offset lies."""
    ahead = _SWITCH_BYTES - 1
    known, begin = _around(log, offset)
    return bool(_alternate(known, begin + ahead, offset + ahead, view))


def _alternate(data: bytes, index: int, offset: int, view: View) -> bool | None:
    """Whether the alternate screen is shown at an offset, which has that index in `data`; None if it is not known.

    What is remembered (`view.screens`) counts switches in the lines that muxwire types out of sight too, so that only
    its "no" is final.
    """
    if view.alternate_at(offset) is False:
        return False
    switched = alternate_at(data, offset - index, index)
    return view.alternate_at(offset - index) if switched is None else switched


def _around(log: LogFileReader, offset: int, first: int = 0) -> tuple[bytes, int]:
    """What says which screen is shown at an offset, and the index of that offset in it; nothing before `first`.

    Where there is no sequence at all, the offset may lie within a long one, a picture: then more is looked at.
    """
    reach, first = _SWITCH_MAX, max(log.first, first)
    while True:
        begin = max(first, offset - reach)
        data = log.pread(begin, min(log.end, offset + LOOKAHEAD))
        if data.find(b"\x1b", 0, offset - begin) >= 0 or begin == first or reach >= TAIL_BYTES_MAX:
            return data, offset - begin
        reach *= 4


def _before(log: LogFileReader, start: int, rows: int, view: View) -> tuple[bytes, bool]:
    """So many lines before an offset, as they were seen; whether they begin on an alternate screen."""
    first = next((first for first, last in log.ranges if first <= start <= last), start)
    data, index = _around(log, start, first)
    base = start - index
    begin = max(lines_before(data[: start - base], rows), start - base - _BEFORE_MAX)
    known = max(0, begin - LOOKBEHIND)
    seen = visible_range(
        data[known:], base + known, base + begin, start, grows=False,
        typed_from=view.typed_from, joint=view.joint,
    )  # fmt: skip
    return opened(data[:begin], rows) + seen, _alternate(data, begin, base + begin, view) or False


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
