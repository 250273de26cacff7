"""`list_tabs`: our tabs next to what tmux says of windows, sessions and clients, in one round trip."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING

from anyio import create_task_group, move_on_after

from muxwire.errors import MuxwireError, ungrouped
from muxwire.results import SessionInfo, TabList
from muxwire.shell import examine
from muxwire.tmux.rows import CLIENTS, PANES, ClientRow, panes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muxwire.results import TabInfo
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer


# A machine that does not answer within this, and so many round trips more, is listed as it was last known. A dead
# connection is detected by its missing beats, which takes longer than a caller should wait for a list.
LISTED_SECONDS = 2.0
LISTED_ROUND_TRIPS = 10


async def list_tabs(server: TmuxServer | None, book: TabBook, active: str, *, closed: bool, session: str) -> TabList:
    """Describe every tab and session, or those of `session`; if no server answers, what is known of them.

    The active tab is the one whose key is `active`. Of another machine, a session is called `HOST/SESSION`.
    """
    link = server.host.link if server is not None else None
    if server is not None and (link is None or link.up):
        try:
            with move_on_after(inf if link is None else LISTED_SECONDS + LISTED_ROUND_TRIPS * link.rtt):
                return await _asked(server, book, active, closed=closed, session=session)
        except (MuxwireError, ValueError):
            if link is None:
                raise
        # Another machine does not answer, or sends nonsense: the tabs of this machine are listed all the same.
    known = (*book.in_order(), *(book.closed.values() if closed else ()))
    return TabList(_rows(known, active, {}, session), ())


async def _asked(server: TmuxServer, book: TabBook, active: str, *, closed: bool, session: str) -> TabList:
    every, clients = await server.client.ask(PANES, CLIENTS)
    panes = panes_of(every)
    windows = {(row.session, row.window) for row in server.sessions.with_tabs(panes)}
    commands = {row.pane: row.command for row in panes}
    with ungrouped():
        async with create_task_group() as tasks:
            for tab in book.open.values():
                if not server.host.is_local:
                    tasks.start_soon(tab.pane.terminal.refresh)
                elif (running := tab.pane.session.running) is not None:  # that a shell itself reads needs a proof
                    tasks.start_soon(examine.for_result, tab.runner.port, running)
    counts = Counter(key for key, _ in windows)
    # Our own control client is no visitor.
    visitors = Counter(row.session for row in map(ClientRow.parse, clients) if not row.control)
    named = {row.session: server.host.prefix + server.sessions.name(row.session, row.session_name) for row in panes}
    rows = _rows(book.in_order(), active, commands, session)
    return TabList(
        rows + (_rows(book.closed.values(), active, {}, session) if closed else ()),
        tuple(SessionInfo(name, counts[key], visitors[key]) for key, name in named.items() if session in ("", name)),
    )


def _rows(tabs: Iterable[Tab], active: str, commands: Mapping[str, str], session: str) -> tuple[TabInfo, ...]:
    rows = (tab.row(active, commands.get(tab.pane_id, "")) for tab in tabs)
    return tuple(row for row in rows if session in ("", row.session))
