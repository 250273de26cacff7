"""The screen that bytes of the past would have drawn: pyte's, with what tmux does and pyte does not.

Added to pyte 0.8: the alternate screen, rows that know whether the terminal wrapped them, wide characters at the
margin, REP, SU, SD, CBT, one saved cursor, all styles, whose each cell is (by the marks in the output), and rows that
flow anew at another width. `Player` feeds it. `TextScreen` forgets no line, and gives the text of all that was shown.
"""

from __future__ import annotations

import codecs
import copy
import re
from collections import defaultdict, deque
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, final

import pyte.charsets
import pyte.modes
from pyte.screens import Margins, Screen, StaticDefaultDict

from muxwire.vt.cells import BLANK, PLAIN, Cell, Zone, changed, pen, zone_of
from muxwire.vt.sequences import SequenceSplitter
from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyte.screens import Cursor

    from muxwire.vt.cells import Pen


# The cells of a screen of pyte's, as tmux writes and erases them: wide characters, tabs, wraps, all styles.
#
# The cells are those of `vt/cells.py` and not pyte's. Rows keep what was written from left to right, so that a row
# which the terminal wrapped can be joined again. Sizes change as in tmux (screen.c, screen_resize_y; grid.c,
# grid_reflow).

_text_of = itemgetter(0)
# Marks of accents that one character carries at most; more make a row grow without moving the cursor.
_COMBINED_MAX = 16


@final
class Row(StaticDefaultDict[int, Cell]):
    """The cells of a row. `wrapped`: its text continues in the next one. `redrawn`: not just written left to right.

    A wide character has "" after it, and so has a tab, up to the next stop. `used`: how many cells are laid out for
    another width; as in tmux, what is erased or deleted counts, until the whole row is erased.
    """

    __slots__ = ("redrawn", "used", "wrapped")

    def __init__(self, cells: Sequence[Cell] = ()) -> None:
        super().__init__(BLANK)
        self.update(enumerate(cells))
        self.used = len(cells)
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

    def cells(self, columns: int) -> list[Cell]:
        """That many cells of it, as a screen shows them: a tab is blanks, and half a wide character is one."""
        shown = [self[x] for x in range(columns)]
        tab = False
        for x, cell in enumerate(shown):
            tab = cell.text == "\t" or (tab and not cell.text)
            if tab:
                shown[x] = Cell(" ", BLANK.style, cell.zone)
        return shown


@final
class Reflow:
    """Rows laid out for another width one after the other, as tmux does it (grid.c, grid_reflow).

    tmux does not look at a line as a whole: it fills up a row from the rows that it continues in. Where one column is
    left, and the last row of the line begins with a wide character, that row is a line of its own from then on. The
    cursor keeps its place in its line, and its line is found by its number, so the cursor is a line too high then.
    """

    def __init__(self, rows: Sequence[Row], columns: int, scrolled: int) -> None:
        self.rows: list[Row] = []
        self.scrolled = scrolled  # how many of the rows above the screen were not cleared away
        self._columns = columns
        self._old = rows
        self._cells = [row.cells(row.used) for row in rows]  # those that are not laid out yet
        self._next = 0
        while self._next < len(rows):
            self._next += 1
            self._lay_out(self._next - 1)

    def _lay_out(self, number: int) -> None:
        cells, begin, count = self._cells[number], 0, len(self.rows)
        while begin < len(cells) or len(self.rows) == count:
            end = begin + max(_fitting(cells, begin, self._columns), 1)
            row = Row(cells[begin:end])
            row.wrapped = row.redrawn = True
            self.rows.append(row)
            begin = end
        row.wrapped = self._old[number].wrapped
        if number <= self.scrolled:
            self.scrolled += len(self.rows) - count - 1
        if row.wrapped and row.used < self._columns:
            self._fill_up(row)

    def _fill_up(self, row: Row) -> None:
        first, wrapped, whole = self._next, True, True
        while wrapped and whole and row.used < self._columns and self._next < len(self._old):
            cells, wrapped = self._cells[self._next], self._old[self._next].wrapped
            fitting = _fitting(cells, 0, self._columns - row.used)
            if not fitting and (cells or not wrapped):
                break
            row.update(enumerate(cells[:fitting], row.used))
            row.used += fitting
            self._cells[self._next] = cells[fitting:]
            whole = fitting == len(cells)
            self._next += whole
        emptied, y = self._next - first, len(self.rows) - 1
        if emptied and whole:
            row.wrapped = wrapped
        if self.scrolled > y:
            self.scrolled = self.scrolled - emptied if self.scrolled > y + emptied else y


