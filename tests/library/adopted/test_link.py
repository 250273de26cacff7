"""When the connection to a person's session is let go of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from muxwire.instance import adopted as adopted_link
from muxwire.instance.adopted import Link

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio

DEADLINE = 30


class Command:
    """One that a call has left running in a tab; at its end `then` is done."""

    def __init__(self, tab: Any, then: Any = None) -> None:
        self._tab, self._then = tab, then
        tab.pane.session.running = self

    def ends_with(self, call: Callable[[], None]) -> None:
        """It ends as soon as its end is waited for."""
        self._tab.pane.session.running = None
        if self._then is not None:
            self._then()
        call()


async def test_a_command_left_running_while_another_ends_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopted_link, "LINGER_SECONDS", 0)
    one, two = (
        SimpleNamespace(session_id="$0", pane=SimpleNamespace(session=SimpleNamespace(running=None), entered=False))
        for _ in range(2)
    )
    later: list[Command] = []
    left_behind: list[list[Command]] = []

    def begin_in_the_first() -> None:
        later.append(Command(one))

    def submit(_: tuple[str, ...]) -> None:
        left_behind.append([tab.pane.session.running for tab in (one, two) if tab.pane.session.running is not None])

    Command(two, begin_in_the_first)
    book: Any = SimpleNamespace(open={"@0": one, "@1": two})
    process: Any = None
    client: Any = SimpleNamespace(closed=False, submit=submit)
    link = Link(process, (), "$0", book)
    link.client = client
    link._resting = False  # a call has used it
    with anyio.fail_after(DEADLINE):
        await link._rest()
    assert len(later) == 1
    assert left_behind == [[]]  # it has let go, and of nothing that runs
