"""Questions to the helper on another machine, when the connection is lost before they are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio
import pytest

from muxwire.host.questions import Helper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.protocol.commands import Command

pytestmark = pytest.mark.anyio


@final
class Lines:
    """A connection that takes lines."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def submit_prepared(self, commands: Sequence[Command]) -> None:
        self.asked += [one.line.split(b'"')[1].decode() for one in commands]


@pytest.mark.parametrize(("again", "asked"), [(True, ["2 p 7\\012"]), (False, [])])
async def test_after_a_lost_connection_a_question_is_asked_anew_or_over(again: bool, asked: list[str]) -> None:
    helper, first, second = Helper(), Lines(), Lines()
    helper.connect(first, "%0")
    rows = []

    async def ask() -> None:
        found = await helper.answer("p", "7", again=again)
        rows.append(found.rows if found is not None else None)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            helper.connect(second, "%0")
            await anyio.wait_all_tasks_blocked()
            helper.feed(b"2\tm\ticanon\n2\t.\n")
    assert (first.asked, second.asked) == (["1 p 7\\012"], asked)
    assert rows == ([[["m", "icanon"]]] if again else [None])