def _fitting(cells: Sequence[Cell], begin: int, columns: int) -> int:
    """How many cells from there on go into so many columns; what is wide is not cut."""
    end = begin + columns
    if end >= len(cells):
        return len(cells) - begin
    while end > begin and not cells[end].text:
        end -= 1
    return end - begin


def _place(rows: Sequence[Row], x: int, y: int) -> tuple[int, int | None]:
    """In which line a cell is, and how many cells are before it in that line; None: after the text of its row."""
    before = 0
    for row in reversed(rows[:y]):
        if not row.wrapped:
            break
        before += row.used
    line = sum(not row.wrapped for row in rows[:y])
    return line, before + x if x < rows[y].used else None


def _cell_at(rows: Sequence[Row], line: int, before: int | None) -> tuple[int, int]:
    """Where that place is in these rows: x, y."""
    last = len(rows) - 1
    ends = (y for y in range(last) if not rows[y].wrapped)
    y = next(islice(ends, line - 1, None), last - 1) + 1 if line else 0
    while y < last and rows[y].wrapped and (before is None or before >= rows[y].used):
        before = before if before is None else before - rows[y].used
        y += 1
    return rows[y].used if before is None else before, y


class Drawing(Screen):
    """What is written at the cursor, and erased around it."""

    buffer: dict[int, Row]  # type: ignore[assignment]  # these are dictionaries of the same kind that know more
    _zone: Zone
    last: str  # what REP repeats
    drew_wide = False  # whether there was a wide character
    cut_wide = False  # whether there may be half of one, which tmux counts as none or two columns at another width

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
        elif self._runs() and (data.isascii() or set(map(guessed_width, data)) == {1}):
            self._draw_run(data)
        else:
            for character in data:
                self._draw_one(character, guessed_width(character))
        self.last = data[-1]

    def _runs(self) -> bool:
        """Whether characters move none of a row, and wrap."""
        return pyte.modes.IRM not in self.mode and pyte.modes.DECAWM in self.mode

    def _draw_input(self, data: str) -> None:
        """Draw input. What is drawn over the prompt stays prompt: a line editor draws it anew while one types."""
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
            row.used = max(row.used, end)
            cursor.x = end
            position += len(piece)

    def _draw_one(self, character: str, width: int) -> None:
        if width == 0:
            self._combine(character)
            return
        wraps = pyte.modes.DECAWM in self.mode
        if width > self.columns or (not wraps and self.cursor.x + width > self.columns):
            return
        if pyte.modes.IRM in self.mode:  # before the row wraps, as in tmux
            self._insert(width, BLANK)
        row = self._row_to_draw(width)
        x = self.cursor.x
        self._split_wide(row, x, x + width)
        row[x] = self.pen[character]
        if width > 1:
            row[x + 1] = self.pen[""]
            self.drew_wide = True
        row.used = max(row.used, x + width)
        self.cursor.x = min(x + width, self.columns if wraps else self.columns - 1)

    def _down(self, erased: Cell) -> None:
        """Move down; at the bottom, the top row scrolls off, and an empty one of that background comes."""
        raise NotImplementedError

    def _row_to_draw(self, width: int) -> Row:
        """The row in which a character of that width goes; wraps if it has no room."""
        cursor = self.cursor
        if cursor.x + width > self.columns:
            self.buffer[cursor.y].wrapped = True
            self.carriage_return()
            self._down(BLANK)
            return self.buffer[cursor.y]
        row = self.buffer[cursor.y]
        if cursor.x != len(row):
            row.redrawn = True
        elif cursor.x == 0 and cursor.y:
            above = self.buffer[cursor.y - 1]
            if above.wrapped and above[self.columns - 1].text == " ":
                # Blanks that wrapped and a CR: a shell has made sure of a line of its own (zsh's PROMPT_SP, fish).
                self._unwrap(cursor.y - 1)
        return row

    def _split_wide(self, row: Row, begin: int, end: int, *, drawn: bool = True) -> None:
        """Blank what is left of tabs, and of characters that are drawn over in part; tmux lets erasures cut these."""
        for edge in (begin, end):
            if (cell := row.get(edge)) is not None and cell.text == "":
                row.redrawn = True
                first = edge
                while first > 0 and row[first].text == "":
                    first -= 1
                if not drawn and row[first].text != "\t":
                    self.cut_wide = True
                    continue
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
        if x >= self.columns - 1:
            return
        stop = min((stop for stop in self.tabstops if stop > x), default=self.columns - 1)
        row = self.buffer[self.cursor.y]
        if stop < self.columns - 1 and not any(column in row for column in range(x, stop)):
            row.redrawn = row.redrawn or x != len(row)
            row[x] = self.pen["\t"]
            for column in range(x + 1, stop):
                row[column] = self.pen[""]
        self.cursor.x = stop

    def tab_back(self, count: int = 1) -> None:
        for _ in range(min(count or 1, self.columns)):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    def repeat(self, count: int = 1) -> None:
        """REP, as in tmux: up to the margin, and nothing if a control or a sequence came after the character."""
        if self.last and self.cursor.x < self.columns:
            self.draw(self.last * min(count or 1, self.columns - self.cursor.x))

    def _erase(self, y: int, begin: int, end: int) -> None:
        row = self.buffer[y]
        whole = begin == 0 and end >= self.columns
        # As in tmux, only this erasure ends a wrap; fish needs it.
        if whole and (row.used or row or self.pen.erased is not BLANK):
            self._unwrap(y)
            self._unwrap(y - 1)
            row.used = 0
        self._split_wide(row, begin, end, drawn=False)
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
        x = self.cursor.x
        if x < self.columns:
            self._erase(self.cursor.y, x, min(x + (count or 1), self.columns))

    def insert_characters(self, count: int | None = None) -> None:
        """ICH, as in tmux: nothing where no cell is left to move, but for the last column."""
        self._insert(count or 1, self.pen.erased)

    def _insert(self, count: int, erased: Cell) -> None:
        begin, columns = self.cursor.x, self.columns
        count = min(count, columns - begin)
        moved = columns - begin - count
        if moved > 0:
            self._move(begin, begin + count, moved, range(begin, min(begin + count, begin + moved)), erased)
        elif begin == columns - 1:
            self._erase(self.cursor.y, begin, columns)

    def delete_characters(self, count: int | None = None) -> None:
        begin, columns = self.cursor.x, self.columns
        count = min(count or 1, columns - begin)
        if (moved := columns - begin - count) <= 0:
            self.erase_characters(count)
        else:
            self._move(begin + count, begin, moved, range(begin + moved, columns), self.pen.erased)

    def _move(self, begin: int, to: int, count: int, emptied: range, erased: Cell) -> None:
        """Move so many cells of the cursor's row; `emptied` is what then has nothing."""
        row = self.buffer[self.cursor.y]
        for edge in (min(begin, to), max(begin, to), begin + count):
            self._split_wide(row, edge, edge, drawn=False)
        moved = {x + to - begin: row[x] for x in range(begin, begin + count) if x in row}
        for x in (*range(to, to + count), *emptied):
            row.pop(x, None)
        row.update(moved)
        if erased is not BLANK:
            row.update(dict.fromkeys(emptied, erased))
        row.used = max(row.used, to + count)
        row.redrawn = True


