"""What people do with our windows at their own tmux client, as tmux reports it: close, rename, select, resize."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio

from muxwire.protocol.events import (
    ClientDetached,
    LayoutChange,
    SessionRenamed,
    SessionWindowChanged,
    UnlinkedWindowClose,
    UnlinkedWindowRenamed,
    WindowClose,
    WindowRenamed,
)
from muxwire.shell.redraw import PromptColumns
from muxwire.tabs.windows import look_up, restore_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab

# tmux gives a program its new size within 0.25 s, and only one size of several that follow each other.
RESIZE_SECONDS = 0.5


def follow(event: Event, book: TabBook) -> None:
    match event:
        # tmux to 3.7 reports a window that ended as %unlinked-window-close, from 3.8 on as %window-close, which is also
        # said when only another session unlinks it. And its last pane may have been moved. So tmux is asked.
        case WindowClose(window) | UnlinkedWindowClose(window) if not all(tab.end_reason for tab in book.panes(window)):
            book.spawn(lambda: look_up(book))
        case WindowRenamed(window, name) | UnlinkedWindowRenamed(window, name):
            for tab in book.panes(window):
                tab.was_renamed(name.decode("utf-8", "replace"))
                book.renamed(tab)
        # Not in a session that somebody made to look around in (`muxwire attach`): what is shown there is theirs.
        case SessionWindowChanged(session, window) if shown := book.panes(window):
            if not shown[0].is_split and any(tab.session_id == session for tab in book.open.values()):
                book.latest = shown[0].key
        case SessionRenamed(session, name):
            for tab in book.open.values():
                if tab.session_id == session:
                    tab.session = name.decode("utf-8", "replace")
        case LayoutChange(window):
            _resize(book.panes(window), event.sizes, book)
        case ClientDetached():
            restore_sizes(book.open.values())
        case _:
            pass


def _resize(tabs: Sequence[Tab], sizes: Mapping[str, tuple[int, int]], book: TabBook) -> None:
    for tab in tabs:
        size = sizes.get(tab.pane_id)
        if size is None:
            continue
        if size[0] != tab.columns:
            book.spawn(partial(_forget_prompts, tab))
        tab.was_resized(*size)
    if sizes and any(tab.pane_id not in sizes and not tab.end_reason for tab in tabs):
        # A person split the window and closed our half, or moved it: tmux says it in no other way.
        book.spawn(lambda: look_up(book))


async def _forget_prompts(tab: Tab) -> None:
    """A prompt that wraps ends elsewhere now. What is learned before the program knows its new size is wrong too."""
    for wait in (0.0, RESIZE_SECONDS):
        await anyio.sleep(wait)
        tab.pane.prompts = PromptColumns()
