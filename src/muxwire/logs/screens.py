"""The screen as it was when a pane had written so much of its log: those bytes, played (`vt/past.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread

from muxwire.errors import InvalidArgument
from muxwire.logs.read import LogFileReader
from muxwire.results import Cursor, Snapshot
from muxwire.vt.cells import runs, text_of
from muxwire.vt.past import SEARCHED, play_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from muxwire.logs.store import FollowerLog, PaneLog
    from muxwire.vt.cells import Cell
    from muxwire.vt.replay import ReplayScreen


async def past_screen(
    path: Path, at: int | None, *, pane: str, scrollback: int | None, cells: bool, unwrap: bool
) -> Snapshot:
    """The screen at that offset of a log, None for its end; InvalidArgument beyond it, OSError."""
    if scrollback is not None and scrollback < 0:
        raise InvalidArgument(f"scrollback is {scrollback}", remedy="give a number of rows, or 0 for all")

    def play() -> Snapshot:
        with LogFileReader(path) as log:
            end = log.end if at is None else at
            if not log.first <= end <= log.end:
                said = f"the log has offsets {log.first} to {log.end}, not {end}"
                raise InvalidArgument(said, remedy="give one of these")
            screen, exact = _played(log, end)
        return picture_of(screen, pane, end, exact=exact, scrollback=scrollback, cells=cells, unwrap=unwrap)

    return await anyio.to_thread.run_sync(play)


async def received_screen(
    log: PaneLog | FollowerLog, at: int | None, *, pane: str, scrollback: int | None, cells: bool, unwrap: bool
) -> Snapshot:
    """As `past_screen`, of a log that is being written: with all that was received."""
    await log.flushed()
    return await past_screen(log.path, at, pane=pane, scrollback=scrollback, cells=cells, unwrap=unwrap)


def picture_of(
    screen: ReplayScreen,
    pane: str,
    at: int,
    *,
    exact: bool,
    scrollback: int | None = None,
    cells: bool = False,
    unwrap: bool = False,
) -> Snapshot:
    rows = [screen.row(y) for y in range(screen.lines)]
    wrapped = [screen.buffer[y].wrapped for y in range(screen.lines)]
    above = None if scrollback is None else list(screen.above)[-scrollback:]
    styled = [row.cells(row.used) for row in above or ()]
    over = _lines(styled, [row.wrapped for row in above or ()], joined=unwrap)
    lines = _lines(rows, wrapped, joined=unwrap)
    while lines and not lines[-1]:
        lines.pop()
    return Snapshot(
        pane=pane,
        cols=screen.columns,
        rows=screen.lines,
        cursor=Cursor(min(screen.cursor.x, screen.columns - 1), screen.cursor.y, not screen.cursor.hidden),
        lines=tuple(lines),
        title=screen.title,
        alternate_screen=screen.alternate,
        soft_wrap=tuple(y for y in range(screen.lines - 1) if wrapped[y]),
        scrollback=None if above is None else tuple(over),
        cells=tuple(runs(rows, zones=not screen.alternate)) if cells else None,
        next_byte=at,
        scrollback_cells=tuple(runs(styled, zones=False)) if cells and above is not None else None,
        source="replay",
        exact=exact,
    )


def _lines(rows: Iterable[Sequence[Cell]], wrapped: Iterable[bool], *, joined: bool) -> list[str]:
    """The text of rows; with `joined` those that are wrapped continue in the next one."""
    if not joined:
        return [text_of(row) for row in rows]
    lines, line = [], ""
    for row, goes_on in zip(rows, wrapped, strict=True):
        line += "".join(cell.text for cell in row)
        if not goes_on:
            lines.append(line.rstrip(" "))
            line = ""
    return [*lines, line.rstrip(" ")] if line else lines


def _played(log: LogFileReader, at: int) -> tuple[ReplayScreen, bool]:
    first, last = next(((first, last) for first, last in reversed(log.ranges) if first < at), (at, at))
    base = max(first, at - SEARCHED)
    return play_end(log.pread(base, min(at, last)), base, log.sizes, first=base == first)