_ALTERNATE = frozenset((47, 1047, 1049))
_SAVES_CURSOR = 1049
_COLUMN_MODE = 3
# The modes that change what is shown: insert, line feed; and of the private ones origin, wrap, cursor.
_MODES = frozenset((4, 20))
_PRIVATE_MODES = frozenset((6, 7, 25))

# Rows above the screen that come back when it gets higher or wider: what tmux keeps at the least.
_ABOVE_MAX = 2000


class ReplayScreen(Drawing):
    """pyte's screen, mended; see the module's docstring."""

    def __init__(self, columns: int, lines: int, zone: Zone = "") -> None:
        self._zone = zone
        self.above: deque[Row] = deque(maxlen=_ABOVE_MAX)
        self.above_unknown = False  # whether tmux may have rows above with wide characters that are not here
        self.guessed = False  # whether such rows, or what else is not known, may have changed what is shown
        self._above_lost = False
        super().__init__(columns, lines)
        self.reset()

    def reset(self) -> None:
        super().reset()
        self.buffer = self._blank()
        self.savepoints.clear()
        self.g1_charset = pyte.charsets.LAT1_MAP  # as in tmux; pyte begins with line drawing
        self.alternate = False
        self._main: tuple[dict[int, Row], tuple[int, int]] | None = None
        self._main_cursor: Cursor | None = None
        self._above_scrolled = 0  # how many of the rows above were not cleared away
        self.last = ""  # what REP repeats
        self.pen = pen(PLAIN, self._zone)

    def _blank(self, rows: dict[int, Row] | None = None) -> dict[int, Row]:
        return defaultdict(Row, rows or {})

    # The cursor

    def backspace(self) -> None:
        """BS: to the left, and from a row that the one above continues in, up to that one's end."""
        if self.cursor.x:
            self.cursor.x -= 1
        elif self.cursor.y and self.buffer[self.cursor.y - 1].wrapped:
            self.cursor.y -= 1
            self.cursor.x = self.columns - 1

    def cursor_back(self, count: int | None = None) -> None:
        """CUB; tmux counts from after the last column where the cursor is there."""
        self.cursor.x = max(self.cursor.x - (count or 1), 0)

    def cursor_up(self, count: int | None = None) -> None:
        """CUU: within the region, or above it; pyte moves down into it."""
        self._inside()
        top = self._region.top if self.cursor.y >= self._region.top else 0
        self.cursor.y = max(self.cursor.y - (count or 1), top)

    def cursor_down(self, count: int | None = None) -> None:
        self._inside()
        bottom = self._region.bottom if self.cursor.y <= self._region.bottom else self.lines - 1
        self.cursor.y = min(self.cursor.y + (count or 1), bottom)

    def _inside(self) -> None:
        self.cursor.x = min(self.cursor.x, self.columns - 1)

    @property
    def _region(self) -> Margins:
        return self.margins or Margins(0, self.lines - 1)

    def set_margins(self, top: int | None = None, bottom: int | None = None) -> None:
        """DECSTBM; the cursor goes home."""
        region = Margins(max(top or 1, 1) - 1, min(bottom or self.lines, self.lines) - 1)
        if region.top < region.bottom:
            self.margins = None if region == (0, self.lines - 1) else region
            self.cursor.x = self.cursor.y = 0

    def next_line(self) -> None:
        self.linefeed()
        self.carriage_return()

    def index(self) -> None:
        self._down(self.pen.erased)

    def _down(self, erased: Cell) -> None:
        top, bottom = self._region
        if self.cursor.y == bottom:
            self.scrolled_off([self.buffer[top]])
            self._scroll(top, bottom, 1, erased)
        elif self.cursor.y < self.lines - 1:
            self.cursor.y += 1

    def reverse_index(self) -> None:
        """Move up; at the top, everything else moves down."""
        if self.cursor.y == self._region.top:
            self.scroll_down()
        elif self.cursor.y:
            self.cursor.y -= 1

    def _scroll(self, top: int, bottom: int, by: int, erased: Cell) -> None:
        """Move rows up, or down if `by` is negative. An empty row that comes ends no wrap of the one before it."""
        by = max(top - bottom - 1, min(by, bottom - top + 1))
        if top == 0 and bottom == self.lines - 1:  # most of all scrolling
            self.buffer = self._blank({y - by: row for y, row in self.buffer.items() if 0 <= y - by <= bottom})
        else:
            rows = {y: self.buffer.pop(y) for y in range(top, bottom + 1) if y in self.buffer}
            self.buffer.update((y - by, row) for y, row in rows.items() if top <= y - by <= bottom)
        if erased is not BLANK:
            for y in range(bottom - by + 1, bottom + 1) if by > 0 else range(top, top - by):
                self.buffer[y] = row = Row()
                row.redrawn = True
                row.update(dict.fromkeys(range(self.columns), erased))

    def _unwrap(self, y: int) -> None:
        """As for any row; the one before the first is above the screen, also above the alternate one."""
        if y >= 0:
            super()._unwrap(y)
        elif self.above:
            self.above[-1].wrapped, self.above[-1].redrawn = False, True

    def scrolled_off(self, rows: Sequence[Row], *, cleared: bool = False) -> None:
        """Rows left the screen at its top, or all of it was cleared."""
        if not self.alternate:
            self._lose(islice(self.above, max(len(self.above) + len(rows) - _ABOVE_MAX, 0)))
            self.above += rows
            self._above_scrolled = 0 if cleared else self._above_scrolled + len(rows)

    def _lose(self, rows: Iterable[Row]) -> None:
        """These have no room above any more."""
        for row in rows:
            self._above_lost = True
            if self.above_unknown or not self.drew_wide:
                break
            self.above_unknown = any(not cell.text for cell in row.cells(row.used))

    def cursor_to_line(self, line: int | None = None) -> None:
        """VPA; pyte's fails in origin mode without margins. Behind the last column the cursor stays there."""
        x = self.cursor.x
        self.cursor_position(line)
        self.cursor.x = x

    def save_cursor(self) -> None:
        """Save it in the one place that there is."""
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self) -> None:
        """Restore the saved cursor; it stays saved."""
        saved, hidden = self.savepoints[:], self.cursor.hidden
        y = saved[-1].cursor.y if saved else 0  # pyte moves it into the region
        super().restore_cursor()
        self.savepoints[:] = [point._replace(cursor=copy.copy(point.cursor)) for point in saved]
        self.cursor.hidden = hidden
        self.cursor.y = min(y, self.lines - 1)
        self.zone = self._zone

    def erase_in_display(self, how: int = 0, *_args: object, **_kwargs: object) -> None:
        """ED. As in tmux, what a cleared screen has shown scrolls off."""
        if how == 2 or (how == 0 and self.cursor.x == self.cursor.y == 0):
            used = max((y for y, row in self.buffer.items() if row), default=-1) + 1
            if used > (how == 0) and not self.alternate:  # one row is a shell's own line, which it draws anew
                blank = Row()
                self.scrolled_off([self.buffer.get(y, blank) for y in range(used)], cleared=True)
            self.buffer = self._blank()
            if self.pen.erased is BLANK:
                return
        if how in (0, 1):
            self.erase_in_line(how)
        ranges = {0: range(self.cursor.y + 1, self.lines), 1: range(self.cursor.y), 2: range(self.lines)}
        for y in ranges.get(how, ()):
            self._erase(y, 0, self.columns)

    def insert_lines(self, count: int | None = None) -> None:
        """IL, outside of the region too; the cursor keeps its column."""
        y, last, count = self.cursor.y, self._last_moved(), count or 1
        if not self._in_region() and y + 2 * count > last + 1:
            self.guessed = True  # tmux leaves rows where they are
        self._unwrap(y - 1)
        if y + count <= last:
            self._unwrap(y + count - 1)
        self._scroll(y, last, -count, self.pen.erased)

    def delete_lines(self, count: int | None = None) -> None:
        last = self._last_moved()
        count = min(count or 1, last + 1 - self.cursor.y)
        self._unwrap(self.cursor.y - 1)
        self._scroll(self.cursor.y, last, count, self.pen.erased)
        self._unwrap(last - count)

    def _last_moved(self) -> int:
        return self._region.bottom if self._in_region() else self.lines - 1

    def _in_region(self) -> bool:
        return self._region.top <= self.cursor.y <= self._region.bottom

    def scroll_up(self, count: int = 1) -> None:
        top, bottom = self._region
        count = min(count or 1, bottom - top + 1)
        self.scrolled_off([self.buffer[y] for y in range(top, top + count)])
        self._scroll(top, bottom, count, self.pen.erased)

    def scroll_down(self, count: int = 1) -> None:
        self._unwrap(self._region.top - 1)
        self._unwrap(self._region.top)
        self._scroll(*self._region, -(count or 1), self.pen.erased)

    def alignment_display(self) -> None:
        self.margins = None
        self.cursor.x = self.cursor.y = 0
        self.buffer = self._blank({y: Row([Cell("E", PLAIN)] * self.columns) for y in range(self.lines)})

    # Modes

    def set_mode(self, *modes: int, **kwargs: bool) -> None:
        self._switch(modes, kwargs, on=True)
        super().set_mode(*_known(modes, kwargs), **kwargs)

    def reset_mode(self, *modes: int, **kwargs: bool) -> None:
        self._switch(modes, kwargs, on=False)
        super().reset_mode(*_known(modes, kwargs), **kwargs)

    def _switch(self, modes: tuple[int, ...], kwargs: dict[str, bool], *, on: bool) -> None:
        for mode in modes if kwargs.get("private") else ():
            if mode == _COLUMN_MODE:  # tmux keeps its width
                self.erase_in_display(2)
                self.cursor_position()
            elif mode in _ALTERNATE and on and self._main is None:
                self._main_cursor = copy.copy(self.cursor) if mode == _SAVES_CURSOR else self._main_cursor
                self._main = self.buffer, (self.lines, self.columns)
                self.buffer, self.alternate = self._blank(), True
                self._unwrap(-1)
            elif mode in _ALTERNATE and not on:
                self._leave_alternate(restores=mode == _SAVES_CURSOR)

    def _leave_alternate(self, *, restores: bool) -> None:
        now = self.lines, self.columns
        if self._main is not None:
            main, size = self._main
            self.resize(*size, leaving=True)
            self.buffer, self._main, self.alternate = main, None, False
        if restores and self._main_cursor is not None:  # in tmux also if it is not on the alternate screen
            self._move_to(self._main_cursor)
        self.resize(*now)
        self._inside()

    def _move_to(self, saved: Cursor) -> None:
        """Continue where a cursor was saved, and in its style; it stays as visible as it is."""
        hidden, self.cursor = self.cursor.hidden, copy.copy(saved)
        self.cursor.hidden = hidden
        self.cursor.y = min(self.cursor.y, self.lines - 1)
        self.zone = self._zone

    def resize(self, lines: int | None = None, columns: int | None = None, *, leaving: bool = False) -> None:
        """Take another size, as tmux does: rows below the cursor go first, rows above come back, lines flow anew.

        `leaving`: it is the size that the main screen had, before the alternate one is left. tmux lays out both then.
        """
        lines, columns = lines or self.lines, columns or self.columns
        if (lines, columns) == (self.lines, self.columns):
            return
        first = len(self.above)
        rows = [*self.above, *(self.buffer[y] for y in range(self.lines))]
        x, y = self.cursor.x, first + self.cursor.y
        if lines < self.lines:
            kept = max(len(rows) - (self.lines - lines), y + 1)
            if kept < len(rows):
                rows[kept - 1].wrapped = False
                del rows[kept:]
            over = len(rows) - first - lines
            if self.alternate:
                if over:
                    self._unwrap(-1)
                del rows[first : first + over]
                y -= over
            else:
                first += over
                self._above_scrolled += over
        else:
            back = 0 if self.alternate else min(lines - self.lines, self._above_scrolled, first)
            first -= back
            self._above_scrolled -= back
            rows += [Row() for _ in range(lines - self.lines - back)]
        if columns != self.columns and (leaving or not self.alternate):
            self.guessed |= self.cut_wide or self.above_unknown
            self.guessed |= self._above_lost and self._above_scrolled < len(self.above)
            line, before = _place(rows, x, y)
            reflow = Reflow(rows, columns, self._above_scrolled)
            rows = reflow.rows + [Row() for _ in range(lines - len(reflow.rows))]
            x, y = _cell_at(rows, line, before)
            first = len(rows) - lines
            self._above_scrolled = min(reflow.scrolled, first)
        self._lose(rows[: max(first - _ABOVE_MAX, 0)])
        self.above = deque(rows[:first], maxlen=_ABOVE_MAX)
        self.buffer = self._blank(dict(enumerate(rows[first:])))
        if columns != self.columns:
            self.tabstops = set(range(8, columns, 8))
        self.lines, self.columns, self.margins = lines, columns, None
        self.cursor.x, self.cursor.y = (min(x, columns), y - first) if y >= first else (0, 0)


