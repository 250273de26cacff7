"""Runs a list of operations in order: what needs nothing from before is written at once, the rest waits its turn.

With `on_error="stop"` the steps of one write are one line, `a ; b ; c`: tmux runs nothing behind an error, and answers
every command with a block of its own. With "continue" each is a line of its own.
"""

from __future__ import annotations

import secrets
from collections import deque
from typing import TYPE_CHECKING, final

import anyio
import anyio.lowlevel

from muxwire.client.patience import ANSWER_SECONDS
from muxwire.errors import MuxwireError
from muxwire.operations.batch import Batch, Part
from muxwire.operations.checks import request
from muxwire.operations.compound import CompoundSteps
from muxwire.operations.kinds import (
    CapturePane,
    DisplayMessage,
    JoinPane,
    NewWindow,
    Operation,
    RenameWindow,
    SetOption,
    SplitPane,
    SwapPane,
    targets_of,
)
from muxwire.operations.late import Late, was_done
from muxwire.operations.rollback import (
    TOUCHES_WINDOW,
    name_command,
    option_command,
    picture_command,
    undoable,
    was_renamed,
    will_rename,
)
from muxwire.operations.run_state import RunState
from muxwire.operations.step import Step, explained
from muxwire.operations.step_results import Dispatch, OperationsResult
from muxwire.operations.tmux_commands import Place, command_of, folder_of, row_range, shown_birth, split_flags
from muxwire.pane.captures import capture_commands, captured
from muxwire.tabs.maker import PANE_FORMAT
from muxwire.tabs.windows import look_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.client import ControlClient
    from muxwire.client.pending import Pending
    from muxwire.operations.context import RunContext, RunOptions
    from muxwire.tabs.maker import PaneSpec


