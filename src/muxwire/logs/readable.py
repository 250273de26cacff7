"""Reading a log as a person would have read it: what `logs/read.py` gives, with the cursor's moves played out.

A piece ends with a line, or where the log ends now. The piece after it is read with the lines before it, a screen of
them, so it brings what has changed: a line that was shown before it was whole continues, one that was drawn over since
comes again, on a line of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muxwire.logs.read import TAIL_BYTES_MAX, LastLines, LogFileReader, LogPiece, cut_to_lines, read_range
from muxwire.shell.visible import lookahead, lookbehind, visible_range
from muxwire.vt.readable import (
    PLAYED_MAX,
    Readable,
    began_alternate,
    continued,
    lines_before,
    needs_playing,
    on_alternate,
    open_string,
    readable,
)

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.logs.read import View

# How far back the line that a piece continues with is looked for, and those above it.
_BEFORE_MAX = 64 << 10
# How far back the switch to an alternate screen is looked for: full-screen programs that write more than this without
# an end are read as if they had drawn on the main one.
_SWITCH_MAX = 1 << 20


def read_readable(path: Path, start: int, max_bytes: int, view: View) -> tuple[LogPiece, str]:
    """Return what can be read from a raw offset on, of about `max_bytes` raw bytes, and what there is to say of it."""
    piece = read_range(path, start, min(max_bytes, PLAYED_MAX), view)
    first = start + piece.dropped
    with LogFileReader(path) as log:
        if not piece.eof and piece.next_offset < log.end:
            line_end = log.pread(first, piece.next_offset).rfind(b"\n") + 1
            if line_end:
                piece = replace(read_range(path, first, line_end, view), dropped=piece.dropped, eof=False)
        before, alternate = (b"", False) if piece.dropped else _before(log, first, view)
    text = continued(_decoded(before), _decoded(piece.data), columns=view.columns, alternate=alternate)
    return replace(piece, data=text.text.encode("utf-8", "replace")), text.note


def last_readable_lines(path: Path, lines: int, view: View) -> tuple[LastLines, str]:
    with LogFileReader(path, view.within) as log:
        pieces: list[bytes] = []
        found = size = tried = 0
        text, start = Readable(""), log.first
        for start, piece in log.backwards(view):
            pieces.append(piece)
            found += piece.count(b"\n")
            size += len(piece)
            # Lines that were drawn over leave fewer: play what there is, and each time twice as much.
            if (found > lines and size >= 2 * tried) or size > TAIL_BYTES_MAX:
                tried = size
                text = _played(log, start, pieces, view)
                if text.text.count("\n") > lines or size > PLAYED_MAX:
                    break
        else:
            found = -1  # this is the whole log
            text = _played(log, start, pieces, view)
        return cut_to_lines(text.text.encode("utf-8", "replace"), lines, log, whole=found < 0), text.note


def _played(log: LogFileReader, start: int, pieces: list[bytes], view: View) -> Readable:
    """The text of what was seen from `start` on; `pieces` come from the last to the first."""
    data = b"".join(reversed(pieces))
    before = log.pread(max(log.first, start - _SWITCH_MAX), start)
    line = data.find(b"\n") + 1 if start > log.first else 0
    before += data[:line]
    switched = on_alternate(before)
    text = _decoded(open_string(before) + data[line:])
    alternate = switched or (switched is None and start > log.first and began_alternate(text))
    if len(text) <= PLAYED_MAX or not needs_playing(text):
        return readable(text, columns=view.columns, alternate=alternate)
    # The end is what is asked for: play that, and what lies before it only as far as it can be.
    cut = text.find("\n", len(text) - PLAYED_MAX) + 1 or len(text) - PLAYED_MAX
    front, end = (
        readable(text[:cut], columns=view.columns, alternate=alternate),
        readable(text[cut:], columns=view.columns),
    )
    return Readable(front.text + end.text, front.left_out or end.left_out, front.unplayed)


def _before(log: LogFileReader, start: int, view: View) -> tuple[bytes, bool]:
    """The lines before an offset, a screen of them, as they were seen; whether they begin on an alternate screen."""
    first = next((first for first, last in log.ranges if first <= start <= last), start)
    base = max(first, start - _SWITCH_MAX)
    data = log.pread(base, min(log.end, start + lookahead(view.typed_lines)))
    begin = max(lines_before(data[: start - base]), start - base - _BEFORE_MAX)
    known = max(0, begin - lookbehind(view.typed_lines))
    seen = visible_range(
        data[known:], base + known, base + begin, start, view.typed_lines, grows=False,
        typed_from=view.typed_from, joint=view.joint,
    )  # fmt: skip
    return open_string(data[:begin]) + seen, on_alternate(data[:begin]) or False


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