def _known(modes: tuple[int, ...], kwargs: dict[str, bool]) -> list[int]:
    known = _PRIVATE_MODES if kwargs.get("private") else _MODES
    return [mode for mode in modes if mode in known]


@final
class TextScreen(ReplayScreen):
    """The text of all that was shown."""

    def __init__(self, columns: int, lines: int) -> None:
        self._gone: list[str] = []
        super().__init__(columns, lines)

    def scrolled_off(self, rows: Sequence[Row], *, cleared: bool = False) -> None:  # noqa: ARG002
        self._gone += map(_ended, rows)

    def reset(self) -> None:
        self._homed = False
        self.scrolled_off([self.buffer[y] for y in range(self._used())])
        super().reset()

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        super().cursor_position(line, column)
        self._homed = self.cursor.x == self.cursor.y == 0

    def carriage_return(self) -> None:
        super().carriage_return()
        self._homed = False

    def draw(self, data: str) -> None:
        super().draw(data)
        self._homed = False

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:
        """ED; a cursor that was sent home and an erasure is `clear`, also where one row only has text."""
        if how == 0 and self._homed and not self.alternate and self._used() == 1:
            self.scrolled_off([self.buffer[0]], cleared=True)
            self.buffer = self._blank()
        super().erase_in_display(how, *args, **kwargs)

    def text(self) -> str:
        """All lines; the last one ends where the cursor is, or the text."""
        y, x = self.cursor.y, self.cursor.x
        last = max(y, self._used() - 1)
        rows = [self.buffer[row] for row in range(last + 1)]
        shown = [_ended(row) for row in rows[:last]] + [rows[last].text(keep=x if last == y else 0)]
        if y < last:  # what comes next is no part of the last line
            shown[-1] += "\n"
        return "".join(self._gone + shown)

    def _used(self) -> int:
        return max((y for y, row in self.buffer.items() if row), default=-1) + 1


