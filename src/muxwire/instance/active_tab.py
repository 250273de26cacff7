"""Which tabs were used last, told to tmux: people see it in their status line, and the next process begins with it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.errors import ConnectionClosed
from muxwire.tmux.status_line import ACTIVE_TAB, PREVIOUS_TAB

if TYPE_CHECKING:
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import TmuxServer


async def recall_active(server: TmuxServer, book: TabBook) -> None:
    """Take the tabs that another process used last for the ones that we did. ConnectionClosed."""
    (answer,) = await server.client.command("display-message", "-p", f"#{{{PREVIOUS_TAB}}} #{{{ACTIVE_TAB}}}")
    book.recall_used(*answer.decode().split(" "))


def tell_active(server: TmuxServer, book: TabBook) -> None:
    """Tell tmux which tab is the active one now; nobody waits for that."""
    tab = book.open.get(book.latest)
    if tab is not None and server.access.role != "adopted":
        with suppress(ConnectionClosed):
            server.client.submit(("set-option", "-s", ACTIVE_TAB, tab.window_id))
            server.client.submit(("set-option", "-s", PREVIOUS_TAB, book.previous))
