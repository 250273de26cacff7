"""Runs a list of operations: one step after the other, on the one connection."""

from __future__ import annotations

import math
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, final

import anyio
import anyio.lowlevel

from muxwire.errors import ConnectionClosed, MuxwireError, NoSuchTarget
from muxwire.host.host import answer_seconds
from muxwire.operations.operation import Operation, OperationsResult, Place, Ref, Step, StepResult
from muxwire.protocol.commands import quote
from muxwire.tabs.attached import attached
from muxwire.tabs.closing import not_agreed, of_a_person
from muxwire.tabs.maker import TabMaker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.client.client import ControlClient
    from muxwire.host.host import Host
    from muxwire.operations.operation import Arguments, Target
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.seat import Seat
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer
    from muxwire.verbs.catalogue import RunTmuxOperations


@final
class OperationsRun:
    """One run of a list. A dry run has no `server`: it sends nothing."""

    def __init__(
        self,
        operations: Sequence[Operation],
        options: RunTmuxOperations,
        book: TabBook,
        seat: Seat,
        host: Host,
        find: Callable[[str], Awaitable[Tab]],
        server: TmuxServer | None,
    ) -> None:
        self.steps = [Step(one, StepResult(index, one.kind, "skipped")) for index, one in enumerate(operations)]
        self.options, self.book, self.seat, self.host = options, book, seat, host
        self.typed_at: dict[str, int] = {}  # by pane: where the answer to what a step typed begins
        self._find, self._server = find, server
        self._made: dict[str, Tab] = {}
        self._attached = AsyncExitStack()  # to the sessions of the tabs that were named so far
        self._deadline = anyio.current_time() + (options.timeout or math.inf)
        self._rolls_back = False  # from then on a step that was given up closes what it makes

    async def run(self) -> OperationsResult:
        """Do all of it; never raises for what a step meets."""
        async with self._attached:
            if self._server is None:
                return self._plan()
            return await self._run()

    def _plan(self) -> OperationsResult:
        """The commands of each step; panes that are not made yet are called by their refs."""
        planned = {ref: f"<ref:{ref}>" for step in self.steps for ref in step.operation.made_refs}
        for step in self.steps:
            operation = step.operation
            words = operation.commands([self._planned_place(target) for target in operation.targets])
            step.say(status="planned", commands=tuple(b" ".join(map(quote, one)).decode() for one in words))
            step.name_panes([planned[ref] for ref in operation.made_refs])
        return OperationsResult(
            succeeded=True, dry_run=True, steps=tuple(step.result for step in self.steps), created_panes=planned,
        )  # fmt: skip

    def _planned_place(self, target: Target) -> Place:
        name = f"<ref:{target.name}>" if isinstance(target, Ref) else target
        return Place(name, f"<session of {name}>")

    async def _run(self) -> OperationsResult:
        active = self.book.latest(self.seat)
        for step in self.steps:
            if (left := self._left) <= 0:
                step.end("skipped", f"the {self.options.timeout} s for the whole list were over")
                continue
            await self._do(step, left)
            if self.options.on_error == "stop" and step.result.status != "succeeded":
                break
        succeeded = all(step.result.status == "succeeded" for step in self.steps)
        undo = self.options.rollback_on_error and not succeeded
        rolled_back, not_undone = await self._roll_back() if undo else ([], [])
        if undo and active in self.book.open:
            self.book.use(active, self.seat)
        return OperationsResult(
            succeeded=succeeded,
            dry_run=False,
            steps=tuple(step.result for step in self.steps),
            created_panes={ref: self.called(tab.pane_id) for ref, tab in self._made.items()},
            rolled_back_panes=tuple(rolled_back),
            rollback_errors=tuple(not_undone),
        )

    async def _do(self, step: Step, left: float) -> None:
        """Do one step, in the time that it has; it says itself how it ended."""
        operation = step.operation
        limit = min(left, self.options.dispatch_timeout)
        step.end("skipped", "tmux did not answer when it was asked for the pane")
        try:
            with anyio.move_on_after(limit) as asking:
                places = [await self._place(operation, target) for target in operation.targets]
                if not places:
                    await self.server.attach()
                client = self._client(places)
                await client.wait_reconnected()
                if client.closed:
                    raise ConnectionClosed(client.close_reason)
        except MuxwireError as error:
            lost = any(isinstance(one, Ref) and one.name not in self._made for one in operation.targets)
            step.end("skipped" if lost else "failed", explained(error))
            return
        if asking.cancelled_caught:
            return
        step.sent()
        if operation.of_program:
            await self._finish(step, places)
        else:
            with anyio.move_on_after(limit):
                await self._to_its_end(lambda: self._finish(step, places))

    async def _finish(self, step: Step, places: Sequence[Place]) -> None:
        """Do a step that may be given up meanwhile: then it is its list's end that decides about what it made."""
        try:
            await step.operation.do(self, step, places)
            if not step.ended:
                step.end("succeeded")
        except Exception as error:
            step.end("unknown" if isinstance(error, ConnectionClosed) else "failed", explained(error))
            if not isinstance(error, MuxwireError):  # a defect, or what another machine sends cannot be read
                raise
        finally:
            for tab in step.made if self._rolls_back else ():
                await tab.close(force=True)

    async def _to_its_end(self, work: Callable[[], Awaitable[None]]) -> None:
        """Wait for `work`, in a task that goes on when nobody waits for it any more: tmux does what it was sent."""
        done = anyio.Event()

        async def run() -> None:
            try:
                await work()
            finally:
                done.set()

        self.book.spawn(run)
        await done.wait()

    async def _place(self, operation: Operation, target: Target) -> Place:
        """The pane of a target now; NoSuchTarget."""
        if isinstance(target, Ref):
            tab = self._made.get(target.name)
            if tab is None:
                raise NoSuchTarget(f"the step that makes ref {target.name} did not succeed")
        else:
            tab = self.book.open.get(self.called(target)) or await self._find(target)
        if tab.pane.session.closed and not operation.of_ended:
            tab = await self._find(tab.pane_id)  # which says why
        await self._attached.enter_async_context(attached(tab))
        return Place(tab.pane_id, tab.session_id or self.server.sessions.hub, tab)

    # -- what a step works with

    @property
    def server(self) -> TmuxServer:
        assert self._server is not None
        return self._server

    @property
    def maker(self) -> TabMaker:
        return TabMaker(self.server, self.book, self.seat)

    def _client(self, places: Sequence[Place]) -> ControlClient:
        """The connection of the first tab that is named; a person's sessions have one each."""
        return places[0].tab.client if places else self.server.client

    async def ask(self, places: Sequence[Place], *commands: Arguments) -> list[tuple[bytes, ...]]:
        """The answers to tmux commands for these panes, however long they take. CommandError, ConnectionClosed."""
        answers = self._client(places).submit(*commands)
        for answer in answers:
            await answer.settled()
        return [answer.result() for answer in answers]

    @property
    def _left(self) -> float:
        """How many seconds are left for the whole list."""
        return self._deadline - anyio.current_time()

    def time_for(self, seconds: float) -> tuple[float, str]:
        """The time limit of a step that has its own, and words for it: `seconds`, or what is left for the list."""
        if seconds <= self._left:
            return seconds, f"{seconds} s"
        return max(0.0, self._left), f"the {self.options.timeout} s for the whole list"

    def called(self, name: str) -> str:
        """The id by which callers name a window or a pane of tmux: with its machine, if that is another one."""
        return self.host.prefix + name

    def keep(self, step: Step, tabs: Sequence[Tab]) -> None:
        """These are the panes that a step has made."""
        step.made = list(tabs)
        self._made.update(zip(step.operation.made_refs, tabs, strict=False))
        step.name_panes([self.called(tab.pane_id) for tab in tabs])

    async def end(self, tab: Tab) -> None:
        """Close a tab; NotPermitted if a person is to be asked before, and has not agreed."""
        agreed = self.options.agreed
        if agreed is not None and tab.address not in agreed and of_a_person([tab]):
            raise not_agreed([tab])
        await tab.close(force=True)

    # -- a rollback: what was made is closed, and what cannot be undone is reported

    async def _roll_back(self) -> tuple[list[str], list[str]]:
        """Close the panes that were made, last first; return them, and each step of which something is left."""
        self._rolls_back = True
        # If tmux does not answer, the closing is only begun here, and is done when it does.
        deadline = anyio.current_time() + min(max(self._left, answer_seconds(self.host)), self.options.dispatch_timeout)
        closed: list[str] = []
        kept = [(index, step.left) for index, step in enumerate(self.steps) if step.left]
        for index, step in reversed(list(enumerate(self.steps))):
            for tab in reversed(step.made):
                if why := await self._close(tab, deadline - anyio.current_time()):
                    kept.append((index, f"pane {self.called(tab.pane_id)}: {why}"))
                else:
                    closed.append(self.called(tab.pane_id))
        return closed, [
            f"operations[{index}] ({self.steps[index].operation.kind}): {why}" for index, why in sorted(kept)
        ]

    async def _close(self, tab: Tab, seconds: float) -> str:
        """Close a tab in so many seconds; return why it is not closed."""
        why = "tmux did not answer; it is closed when tmux does"

        async def close() -> None:
            nonlocal why
            await self.server.client.wait_reconnected()
            try:
                await self.end(tab)
                why = ""
            except MuxwireError as error:
                why = explained(error)

        with anyio.move_on_after(seconds):
            await self._to_its_end(close)
        return why


def explained(error: Exception) -> str:
    """An error in words, with what to do; of what is none of muxwire's, its class."""
    return f"{error}; {more}" if (more := getattr(error, "remedy", type(error).__name__)) else str(error)
