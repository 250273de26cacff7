"""How many rows of scrollback tmux keeps of a pane: a limit for new tabs, which newer tmux applies to open ones too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.errors import NotPermitted, TabUnavailable

if TYPE_CHECKING:
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import TmuxServer


# The first tmux that applies a new limit to every pane at once, and drops the rows that are too many (options.c).
_APPLIES_TO_ALL = (3, 7)
# The panes that hold more rows than a limit, of every window of every session.
_FULLER = "#{S:#{W:#{P:#{?#{e|>:#{history_size},LIMIT},#{pane_id} ,}}}}"


async def limit_scrollback(server: TmuxServer, book: TabBook, limit: int) -> None:
    """Set the limit; TabUnavailable where tmux would drop rows of open tabs for it, and then nothing is changed.

    NotPermitted at a person's server: the option is the person's.
    """
    if server.access.role == "adopted":
        raise NotPermitted(
            "history-limit is an option of the person who runs this tmux server",
            remedy="leave it: logs keep every line, whatever it is",
        )
    setting = ("set-option", "-g", "history-limit", str(limit))
    if server.version < _APPLIES_TO_ALL:
        await server.client.command(*setting)
        return
    fuller = _FULLER.replace("LIMIT", str(limit))
    # One command, so that no row comes between the question and the answer.
    answer = await server.client.command("if-shell", "-F", fuller, f"display-message -p '{fuller}'", " ".join(setting))
    if panes := sorted(set(b" ".join(answer).decode().split())):
        tabs = {tab.pane_id: tab for tab in book.open.values()}
        named = ", ".join(tabs[pane].key if pane in tabs else pane for pane in panes)
        raise TabUnavailable(
            f"tmux would drop rows of scrollback of {named}: from 3.7 on it applies a limit to open tabs too",
            state=tabs[panes[0]].state if panes[0] in tabs else "",
            remedy="close them first, or choose a higher limit",
        )