@final
class OperationsRun(RunState):
    """One list of operations, on its way."""

    def __init__(self, operations: Sequence[Operation], options: RunOptions, around: RunContext) -> None:
        super().__init__(options, around)
        self.steps = [Step(index, operation) for index, operation in enumerate(operations)]
        self._compound = CompoundSteps(self)
        self._late = Late(around.book)

    async def run(self) -> OperationsResult:
        """Do all of it; never raises for what a step meets."""
        async with self.attached:
            return await self._run()

    async def _run(self) -> OperationsResult:
        active = self.around.book.latest
        with anyio.move_on_after(self.options.timeout) as self.whole:
            if not self.dry and not all(targets_of(step.operation) for step in self.steps):
                await self.attached.enter_async_context(self.server.attached())
            await self._run_steps()
        if self.whole.cancelled_caught:
            for step in self.steps:
                if step.status == "skipped":
                    step.skip(f"the {self.options.timeout} s for the whole list were over")
        succeeded = all(step.status in ("succeeded", "planned") for step in self.steps)
        if self.rollback is not None and not succeeded:
            await self._late.undo(self.rollback, self.steps, self.options.dispatch_timeout or ANSWER_SECONDS)
            await self.rollback.run(self.options.dispatch_timeout)
            if active in self.around.book.open:
                self.around.book.latest = active
        return OperationsResult(
            succeeded=succeeded,
            dry_run=self.dry,
            steps=tuple(step.result() for step in self.steps),
            created_panes=self.planned | {ref: tab.pane_id for ref, tab in self.made.items()},
            rolled_back_panes=tuple(self.rollback.rolled_back) if self.rollback else (),
            rollback_errors=tuple(self.rollback.errors) if self.rollback else (),
            dispatches=tuple(self.dispatches),
        )

    async def _run_steps(self) -> None:
        waiting = deque(self.steps)
        while waiting and not self._stopped():
            batch = await self._gather(waiting)
            if batch.parts:
                await self._dispatch(batch)
            elif waiting and not self._stopped() and not batch.takes(waiting[0].operation):
                await self._compound.do(waiting.popleft())
                await anyio.lowlevel.checkpoint()  # the time for the whole list may have passed meanwhile

    def _stopped(self) -> bool:
        return self.options.on_error == "stop" and any(step.status in ("failed", "unknown") for step in self.steps)

    # -- one write

    async def _gather(self, waiting: deque[Step]) -> Batch:
        batch = Batch()
        while waiting and batch.takes(waiting[0].operation):
            step = waiting.popleft()
            try:
                batch.add(await self._part(step))
            except MuxwireError as error:
                if batch.parts:  # its turn comes behind those
                    waiting.appendleft(step)
                    break
                self.refuse(step, error)
                if self._stopped():
                    break
        return batch

    async def _part(self, step: Step) -> Part:
        operation = step.operation
        places = [await self.place(target) for target in targets_of(operation)]
        place, other = (*places, None, None)[:2]
        if isinstance(operation, NewWindow | SplitPane):
            return self._birth_part(step, operation, place)
        command = command_of(operation, place, other)
        assert command is not None
        part = Part(step, [command], command, place, other)
        if isinstance(operation, CapturePane) and not self.dry:
            part.commands = capture_commands(self.server.version, places[0].pane, row_range(operation))
        if isinstance(operation, DisplayMessage) and place is not None:
            part.commands.insert(0, ("has-session", "-t", place.pane))  # display-message itself minds no missing pane
        if place is not None and place.tab is not None:
            part.was_called = place.tab.name
        if self.rollback is not None:
            if isinstance(operation, TOUCHES_WINDOW):
                part.commands[:0] = [picture_command(one.pane) for one in places]
            elif isinstance(operation, RenameWindow):
                part.commands.insert(0, name_command(places[0].pane))
            elif isinstance(operation, SetOption):
                part.commands.insert(0, option_command(operation, place))
        return part

    def _birth_part(self, step: Step, operation: NewWindow | SplitPane, place: Place | None) -> Part:
        cwd = folder_of(place.tab) if place is not None and place.tab is not None else ""
        asked = request(operation, self.around.host, cwd)
        shown = shown_birth(operation, place, asked.cwd if place is None or operation.cwd or cwd else "")
        if self.dry:
            return Part(step, [shown], shown, place)
        spec = self.maker.prepare(asked, secrets.token_hex(8), is_split=place is not None)
        if place is None:
            return Part(step, [self.maker.window_command(spec)], shown, spec=spec)
        assert isinstance(operation, SplitPane)
        command = self.maker.split_command(spec, place.pane, split_flags(operation))
        before = [picture_command(place.pane)] if self.rollback is not None else []
        return Part(step, [*before, command], shown, place, spec=spec)

    async def _dispatch(self, batch: Batch) -> None:
        chain = self.options.on_error == "stop"
        indexes = tuple(part.step.index for part in batch.parts)
        dispatch = Dispatch(indexes, "chain" if chain else "lines", batch.shown(chain=chain))
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
        # tmux told the widths of new panes before they were ours to hear of.
        if any(isinstance(part.step.operation, SwapPane | JoinPane | SplitPane) for part in batch.parts):
            with anyio.move_on_after(self.options.dispatch_timeout):
                await look_up(self.around.book)

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
                self._unsent(part, error)
            return []
        for part in batch.parts:
            part.step.sent()
            if (tab := part.renames) is not None:
                will_rename(self.around.book, tab)
        return answers

    def _client(self, *parts: Part) -> ControlClient:
        """The connection of the first tab that is named; a person's sessions have one each."""
        tabs = (part.place.tab for part in parts if part.place is not None and part.place.tab is not None)
        return next((tab.client for tab in tabs), self.server.client)

    def _unsent(self, part: Part, error: MuxwireError) -> None:
        if part.spec is not None:
            part.spec.discard()
        if self._stopped():
            part.step.never_ran()
        else:
            part.step.fail(explained(error))

    def _answered(self, part: Part, answer: Pending) -> None:
        step, blocks = part.step, part.blocks(answer)
        if self.rollback is not None:
            self.rollback.at(step)
        if was_done(part, answer):
            self._succeeded(part, [block.output for block in blocks])
            return
        if blocks and blocks[-1].error:
            step.fail(told_by_tmux(part, blocks[-1].output))
        elif answer.done and not answer.failed:
            step.never_ran()  # one before it failed
        else:
            if (client := self._client(part)).closed:
                step.lose(f"the tmux connection ended: {client.close_reason}")
            elif answer.failed:
                step.lose("the tmux connection was lost before an answer came: look before you try it again")
            if part.spec is not None:
                self.around.book.spawn(lambda: self._made_late(part, answer))
            else:
                self._late.add(part, answer)
            return
        if part.spec is not None:
            part.spec.discard()
        if (tab := part.renames) is not None:
            will_rename(self.around.book, tab, -1)

    def _succeeded(self, part: Part, outputs: Sequence[tuple[bytes, ...]]) -> None:
        step, operation, place = part.step, part.step.operation, part.place
        tab = place.tab if place is not None else None
        if part.spec is not None:
            self._born(part, outputs[-1])
            step.succeed()
        else:
            shown = captured(self.server.version, outputs) if isinstance(operation, CapturePane) else outputs
            step.succeed(shown[-1] or None)
        if isinstance(operation, RenameWindow) and tab is not None:
            was_renamed(self.around.book, tab, operation.name)
        if self.rollback is not None:
            undoable(self.rollback, part, outputs)

    def _born(self, part: Part, answer: tuple[bytes, ...]) -> None:
        assert part.spec is not None
        beside = part.place.tab if part.place is not None else None
        tab = self.maker.register(part.spec, answer, beside=beside)
        self.keep(part.step, [tab])
        if beside is None:
            part.step.window = tab.window_id
            self.server.client.submit(self.maker.show_in_place_of_keeper(tab.window_id))

    async def _made_late(self, part: Part, answer: Pending) -> None:
        """The answer to a step that was given up: a pane that was made all the same is known all the same."""
        assert part.spec is not None
        await answer.settled()
        blocks = part.blocks(answer)
        made: tuple[bytes, ...] = ()
        if was_done(part, answer):
            made = blocks[-1].output
        elif answer.failed:
            made = await self._made_unheard(part.spec)
        if not made:
            part.spec.discard()
            return
        beside = part.place.tab if part.place is not None else None
        tab = self.maker.register(part.spec, made, beside=beside)
        if self.rollback is not None:
            await tab.close(force=True)

    async def _made_unheard(self, spec: PaneSpec) -> tuple[bytes, ...]:
        """What tmux has to say of a pane if it made it before the connection was lost; nothing if it did not."""
        client = self.server.client
        await client.wait_reconnected()
        its_own = f"#{{m:*{spec.record.nonce}*,#{{pane_start_command}}}}"
        try:
            return await client.command("list-panes", "-a", "-f", its_own, "-F", PANE_FORMAT)
        except MuxwireError:
            return ()


def told_by_tmux(part: Part, output: Sequence[bytes]) -> str:
    """What went wrong with a step, in tmux's words; why its pane is gone, if that is known."""
    said = b" ".join(output).decode("utf-8", "replace") or "failed without a message"
    gone = [one.tab for one in (part.place, part.other) if one is not None and one.tab is not None]
    reasons = [f"; {tab.key} is closed: {tab.end_reason}" for tab in gone if tab.end_reason]
    return f"tmux {part.shown[0]}: {said}{''.join(reasons)}"
