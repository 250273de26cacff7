"""A look at a tab, held against tmux's own picture of the same moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from muxwire.vt.cells import runs
from muxwire.vt.screen import Screen
from tests.library.screens.stage import DEADLINE, ours, tmuxs

if TYPE_CHECKING:
    from muxwire.library.terminals import Terminals
    from muxwire.results import Snapshot
    from muxwire.tabs.tab import Tab

# No output for so long: the program has drawn what it draws. If not, the look is repeated.
QUIET = 0.15
# Our own screen is fed in pieces of this size: cut anywhere.
PIECE = 7


def without_blanks(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


async def agree(terminals: Terminals, tab: Tab, *, own: bool = False) -> Snapshot:
    """Compare until a look happened while nothing was written; then text, cursor, styles, wraps and modes are equal.

    `own`: also what our screen makes of all bytes from the first one on, without ever asking tmux.
    """
    with anyio.fail_after(DEADLINE):
        while True:
            await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
            taken = await tab.snapshot(cells=True)
            begin = tab.next_byte
            wanted = await tmuxs(terminals, tab, taken.cols)
            if taken.next_byte == begin == tab.next_byte:
                break
    shown = tab._view._screen
    assert ours(shown, wanted) == wanted
    assert list(taken.lines) == without_blanks(wanted.lines)
    assert wanted.wrapped in (None, list(taken.soft_wrap))
    assert (taken.cursor.x, taken.cursor.y) == (min(wanted.cursor[0], taken.cols - 1), wanted.cursor[1])
    assert taken.cells == tuple(runs([row.cells for row in shown.grid.rows]))
    assert taken.alternate_screen == wanted.modes[0]
    if own:
        screen = Screen(taken.cols, taken.rows)
        raw = tab.pane.stream.ring.read(0, taken.next_byte)
        for at in range(0, len(raw), PIECE):
            screen.feed(raw[at : at + PIECE])
        assert not screen.unsure, raw[-300:]
        assert ours(screen, wanted) == wanted
    return taken
