"""What tmux reports without being asked, handed on once the tabs are known that a report is about.

While the tabs of a server are reattached, its windows may change: a person's terminal is resized, a window is closed. A
handler that was called at once would not find the tabs that are still to come.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, final

from muxwire.tabs.people import People
from muxwire.tabs.windows import follow

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
        self._people: People | None = None
        self._kept: list[Event] | None = None

    def begin(self, server: TmuxServer) -> None:
        """The server runs: from here on its windows and the people at it are followed."""
        self._people = People(server, self._book)
        self._book.spawn(self._people.refresh)

    def end(self) -> None:
        self._people = None

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

    def _act_on(self, event: Event) -> None:
        if self._people is not None:
            self._people.follow(event)
        follow(event, self._book)