def _ended(row: Row) -> str:
    return row.text() if row.wrapped else row.text() + "\n"


# Plays what a terminal got on one of the screens above, in chunks that may be cut anywhere.
#
# Sequences are taken apart by `vt/sequences.py` and looked up in tables, so that no unknown one and no surplus
# parameter reaches pyte: whatever the bytes are, nothing is raised.

# pyte's own bound of a parameter; nothing is bigger than a screen.
_PARAMETER_MAX = 9999

# The character sets that tmux knows (input.c, input_esc_dispatch): ASCII and line drawing.
_CHARSETS = {"B": "B", "0": "0"}

_CONTROLS = {
    "\b": "backspace", "\t": "tab", "\n": "linefeed", "\v": "linefeed", "\f": "linefeed", "\r": "carriage_return",
    "\x0e": "shift_out", "\x0f": "shift_in",
}  # fmt: skip
_ESCAPES = {
    "7": "save_cursor", "8": "restore_cursor", "D": "index", "E": "next_line", "H": "set_tab_stop",
    "M": "reverse_index", "c": "reset", "#8": "alignment_display",
}  # fmt: skip
# By final byte: what to call, and how many parameters it takes.
_SEQUENCES = {
    "@": ("insert_characters", 1), "A": ("cursor_up", 1), "B": ("cursor_down", 1), "C": ("cursor_forward", 1),
    "D": ("cursor_back", 1), "E": ("cursor_down1", 1), "F": ("cursor_up1", 1), "G": ("cursor_to_column", 1),
    "H": ("cursor_position", 2), "J": ("erase_in_display", 1), "K": ("erase_in_line", 1), "L": ("insert_lines", 1),
    "M": ("delete_lines", 1), "P": ("delete_characters", 1), "S": ("scroll_up", 1), "T": ("scroll_down", 1),
    "X": ("erase_characters", 1), "Z": ("tab_back", 1), "`": ("cursor_to_column", 1), "a": ("cursor_forward", 1),
    "b": ("repeat", 1), "d": ("cursor_to_line", 1), "e": ("cursor_down", 1), "f": ("cursor_position", 2),
    "g": ("clear_tab_stop", 1), "r": ("set_margins", 2),
    "s": ("save_cursor", 0), "u": ("restore_cursor", 0),
}  # fmt: skip
# Another prefix makes another sequence of it: `CSI > 4 m` is XTMODKEYS.
_STYLE = re.compile(r"[0-9:;]*")


