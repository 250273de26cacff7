"""What a person would have seen, out of a pane's raw bytes: without our marks and without our own typed line.

Cut are:

1. every mark;
2. what lies between the offset that a T mark names, at which muxwire typed, and T: the typed line however the shell's
   editor drew it, and how the shell and our wrapper redraw, at most `HIDDEN_MAX` bytes. The readable command, printed
   right after T, stays;
3. the lines that were typed into a shell without our hooks. B;ID;1 is written before the first of them, B;ID;2 by the
   shell between two of them, and T when it has all. From each B to the next B or T all is cut if it is at most
   `HIDDEN_MAX` bytes, and nothing has begun or ended there: B;ID;0, which says that no shell took the lines, or one of
   the marks S, E, D and X.

Whether a byte is cut depends on at most `LOOKBEHIND` bytes before it and `LOOKAHEAD` bytes after it, so a range of
a log can be shown without the rest, and pieces put together give exactly what the whole log gives.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, final

from muxwire.shell.marks import (
    INTRODUCER,
    MARK_MAX,
    CommandFinished,
    EchoEnd,
    EchoStart,
    Mark,
    MarkScanner,
    OutputStart,
    PostExec,
    ShellExited,
)
from muxwire.vt.screens import on_alternate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What stands for a cut where text is read on: as the ESC of a mark does in a terminal, CAN ends any sequence.
SEQUENCE_END = b"\x18"

_CHARACTER_MAX = 4  # bytes of a UTF-8 character
# A piece of a long command has up to 3 KB in octal; its echo may be here twice, by the terminal and by the line editor,
# and before it those of the pieces that the terminal has taken meanwhile: 4 KB, as much as one keeps (MAX_CANON).
HIDDEN_MAX = 16 * 1024
# `ESC ] 7770 ; B ; ID ; NUMBER BEL`, and T is shorter.
HIDDEN_MARK_MAX = 7 + 2 + 17 + 20 + 1

# How many bytes before a piece must be known, unless it begins at the log's start; and after a piece's start for it to
# be sure to continue.
LOOKBEHIND = MARK_MAX + HIDDEN_MAX + HIDDEN_MARK_MAX
LOOKAHEAD = LOOKBEHIND + 2 * _CHARACTER_MAX

_ENDS = (OutputStart, CommandFinished, PostExec, ShellExited, EchoStart, EchoEnd)
# A mark, whole and with no other in it; and one with a directory that may not be so.
_WITH_DIRECTORY = rb"[PEQ];([0-9a-f]{16});[^\x1b\x07]*;\1\x07"
_WHOLE_RE = re.compile(re.escape(INTRODUCER) + rb"(?:" + _WITH_DIRECTORY + rb"|[^PEQ\x1b\x07][^\x1b\x07]*\x07)")
_OPEN_RE = re.compile(re.escape(INTRODUCER) + rb"(?=[PEQ];)(?!" + _WITH_DIRECTORY + rb")")
_BARRIERS = (OutputStart, CommandFinished, PostExec, ShellExited)


def known_from(data: bytes, index: int, near: int) -> int:
    """Where in `data` to begin to find what is cut from an index on: with the last mark that nothing goes across.

    So it is if no typed line and no redrawing goes across it (`_find`, `_hidden`), and each mark before it has ended.
    It is 0 where no such mark lies between `near` and the index.
    """
    begin = index
    while (begin := data.rfind(INTRODUCER, max(near, 0), begin)) >= 0:
        whole = _WHOLE_RE.match(data, begin, index)
        if whole and any(isinstance(mark, _BARRIERS) for mark in MarkScanner().feed(whole[0])):
            # A mark that begins earlier has ended, and one without a directory has no other within it.
            return 0 if _OPEN_RE.search(data, max(0, begin - MARK_MAX), begin) else begin
    return 0


def visible(data: bytes, *, joint: bytes = b"") -> bytes:
    """Return what is seen of a whole log, with `joint` where something was cut."""
    return _without(data, _find(data, 0, None).cuts, 0, len(data), joint)


def visible_slice(
    data: bytes, base: int, start: int, limit: int, *, final: bool, typed_from: int | None = None, joint: bytes = b""
) -> tuple[bytes, int]:
    """Return what is seen of about `limit` raw bytes from offset `start`, and the offset that comes next.

    `data` holds the bytes from offset `base` on: `LOOKBEHIND` bytes before `start`, or all that there are, and
    `limit` plus `LOOKAHEAD` bytes after it, or all that there are. With `final`, nothing comes after `data`.

    A character, a CR LF, a mark and a typed line are shown or cut whole: what may still become one at the end of
    `data` is held back. With `LOOKAHEAD` bytes after `start`, the next offset is always greater than `start`.
    `typed_from`: where a line begins that muxwire typed and that no shell has begun to run: from there on nothing is
    shown. The end of the stream if there is none; None where that is not known.
    """
    found = _find(data, base, typed_from)
    cuts, settled = found.cuts, len(data) if final else found.settled
    first = max(0, start - base)
    last = min(first + max(limit, 1), settled)
    if last <= first:
        return b"", start
    if begun := bisect_left(cuts, last, key=itemgetter(0)):  # stop after a cut rather than inside it
        last = min(settled, max(last, cuts[begun - 1][1]))
    last = _whole_characters(data, first, last, settled, final=final)
    return _without(data, cuts, first, last, joint), base + last


def visible_range(
    data: bytes,
    base: int,
    start: int,
    stop: int,
    *,
    grows: bool,
    typed_from: int | None = None,
    joint: bytes = b"",
) -> bytes:
    """Return what is seen of exactly the bytes from `start` to `stop`, for a read of a log's end.

    With `grows`, more will follow `data`: a mark, a typed line or a character that has only begun there is not shown.
    `typed_from` as in `visible_slice`.
    """
    parts = visible_parts(data, base, start, stop, grows=grows, typed_from=typed_from)
    return joint.join(part for _, part in parts)


def visible_parts(
    data: bytes, base: int, start: int, stop: int, *, grows: bool, typed_from: int | None = None
) -> list[tuple[int, bytes]]:
    """Return the same in the parts between cuts, each after the raw offset at which it begins."""
    found = _find(data, base, typed_from)
    last = stop - base
    if grows and last > found.settled:
        last = found.settled
    elif grows and last == len(data) > 0 and data[-1] >= 0x80:
        last = _character_around(data, last)
    if start - base >= last:
        return []
    return [(base + begin, data[begin:end]) for begin, end in _kept(found.cuts, start - base, last)]


def alternate_at(data: bytes, base: int, index: int) -> bool | None:
    """Whether a terminal shows the alternate screen after `index` bytes from the offset `base` on; None: not known.

    muxwire's own lines do not count, for which it switches to the alternate screen, and back at T.
    `data` has `LOOKAHEAD` bytes after the index, or all that there are.
    """
    switched = on_alternate(data[:index])
    if switched and (INTRODUCER + b"B;" in data or INTRODUCER + b"T;" in data):
        return on_alternate(visible_range(data, base, base, base + index, grows=True))
    return switched


@final
@dataclass(frozen=True, slots=True)
class _Found:
    """The ranges to be cut, merged and in order; more bytes may change what is at `settled` or later."""

    cuts: list[tuple[int, int]]
    settled: int


def _find(data: bytes, base: int, typed_from: int | None) -> _Found:
    """Find what is to be cut of `data`, which begins at `base`; `typed_from` as in `visible_slice`."""
    scanner = MarkScanner()
    marks = scanner.feed(data)
    cuts = [(mark.begin, mark.end) for mark in marks]
    cuts += [
        (max(mark.typed_at - base, 0), mark.end)
        for mark in marks
        if isinstance(mark, EchoEnd) and 0 <= mark.typed_at <= base + mark.begin <= mark.typed_at + HIDDEN_MAX
    ]
    ours, open_from = _hidden(marks, scanner.pending, len(data))
    held = open_from if typed_from is None else max(typed_from - base, 0)
    return _Found(_merged([*cuts, *ours]), min(held, scanner.pending))


def _hidden(marks: Sequence[Mark], pending: int, size: int) -> tuple[list[tuple[int, int]], int]:
    """Return the ranges that muxwire typed, and where one begins whose end is not here yet; `size` if none does.

    `pending` is where an unfinished mark begins in the data, which has `size` bytes: what comes after is not certain.
    """
    found, begun = [], -1
    for mark in sorted((mark for mark in marks if mark.begin < pending), key=lambda mark: mark.begin):
        begins = isinstance(mark, EchoStart) and mark.step > 0
        if (begins or isinstance(mark, EchoEnd)) and begun >= 0 and mark.begin - begun <= HIDDEN_MAX:
            found.append((begun, mark.end))
        if begins:
            begun = mark.begin
        elif isinstance(mark, _ENDS):
            begun = -1
    return found, begun if begun >= 0 and size - begun <= HIDDEN_MAX + HIDDEN_MARK_MAX else size


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _whole_characters(data: bytes, first: int, last: int, settled: int, *, final: bool) -> int:
    """Return `last` moved so that it splits no UTF-8 character and no CR LF: back if that leaves something."""
    if final and last == len(data):
        return last
    begin = _character_around(data, last)
    if begin == last:
        return last
    if begin > first:
        return begin
    # A piece of one character: take it whole, if it is here.
    size = 2 if data[begin] == 0x0D else _size(data[begin])
    if begin + size <= settled:
        return begin + size
    return last if final else first


def _character_around(data: bytes, index: int) -> int:
    """Return where the character or CR LF that `index` lies within begins; `index` if it lies between two."""
    if data[index - 1] == 0x0D:
        return index - 1 if data[index : index + 1] in (b"", b"\n") else index
    for begin in range(index - 1, max(index - _CHARACTER_MAX, -1), -1):
        if 0x80 <= data[begin] < 0xC0:
            continue
        if begin + _size(data[begin]) <= index:
            return index
        try:
            data[begin : begin + _size(data[begin])].decode()
        except UnicodeDecodeError as error:
            return begin if error.reason == "unexpected end of data" else index
        return begin
    return index


def _size(lead: int) -> int:
    """Return how many bytes a UTF-8 character has that begins with this one."""
    if lead < 0xC2:
        return 1
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF5 else 1


def _without(data: bytes, cuts: list[tuple[int, int]], first: int, last: int, joint: bytes) -> bytes:
    view = memoryview(data)  # its parts are not copied twice
    return joint.join(view[begin:end] for begin, end in _kept(cuts, first, last))


def _kept(cuts: list[tuple[int, int]], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield what the cuts leave of a range; empty pieces too, so that there is a cut between any two."""
    for index in range(max(0, bisect_left(cuts, first, key=itemgetter(0)) - 1), len(cuts)):
        begin, end = cuts[index]
        if begin >= last:
            break
        if end > first:
            yield first, max(first, begin)
            first = end
    yield min(first, last), last
