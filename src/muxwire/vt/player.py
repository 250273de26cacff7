"""The text of an output that was drawn over, played by pyte on a screen that forgets no line.

pyte moves the cursor and erases. Added to it: rows that scroll off stay in the text, a row that the terminal wrapped is
joined with the next one, and a saved cursor stays where it was saved, also outside of the scroll region.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import final

from pyte.charsets import LAT1_MAP
from pyte.modes import DECAWM, IRM
from pyte.screens import Char, Margins, Screen
from pyte.streams import Stream

from muxwire.vt.widths import guessed_width

# An output has a few hundred different characters, thousands in Chinese.
_cell = lru_cache(maxsize=8192)(Char)
# Marks of accents that one character carries at most; more would make a row grow without moving the cursor.
_COMBINED_MAX = 16


@final
class Row(dict[int, Char]):
    """The cells of a row by column; a wide character has one without text after it."""

    wrapped = False  # whether its text continues in the next row

    def __missing__(self, x: int) -> Char:
        return _cell(" ")


@final
class Page(Screen):
    buffer: dict[int, Row]  # type: ignore[assignment]  # rows that know more

    def __init__(self, columns: int, lines: int, text: str) -> None:
        """Play `text`, which has no sequence but those that `readable` leaves in it."""
        self._gone: list[str] = []  # the text that has scrolled off
        self._saved = 0, 0
        super().__init__(columns, lines)
        self.buffer = defaultdict(Row)
        stream = Stream(self)
        stream.use_utf8 = False  # else no line drawing
        stream.feed(text)

    def before_cursor(self) -> str:
        """What stands before the cursor in its row."""
        row = self.buffer[self.cursor.y]
        return "".join(row[x].data for x in range(self.cursor.x))

    def text(self) -> str:
        """All that a person has read; the last line ends where the cursor is, or its text."""
        y = self.cursor.y
        last = max((below for below in self.buffer if below > y and self._text(below).strip()), default=y)
        lines = [*self._gone, *map(self._ended, range(last))]
        if last > y:  # what comes next is no part of the last line
            return "".join((*lines, self._ended(last)))
        drawn = self.before_cursor() if self.buffer[y] else ""  # a line that LF began without CR has nothing yet
        return "".join((*lines, max(self._text(y).rstrip(" "), drawn, key=len)))

    def _ended(self, y: int) -> str:
        return self._text(y) if self.buffer[y].wrapped else self._text(y).rstrip(" ") + "\n"

    def _text(self, y: int) -> str:
        row, column, parts = self.buffer[y], 0, list[str]()
        for x in sorted(row):
            if x < self.columns:  # pyte keeps one cell more
                parts += (" " * (x - column), row[x].data)
                column = x + 1
        return "".join(parts)

    def draw(self, data: str) -> None:
        table = self.g1_charset if self.charset else self.g0_charset
        if table is not LAT1_MAP:
            data = data.translate(table)
        above = self.buffer.get(self.cursor.y - 1)
        if self.cursor.x == 0 and above and above.wrapped and above[self.columns - 1].data == " ":
            above.wrapped = False  # blanks that wrapped, and a CR: a shell has made sure of a line of its own
        if data.isascii() and IRM not in self.mode and self.cursor.x + len(data) <= self.columns:  # nearly always
            end = self.cursor.x + len(data)
            self.buffer[self.cursor.y].update(zip(range(self.cursor.x, end), map(_cell, data), strict=True))
            self.cursor.x = end
            return
        for character in data:
            self._draw_one(character, guessed_width(character))

    def _draw_one(self, character: str, width: int) -> None:
        if self.cursor.x + width > self.columns and DECAWM in self.mode:
            self.buffer[self.cursor.y].wrapped = True
            self.carriage_return()
            self.index()
        row, x = self.buffer[self.cursor.y], min(self.cursor.x, self.columns - width)
        if not width:
            self._combine(row, character)
        elif x >= 0:
            if IRM in self.mode:
                self.insert_characters(width)
            row[x] = _cell(character)
            if width > 1:
                row[x + 1] = _cell("")
            self.cursor.x = x + width

    def _combine(self, row: Row, mark: str) -> None:
        x = self.cursor.x - 1
        x -= x > 0 and not row[x].data
        if x >= 0 and len(row[x].data) < _COMBINED_MAX:
            row[x] = Char(row[x].data + mark)

    def tab(self) -> None:
        if self.cursor.x < self.columns - 1:  # behind the last column, what comes next is to wrap, as in tmux
            super().tab()

    def index(self) -> None:
        top, bottom = self.margins or Margins(0, self.lines - 1)
        if self.cursor.y == bottom:
            self._gone.append(self._ended(top))
            super().index()
        elif self.cursor.y < self.lines - 1:
            self.cursor.y += 1

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: ARG002
        row, x = self.buffer[self.cursor.y], self.cursor.x
        if x < self.columns:
            row.wrapped = False
        kept = {0: range(x), 1: range(x + 1, self.columns)}.get(how, range(0))
        for column in [column for column in row if column not in kept]:
            del row[column]

    def erase_in_display(self, how: int = 0, *_args: object, **_kwargs: object) -> None:
        for y in range(self.cursor.y) if how else range(self.cursor.y + 1, self.lines):
            self.buffer.pop(y, None)
        self.erase_in_line(how)

    def save_cursor(self) -> None:
        self._saved = self.cursor.x, self.cursor.y

    def restore_cursor(self) -> None:
        self.cursor.x, self.cursor.y = self._saved
