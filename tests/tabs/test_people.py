"""Who is at a server: told by an answer and by notifications, which may overtake each other in one read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from muxwire.protocol.events import ClientDetached
from muxwire.tabs import people
from muxwire.tabs.event_log import EventLog
from muxwire.tabs.people import People


class Server:
    """Says that one person is attached, and calls `then` before whoever asked goes on."""

    closed = True  # nothing is shown to anybody
    role, prefix = "owner", ""

    def __init__(self) -> None:
        self.client = self.sessions = self.access = self.host = self
        self.then: Callable[[], None] = lambda: None

    async def ask(self, *_commands: object) -> list[tuple[bytes, ...]]:
        self.then()
        return [(b"0 77 attached /dev/pts/5 $0 hub",), (b"",)]

    def submit(self, *_commands: object) -> None:
        """Take a subscription."""

    def name(self, _session: str, shown: str) -> str:
        return shown


@pytest.mark.parametrize(
    ("before", "after", "typed"),
    [
        ("$1 100 %1 0/", "$1 101 %1 0/", True),
        ("$1 100 %1 0/", "$1 100 %1 0/", False),
        ("$1 100 %1 0/", "$1 101 %2 0/", False),  # C-b n: another tab came to the front
        ("$1 100 %1 1/", "$1 101 %1 0/", False),  # out of copy mode
        ("$1 100 %1 0/", "$1 101 %1 0/$1 101", False),  # C-b
        ("$1 101 %1 0/$1 101", "$1 102 %1 0/$1 101", False),  # z a second later
        ("$1 101 %1 0/$1 101", "$1 103 %1 0/$1 101", True),
        ("$1 100 %1 0/$2 101", "$1 101 %1 0/$2 101", True),  # someone else's prefix
    ],
)
def test_a_key_for_tmux_itself_is_not_typed_into_a_tab(before: str, after: str, typed: bool) -> None:
    known, front = (people._read(value.encode())["$1"] for value in (before, after))
    assert front.has_key_since(known) is typed


class Book:
    events = EventLog()

    def spawn(self, _work: object) -> None:
        """What goes on in the background is of no interest here."""


async def test_who_leaves_behind_the_answer_is_not_counted_as_there() -> None:
    server, book = Server(), Book()
    people = People(cast("Any", server), cast("Any", book))
    server.then = lambda: people.follow(ClientDetached(b"/dev/pts/5"))
    await people.refresh()
    server.then = lambda: None
    first = book.events.end
    await people.refresh()
    assert book.events.end == first + 1  # they came back, and that is told
