"""Rows of cells and a cursor, and what a terminal does to them. The rules are those of tmux's screen-write.c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from muxwire.pane.cells import BLANK, PLAIN, Cell, Style

# tmux sets a stop at every eighth column (screen_reset_tabs).
_TAB = 8


@final
class Row:
    """The cells of one row; `wrapped` if its text goes on in the next one."""

    __slots__ = ("cells", "wrapped")

    def __init__(self, cells: list[Cell]) -> None:
        self.cells = cells
        self.wrapped = False


@final
@dataclass(slots=True)
class Saved:
    """What DECSC keeps."""

    x: int
    y: int
    style: Style


@final
class Grid:
    """A screen of `columns` by `count` rows. `x` may be `columns`: the next character wraps first."""

    def __init__(self, columns: int, count: int) -> None:
        self.columns, self.count = columns, count
        self.style = PLAIN
        self.x = self.y = 0
        self.wraps = True
        self.inserts = False
        self.origin = False
        self.top, self.bottom = 0, count - 1
        self.rows = [self._blank() for _ in range(count)]
        self.tabs = set(range(_TAB, columns, _TAB))
        self.saved: Saved | None = None

    def _erased(self) -> Cell:
        """An erased cell keeps the background (BCE), nothing else."""
        return Cell(" ", Style(bg=self.style.bg)) if self.style.bg else BLANK

    def _blank(self) -> Row:
        return Row([self._erased()] * self.columns)

    # -- writing

    def put(self, text: str, width: int) -> None:
        """Write one character of `width` columns at the cursor."""
        if self.x > self.columns - width:
            if not self.wraps:
                self.x = self.columns - width
            else:
                self.rows[self.y].wrapped = True
                self.x = 0
                self.line_feed()
        cells = self.rows[self.y].cells
        if self.inserts:
            cells[self.x : self.x] = [BLANK] * width
            del cells[self.columns :]
        self._break_wide(cells, self.x)
        self._break_wide(cells, self.x + width)
        cells[self.x] = Cell(text, self.style)
        if width > 1:
            cells[self.x + 1] = Cell("", self.style)
        self.x = min(self.x + width, self.columns if self.wraps else self.columns - 1)

    def put_ascii(self, text: str) -> None:
        """Write characters of one column each."""
        while text:
            room = self.columns - self.x
            if room <= 0 or self.inserts or not self.wraps:
                self.put(text[0], 1)
                text = text[1:]
                continue
            part, text = text[:room], text[room:]
            cells, end = self.rows[self.y].cells, self.x + len(part)
            self._break_wide(cells, self.x)
            self._break_wide(cells, end)
            style = self.style
            cells[self.x : end] = [Cell(character, style) for character in part]
            self.x = end

    def combine(self, mark: str) -> None:
        """Add a combining character to the cell before the cursor."""
        cells = self.rows[self.y].cells
        at = self.x - 1
        if at > 0 and not cells[at].text:
            at -= 1
        if at >= 0:
            cells[at] = cells[at]._replace(text=cells[at].text + mark)

    def _break_wide(self, cells: list[Cell], at: int) -> None:
        """A wide character of which one half is overwritten leaves a blank of the other."""
        if 0 < at < self.columns and not cells[at].text:
            cells[at - 1] = BLANK
            cells[at] = BLANK

    # -- moving

    def line_feed(self) -> None:
        """Move down, or scroll up at the bottom of the region."""
        if self.y == self.bottom:
            self.scroll_up(1)
        elif self.y < self.count - 1:
            self.y += 1

    def reverse_line_feed(self) -> None:
        """Move up, or scroll down at the top of the region."""
        if self.y == self.top:
            self.scroll_down(1)
        elif self.y > 0:
            self.y -= 1

    def move(self, x: int | None = None, y: int | None = None) -> None:
        """Go to an absolute place; rows count from the region's top in origin mode."""
        if x is not None:
            self.x = min(max(x, 0), self.columns - 1)
        elif self.x == self.columns:
            self.x -= 1
        if y is not None:
            first, last = (self.top, self.bottom) if self.origin else (0, self.count - 1)
            self.y = min(max(y + first, first), last)

    def up(self, number: int) -> None:
        """CUU: stops at the region's top if it begins inside."""
        limit = self.top if self.y >= self.top else 0
        self.y = max(self.y - number, limit)
        self.x = min(self.x, self.columns - 1)

    def down(self, number: int) -> None:
        """CUD: stops at the region's bottom if it begins inside."""
        limit = self.bottom if self.y <= self.bottom else self.count - 1
        self.y = min(self.y + number, limit)
        self.x = min(self.x, self.columns - 1)

    def tab(self) -> None:
        """Go to the next stop, or the last column."""
        if self.x < self.columns - 1:
            self.x = min((stop for stop in self.tabs if stop > self.x), default=self.columns - 1)

    def save(self) -> None:
        """DECSC."""
        self.saved = Saved(self.x, self.y, self.style)

    # -- scrolling and shifting

    def scroll_up(self, number: int) -> None:
        """Take rows away at the region's top."""
        self._shift(self.top, number)

    def scroll_down(self, number: int) -> None:
        """Put blank rows in at the region's top."""
        self._insert(self.top, number)

    def insert_rows(self, number: int) -> None:
        """IL: the rows from the cursor on move down."""
        if self.top <= self.y <= self.bottom:
            self._insert(self.y, number)

    def delete_rows(self, number: int) -> None:
        """DL: the rows below the cursor move up."""
        if self.top <= self.y <= self.bottom:
            self._shift(self.y, number)

    def _shift(self, first: int, number: int) -> None:
        number = min(number, self.bottom - first + 1)
        del self.rows[first : first + number]
        at = self.bottom + 1 - number
        self.rows[at:at] = [self._blank() for _ in range(number)]

    def _insert(self, first: int, number: int) -> None:
        number = min(number, self.bottom - first + 1)
        del self.rows[self.bottom + 1 - number : self.bottom + 1]
        self.rows[first:first] = [self._blank() for _ in range(number)]

    def insert_cells(self, number: int) -> None:
        """ICH."""
        cells, x = self.rows[self.y].cells, min(self.x, self.columns - 1)
        cells[x:x] = [self._erased()] * min(number, self.columns - x)
        del cells[self.columns :]

    def delete_cells(self, number: int) -> None:
        """DCH."""
        cells, x = self.rows[self.y].cells, min(self.x, self.columns - 1)
        number = min(number, self.columns - x)
        del cells[x : x + number]
        cells += [self._erased()] * number

    # -- erasing

    def erase_cells(self, first: int, last: int) -> None:
        """Erase columns `first` to `last` of the cursor's row."""
        cells = self.rows[self.y].cells
        last = min(last, self.columns)
        if first < last:
            self._break_wide(cells, first)
            self._break_wide(cells, last)
            cells[first:last] = [self._erased()] * (last - first)

    def erase_in_line(self, how: int) -> None:
        """EL."""
        x = min(self.x, self.columns - 1)
        if how == 0 and self.x < self.columns:
            self.erase_cells(x, self.columns)
        elif how == 1:
            self.erase_cells(0, x + 1)
        elif how == 2:
            self.erase_cells(0, self.columns)

    def erase_in_screen(self, how: int) -> None:
        """ED."""
        if how == 0:
            if self.x < self.columns:
                self.erase_cells(self.x, self.columns)
            self.rows[self.y + 1 :] = [self._blank() for _ in range(self.count - self.y - 1)]
        elif how == 1:
            self.rows[: self.y] = [self._blank() for _ in range(self.y)]
            self.erase_cells(0, min(self.x, self.columns - 1) + 1)
        elif how == 2:
            self.rows[:] = [self._blank() for _ in range(self.count)]
