"""A tab's own size, which it has whenever no person looks at it from a terminal of another size."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.errors import ConnectionClosed
from muxwire.tmux.start import COLUMNS, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muxwire.tabs.tab import Tab


def restore_sizes(tabs: Iterable[Tab]) -> None:
    """Give tabs their own size back: tmux leaves a window that nobody looks at as small as a person's terminal was.

    Where somebody looks, tmux makes it his size again at once.
    """
    for tab in tabs:
        if tab.columns != COLUMNS and not tab.sized:
            with suppress(ConnectionClosed):  # people leave when the server ends, too
                tab.client.submit(
                    ("resize-window", "-t", tab.window_id, "-x", str(COLUMNS), "-y", str(ROWS)),
                    # It pins the size too, and the next person's terminal shall count again.
                    ("set-option", "-w", "-u", "-t", tab.window_id, "window-size"),
                )
