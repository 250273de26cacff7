"""A stage: a pane that shows exactly the bytes it is given, and the picture that tmux has of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import anyio

from muxwire.vt.capture import captured, wrapped_rows
from muxwire.vt.cells import Style, runs, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab
    from muxwire.vt.cells import Run
    from muxwire.vt.grid import Row
    from muxwire.vt.screen import Screen

DEADLINE = 20

# Copies a fifo to the terminal as it is, and throws away what the terminal answers.
ACTOR = r"""
import os, sys, threading, tty
tty.setraw(0)
def deaf():
    while os.read(0, 65536): pass
threading.Thread(target=deaf, daemon=True).start()
os.write(1, b'READY')
fifo = os.open(sys.argv[1], os.O_RDONLY)
while data := os.read(fifo, 65536):
    while data: data = data[os.write(1, data):]
"""
# Out of the alternate screen, all modes and both character sets as they were at the beginning, nothing above.
CURTAIN = b"\x18\x1b[?1049l\x1bc\x1b7\x1b[?1049h\x1b[?1049l\x1b[2J\x1b[3J"


@final
@dataclass(frozen=True, slots=True)
class Picture:
    """A screen in a form that two can be compared in."""

    lines: list[str]
    styles: list[Run]
    wrapped: list[int] | None  # None: tmux prints what may be one or the other
    cursor: tuple[int, int]
    modes: tuple[bool, ...]


def picture(rows: Sequence[Row], cursor: tuple[int, int], modes: tuple[bool, ...]) -> Picture:
    """The picture of some rows, without erased cells at a row's end: tmux 3.3 does not print their background."""
    cells = [list(row.cells) for row in rows]
    for row in cells:
        while row and row[-1].text == " " and row[-1].style == Style(bg=row[-1].style.bg):
            row.pop()
    return Picture(
        [text_of(row) for row in cells],
        list(runs(cells, zones=False)),
        [y for y, row in enumerate(rows[:-1]) if row.wrapped],
        cursor,
        modes,
    )


def ours(screen: Screen, wanted: Picture) -> Picture:
    """What our own screen shows, in the same form, as far as it is known what tmux shows."""
    grid = screen.grid
    modes = (screen.alternate, screen.visible, grid.wraps, grid.inserts, grid.origin)
    shown = picture(grid.rows, (grid.x, grid.y), modes)
    return shown if wanted.wrapped is not None else replace(shown, wrapped=None)


FORMAT = "#{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag} #{wrap_flag} #{insert_flag} #{origin_flag}"


async def tmuxs(terminals: Terminals, tab: Tab, columns: int) -> Picture:
    """What tmux shows, asked in one line: nothing is read from the pane between the two answers."""
    server = await terminals.server()
    client, rows_only = server.client, ("-N",) if server.version < (3, 4) else ("-N", "-T")
    capture = ("capture-pane", "-p", "-e", "-t", tab.pane_id)
    asked = client.submit_list(
        ("display-message", "-p", "-t", tab.pane_id, FORMAT), (*capture, *rows_only), (*capture, "-J")
    )
    await asked.wait()
    x, y, *modes = map(int, asked.blocks[0].output[0].split())
    single, joined = asked.blocks[1].output, asked.blocks[2].output
    rows = captured(single, columns, joined=False).rows
    wraps = wrapped_rows(single, joined)
    for row, goes_on in zip(rows, wraps.rows, strict=True):
        row.wrapped = goes_on
    shown = picture(rows, (x, y), tuple(map(bool, modes)))
    return shown if wraps.certain else replace(shown, wrapped=None)


@final
class Stage:
    """A pane whose program shows the bytes that it is given, and nothing else."""

    columns, rows = 20, 8

    def __init__(self, terminals: Terminals, tab: Tab, fifo: int) -> None:
        self._terminals = terminals
        self.tab = tab
        self._fifo = fifo

    async def play(self, *pieces: bytes) -> Picture:
        """Clear, show the pieces, each in a write of its own, and return the picture of tmux."""
        await self._write(CURTAIN)
        for piece in pieces:
            await self._write(piece)
        return await self.seen()

    async def add(self, data: bytes) -> None:
        """Show more."""
        await self._write(data)

    async def seen(self) -> Picture:
        """The picture of tmux."""
        return await tmuxs(self._terminals, self.tab, self.columns)

    async def _write(self, data: bytes) -> None:
        if not data:
            return
        end = self.tab.next_byte + len(data)
        while data:
            data = data[os.write(self._fifo, data[:4096]) :]
        with anyio.fail_after(DEADLINE):
            while self.tab.next_byte < end:
                await self.tab.pane.stream.changed()
