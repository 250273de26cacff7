"""The screen that bytes of the past would have drawn: pyte's, with what tmux does and pyte does not.

Added to pyte 0.8: the alternate screen, rows that know whether the terminal wrapped them, wide characters at the
margin, REP, SU, SD, CBT, one saved cursor, all styles, whose each cell is (by the marks in the output), and rows that
flow anew at another width. `vt/player.py` feeds it. One that forgets no line gives the text of all that was shown.
"""

from __future__ import annotations

import copy
from collections import defaultdict, deque
from typing import TYPE_CHECKING, final

import pyte.charsets
import pyte.modes
from pyte.screens import Margins

from muxwire.vt.cells import BLANK, PLAIN, Cell, Zone, pen
from muxwire.vt.drawing import Drawing, Row, reflowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyte.screens import Cursor


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
        """Move down; at the bottom, the top row scrolls off."""
        top, bottom = self._region
        if self.cursor.y == bottom:
            self.scrolled_off([self.buffer[top]])
            self._scroll(top, bottom, 1)
        elif self.cursor.y < self.lines - 1:
            self.cursor.y += 1

    def reverse_index(self) -> None:
        """Move up; at the top, everything else moves down."""
        if self.cursor.y == self._region.top:
            self._scroll(*self._region, -1)
        elif self.cursor.y:
            self.cursor.y -= 1

    def _scroll(self, top: int, bottom: int, by: int) -> None:
        """Move rows up, or down if `by` is negative."""
        by = max(top - bottom - 1, min(by, bottom - top + 1))
        if top == 0 and bottom == self.lines - 1:  # most of all scrolling
            self.buffer = self._blank({y - by: row for y, row in self.buffer.items() if 0 <= y - by <= bottom})
        else:
            rows = {y: self.buffer.pop(y) for y in range(top, bottom + 1) if y in self.buffer}
            self.buffer.update((y - by, row) for y, row in rows.items() if top <= y - by <= bottom)
        if self.pen.erased is not BLANK:
            for y in range(bottom - by + 1, bottom + 1) if by > 0 else range(top, top - by):
                self._erase(y, 0, self.columns)

    def scrolled_off(self, rows: Sequence[Row], *, cleared: bool = False) -> None:
        """Rows left the screen at its top, or all of it was cleared."""
        if not self.alternate:
            self.above += rows
            self._above_scrolled = 0 if cleared else self._above_scrolled + len(rows)

    def cursor_to_line(self, line: int | None = None) -> None:
        """VPA; pyte's fails in origin mode without margins."""
        self.cursor_position(line, min(self.cursor.x, self.columns - 1) + 1)

    def save_cursor(self) -> None:
        """Save it in the one place that there is."""
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self) -> None:
        """Restore it as often as one likes."""
        saved, hidden = self.savepoints[:], self.cursor.hidden
        super().restore_cursor()
        self.savepoints[:] = [point._replace(cursor=copy.copy(point.cursor)) for point in saved]
        self.cursor.hidden = hidden
        self.zone = self._zone

    def erase_in_display(self, how: int = 0, *_args: object, **_kwargs: object) -> None:
        """ED. As in tmux, what a cleared screen has shown scrolls off."""
        if how == 2 or (how == 0 and self.cursor.x == self.cursor.y == 0):
            used = max((y for y, row in self.buffer.items() if row), default=-1) + 1
            if used > (how == 0) and not self.alternate:  # a shell clears what is below its prompt: one row is a line
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
        self._unwrap(self.cursor.y - 1)
        self._scroll(self.cursor.y, self._last_moved(), -(count or 1))

    def delete_lines(self, count: int | None = None) -> None:
        last, count = self._last_moved(), count or 1
        self._unwrap(self.cursor.y - 1)
        self._scroll(self.cursor.y, last, count)
        self._unwrap(last - count)

    def _last_moved(self) -> int:
        return self._region.bottom if self._region.top <= self.cursor.y <= self._region.bottom else self.lines - 1

    def scroll_up(self, count: int = 1) -> None:
        top, bottom = self._region
        count = min(count or 1, bottom - top + 1)
        self.scrolled_off([self.buffer[y] for y in range(top, top + count)])
        self._scroll(top, bottom, count)

    def scroll_down(self, count: int = 1) -> None:
        self._scroll(*self._region, -(count or 1))

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
            elif mode in _ALTERNATE and not on:
                self._leave_alternate(restores=mode == _SAVES_CURSOR)

    def _leave_alternate(self, *, restores: bool) -> None:
        now = self.lines, self.columns
        if self._main is not None:
            (self.buffer, (self.lines, self.columns)), self._main, self.alternate = self._main, None, False
        if restores and self._main_cursor is not None:  # in tmux also if it is not on the alternate screen
            self._move_to(self._main_cursor)
        self.resize(*now)

    def _move_to(self, saved: Cursor) -> None:
        """Continue where a cursor was saved, and in its style; it stays as visible as it is."""
        hidden, self.cursor = self.cursor.hidden, copy.copy(saved)
        self.cursor.hidden = hidden
        self.cursor.x, self.cursor.y = min(self.cursor.x, self.columns - 1), min(self.cursor.y, self.lines - 1)
        self.zone = self._zone

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Take another size, as tmux does: rows below the cursor go first, rows above come back, lines flow anew."""
        lines, columns = lines or self.lines, columns or self.columns
        if (lines, columns) == (self.lines, self.columns):
            return
        rows = [*(() if self.alternate else self.above), *(self.buffer[y] for y in range(self.lines))]
        first = len(rows) - self.lines
        x, y = self.cursor.x, first + self.cursor.y
        if lines < self.lines:
            del rows[max(len(rows) - (self.lines - lines), y + 1) :]
            first = len(rows) - lines
            self._above_scrolled += max(first - len(self.above), 0)
        else:
            back = 0 if self.alternate else min(lines - self.lines, self._above_scrolled, first)
            first -= back
            self._above_scrolled -= back
            rows += [Row() for _ in range(lines - self.lines - back)]
        if columns != self.columns and not self.alternate:
            rows, x, y = reflowed(rows, columns, x, y)
            rows += [Row() for _ in range(lines - len(rows))]
            first = len(rows) - lines
            self._above_scrolled = min(self._above_scrolled, first)
        if not self.alternate:
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
        self.scrolled_off([self.buffer[y] for y in range(self._used())])
        super().reset()

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
