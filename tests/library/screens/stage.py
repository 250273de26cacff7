"""A stage: a pane that shows exactly the bytes it is given, and the picture that tmux has of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import final

import anyio

from muxwire.library.terminals import Terminals
from muxwire.results import Snapshot
from muxwire.tabs.tab import Tab
from muxwire.vt.cells import Style, cell_rows, text_of, wrapped_rows
from tests.deadline import DEADLINE

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
    styles: dict[tuple[int, int], Style]  # of each cell that has one, by row and column
    wrapped: list[int] | None  # None: tmux prints what may be one or the other
    cursor: tuple[int, int]
    alternate: bool
    visible: bool


def ours(taken: Snapshot, wanted: Picture) -> Picture:
    """What a look with cells says, in the same form, as far as it is known what tmux shows."""
    assert taken.cells is not None
    plain = Style()
    return Picture(
        # Without half of a wide character at a row's end, which tmux prints whole.
        [text_of(cell_rows([line.encode()], taken.cols)[0]) for line in taken.lines],
        {(run.y, x): run.style for run in taken.cells if run.style != plain for x in range(run.x, run.x + run.length)},
        list(taken.soft_wrap) if wanted.wrapped is not None else None,
        (taken.cursor.x, taken.cursor.y),
        taken.alternate_screen,
        taken.cursor.visible,
    )


FORMAT = "#{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag}"


async def tmuxs(terminals: Terminals, tab: Tab, columns: int) -> Picture:
    """What tmux prints at once (`-p`), asked in one line: nothing is read from the pane between the answers."""
    server = await terminals.server()
    client, rows_only = server.client, ("-N",) if server.version < (3, 4) else ("-N", "-T")
    capture = ("capture-pane", "-p", "-e", "-t", tab.pane_id)
    asked = client.submit_list(
        ("display-message", "-p", "-t", tab.pane_id, FORMAT), (*capture, *rows_only), (*capture, "-J")
    )
    await asked.wait()
    x, y, alternate, visible = map(int, asked.blocks[0].output[0].split())
    single, joined = asked.blocks[1].output, asked.blocks[2].output
    cells = cell_rows(single, columns)
    wraps = wrapped_rows(single, joined)
    lines = [text_of(row) for row in cells]
    while lines and not lines[-1]:
        lines.pop()
    return Picture(
        lines,
        {(y, x): cell.style for y, row in enumerate(cells) for x, cell in enumerate(row) if cell.style != Style()},
        [y for y, wrapped in enumerate(wraps.rows[:-1]) if wrapped] if wraps.certain else None,
        (min(x, columns - 1), y),
        bool(alternate),
        bool(visible),
    )


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
        for piece in (CURTAIN, *pieces):
            await self.add(piece)
        return await self.seen()

    async def seen(self) -> Picture:
        """The picture of tmux."""
        return await tmuxs(self._terminals, self.tab, self.columns)

    async def add(self, data: bytes) -> None:
        """Show more, and return when it has come."""
        end = self.tab.next_byte + len(data)
        while data:
            data = data[os.write(self._fifo, data[:4096]) :]
        with anyio.fail_after(DEADLINE):
            while self.tab.next_byte < end:
                await self.tab.pane.stream.changed()
