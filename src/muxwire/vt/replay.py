"""The screen that bytes of the past would have drawn: pyte's, with what tmux does and pyte does not.

Added to pyte 0.8: the alternate screen, rows that know whether the terminal wrapped them, wide characters at the
margin, REP, SU, SD, CBT, one saved cursor. `vt/player.py` feeds it.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from operator import itemgetter
from typing import TYPE_CHECKING, final

import pyte.charsets
import pyte.modes
from pyte.screens import Char, Margins, Screen, StaticDefaultDict

from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyte.screens import Cursor

# Marks of accents that one character carries at most; more make a row grow without moving the cursor.
_COMBINED_MAX = 16

_ALTERNATE = frozenset((47, 1047, 1049))
_SAVES_CURSOR = 1049
_COLUMN_MODE = 3
# The modes that change what is shown: insert, line feed; and of the private ones origin, wrap, cursor.
_MODES = frozenset((4, 20))
_PRIVATE_MODES = frozenset((6, 7, 25))
_data_of = itemgetter(0)


@final
class Row(StaticDefaultDict[int, Char]):
    """The cells of a row. `wrapped`: its text goes on in the next one. `redrawn`: not just written left to right."""

    __slots__ = ("redrawn", "wrapped")

    def __init__(self, default: Char) -> None:
        super().__init__(default)
        self.wrapped = False
        self.redrawn = False

    def text(self, keep: int = 0) -> str:
        """What it shows; blanks at the end of a row that was drawn over go, but for the first `keep` columns."""
        if not self.redrawn:
            return "".join(map(_data_of, self.values()))
        parts: list[str] = []
        column = 0
        for x in sorted(self):
            parts += (" " * (x - column), self[x].data)
            column = x + 1
        text = "".join(parts)
        if self.wrapped:
            return text
        shown = text.rstrip(" ")
        kept = "".join([self[x].data for x in range(keep)]) if keep else ""
        return kept if len(kept) > len(shown) else shown


class _Glyphs(dict[str, Char]):
    """The cells of one look, by character: each is made once."""

    def __init__(self, look: Char) -> None:
        super().__init__()
        self._look = look

    def __missing__(self, character: str) -> Char:
        made = self[character] = self._look._replace(data=character)
        return made


class ReplayScreen(Screen):
    """pyte's screen, mended; see the module's docstring."""

    buffer: dict[int, Row]  # type: ignore[assignment]  # ours are dictionaries of the same kind that know more

    def __init__(self, columns: int, lines: int) -> None:
        super().__init__(columns, lines)
        self.reset()

    def reset(self) -> None:
        """Begin anew, as RIS does."""
        super().reset()
        self.buffer = self._blank()
        self.savepoints.clear()
        self.g1_charset = pyte.charsets.LAT1_MAP  # as in tmux; pyte begins with line drawing
        self.alternate = False
        self._main: tuple[dict[int, Row], Cursor | None] | None = None
        self.last = ""  # what REP repeats
        self._glyphs = _Glyphs(self.default_char)

    def _blank(self, rows: dict[int, Row] | None = None) -> dict[int, Row]:
        return defaultdict(self._blank_row, rows or {})

    def _blank_row(self) -> Row:
        return Row(self.default_char)

    # The text

    def draw(self, data: str) -> None:
        """Draw characters from the cursor on."""
        table = self.g1_charset if self.charset else self.g0_charset
        if table is not pyte.charsets.LAT1_MAP:
            data = data.translate(table)
        attrs = self.cursor.attrs
        if self._glyphs._look is not attrs:  # noqa: SLF001
            self._glyphs = _Glyphs(attrs)
        if pyte.modes.IRM not in self.mode and (data.isascii() or set(map(guessed_width, data)) == {1}):
            self._draw_run(data)
        else:
            for character in data:
                self._draw_one(character, guessed_width(character))
        self.last = data[-1]

    def _draw_run(self, data: str) -> None:
        cursor, glyphs, position = self.cursor, self._glyphs, 0
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
        row[x] = self._glyphs[character]
        if width > 1:
            row[x + 1] = self._glyphs[""]
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
            if above.wrapped and above[self.columns - 1].data == " ":
                # Blanks that wrapped and a CR: a shell has made sure of a line of its own (zsh's PROMPT_SP, fish).
                above.wrapped, above.redrawn = False, True
        return row

    @staticmethod
    def _split_wide(row: Row, begin: int, end: int) -> None:
        """Blank what is left of characters, or of tabs, that will be overwritten in part."""
        for edge in (begin, end):
            if (cell := row.get(edge)) is not None and cell.data == "":
                row.redrawn = True
                first = edge
                while first > 0 and row[first].data == "":
                    first -= 1
                while first in row and (first <= edge or row[first].data == ""):
                    row[first] = row.default
                    first += 1

    def _combine(self, character: str) -> None:
        row, x = self.buffer[self.cursor.y], self.cursor.x - 1
        while x > 0 and row[x].data == "":
            x -= 1
        if x in row and len(row[x].data) < _COMBINED_MAX:
            row[x] = row[x]._replace(data=row[x].data + character)

    def tab(self) -> None:
        """Move to the next stop; a tab that crosses nothing is kept as one, so that text has it again."""
        x = self.cursor.x
        stop = min((stop for stop in self.tabstops if stop > x), default=self.columns - 1)
        row = self.buffer[self.cursor.y]
        if stop < self.columns - 1 and not any(column in row for column in range(x, stop)):
            row.redrawn = row.redrawn or x != len(row)
            row[x] = self.cursor.attrs._replace(data="\t")
            for column in range(x + 1, stop):
                row[column] = self.cursor.attrs._replace(data="")
        self.cursor.x = max(stop, min(x, self.columns - 1))

    def tab_back(self, count: int = 1) -> None:
        """CBT."""
        for _ in range(min(count or 1, self.columns)):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    def repeat(self, count: int = 1) -> None:
        """REP, as in tmux: up to the margin, and nothing that a control or a sequence has followed."""
        if self.last and self.cursor.x < self.columns:
            self.draw(self.last * min(count or 1, self.columns - self.cursor.x))

    # The cursor

    def next_line(self) -> None:
        """NEL."""
        self.linefeed()
        self.carriage_return()

    def index(self) -> None:
        """Move down; at the bottom, the top row scrolls off."""
        top, bottom = self.margins or Margins(0, self.lines - 1)
        if self.cursor.y != bottom:
            self.cursor_down()
            return
        self.scrolled_off([self.buffer[top]])
        self.buffer.pop(top)
        if top == 0 and bottom == self.lines - 1:  # pyte moves row by row, which takes longer than all else
            self.buffer = self._blank({y - 1: row for y, row in self.buffer.items()})
            return
        for y in range(top, bottom):
            self.buffer[y] = self.buffer[y + 1]
        self.buffer.pop(bottom)

    def scrolled_off(self, rows: list[Row]) -> None:
        """Rows left the screen at its top, or all of it was cleared; here nobody keeps them."""

    def cursor_to_line(self, line: int | None = None) -> None:
        """VPA; pyte's fails in origin mode without margins."""
        self.cursor_position(line, min(self.cursor.x, self.columns - 1) + 1)

    def save_cursor(self) -> None:
        """Save it in the one place that there is."""
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self) -> None:
        """Restore it as often as one likes."""
        saved = self.savepoints[:]
        super().restore_cursor()
        self.savepoints[:] = [point._replace(cursor=copy.copy(point.cursor)) for point in saved]

    # What is erased and moved

    def _erase(self, row: Row, begin: int, end: int) -> None:
        self._split_wide(row, begin, end)
        attrs = self.cursor.attrs
        if attrs.bg != "default":
            row.redrawn = True
            row.update(dict.fromkeys(range(begin, end), row.default._replace(bg=attrs.bg)))
        elif end >= self.columns:
            for x in [x for x in row if x >= begin]:
                del row[x]
        else:
            row.redrawn = True
            for x in range(begin, end):
                row.pop(x, None)
        if begin == 0 and end >= self.columns:  # in tmux nothing less ends a wrap, and fish counts on it
            row.wrapped = False
        if not row:
            row.redrawn = False

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002, RUF100
        """EL."""
        x = min(self.cursor.x, self.columns - 1)
        if how == 0 and self.cursor.x < self.columns:
            self._erase(self.buffer[self.cursor.y], x, self.columns)
        elif how == 1:
            self._erase(self.buffer[self.cursor.y], 0, x + 1)
        elif how == 2:
            self._erase(self.buffer[self.cursor.y], 0, self.columns)

    def erase_in_display(self, how: int = 0, *_args: object, **_kwargs: object) -> None:
        """ED. As in tmux, what a cleared screen has shown scrolls off."""
        if how == 2 or (how == 0 and self.cursor.x == self.cursor.y == 0):
            used = max((y for y, row in self.buffer.items() if row), default=-1) + 1
            if used > (how == 0) and not self.alternate:  # a shell clears what is below its prompt: one row is a line
                blank = self._blank_row()
                self.scrolled_off([self.buffer.get(y, blank) for y in range(used)])
            self.buffer = self._blank()
            if self.cursor.attrs.bg == "default":
                return
        if how in (0, 1):
            self.erase_in_line(how)
        ranges = {0: range(self.cursor.y + 1, self.lines), 1: range(self.cursor.y), 2: range(self.lines)}
        for y in ranges.get(how, ()):
            self._erase(self.buffer[y], 0, self.columns)

    def erase_characters(self, count: int | None = None) -> None:
        """ECH."""
        x = min(self.cursor.x, self.columns - 1)
        self._erase(self.buffer[self.cursor.y], x, min(x + (count or 1), self.columns))

    def insert_characters(self, count: int | None = None) -> None:
        """ICH."""
        self._shift(min(count or 1, self.columns))

    def delete_characters(self, count: int | None = None) -> None:
        """DCH."""
        self._shift(-min(count or 1, self.columns))

    def _shift(self, by: int) -> None:
        row, begin = self.buffer[self.cursor.y], min(self.cursor.x, self.columns - 1)
        self._split_wide(row, begin, begin + max(-by, 0))
        behind = {x: row.pop(x) for x in list(row) if x >= begin}
        row.update({x + by: cell for x, cell in behind.items() if begin <= x + by < self.columns})
        row.redrawn = True

    def insert_lines(self, count: int | None = None) -> None:
        """IL; as in tmux the cursor keeps its column."""
        x = self.cursor.x
        super().insert_lines(count)
        self.cursor.x = x

    def delete_lines(self, count: int | None = None) -> None:
        """DL, likewise."""
        x = self.cursor.x
        super().delete_lines(count)
        self.cursor.x = x

    def scroll_up(self, count: int = 1) -> None:
        """SU."""
        top, bottom = self.margins or Margins(0, self.lines - 1)
        count = min(count or 1, bottom - top + 1)
        self.scrolled_off([self.buffer[y] for y in range(top, top + count)])
        self._at(top, self.delete_lines, count)

    def scroll_down(self, count: int = 1) -> None:
        """SD."""
        self._at(self.margins.top if self.margins else 0, self.insert_lines, count)

    def _at(self, y: int, call: Callable[[int], None], count: int) -> None:
        before, self.cursor.y = self.cursor.y, y
        call(count)
        self.cursor.y = before

    # Modes

    def set_mode(self, *modes: int, **kwargs: bool) -> None:
        """SM, DECSET."""
        self._switch(modes, kwargs, on=True)
        super().set_mode(*_known(modes, kwargs), **kwargs)

    def reset_mode(self, *modes: int, **kwargs: bool) -> None:
        """RM, DECRST."""
        self._switch(modes, kwargs, on=False)
        super().reset_mode(*_known(modes, kwargs), **kwargs)

    def _switch(self, modes: tuple[int, ...], kwargs: dict[str, bool], *, on: bool) -> None:
        for mode in modes if kwargs.get("private") else ():
            if mode == _COLUMN_MODE:  # tmux keeps its width
                self.erase_in_display(2)
                self.cursor_position()
            elif mode in _ALTERNATE and on and self._main is None:
                self._main = self.buffer, copy.copy(self.cursor) if mode == _SAVES_CURSOR else None
                self.buffer, self.alternate = self._blank(), True
            elif mode in _ALTERNATE and not on and self._main is not None:
                (self.buffer, cursor), self._main, self.alternate = self._main, None, False
                if cursor is not None and mode == _SAVES_CURSOR:
                    self.cursor = cursor


def _known(modes: tuple[int, ...], kwargs: dict[str, bool]) -> list[int]:
    known = _PRIVATE_MODES if kwargs.get("private") else _MODES
    return [mode for mode in modes if mode in known]
