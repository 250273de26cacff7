"""Rows of cells and a cursor, and what a terminal does to them: the rules of tmux's screen-write.c and grid.c.

Where tmux leaves half of a wide character behind, versions differ; then `doubtful` is set and tmux is to be asked.
"""

from __future__ import annotations

from typing import final

from muxwire.vt.cells import BLANK, PLAIN, Cell, pen

# tmux sets a stop at every eighth column (screen_reset_tabs).
TAB = 8
# tmux keeps at most 21 bytes a cell (UTF8_SIZE), 32 in newer versions.
_CELL_BYTES = 21


@final
class Row:
    """The cells of one row; `wrapped` if its text goes on in the next one.

    `touched`: something was written since it was last cleared. tmux skips the clearing of a line that has no cells,
    and with it the end of the wrapping of the line above. None: nobody knows.
    """

    __slots__ = ("cells", "touched", "wrapped")

    def __init__(self, cells: list[Cell], *, touched: bool | None = False) -> None:
        self.cells = cells
        self.wrapped = False
        self.touched = touched


@final
class Grid:
    """A screen of `columns` by `count` rows. `x` may be `columns`: the next character wraps first."""

    def __init__(self, columns: int, count: int, rows: list[Row] | None = None) -> None:
        self.columns, self.count = columns, count
        self.doubtful = False
        self.reset(rows)

    def reset(self, rows: list[Row] | None = None) -> None:
        """Everything as it is in a new pane, but for its rows if they are given."""
        self.pen = pen(PLAIN)
        self.x = self.y = 0
        self.wraps = True
        self.inserts = self.origin = False
        self.top, self.bottom = 0, self.count - 1
        self.tabs: set[int] = set(range(TAB, self.columns, TAB))
        self.rows = self.blank_rows(self.count) if rows is None else rows

    def blank_rows(self, number: int, cell: Cell = BLANK) -> list[Row]:
        """New rows of that cell."""
        return [Row([cell] * self.columns, touched=cell is not BLANK) for _ in range(number)]

    # -- writing

    def put(self, text: str, width: int) -> None:
        """Write one character of `width` columns at the cursor."""
        fits = self.x <= self.columns - width
        if self.x == self.columns and (self.inserts or not self.wraps):
            self.doubtful = True
            return
        if not fits and not self.wraps:
            return  # nothing is shown of a wide one
        if self.inserts:
            self._insert_cells(width, BLANK)
        if not fits:
            self._wrap()
        row = self.rows[self.y]
        cells, x = row.cells, self.x
        row.touched = True
        self._break_wide(cells, x)
        self._break_wide(cells, x + width)
        made = self._zoned(cells[x : x + 1], text)
        cells[x] = made
        if width > 1:
            cells[x + 1] = Cell("", made.style, made.zone)
        self.x = min(x + width, self.columns if self.wraps else self.columns - 1)

    def put_ascii(self, text: str) -> None:
        """Write characters of one column each."""
        if self.inserts or not self.wraps:
            for character in text:
                self.put(character, 1)
            return
        at, length = 0, len(text)
        while at < length:
            if self.x >= self.columns:
                self._wrap()
            begin, row = self.x, self.rows[self.y]
            part = text[at : at + self.columns - begin]
            end = begin + len(part)
            self._break_wide(row.cells, begin)
            self._break_wide(row.cells, end)
            if self.pen.zone == "input":
                row.cells[begin:end] = [self._zoned([row.cells[begin + k]], part[k]) for k in range(len(part))]
            else:
                row.cells[begin:end] = map(self.pen.__getitem__, part)
            row.touched = True
            self.x = end
            at += len(part)

    def _zoned(self, before: list[Cell], text: str) -> Cell:
        """A line editor that draws its prompt anew while one types writes no input there."""
        if self.pen.zone == "input" and before and before[0].zone == "prompt":
            return pen(self.pen.style, "prompt")[text]
        return self.pen[text]

    def _wrap(self) -> None:
        self.rows[self.y].wrapped = True
        self.x = 0
        self.line_feed(BLANK)

    def combine(self, mark: str) -> None:
        """Add a combining character to the cell before the cursor."""
        cells = self.rows[self.y].cells
        at = self.x - 1
        if at > 0 and not cells[at].text:
            at -= 1
        if at < 0:
            return
        text = cells[at].text + mark
        self.doubtful = self.doubtful or cells[at].text in ("", " ") or len(text.encode()) > _CELL_BYTES
        cells[at] = cells[at]._replace(text=text)

    def _break_wide(self, cells: list[Cell], at: int) -> None:
        """A wide character of which one half is overwritten leaves a blank of the other."""
        if 0 < at < self.columns and not cells[at].text:
            cells[at - 1] = BLANK
            cells[at] = BLANK
            # In the first column tmux forgets to, if it is ASCII that comes (screen_write_collect_end).
            self.doubtful = self.doubtful or at == 1

    def _doubt_wide(self, cells: list[Cell], *places: int) -> None:
        """Something is cut here: if it cuts a wide character in two, doubt."""
        if any(0 < at < self.columns and not cells[at].text for at in places):
            self.doubtful = True

    # -- moving

    def line_feed(self, blank: Cell | None = None) -> None:
        """Move down, or scroll up at the bottom of the region."""
        if self.y == self.bottom:
            self.scroll_up(1, blank)
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
        if y is not None:
            if self.origin:
                y = self.bottom if y > self.bottom - self.top else y + self.top
            self.y = min(y, self.count - 1)

    def right(self, number: int) -> None:
        """CUF."""
        self.x = min(self.x + number, self.columns - 1)

    def left(self, number: int) -> None:
        """CUB."""
        self.x = max(self.x - number, 0)

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

    def back(self) -> None:
        """BS: from the beginning of a wrapped line's second row up to its first."""
        if self.x > 0:
            self.x -= 1
        elif self.y > 0 and self.rows[self.y - 1].wrapped:
            self.x, self.y = self.columns - 1, self.y - 1

    def tab(self) -> None:
        """Go to the next stop, or the last column."""
        if self.x < self.columns - 1:
            self.x = min((stop for stop in self.tabs if stop > self.x), default=self.columns - 1)

    def back_tab(self, number: int) -> None:
        """CBT."""
        x = min(self.x, self.columns - 1)
        for _ in range(min(number, self.columns)):
            x = max((stop for stop in self.tabs if stop < x), default=0)
        self.x = x

    # -- scrolling and shifting

    def scroll_up(self, number: int, blank: Cell | None = None) -> None:
        """Take rows away at the region's top."""
        self._delete(self.top, self.bottom, number, blank or self.pen.erased)

    def scroll_down(self, number: int) -> None:
        """Put blank rows in at the region's top."""
        self._insert(self.top, self.bottom, number)

    def insert_rows(self, number: int) -> None:
        """IL: the rows from the cursor on move down."""
        self._insert(self.y, self._last_to_move(), number)

    def delete_rows(self, number: int) -> None:
        """DL: the rows below the cursor move up."""
        self._delete(self.y, self._last_to_move(), number, self.pen.erased)

    def _last_to_move(self) -> int:
        """Outside of the region tmux moves all rows down to the screen's end, but not if nothing is left to move."""
        if self.top <= self.y <= self.bottom:
            return self.bottom
        self.doubtful = True
        return self.count - 1

    def _delete(self, first: int, last: int, number: int, blank: Cell) -> None:
        number = min(number, last - first + 1)
        if last - first + 1 < self.count:
            self._unsure_wraps(first, last)
        del self.rows[first : first + number]
        at = last + 1 - number
        self.rows[at:at] = self.blank_rows(number, blank)

    def _insert(self, first: int, last: int, number: int) -> None:
        number = min(number, last - first + 1)
        self._unsure_wraps(first, last)
        del self.rows[last + 1 - number : last + 1]
        self.rows[first:first] = self.blank_rows(number, self.pen.erased)

    def _unsure_wraps(self, first: int, last: int) -> None:
        """Which wrapped rows end when rows move inside of a region depends on the way that tmux moves them."""
        if any(row.wrapped for row in self.rows[max(first - 1, 0) : last + 1]):
            self.doubtful = True

    def insert_cells(self, number: int) -> None:
        """ICH."""
        if self.x < self.columns:
            self._insert_cells(min(number, self.columns - self.x), self.pen.erased)

    def _insert_cells(self, number: int, blank: Cell) -> None:
        row, x = self.rows[self.y], self.x
        # tmux clears no more cells than it moves (grid_move_cells).
        self.doubtful = self.doubtful or 1 < self.columns - x < 2 * number
        row.touched = row.touched or x < self.columns - 1 or blank is not BLANK
        self._doubt_wide(row.cells, x, self.columns - number)
        row.cells[x:x] = [blank] * number
        del row.cells[self.columns :]

    def delete_cells(self, number: int) -> None:
        """DCH."""
        if self.x >= self.columns:
            return
        row, x = self.rows[self.y], self.x
        if number >= self.columns - x:
            self._erase(x, self.columns)
            return
        row.touched = True
        self._doubt_wide(row.cells, x, x + number)
        del row.cells[x : x + number]
        row.cells += [self.pen.erased] * number

    # -- erasing

    def erase_cells(self, number: int) -> None:
        """ECH."""
        if self.x < self.columns:
            self._erase(self.x, min(self.x + number, self.columns))

    def _erase(self, first: int, last: int) -> None:
        if first == 0 and last == self.columns:
            self._clear_rows(self.y, self.y + 1)
            return
        row = self.rows[self.y]
        self._doubt_wide(row.cells, first, last)
        row.cells[first:last] = [self.pen.erased] * (last - first)
        row.touched = row.touched or self.pen.erased is not BLANK

    def _clear_rows(self, first: int, last: int) -> None:
        if first < last:
            self.rows[first:last] = self.blank_rows(last - first, self.pen.erased)
            if first > 0:
                self.rows[first - 1].wrapped = False

    def erase_in_line(self, how: int) -> None:
        """EL."""
        if how == 0 and self.x > 0:
            if self.x < self.columns:
                self._erase(self.x, self.columns)
        elif how == 1 and self.x < self.columns - 1:
            self._erase(0, self.x + 1)
        else:
            row = self.rows[self.y]
            if row.touched is None and self.y > 0 and self.rows[self.y - 1].wrapped:
                self.doubtful = True
            if row.touched is not False or self.pen.erased is not BLANK:
                self._clear_rows(self.y, self.y + 1)

    def erase_in_screen(self, how: int) -> None:
        """ED; 3 is the history's alone."""
        if how == 0:
            if self.x < self.columns:
                self._erase(self.x, self.columns)
            self._clear_rows(self.y + 1, self.count)
        elif how == 1:
            self._clear_rows(0, self.y)
            self._erase(0, min(self.x + 1, self.columns))
        elif how == 2:
            self._clear_rows(0, self.count)

    def alignment(self) -> None:
        """DECALN: the screen full of E."""
        self.top, self.bottom = 0, self.count - 1
        self.x = self.y = 0
        if any(row.wrapped for row in self.rows):
            self.doubtful = True
        self.rows = self.blank_rows(self.count, Cell("E", PLAIN))
