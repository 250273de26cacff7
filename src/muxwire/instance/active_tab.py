"""Which tab was used last, told to tmux: people see it in their status line, and the next process begins with it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.errors import ConnectionClosed
from muxwire.tmux.status_line import ACTIVE_TAB

if TYPE_CHECKING:
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import TmuxServer


async def recall_active(server: TmuxServer, book: TabBook) -> None:
    """Take the tab that another process used last for the active one. ConnectionClosed."""
    (answer,) = await server.client.command("display-message", "-p", f"#{{{ACTIVE_TAB}}}")
    book.recall_latest(answer.decode())


def tell_active(server: TmuxServer, book: TabBook) -> None:
    """Tell tmux which tab is the active one now; nobody waits for that."""
    tab = book.open.get(book.latest)
    if tab is not None and server.access.role != "adopted":
        with suppress(ConnectionClosed):
            server.client.submit(("set-option", "-s", ACTIVE_TAB, tab.window_id))
