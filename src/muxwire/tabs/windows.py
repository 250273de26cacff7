"""What becomes of our windows and panes, as tmux reports it: they are closed, moved, renamed, selected, resized.

tmux reports the end of a window and new layouts, but never the end of a pane. So whenever a notification leaves it open
where a pane went, all panes are looked up: one round trip, for an event that a person or an operation caused.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.errors import CommandError, ConnectionClosed
from muxwire.protocol.events import (
    ClientDetached,
    LayoutChange,
    SessionChanged,
    SessionRenamed,
    SessionWindowChanged,
    SubscriptionChanged,
    UnlinkedWindowClose,
    UnlinkedWindowRenamed,
    WindowClose,
    WindowRenamed,
)
from muxwire.tabs.pane_ids import update_windows
from muxwire.tabs.record import printed_name
from muxwire.tmux.rows import PANES, panes_of
from muxwire.tmux.start import COLUMNS, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab

# A subscription to each pane of a person's session: the number of its first process, or how that has ended. tmux
# compares it once a second. It says in no other way that a program has ended whose pane stays (`remain-on-exit`), or
# that another one was started in its place (`respawn-pane`). How a program has ended tmux may learn later than that it
# has, or not at all.
PROCESS = (
    "muxwire-process:%*:#{?pane_dead,"
    "its program ended#{?#{!=:#{pane_dead_status},}, with status #{pane_dead_status},},"
    "#{pane_pid}}"
)


def follow(event: Event, book: TabBook) -> None:
    match event:
        case SubscriptionChanged(b"muxwire-process", pane=pane, value=value):
            known = (tab for tab in book.open.values() if tab.pane_id == pane)
            for tab in [tab for tab in known if value != b"%d" % tab.pane.leader_pid]:
                tab.lost("another program was started in its pane" if value.isdigit() else value.decode())
        # tmux to 3.7 reports a window that ended as %unlinked-window-close, from 3.8 on as %window-close, which is also
        # said when only another session unlinks it. And its last pane may have been moved. So tmux is asked.
        case WindowClose(window) | UnlinkedWindowClose(window) if not all(tab.end_reason for tab in book.panes(window)):
            book.spawn(lambda: look_up(book))
        case WindowRenamed(window, name) | UnlinkedWindowRenamed(window, name):
            for tab in book.panes(window):
                tab.was_renamed(name.decode("utf-8", "replace"))
                if tab.name != tab.window_id:
                    tab.keep_name(tab.name)
                book.renamed(tab)
        case SessionChanged():  # a new connection: what the last one was to report does not come
            book.shown_by_us.clear()
        case SessionWindowChanged(session, window) if (session, window) in book.shown_by_us:
            book.shown_by_us.remove((session, window))
        # Not in a person's own session (`muxwire attach`): what is selected there is the person's choice.
        case SessionWindowChanged(session, window) if shown := book.panes(window):
            if not shown[0].is_split and any(tab.session_id == session for tab in book.open.values()):
                book.selected(shown[0].key)
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
        if tab.pane_id in sizes:
            tab.was_resized(*sizes[tab.pane_id])
    if sizes and any(tab.pane_id not in sizes and not tab.end_reason for tab in tabs):
        # A person split the window and closed our half, or moved it: tmux says it in no other way.
        book.spawn(lambda: look_up(book))


async def look_up(book: TabBook) -> None:
    """Bring the book up to date: the window and the size of every pane, and which panes are gone."""
    known = list(book.open.values())
    if not known:
        return
    try:
        rows = panes_of(await known[0].client.command(*PANES))
    except (CommandError, ConnectionClosed):
        return  # the server is gone: all of its tabs are retired where the end of the connection is handled
    before = {tab.window_id for tab in known}
    update_windows(book, known, {row.pane: row.window for row in rows})
    seen = {row.pane: row for row in rows}
    for tab in known:
        if (row := seen.get(tab.pane_id)) is not None:
            if tab.window_id not in before:  # tmux may have reported its name before the move
                tab.name = printed_name(row.window_name)
            tab.was_resized(*row.size, reported=False)


def restore_sizes(tabs: Iterable[Tab]) -> None:
    """Give tabs their own size back: tmux leaves a window that no client shows as small as a person's terminal was.

    Where a client shows it, tmux gives it that client's size again at once.
    """
    for tab in tabs:
        if tab.size != (COLUMNS, ROWS) and not tab.sized:
            with suppress(ConnectionClosed):  # people leave when the server ends, too
                tab.client.submit(
                    ("resize-window", "-t", tab.window_id, "-x", str(COLUMNS), "-y", str(ROWS)),
                    # resize-window also makes the size a fixed one; the next person's terminal shall set it again.
                    ("set-option", "-w", "-u", "-t", tab.window_id, "window-size"),
                )
