"""What tmux reports without being asked, handed on once the tabs are known that a report is about.

While the tabs of a server are reattached, its windows may change: a person's terminal is resized, another process
opens a tab. A handler that was called at once would not find the tabs that are still to come, or would reattach a tab
that is being reattached already.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, ConnectionClosed
from muxwire.instance.reattach import reattach_panes, running_panes, succeed
from muxwire.protocol.events import ClientDetached, LayoutChange, UnlinkedWindowAdd, WindowAdd
from muxwire.tabs.people import People
from muxwire.tabs.windows import follow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import TmuxServer

# A window that this process made is in the book within this time after tmux reported it; else another process made it.
OWN_SECONDS = 0.05


@final
class Notifications:
    """Hands the notifications of one instance on; `tell` is called by the reader and never waits."""

    def __init__(self, book: TabBook) -> None:
        self._book = book
        self._server: TmuxServer | None = None
        self._people: People | None = None
        self._kept: list[Event] | None = None

    def begin(self, server: TmuxServer) -> None:
        """The server runs: from here on its windows and the people at it are followed."""
        self._server = server
        self._people = People(server, self._book)
        self._book.spawn(self._people.refresh)

    def end(self) -> None:
        self._server = self._people = None

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Have what comes in the block handled at its end, when the tabs are known."""
        self._kept = []
        try:
            yield
        finally:
            kept, self._kept = self._kept, None
            for event in kept:
                self._act_on(event)

    def notify(self, event: Event) -> None:
        if self._kept is not None:
            self._kept.append(event)
        else:
            self._act_on(event)

    async def ask(self) -> None:
        """Ask tmux for tabs that other processes have made, which it may not have reported yet."""
        if self._server is not None and self._kept is None:  # not while the tabs are reattached
            await self._find(self._server)

    def _act_on(self, event: Event) -> None:
        if self._people is not None:
            self._people.follow(event)
        follow(event, self._book)
        if self._server is not None:
            self._follow_others(event, self._server)

    def _follow_others(self, event: Event, server: TmuxServer) -> None:
        """Other processes, or a person, make tabs on our server; and its owner may leave."""
        match event:
            case ClientDetached() if server.access.role == "follower":
                self._book.spawn(lambda: succeed(server, self._book))
            case WindowAdd(window) | UnlinkedWindowAdd(window) if window not in self._book.open:
                self._book.spawn(lambda: self._find_later(window, server))
            case LayoutChange(window) if server.access.persistent and self._strange(event.sizes):
                self._book.spawn(lambda: self._find_later(window, server, event.sizes))
            case _:
                pass

    def _strange(self, panes: Collection[str]) -> bool:
        """Whether a window holds panes that we do not know: another client has split it."""
        return not set(panes) <= {tab.pane_id for tab in self._book.open.values()}

    async def _find_later(self, window: str, server: TmuxServer, panes: Collection[str] | None = None) -> None:
        await anyio.sleep(OWN_SECONDS)
        known = window in self._book.open if panes is None else not self._strange(panes)
        if not (known or server.client.closed):
            await self._find(server, window)

    async def _find(self, server: TmuxServer, window: str = "") -> None:
        """Ask tmux once for panes of muxwire, in one window or in all, and reattach those that are not known yet."""
        with suppress(CommandError, ConnectionClosed):
            panes = await running_panes(server, window)
            known = {tab.pane_id for tab in self._book.open.values()}
            new = [one for one in panes if one.record.label not in self._book.coming and one.row.pane not in known]
            await reattach_panes(server, self._book, new, just_made=True)
