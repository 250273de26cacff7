"""A screen that forgets no line: what scrolls off it, or is cleared, stays in its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.vt.replay import ReplayScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.vt.rows import Row


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
