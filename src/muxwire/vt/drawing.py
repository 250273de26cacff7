"""The cells of a screen of pyte's, as tmux writes and erases them: wide characters, tabs, wraps, all styles.

The cells are ours (`vt/cells.py`) and not pyte's; rows know whether the terminal wrapped them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyte.charsets
import pyte.modes
from pyte.screens import Screen

from muxwire.vt.cells import BLANK, changed, pen
from muxwire.vt.widths import guessed_width
from muxwire.vt.zone_marks import zone_of

if TYPE_CHECKING:
    from muxwire.vt.cells import Cell, Pen, Zone
    from muxwire.vt.rows import Row

# Marks of accents that one character carries at most; more make a row grow without moving the cursor.
_COMBINED_MAX = 16


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
        behind = {x: row.pop(x) for x in list(row) if x >= begin}
        row.update({x + by: cell for x, cell in behind.items() if begin <= x + by < self.columns})
        row.redrawn = True
