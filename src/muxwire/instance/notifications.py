"""What tmux reports without being asked, and who gets it: not before the tabs are known that it is about.

While the tabs of a server are reattached, its windows may change: a person's terminal is resized, another process
opens a tab. Whoever heard of that at once would miss it for the tabs to come, or reattach one a second time.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, final

from muxwire.instance.reattach import Newcomers
from muxwire.tabs.people import People
from muxwire.tabs.window_events import follow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import TmuxServer


@final
class Notifications:
    """Hands the notifications of one instance on; `tell` is called by the reader and never waits."""

    def __init__(self, book: TabBook) -> None:
        self._book = book
        self._newcomers = Newcomers(book)
        self._server: TmuxServer | None = None
        self._people: People | None = None
        self._kept: list[Event] | None = None

    def begin(self, server: TmuxServer) -> None:
        """A server of ours runs: from here on its windows and the people at it are followed."""
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
                self._hear(event)

    def tell(self, event: Event) -> None:
        if self._kept is not None:
            self._kept.append(event)
        else:
            self._hear(event)

    async def ask(self) -> None:
        """Ask tmux for tabs that other processes have made, which it may not have reported yet."""
        if self._server is not None and self._kept is None:  # not while the tabs are reattached
            await self._newcomers.find(self._server)

    def _hear(self, event: Event) -> None:
        if self._people is not None:
            self._people.follow(event)
        follow(event, self._book)
        if self._server is not None:
            self._newcomers.follow(event, self._server)
