"""What the steps of one list share: the panes that were made, what was sent, what can be undone."""

from __future__ import annotations

import math
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import MuxwireError, NoSuchTarget
from muxwire.operations.kinds import Ref, Target, refs_of, targets_of
from muxwire.operations.rollback import Rollback
from muxwire.operations.step import explained
from muxwire.operations.tmux_commands import Place
from muxwire.tabs.attached import attached

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muxwire.operations.context import RunContext, RunOptions
    from muxwire.operations.step import Step
    from muxwire.operations.step_results import Dispatch
    from muxwire.tabs.maker import TabMaker
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer


class RunState:
    """The state of one run; `planned` is what a dry run calls the panes of its refs."""

    def __init__(self, options: RunOptions, around: RunContext) -> None:
        self.options = options
        self.around = around
        self.made: dict[str, Tab] = {}
        self.planned: dict[str, str] = {}
        self.dispatches: list[Dispatch] = []
        self.attached = AsyncExitStack()  # to the sessions of the tabs that were named so far
        self.whole = anyio.CancelScope()  # all of it
        server = around.server
        self.rollback = Rollback(server, around.book) if server and options.rollback_on_error else None

    @property
    def server(self) -> TmuxServer:
        """The server; not in a dry run."""
        assert self.around.server is not None
        return self.around.server

    @property
    def maker(self) -> TabMaker:
        """What makes panes; not in a dry run."""
        assert self.around.maker is not None
        return self.around.maker

    @property
    def dry(self) -> bool:
        """Whether nothing is sent."""
        return self.around.server is None

    @contextmanager
    def time_for(self, seconds: float) -> Iterator[tuple[float, str]]:
        """For a step that ends by a time of its own: that, or what is left for all, and how to call it.

        The step is not interrupted from outside: it ends itself, and tells what it has.
        """
        deadline, self.whole.deadline = self.whole.deadline, math.inf
        left = max(0.0, deadline - anyio.current_time())
        try:
            whole = left, f"the {self.options.timeout} s for the whole list"
            yield (seconds, f"{seconds} s") if seconds <= left else whole
        finally:
            self.whole.deadline = deadline

    async def place(self, target: Target) -> Place:
        """The pane of a target now; NoSuchTarget."""
        if self.dry:
            return self._planned_place(target)
        if isinstance(target, Ref):
            tab = self.made.get(target.name)
            if tab is None:
                raise NoSuchTarget(f"the step that makes ref {target.name} did not succeed")
        else:
            tab = self.around.book.open.get(target) or await self.around.find(target)
        if tab.pane.closed:
            tab = await self.around.find(tab.pane_id)  # which says why
        await self.attached.enter_async_context(attached(tab))
        return Place(tab.pane_id, tab.session_id or self.server.sessions.hub, tab)

    def _planned_place(self, target: Target) -> Place:
        if isinstance(target, Ref):
            return Place(_placeholder(target.name), f"<session of {target.name}>")
        open_tabs = self.around.book.open
        tab = open_tabs.get(target) or next((one for one in open_tabs.values() if one.pane_id == target), None)
        return Place(tab.pane_id, tab.session_id) if tab is not None else Place(target, f"<session of {target}>")

    def plan(self, step: Step) -> None:
        """A dry run got as far as this step."""
        step.plan()
        for ref in refs_of(step.operation):
            self.planned[ref] = _placeholder(ref)
            step.panes.append(_placeholder(ref))

    def keep(self, step: Step, tabs: Sequence[Tab]) -> None:
        """A step has made these panes."""
        step.panes += [tab.pane_id for tab in tabs]
        self.made.update(zip(refs_of(step.operation), tabs, strict=False))
        if self.rollback is not None:
            for tab in tabs:
                self.rollback.made(tab)

    def refuse(self, step: Step, error: MuxwireError) -> None:
        """A step cannot be sent: its target is not there, or was never made."""
        lost = [one for one in targets_of(step.operation) if isinstance(one, Ref) and one.name not in self.made]
        if lost:
            step.skip(explained(error))
        else:
            step.fail(explained(error))


def _placeholder(ref: str) -> str:
    return f"<ref:{ref}>"