@final
class Player:
    def __init__(self, screen: ReplayScreen) -> None:
        self.screen = screen
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._splitter = SequenceSplitter()

    def feed(self, data: bytes) -> None:
        self.play(self._decoder.decode(data))

    def play(self, text: str) -> None:
        screen = self.screen
        for kind, what in self._splitter.feed(text):
            if kind == "text":
                screen.draw(what)
                continue
            if kind == "control":
                if (name := _CONTROLS.get(what)) is not None:
                    getattr(screen, name)()
            elif kind == "csi":
                self._sequence(what[:-1], what[-1])
            elif kind == "escape":
                self._escape(what)
            else:
                screen.command(what)
            screen.last = ""

    def _escape(self, what: str) -> None:
        if what[0] in "()" and what[1:] in _CHARSETS:
            self.screen.define_charset(what[1:], mode=what[0])
        elif (name := _ESCAPES.get(what)) is not None:
            getattr(self.screen, name)()

    def _sequence(self, parameters: str, final: str) -> None:
        if final == "m":
            if _STYLE.fullmatch(parameters):
                self.screen.style(parameters)
            return
        private = parameters[:1] == "?"
        found = [_number(text) for text in parameters[private:].split(";")]
        numbers = [number for number in found if number is not None]
        if len(numbers) < len(found):
            return  # intermediates, other prefixes, or colons
        if final in "hl":
            (self.screen.set_mode if final == "h" else self.screen.reset_mode)(*numbers, private=private)
        elif not private and final in _SEQUENCES:
            name, count = _SEQUENCES[final]
            getattr(self.screen, name)(*numbers[:count])


def _number(text: str) -> int | None:
    if not text:
        return 0
    return min(int(text), _PARAMETER_MAX) if text.isdigit() else None
