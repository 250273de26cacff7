"""The cells of a screen of pyte's, as tmux writes and erases them: wide characters, tabs, wraps, all styles.

The cells are ours (`vt/cells.py`) and not pyte's. Rows keep what was written from left to right, so that a row which
the terminal wrapped can be joined again. Sizes change as in tmux (screen.c, screen_resize_y; grid.c, grid_reflow).
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, final

import pyte.charsets
import pyte.modes
from pyte.screens import Screen, StaticDefaultDict

from muxwire.vt.cells import BLANK, Cell, changed, pen, zone_of
from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muxwire.vt.cells import Pen, Zone

_text_of = itemgetter(0)
# Marks of accents that one character carries at most; more make a row grow without moving the cursor.
_COMBINED_MAX = 16


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


class Drawing(Screen):
    """What is written at the cursor, and erased around it."""

    buffer: dict[int, Row]  # type: ignore[assignment]  # ours are dictionaries of the same kind that know more
    _zone: Zone
    last: str  # what REP repeats

    @property
    def pen(self) -> Pen:
        """What the next character is written with; pyte keeps it with the cursor, and so saves it."""
        return self.cursor.attrs  # type: ignore[return-value]

    @pen.setter
    def pen(self, new: Pen) -> None:
        self.cursor.attrs = new  # type: ignore[assignment]

    @property
    def zone(self) -> Zone:
        return self._zone

    @zone.setter
    def zone(self, new: Zone) -> None:
        self._zone = new
        self.pen = pen(self.pen.style, new)

    def row(self, y: int) -> list[Cell]:
        return self.buffer[y].cells(self.columns)

    def style(self, parameters: str) -> None:
        self.pen = changed(self.pen, parameters)

    def command(self, text: str) -> None:
        """OSC: a title, or a mark that says whose the next characters are."""
        code, _, rest = text.partition(";")
        if code in ("0", "2"):
            self.set_title(rest)
        elif (zone := zone_of(text)) is not None:
            self.zone = zone

    def draw(self, data: str) -> None:
        table = self.g1_charset if self.charset else self.g0_charset
        if table is not pyte.charsets.LAT1_MAP:
            data = data.translate(table)
        if self._zone == "input":
            self._draw_input(data)
        elif pyte.modes.IRM not in self.mode and (data.isascii() or set(map(guessed_width, data)) == {1}):
            self._draw_run(data)
        else:
            for character in data:
                self._draw_one(character, guessed_width(character))
        if pyte.modes.DECAWM not in self.mode:
            self.cursor.x = min(self.cursor.x, self.columns - 1)
        self.last = data[-1]

    def _draw_input(self, data: str) -> None:
        """A line editor that draws its prompt anew while one types writes no input there."""
        typed = self.pen
        for character in data:
            under = self.buffer[self.cursor.y].get(self.cursor.x)
            self.pen = pen(typed.style, "prompt") if under is not None and under.zone == "prompt" else typed
            self._draw_one(character, guessed_width(character))
        self.pen = typed

    def _draw_run(self, data: str) -> None:
        cursor, glyphs, position = self.cursor, self.pen, 0
        while position < len(data):
            row = self._row_to_draw(1)
            x = cursor.x
            piece = data[position : position + self.columns - x]
            end = x + len(piece)
            self._split_wide(row, x, end)
            row.update(zip(range(x, end), map(glyphs.__getitem__, piece), strict=True))
            cursor.x = end
            position += len(piece)

    def _draw_one(self, character: str, width: int) -> None:
        if width == 0:
            self._combine(character)
            return
        if width > self.columns:
            return
        row = self._row_to_draw(width)
        x = self.cursor.x
        if pyte.modes.IRM in self.mode:
            self.insert_characters(width)
        self._split_wide(row, x, x + width)
        row[x] = self.pen[character]
        if width > 1:
            row[x + 1] = self.pen[""]
        self.cursor.x = x + width

    def _row_to_draw(self, width: int) -> Row:
        """The row in which a character of that width goes; wraps if it has no room."""
        cursor = self.cursor
        if cursor.x + width > self.columns:
            if pyte.modes.DECAWM in self.mode:
                self.buffer[cursor.y].wrapped = True
                self.carriage_return()
                self.index()
                return self.buffer[cursor.y]
            cursor.x = self.columns - width
        row = self.buffer[cursor.y]
        if cursor.x != len(row):
            row.redrawn = True
        elif cursor.x == 0 and cursor.y:
            above = self.buffer[cursor.y - 1]
            if above.wrapped and above[self.columns - 1].text == " ":
                # Blanks that wrapped and a CR: a shell has made sure of a line of its own (zsh's PROMPT_SP, fish).
                self._unwrap(cursor.y - 1)
        return row

    @staticmethod
    def _split_wide(row: Row, begin: int, end: int) -> None:
        """Blank what is left of characters, or of tabs, that will be overwritten in part."""
        for edge in (begin, end):
            if (cell := row.get(edge)) is not None and cell.text == "":
                row.redrawn = True
                first = edge
                while first > 0 and row[first].text == "":
                    first -= 1
                while first in row and (first <= edge or row[first].text == ""):
                    row[first] = BLANK
                    first += 1

    def _combine(self, character: str) -> None:
        row, x = self.buffer[self.cursor.y], self.cursor.x - 1
        while x > 0 and row[x].text == "":
            x -= 1
        if x in row and len(row[x].text) < _COMBINED_MAX:
            row[x] = row[x]._replace(text=row[x].text + character)

    def tab(self) -> None:
        """Move to the next stop; a tab that crosses nothing is kept as one, so that text has it again."""
        x = self.cursor.x
        stop = min((stop for stop in self.tabstops if stop > x), default=self.columns - 1)
        row = self.buffer[self.cursor.y]
        if stop < self.columns - 1 and not any(column in row for column in range(x, stop)):
            row.redrawn = row.redrawn or x != len(row)
            row[x] = self.pen["\t"]
            for column in range(x + 1, stop):
                row[column] = self.pen[""]
        self.cursor.x = max(stop, min(x, self.columns - 1))

    def tab_back(self, count: int = 1) -> None:
        for _ in range(min(count or 1, self.columns)):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    def repeat(self, count: int = 1) -> None:
        """REP, as in tmux: up to the margin, and nothing that a control or a sequence has followed."""
        if self.last and self.cursor.x < self.columns:
            self.draw(self.last * min(count or 1, self.columns - self.cursor.x))

    def _erase(self, y: int, begin: int, end: int) -> None:
        row = self.buffer[y]
        whole = begin == 0 and end >= self.columns
        if whole and (row or self.pen.erased is not BLANK):  # in tmux nothing less ends a wrap, and fish counts on it
            self._unwrap(y)
            self._unwrap(y - 1)
        self._split_wide(row, begin, end)
        erased = self.pen.erased
        if erased is not BLANK:
            row.redrawn = True
            row.update(dict.fromkeys(range(begin, end), erased))
        elif end >= self.columns:
            for x in [x for x in row if x >= begin]:
                del row[x]
        else:
            row.redrawn = True
            for x in range(begin, end):
                row.pop(x, None)
        if not row:
            row.redrawn = False

    def _unwrap(self, y: int) -> None:
        """The text of that row does not continue in the next one any more."""
        row = self.buffer.get(y)
        if row is not None and row.wrapped:
            row.wrapped, row.redrawn = False, True

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002, RUF100
        x = min(self.cursor.x, self.columns - 1)
        if how == 0 and self.cursor.x < self.columns:
            self._erase(self.cursor.y, x, self.columns)
        elif how == 1:
            self._erase(self.cursor.y, 0, x + 1)
        elif how == 2:
            self._erase(self.cursor.y, 0, self.columns)

    def erase_characters(self, count: int | None = None) -> None:
        x = min(self.cursor.x, self.columns - 1)
        self._erase(self.cursor.y, x, min(x + (count or 1), self.columns))

    def insert_characters(self, count: int | None = None) -> None:
        self._shift(min(count or 1, self.columns))

    def delete_characters(self, count: int | None = None) -> None:
        self._shift(-min(count or 1, self.columns))

    def _shift(self, by: int) -> None:
        row, begin = self.buffer[self.cursor.y], min(self.cursor.x, self.columns - 1)
        self._split_wide(row, begin, begin + max(-by, 0))
        after = {x: row.pop(x) for x in list(row) if x >= begin}
        row.update({x + by: cell for x, cell in after.items() if begin <= x + by < self.columns})
        row.redrawn = True
