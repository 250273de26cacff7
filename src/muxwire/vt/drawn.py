"""What is new on a screen: which matches of a pattern were not there when a wait began, and are no echo.

A wait sees the screen as a row of pictures. A match is new where a picture has more of the same text than the one
before had, without what has scrolled off. So what a program draws once more is old, wherever it stands now, and what
was away on one picture is new when it comes back. The text begins with the word that the match stands in: `1/301` is
not yet there where a counter shows `301/301`. It ends with the match, for behind a prompt stands what is typed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span = tuple[int, int]

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
    """Follows one pattern over pictures: which of its matches are more than there were before.

    `typed`: what was typed just before, whose echo is no answer; a line of it is shown in so many `places` at most.
    """

    def __init__(self, typed: str = "", *, places: int = 1) -> None:
        self._typed = [line for line in typed.splitlines() if line.strip()]
        self._places = places
        # Of the main screen and of the other one: the newest picture, and of each match on it that is no echo the row,
        # the text, and whether it stands where it may be an echo.
        self._seen: dict[bool, tuple[Picture, list[tuple[int, tuple[str, bool]]]]] = {}
        self._alternate = False  # which of them was seen last

    @property
    def has_begun(self) -> bool:
        return bool(self._seen)

    def begin(self, seen: Picture, spans: Sequence[Span]) -> None:
        """All of these, in `seen.text`, stood there before."""
        self.next(seen, spans)

    def next(self, seen: Picture, spans: Sequence[Span]) -> list[Span]:
        """Return those that are new, the first one first."""
        # A program that leaves its own screen shows what was there before; where that was not seen, nothing is new.
        entered = seen.alternate and not self._alternate and self.has_begun
        unknown = not entered and seen.alternate not in self._seen
        before, old = (seen, []) if entered or unknown else self._seen[seen.alternate]
        away = scrolled(before, seen)
        left = Counter(kind for row, kind in old if row >= away)
        echoed_at: dict[int, set[int]] = {}
        stands, new = [], []
        for first, after in spans:
            line, place = typed_line(seen.text, first, after, self._typed)
            kind = seen.text[_word_start(seen.text, first) : after], line >= 0
            left[kind] -= 1
            if left[kind] < 0 and not unknown:
                if line >= 0 and len(echoed_at.setdefault(line, set()) | {place}) <= self._places:
                    echoed_at[line].add(place)
                    continue
                new.append((first, after))
            stands.append((seen.starts[seen.text.count("\n", 0, first)], kind))
        self._seen[seen.alternate], self._alternate = (seen, stands), seen.alternate
        return new


def _word_start(text: str, first: int) -> int:
    """Where the word begins in which a match does; a match that begins with a blank is in none."""
    in_word = not text[first : first + 1].isspace()
    return max(text.rfind(" ", 0, first), text.rfind("\n", 0, first)) + 1 if in_word else first


def scrolled(before: Picture, after: Picture) -> int:
    """How many rows of one picture have scrolled off on the next.

    tmux counts those of a screen that was erased as well, so a row that moved up has to say the same.
    """
    count = after.above - before.above
    if before.above < 0 or after.alternate:
        return 0
    was = dict(zip(before.starts, before.lines, strict=True))
    rows = zip(after.starts, after.lines, strict=True)
    moved = any(line.strip() and was.get(row + count) == line for row, line in rows)
    return count if moved or count >= before.rows else 0


def is_echo(before: str, match: str, typed: str) -> bool:
    """Whether a match, with what stands before it, shows a part of a typed line from its beginning on."""
    return typed_line(before + match, len(before), len(before + match), typed.splitlines())[0] >= 0


def typed_line(text: str, first: int, after: int, typed: Sequence[str]) -> tuple[int, int]:
    """Of which typed line a match in `text` shows a part, and where that line begins; -1 and -1 if of none.

    A program may have broken the line in its own way: then the row above ends with what was typed before, and the
    place is not known.
    """
    begin = text.rfind("\n", 0, first) + 1
    before, above = text[begin:first], text[:begin].splitlines()[-1:]
    for number, line in enumerate(typed):
        for at in reversed([*_occurrences(text[first:after], line)]):
            if before.endswith(line[:at]):
                return number, first - at
            if above and _goes_on(above[0], before, line[:at]):
                return number, -1
    return -1, -1


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
