"""A look at a tab, held against tmux's own picture of the same moment."""

from __future__ import annotations

import anyio

from muxwire.library.terminals import Terminals
from muxwire.results import Snapshot
from muxwire.tabs.tab import Tab
from tests.deadline import DEADLINE
from tests.library.screens.stage import ours, tmuxs

# No output for so long: the program has drawn what it draws. If not, the look is repeated.
QUIET = 0.15


async def agree(terminals: Terminals, tab: Tab) -> Snapshot:
    """Compare until a look happened while nothing was written; then text, cursor, styles, wraps and modes are equal.

    So is a look without cells, of which tmux is asked in another way, and a replay of the log up to that moment.
    """
    with anyio.fail_after(DEADLINE):
        while True:
            await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
            plain = await tab.snapshot()
            taken = await tab.snapshot(cells=True)
            begin = tab.next_byte
            wanted = await tmuxs(terminals, tab, taken.cols)
            if plain.next_byte == taken.next_byte == begin == tab.next_byte:
                break
    assert ours(taken, wanted) == wanted
    assert (plain.lines, plain.soft_wrap, plain.cursor) == (taken.lines, taken.soft_wrap, taken.cursor)
    replayed = await tab.snapshot(cells=True, at_byte=taken.next_byte)
    assert (replayed.source, replayed.exact, replayed.cols, replayed.rows) == ("replay", True, taken.cols, taken.rows)
    assert ours(replayed, wanted) == wanted
    return taken
