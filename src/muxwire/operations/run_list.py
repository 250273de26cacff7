"""Runs a list of operations in order: steps that need no result of one another are written together.

With `on_error="stop"` the steps of one write are one line, `a ; b ; c`: tmux runs nothing after an error, and answers
every command with a block of its own. With "continue" each is a line of its own.
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import anyio
import anyio.lowlevel

from muxwire.client.client import ANSWER_SECONDS
from muxwire.errors import ConnectionClosed, MuxwireError, TmuxSilent
from muxwire.host.host import answer_seconds
from muxwire.operations.operation import (
    Dispatch,
    Operation,
    OperationsResult,
    Part,
    Ref,
    RunState,
    Step,
    explained,
    written,
)
from muxwire.tabs.windows import look_up
from muxwire.tmux.rows import PANE_FORMAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.client import ControlClient, Pending
    from muxwire.operations.operation import RunContext, RunOptions
    from muxwire.tabs.maker import PaneSpec
    from muxwire.tabs.tab import Tab

# One line is parsed on tmux's only thread, where every pane waits meanwhile: this takes less than 2 ms.
LINE_MAX = 32 << 10
_ID = re.compile(r"[@%][0-9]+\Z")


@final
@dataclass(slots=True)
class Batch:
    """Plain steps of which none needs the result of another: they are written to tmux at once."""

    parts: list[Part] = field(default_factory=list)
    _refs: set[str] = field(default_factory=set)
    _size: int = 0

    def takes(self, operation: Operation) -> bool:
        """Whether a step can be written together with those that are here, and mean the same."""
        if not operation.plain or not self.parts:
            return operation.plain
        if self.parts[-1].step.operation.moves or self._size > LINE_MAX:
            return False
        # A name or an index may come to mean something else by what the steps before it do.
        return all(
            target.name not in self._refs if isinstance(target, Ref) else _ID.match(target) is not None
            for target in operation.targets
        )

    def add(self, part: Part) -> None:
        self.parts.append(part)
        self._refs.update(part.step.operation.made_refs)
        self._size += sum(len(word) for one in part.commands for word in one)


@final
class OperationsRun(RunState):
    def __init__(self, operations: Sequence[Operation], options: RunOptions, around: RunContext) -> None:
        super().__init__(options, around)
        self.steps = [Step(index, operation) for index, operation in enumerate(operations)]
        self._rolled_back: list[str] = []
        self._not_undone: list[str] = []

    async def run(self) -> OperationsResult:
        """Do all of it; never raises for what a step meets."""
        async with self.attached:
            return await self._run()

    async def _run(self) -> OperationsResult:
        active = self.book.latest(self.seat)
        with anyio.move_on_after(self.options.timeout) as self.whole:
            if not self.dry and not all(step.operation.targets for step in self.steps):
                await self.server.attach()
            await self._run_steps()
        if self.whole.cancelled_caught:
            for step in self.steps:
                if step.status == "skipped":
                    step.skip(f"the {self.options.timeout} s for the whole list were over")
        succeeded = all(step.status in ("succeeded", "planned") for step in self.steps)
        if self.rolls_back and not succeeded:
            await self._roll_back()
            if active in self.book.open:
                self.book.use(active, self.seat)
        steps = tuple(step.result() for step in self.steps)
        return OperationsResult(
            succeeded=succeeded,
            dry_run=self.dry,
            steps=steps,
            created_panes=self.planned | {ref: self.called(tab.pane_id) for ref, tab in self.made.items()},
            rolled_back_panes=tuple(self._rolled_back),
            rollback_errors=tuple(self._not_undone),
            dispatches=tuple(dispatch.ended(steps) for dispatch in self.dispatches),
        )

    async def _run_steps(self) -> None:
        waiting = deque(self.steps)
        while waiting and not self._stopped():
            batch = await self._gather(waiting)
            if batch.parts:
                await self._dispatch(batch)
            elif waiting and not self._stopped() and not batch.takes(waiting[0].operation):
                await self._do(waiting.popleft())
                await anyio.lowlevel.checkpoint()  # the time for the whole list may have passed meanwhile

    def _stopped(self) -> bool:
        return self.options.on_error == "stop" and any(step.status in ("failed", "unknown") for step in self.steps)

    # -- one step that is not plain

    async def _do(self, step: Step) -> None:
        operation = step.operation
        try:
            places = [await self.place(target) for target in operation.targets]
        except MuxwireError as error:
            self.refuse(step, error)
            return
        self.dispatches.append(Dispatch((step.index,), "own", tuple(map(written, operation.shown(places)))))
        if self.dry:
            self.plan(step)
            return
        step.sent()
        with anyio.move_on_after(None if operation.own_time else self.options.dispatch_timeout):
            try:
                await operation.do(self, step, [place.tab for place in places if place.tab is not None])
            except TmuxSilent as error:
                step.end("unknown", explained(error))
            except MuxwireError as error:
                step.fail(explained(error))

    # -- one write

    async def _gather(self, waiting: deque[Step]) -> Batch:
        batch = Batch()
        while waiting and batch.takes(waiting[0].operation):
            step = waiting.popleft()
            try:
                places = [await self.place(target) for target in step.operation.targets]
                part = step.operation.part(self, step, places)
            except MuxwireError as error:
                if batch.parts:  # its turn comes after those
                    waiting.appendleft(step)
                    break
                self.refuse(step, error)
                if self._stopped():
                    break
                continue
            batch.add(part)
        return batch

    async def _dispatch(self, batch: Batch) -> None:
        chain = self.options.on_error == "stop"
        lines = [written(part.shown) for part in batch.parts]
        dispatch = Dispatch(
            tuple(part.step.index for part in batch.parts),
            "chain" if chain else "lines",
            (" ; ".join(lines),) if chain else tuple(lines),
        )
        answers = [] if self.dry else self._submit(batch, chain=chain)
        if self.dry or answers:
            self.dispatches.append(dispatch)
        if self.dry:
            for part in batch.parts:
                self.plan(part.step)
        if not answers:
            return
        try:
            with anyio.move_on_after(self.options.dispatch_timeout or ANSWER_SECONDS):
                for answer in answers:
                    await answer.settled()
        finally:
            for part, answer in zip(batch.parts, answers * len(batch.parts) if chain else answers, strict=True):
                self._answered(part, answer)
        # tmux reports the sizes of new panes before it answers, when their tabs are not known here: they are asked for.
        if any(part.step.operation.moves or (part.spec and part.places) for part in batch.parts):
            with anyio.move_on_after(self.options.dispatch_timeout):
                await look_up(self.book)

    def _submit(self, batch: Batch, *, chain: bool) -> list[Pending]:
        """Write the batch; no answers if it could not be written."""
        lines = [part.commands for part in batch.parts]
        if chain:
            lines = [[command for commands in lines for command in commands]]
            at = 0
            for part in batch.parts:
                part.first, at = at, at + len(part.commands)
        try:
            answers = self._client(*batch.parts).submit_lists(*lines)
        except MuxwireError as error:
            for part in batch.parts:
                if part.spec is not None:
                    part.spec.discard()
                if self._stopped():
                    part.step.skip()
                else:
                    part.step.fail(explained(error))
            return []
        for part in batch.parts:
            part.step.sent()
            part.step.operation.sent(self, part)
        return answers

    def _client(self, *parts: Part) -> ControlClient:
        """The connection of the first tab that is named; a person's sessions have one each."""
        return next((part.tab.client for part in parts if part.tab is not None), self.server.client)

    def _answered(self, part: Part, answer: Pending) -> None:
        step, blocks = part.step, part.blocks(answer)
        if part.was_done(answer):
            self._succeeded(part, [block.output for block in blocks])
            return
        if blocks and blocks[-1].error:
            step.fail(refusal(part, blocks[-1].output))
        elif answer.done and not answer.failed:
            step.skip()  # one before it failed
        else:
            self._unanswered(part, answer)
            return
        if part.spec is not None:
            part.spec.discard()
        step.operation.refused(self, part)

    def _succeeded(self, part: Part, answers: Sequence[tuple[bytes, ...]]) -> None:
        step, operation = part.step, part.step.operation
        if part.spec is not None:
            tab = self.maker.register(part.spec, answers[-1], beside=part.tab)
            self.keep(step, [tab])
            if not part.places:
                step.window = self.called(tab.window_id)
                self.maker.show_in_place_of_keeper(tab.window_id)
        else:
            operation.tell(self, step, answers)
        step.succeed()
        operation.done(self, part, answers)

    # -- steps that were not answered in time: what they did is noted when the answer comes

    def _unanswered(self, part: Part, answer: Pending) -> None:
        if (client := self._client(part)).closed:
            part.step.end("unknown", f"the tmux connection ended: {client.close_reason}")
        elif answer.failed:
            part.step.end(
                "unknown", "the tmux connection was lost before an answer came: check before you try it again"
            )
        if part.spec is not None:
            self.book.spawn(lambda: self._made_late(part, answer))
        else:
            answer.then(lambda: self._done_late(part, answer))

    def _done_late(self, part: Part, answer: Pending) -> None:
        operation = part.step.operation
        if not part.was_done(answer):
            operation.refused(self, part)
            return
        operation.done(self, part, [block.output for block in part.blocks(answer)])
        if operation.moves:
            self.book.spawn(lambda: look_up(self.book))

    async def _made_late(self, part: Part, answer: Pending) -> None:
        """Wait for the answer to a step that was given up. A pane that it made becomes a tab; a rollback closes it."""
        assert part.spec is not None
        await answer.settled()
        made: tuple[bytes, ...] = ()
        if part.was_done(answer):
            made = part.blocks(answer)[-1].output
        elif answer.failed:
            made = await self._made_unheard(part.spec)
        if not made:
            part.spec.discard()
            return
        tab = self.maker.register(part.spec, made, beside=part.tab)
        if self.rolls_back:
            await tab.close(force=True)

    async def _made_unheard(self, spec: PaneSpec) -> tuple[bytes, ...]:
        """The PANE_FORMAT of a pane that tmux made before the connection was lost; empty if it made none."""
        client = self.server.client
        await client.wait_reconnected()
        its_own = f"#{{m:*{spec.record.label}*,#{{pane_start_command}}}}"
        try:
            return await client.command("list-panes", "-a", "-f", its_own, "-F", PANE_FORMAT)
        except MuxwireError:
            return ()

    # -- a rollback: what was made is closed, and what cannot be undone is reported

    async def _roll_back(self) -> None:
        """Close the panes that were made, last first; name every step of which something is left."""
        left = max(self.whole.deadline - anyio.current_time(), answer_seconds(self.host))
        timeout = min(left, self.options.dispatch_timeout or ANSWER_SECONDS)
        with anyio.move_on_after(timeout) as silent, suppress(ConnectionClosed):
            await self.server.client.wait_reconnected()
            await self.server.client.ask(("display-message", "-p", ""))
        not_closed: list[tuple[int, str]] = []
        for step in reversed(self.steps):
            for tab in reversed(step.made):
                # If tmux does not answer, the closing is only begun here, and is done when it does.
                why = await self._closed(tab, 0 if silent.cancelled_caught else timeout)
                if why:
                    not_closed.append((step.index, f"pane {self.called(tab.pane_id)}: {why}"))
                else:
                    self._rolled_back.append(self.called(tab.pane_id))
        kept = [(step.index, step.left) for step in self.steps if step.left] + not_closed
        for index, why in sorted(kept):
            self._not_undone.append(f"operations[{index}] ({self.steps[index].operation.kind}): {why}")

    async def _closed(self, tab: Tab, timeout: float) -> str:
        """Close a tab in so many seconds; return why it is not closed."""

        async def close() -> None:
            await tab.close(force=True)

        try:
            with anyio.fail_after(timeout):
                await self.apart(close)
        except MuxwireError as error:
            return explained(error)
        except TimeoutError:
            return "tmux did not answer; it is closed when tmux does"
        return ""


def refusal(part: Part, output: Sequence[bytes]) -> str:
    """What went wrong with a step, in tmux's words; why its pane is gone, if that is known."""
    said = b" ".join(output).decode("utf-8", "replace") or "failed without a message"
    gone = [place.tab for place in part.places if place.tab is not None]
    reasons = [f"; {tab.key} is closed: {tab.end_reason}" for tab in gone if tab.end_reason]
    return f"tmux {part.shown[0]}: {said}{''.join(reasons)}"
