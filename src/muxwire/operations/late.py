"""Steps that were written and not answered in time: what they did in the end is known, and a rollback undoes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio

from muxwire.operations.kinds import BreakPane, JoinPane, KillPane, RenameWindow, SendKeys, SwapPane
from muxwire.operations.rollback import undoable, was_renamed, will_rename
from muxwire.tabs.maker import window_name
from muxwire.tabs.windows import look_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.pending import Pending
    from muxwire.operations.batch import Part
    from muxwire.operations.rollback import Rollback
    from muxwire.operations.step import Step
    from muxwire.tabs.book import TabBook

_NO_ANSWER = "no answer came in time: what it did, or may still do, is not undone"


@final
class Late:
    """The steps of one run to which no answer came in time, but for those that make panes."""

    def __init__(self, book: TabBook) -> None:
        self._book = book
        self._parts: list[tuple[Part, Pending]] = []

    def add(self, part: Part, answer: Pending) -> None:
        """A step was given up; when its answer comes, the book tells what it did."""
        self._parts.append((part, answer))
        answer.then(lambda: self._learn(part, answer))

    def _learn(self, part: Part, answer: Pending) -> None:
        operation, done = part.step.operation, was_done(part, answer)
        if isinstance(operation, RenameWindow) and part.renames is not None:
            if done:
                was_renamed(self._book, part.renames, operation.name)
            else:
                will_rename(self._book, part.renames, -1)
        if done and isinstance(operation, SwapPane | JoinPane):
            self._book.spawn(lambda: look_up(self._book))

    async def undo(self, rollback: Rollback, steps: Sequence[Step], timeout: float | None) -> None:
        """Have what they did undone too; those that have no answer in `timeout` seconds are told as errors."""
        with anyio.move_on_after(timeout):
            for _, answer in self._parts:
                await answer.settled()
        for part, answer in self._parts:
            rollback.at(part.step)
            if was_done(part, answer):
                undoable(rollback, part, [block.output for block in part.blocks(answer)])
            elif not answer.done and part.renames is not None:
                # Behind the step itself, whenever that is done.
                rollback.renamed(part.renames, part.was_called, [window_name(part.was_called).encode()])
            elif not answer.done:
                rollback.cannot(part.step, _NO_ANSWER)
        for step in steps:
            if step.status == "unknown" and isinstance(step.operation, SendKeys | KillPane | BreakPane):
                rollback.at(step)
                rollback.cannot(step, _NO_ANSWER)


def was_done(part: Part, answer: Pending) -> bool:
    """Whether tmux has answered a step, and not with an error."""
    blocks = part.blocks(answer)
    return len(blocks) == len(part.commands) and not blocks[-1].error
