"""The rows of a screen that is replayed: their text, and what becomes of them when the terminal gets another size.

Rows keep what was written from left to right, so that a row which the terminal wrapped can be joined again. Sizes
change as in tmux (screen.c, screen_resize_y; grid.c, grid_reflow).
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, final

from pyte.screens import StaticDefaultDict

from muxwire.vt.cells import BLANK, Cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_text_of = itemgetter(0)


@final
class Row(StaticDefaultDict[int, Cell]):
    """The cells of a row. `wrapped`: its text continues in the next one. `redrawn`: not just written left to right.

    A wide character has "" after it, and so has a tab, up to the next stop.
    """

    __slots__ = ("redrawn", "wrapped")

    def __init__(self, cells: Sequence[Cell] = ()) -> None:
        super().__init__(BLANK)
        self.update(enumerate(cells))
        self.wrapped = False
        self.redrawn = False

    def text(self, keep: int = 0) -> str:
        """What it shows; blanks at the end of a row that was drawn over go, but for the first `keep` columns."""
        if not self.redrawn:
            return "".join(map(_text_of, self.values()))
        parts: list[str] = []
        column = 0
        for x in sorted(self):
            parts += (" " * (x - column), self[x].text)
            column = x + 1
        text = "".join(parts)
        if self.wrapped:
            return text
        shown = text.rstrip(" ")
        kept = "".join([self[x].text for x in range(keep)]) if keep else ""
        return kept if len(kept) > len(shown) else shown

    @property
    def used(self) -> int:
        return max(self, default=-1) + 1

    def cells(self, columns: int) -> list[Cell]:
        """That many cells of it, as a screen shows them: a tab is blanks, and half a wide character is one."""
        shown = [self[x] for x in range(columns)]
        tab = False
        for x, cell in enumerate(shown):
            tab = cell.text == "\t" or (tab and not cell.text)
            if tab:
                shown[x] = Cell(" ", BLANK.style, cell.zone)
        return shown


def reflowed(rows: Sequence[Row], columns: int, x: int, y: int) -> tuple[list[Row], int, int]:
    """All rows at another width, those that were wrapped joined first; and where the cell that was (x, y) is then."""
    done: list[Row] = []
    place = (0, 0)
    number = 0
    for line in _lines(rows):
        cells: list[Cell] = []
        at = -1
        for row in line:
            if number == y:
                at = len(cells) + x if x < row.used else -2
            cells += [row[column] for column in range(row.used)]
            number += 1
        pieces = list(_pieces(cells, columns))
        if at >= 0:
            piece = 0
            while at >= len(pieces[piece]) and piece < len(pieces) - 1:
                at -= len(pieces[piece])
                piece += 1
            place = at, len(done) + piece
        elif at == -2:
            place = min(len(pieces[-1]), columns), len(done) + len(pieces) - 1
        made = [Row(piece) for piece in pieces]
        for one in made:
            one.wrapped, one.redrawn = one is not made[-1] or line[-1].wrapped, True
        done += made
    return done, *place


def _lines(rows: Sequence[Row]) -> Iterator[list[Row]]:
    line: list[Row] = []
    for row in rows:
        line.append(row)
        if not row.wrapped:
            yield line
            line = []
    if line:
        yield line


def _pieces(cells: Sequence[Cell], columns: int) -> Iterator[list[Cell]]:
    """A line cut into rows; what is wide is not cut."""
    piece: list[Cell] = []
    for number, cell in enumerate(cells):
        if cell.text == "" and piece:
            piece.append(cell)
            continue
        width = 1
        while number + width < len(cells) and cells[number + width].text == "":
            width += 1
        if len(piece) + width > columns:
            yield piece
            piece = []
        piece.append(cell)
    yield piece
