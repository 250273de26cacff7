"""What is new on a screen: which matches of a pattern were not there when a wait began, and are no echo.

A wait sees the screen as a row of pictures. What stood on the first one is old, and stays old while it stands where it
stood, rows that scrolled counted. What was away on one picture is new when it comes back.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span = tuple[int, int]
# A row, a column, and the text of a match there.
_Place = tuple[int, int, str]

# What stands beside the text of an input box: blanks, and the lines of its frame.
_FRAME = " \u00a0|│┃║▏▕"
# The end of a typed text by which it is known on a screen: a box that is too narrow shows that part of it.
_TAIL = 16


@final
@dataclass(frozen=True, slots=True)
class Picture:
    """The text of a screen: its rows, those that were wrapped joined, and blanks up to the cursor in its own row.

    `starts`: the row at which each line begins. `above`: how many rows have scrolled off; -1 if that is not known.
    `cursor`: column and row, None if it is hidden. `end`: the offset of the output up to which all is in it.
    `upto`: the text up to the cursor, also up to a hidden one: programs that draw their own leave it there.
    """

    lines: tuple[str, ...]
    starts: tuple[int, ...]
    rows: int
    alternate: bool
    cursor: tuple[int, int] | None
    above: int
    end: int
    upto: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def shows_same(self, other: Picture) -> bool:
        """Whether a person would see no difference in text and cursor."""
        return (self.lines, self.cursor, self.alternate) == (other.lines, other.cursor, other.alternate)


def rows_of(lines: Sequence[str], most: int) -> str:
    """The rows of a screen down to the last that is not blank; of more than `most` characters the middle is left out.

    The end is kept, since a status line may be there.
    """
    text = "\n".join(line.rstrip() for line in lines).rstrip("\n")
    if len(text) <= most:
        return text
    head = text[: most * 3 // 4].rpartition("\n")[0]
    end = text[len(text) - most // 4 :].partition("\n")[2]
    missing = text.count("\n") - head.count("\n") - end.count("\n") - 1
    return f"{head}\n[{missing} rows]\n{end}"


def picture(
    lines: Sequence[str], wrapped: Sequence[int], *, size: tuple[int, int], cursor: tuple[int, int], visible: bool,
    alternate: bool, above: int, end: int,
) -> Picture:  # fmt: skip
    """Make a picture of joined lines; `wrapped` are the rows whose text continues in the next one.

    The cursor's row gets blanks up to the cursor: a prompt that ends with a blank may have been drawn by a move.
    """
    columns, rows = size
    x, y = cursor
    goes_on = set(wrapped)
    starts = [row for row in range(rows) if row - 1 not in goes_on]
    shown = list(lines[: len(starts)])
    at = bisect_right(starts, y) - 1
    shown += [""] * (at + 1 - len(shown))
    missing = (y - starts[at]) * columns + x - sum(map(guessed_width, shown[at]))
    shown[at] += " " * max(0, missing)
    found = (x, y) if visible else None
    upto = "\n".join((*shown[:at], _beginning(shown[at], (y - starts[at]) * columns + x)))
    return Picture(tuple(shown), tuple(starts[: len(shown)]), rows, alternate, found, above, end, upto)


def _beginning(line: str, columns: int) -> str:
    """What stands in so many columns of a line."""
    for at, character in enumerate(line):
        if columns <= 0:
            return line[:at]
        columns -= guessed_width(character)
    return line


@final
class NewMatches:
    """Follows one pattern over pictures; `typed`: what was typed just before, whose echo is no answer."""

    def __init__(self, typed: str = "") -> None:
        self._typed = [line for line in typed.splitlines() if line.strip()]
        self._seen: dict[bool, tuple[Picture, set[_Place]]] = {}  # the newest of the main screen, and of the other
        self._last: Picture | None = None

    @property
    def has_begun(self) -> bool:
        return self._last is not None

    def begin(self, seen: Picture, spans: Sequence[Span]) -> None:
        """All of these, in `seen.text`, stood there before."""
        self._keep(seen, {place for _, place in _places(seen, spans)})

    def next(self, seen: Picture, spans: Sequence[Span]) -> list[Span]:
        """Return those that are new, the first one first."""
        before, old = self._before(seen)
        places = list(_places(seen, spans))
        if before is None:  # a program has left its own screen: what is there again is not new
            self._keep(seen, {place for _, place in places})
            return []
        down = shift(before, seen) if old else 0
        still = {place for _, place in places if (place[0] + down, place[1], place[2]) in old}
        self._keep(seen, still)
        echo = echoed(seen, spans, self._typed)
        return [span for span, place in places if place not in still and span not in echo]

    def _before(self, seen: Picture) -> tuple[Picture | None, set[_Place]]:
        """The picture to compare with, and what is old on it."""
        assert self._last is not None
        if self._last.alternate == seen.alternate:
            return self._seen[seen.alternate]
        return (seen, set()) if seen.alternate else self._seen.get(False, (None, set()))

    def _keep(self, seen: Picture, old: set[_Place]) -> None:
        self._last = seen
        self._seen[seen.alternate] = seen, old


def _places(seen: Picture, spans: Sequence[Span]) -> Iterator[tuple[Span, _Place]]:
    begins = _begins(seen)
    text = seen.text
    for first, after in spans:
        index = bisect_right(begins, first) - 1
        yield (first, after), (seen.starts[index], first - begins[index], text[first:after])


def _begins(seen: Picture) -> list[int]:
    """Where each line begins in the text."""
    begins, at = [], 0
    for line in seen.lines:
        begins.append(at)
        at += len(line) + 1
    return begins


def shift(before: Picture, after: Picture) -> int:
    """By how many rows the content of one picture has moved up on the next: that by which most rows are the same.

    If no row is the same: as many rows as have scrolled off.
    """
    known = before.above >= 0 and after.above >= before.above and not after.alternate
    scrolled = after.above - before.above if known else 0
    if scrolled >= before.rows:
        return scrolled
    old = dict(zip(before.starts, before.lines, strict=True))
    now = [(row, line) for row, line in zip(after.starts, after.lines, strict=True) if line.strip()]

    def likeness(down: int) -> tuple[int, int]:
        return sum(old.get(row + down) == line for row, line in now), -abs(down - scrolled)

    best = max(range(-before.rows + 1, before.rows), key=likeness)
    return best if likeness(best)[0] else scrolled


def echoed(seen: Picture, spans: Sequence[Span], typed: Sequence[str]) -> set[Span]:
    """Which matches are part of a typed line where it is shown: its first place on the screen only.

    What is shown further below is an answer. A program may have broken the line in its own way: then the row above
    ends with what was typed before.
    """
    echo: set[Span] = set()
    begins = _begins(seen)
    text = seen.text
    for line in typed:
        shown_at: tuple[int, int] | None = None
        for first, after in spans:
            index = bisect_right(begins, first) - 1
            column, row = first - begins[index], seen.lines[index]
            for at in _occurrences(text[first:after], line):
                place = index, column - at
                if column >= at and row[column - at : column] == line[:at] and shown_at in (None, place):
                    shown_at = place
                    echo.add((first, after))
                elif index and _goes_on(seen.lines[index - 1], row[:column], line[:at]):
                    echo.add((first, after))
    return echo


def shows_typed(before: Picture, seen: Picture, typed: str) -> bool:
    """Whether a screen has the end of `typed` once more than `before`, wherever its program broke it into rows."""
    end = _squeezed(typed)[-_TAIL:]
    return bool(end) and _squeezed(seen.text).count(end) > _squeezed(before.text).count(end)


def stands(seen: Picture, typed: str) -> bool:
    """Whether `typed` stands before the cursor, where a program would go on to edit it.

    A line end may come between, as a program makes it in its box: not one behind which the cursor is in the first
    column, as after a line that was taken.
    """
    end = _squeezed(typed)[-_TAIL:]
    return bool(end and seen.upto.rpartition("\n")[2]) and _squeezed(seen.upto).endswith(end)


def _squeezed(text: str) -> str:
    """Text without blanks, line ends and frames."""
    return "".join(character for character in text if character not in _FRAME and not character.isspace())


def _occurrences(wanted: str, line: str) -> Iterator[int]:
    at = line.find(wanted)
    while at >= 0:
        yield at
        at = line.find(wanted, at + 1)


def _goes_on(above: str, before: str, typed: str) -> bool:
    """Whether a row begins, up to a match, with the end of `typed`, and the row above has what comes before that."""
    here = before.lstrip(_FRAME)
    if not typed.endswith(here):
        return False
    rest, higher = typed[: len(typed) - len(here)].rstrip(), above.strip(_FRAME)
    return bool(rest and higher) and (rest.endswith(higher) or higher.endswith(rest))
