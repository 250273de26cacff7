"""Which pane of a window goes by the window's id, `@N`; the others go by their own, `%M`.

A later process decides by the panes that there are, and by the log that is named after the window alone: that of the
pane that the window was made with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab


def pane_of_window(inside: Collection[str], first: str | None, running: Collection[str]) -> str | None:
    """The pane that goes by a window's id: `first`, or if that was moved away, the one that was made before the others.

    `inside` are the panes of the window, `first` is the one that went by its id so far, None if none did, and `running`
    are those of all windows. None if `first` has ended: `@N` still names its log, and callers may read on from there.
    """
    if first in inside:
        return first
    if first is not None and first not in running:
        return None
    return min(inside, key=lambda pane: int(pane[1:]), default=None)


def update_windows(book: TabBook, known: list[Tab], windows: Mapping[str, str]) -> None:
    """`windows` says in which window each pane is; a tab of `known` that it does not name is gone."""
    changed: set[str] = set()
    names = {tab.window_id: tab.name for tab in known}
    for tab in known:
        if book.open.get(tab.key) is not tab:
            continue  # closed, or moved by another client, while tmux was asked
        window = windows.get(tab.pane_id)
        if window is None:
            tab.lost("its pane was closed" if tab.window_id in windows.values() else "the window was closed")
        elif window != tab.window_id:
            changed |= {window, tab.window_id}
            book.rename_key(tab, window=window, is_split=True)
            tab.name = names.get(window, tab.name)
    for window in changed:
        inside = {tab.pane_id: tab for tab in book.panes(window) if windows.get(tab.pane_id) == window}
        first = pane_of_window(inside, book.first.get(window), windows)
        # The one that takes the id comes last: another one gives it up before.
        for tab in sorted(inside.values(), key=lambda one: one.pane_id == first):
            if tab.is_split == (tab.pane_id == first):
                book.rename_key(tab, window=window, is_split=tab.pane_id != first)
        if not book.panes(window):
            book.first.pop(window, None)


def give_ids(book: TabBook, tabs: Sequence[Tab]) -> None:
    """Say of panes that were found, and are in no book yet, which of them go by the ids of their windows."""
    running = {tab.pane_id: tab for tab in (*book.open.values(), *tabs)}
    made_with = {tab.log_path.name: tab.pane_id for tab in running.values()}
    for window in {tab.window_id for tab in tabs}:
        log = tabs[0].log_path.with_name(f"pane-{window}.log")
        known = book.first.get(window) or made_with.get(log.name)
        if known is None and log.exists():
            known = ""  # that pane has ended, and this process never knew its id
        inside = {pane: tab for pane, tab in running.items() if tab.window_id == window}
        first = pane_of_window(inside, known, running)
        if first is None:
            book.first[window] = known or ""
        for tab in tabs:
            if tab.window_id == window:
                tab.is_split = tab.pane_id != first
