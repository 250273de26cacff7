"""What a kind of operation is, a step of a list while it runs, and what the steps of one run share.

A kind is one class in `kinds.py`: its fields, its check, its tmux commands and what a rollback leaves of it.
`Operation` has what most kinds do, and a kind overrides the rest. `lists.py` has the table of kinds.
"""

from __future__ import annotations

import math
import time
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, final

import anyio

from muxwire.errors import InvalidArgument, MuxwireError, NoSuchTarget
from muxwire.protocol.commands import command
from muxwire.tabs.attached import attached

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from muxwire.client.client import Pending
    from muxwire.host.host import Host
    from muxwire.protocol.events import CommandBlock
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.maker import PaneSpec, TabMaker
    from muxwire.tabs.seat import Seat
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer
    from muxwire.verbs.types import OnError


# How a list of operations is run, what it is run with, and what it did, step by step.

# succeeded and failed: tmux, or the pane, said so. skipped: never sent. planned: a dry run. unknown: sent, and no
# answer came in time, so it may have happened or may still happen; it is never sent again.
Status = Literal["succeeded", "failed", "skipped", "planned", "unknown"]
# Of the statuses of its steps, a dispatch has the one that comes first here.
_WORST_FIRST: tuple[Status, ...] = ("failed", "unknown", "succeeded", "planned", "skipped")


@final
@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a list is run: times in seconds, None for no limit; `max_chars` bounds the output of each step."""

    on_error: OnError
    dispatch_timeout: float | None
    timeout: float | None
    rollback_on_error: bool
    max_chars: int | None

    def check(self) -> None:
        for name, seconds in (("dispatch_timeout", self.dispatch_timeout), ("timeout", self.timeout)):
            if seconds is not None and seconds <= 0:
                raise InvalidArgument(f"{name} is {seconds} s", remedy="give more than 0, or none")
        if self.on_error not in ("stop", "continue"):
            raise InvalidArgument(f"on_error is {self.on_error!r}", remedy='use "stop" or "continue"')


@final
@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with; `server` and `maker` are None in a dry run."""

    server: TmuxServer | None
    maker: TabMaker | None
    book: TabBook
    seat: Seat
    find: Callable[[str], Awaitable[Tab]]
    host: Host


@final
@dataclass(frozen=True, slots=True)
class StepResult:
    """One step. What does not apply to its kind is None, or empty.

    `stdout` is what tmux printed, or the text that a wait met; `lines` are the rows of a capture; `output` and
    `exit_code` those of a command.
    """

    index: int
    kind: str
    status: Status
    stdout: str | None = None
    error: str = ""
    created_pane_id: str = ""
    created_pane_ids: tuple[str, ...] = ()
    created_window_id: str = ""
    lines: tuple[str, ...] | None = None
    output: str | None = None
    exit_code: int | None = None
    elapsed_ms: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Dispatch:
    """What was sent at once, for which steps.

    `chain`: one line, of which tmux runs nothing after an error. `lines`: one line each. `own`: muxwire does it with
    what it has for that (`execute`, `wait_for`, `send_keys`, `kill_pane`), or asks tmux several times.
    `commands` are the tmux commands as they were written, or would be: the program of a new pane is shortened, and
    questions that are asked before a command, on its line, are left out.

    `status` is that of its steps together: `failed` or `unknown` if one of them is. `error` is that of the first such
    step; what tmux printed is with the steps. `elapsed_ms` lasts until the last answer.
    """

    operation_indexes: tuple[int, ...]
    mode: Literal["chain", "lines", "own"]
    commands: tuple[str, ...]
    status: Status = "planned"
    error: str = ""
    elapsed_ms: float | None = None

    def ended(self, steps: Sequence[StepResult]) -> Dispatch:
        """The dispatch with its result, from those of all steps of the list."""
        mine = [steps[index] for index in self.operation_indexes]
        worst = min(mine, key=lambda step: _WORST_FIRST.index(step.status))
        elapsed = max((step.elapsed_ms for step in mine if step.elapsed_ms is not None), default=None)
        return replace(self, status=worst.status, error=worst.error, elapsed_ms=elapsed)


@final
@dataclass(frozen=True, slots=True)
class OperationsResult:
    """All steps, and what became of what they made. `created_panes` maps refs to pane ids."""

    succeeded: bool
    dry_run: bool
    steps: tuple[StepResult, ...]
    created_panes: dict[str, str]
    rolled_back_panes: tuple[str, ...]
    rollback_errors: tuple[str, ...]
    dispatches: tuple[Dispatch, ...]


Arguments = tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Ref:
    """The pane that an earlier step of the list makes."""

    name: str


Target = str | Ref
# The fields of operations that hold a target.
TARGETS = ("target", "with_", "into")


@final
@dataclass(frozen=True, slots=True)
class Place:
    """What a target stands for: tmux's ids of the pane and its session, and its tab; None in a dry run."""

    pane: str
    session: str
    tab: Tab | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One step of a list; frozen. Every kind is a subclass."""

    kind: ClassVar[str]
    harmless: ClassVar[bool] = False  # may be done at a server that a person runs: nothing there changes
    stays: ClassVar[str] = "it is not undone"  # what a rollback says of it; "" if nothing of it is left then
    moves: ClassVar[bool] = False  # it moves panes to other windows
    own_time: ClassVar[bool] = False  # it has a time limit of its own, in place of `dispatch_timeout`

    @property
    def makes(self) -> bool:
        """Whether it makes panes; a rollback closes those."""
        return not self.stays and not self.harmless

    @property
    def plain(self) -> bool:
        """Whether it is one tmux command that tmux answers at once. Several such steps are written together."""
        return True

    @property
    def targets(self) -> tuple[Target, ...]:
        named = (getattr(self, name, None) for name in TARGETS)
        return tuple(target for target in named if target is not None)

    @property
    def made_refs(self) -> tuple[str, ...]:
        one: str = getattr(self, "ref", "")
        several: tuple[str, ...] = getattr(self, "refs", ())
        return (one,) if one else several

    def check(self, host: Host) -> None:
        """InvalidArgument for what can never work."""

    async def check_pattern(self) -> None:
        """InvalidArgument for a pattern that can never work; it is tried in another process."""

    # -- a plain operation

    def words(self, places: Sequence[Place]) -> Arguments:
        """The tmux command that does it; none of its arguments is expanded or split by tmux."""
        raise NotImplementedError(self.kind)

    def part(self, run: RunState, step: Step, places: Sequence[Place]) -> Part:
        """The step as it is written; MuxwireError if it cannot be."""
        shown = self.words(places)
        return Part(step, [shown], shown, places)

    def sent(self, run: RunState, part: Part) -> None:
        """It was written."""

    def refused(self, run: RunState, part: Part) -> None:
        """It was written, and tmux has not done it."""

    def done(self, run: RunState, part: Part, answers: Sequence[tuple[bytes, ...]]) -> None:
        """Tmux has done it, perhaps late; `answers` are those to the part's commands."""

    def tell(self, run: RunState, step: Step, answers: Sequence[tuple[bytes, ...]]) -> None:
        """Put what tmux printed into the step's result."""
        step.stdout = _text(answers[-1])

    # -- an operation that is not plain

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        """Its commands as a dispatch shows them."""
        return [self.words(places)]

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        """Do it, and end the step; MuxwireError. `tabs` are those of its targets."""
        raise NotImplementedError(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compound(Operation):
    """A step that is more than one tmux command: muxwire has its own way of doing it, or must ask tmux first."""

    @property
    def plain(self) -> bool:
        return False


@final
@dataclass(slots=True, eq=False)
class Step:
    """One step while it runs: skipped until it is sent, unknown until it is answered."""

    index: int
    operation: Operation
    status: Status = "skipped"
    error: str = ""
    stdout: str | None = None
    lines: tuple[str, ...] | None = None
    output: str | None = None
    exit_code: int | None = None
    panes: list[str] = field(default_factory=list)
    made: list[Tab] = field(default_factory=list)
    window: str = ""
    _sent: float = 0.0
    _elapsed: float | None = None

    def sent(self) -> None:
        """It goes out now; until its answer is here its outcome is unknown."""
        self.status, self._sent = "unknown", time.monotonic()
        self.error = "no answer came: it may have happened, or may still; check before you try it again"

    def end(self, status: Status, error: str = "") -> None:
        """It was done, or refused, or its outcome stays unknown."""
        self.status, self.error = status, error
        if self._sent:
            self._elapsed = (time.monotonic() - self._sent) * 1000

    def succeed(self) -> None:
        self.end("succeeded")

    def fail(self, error: str) -> None:
        self.end("failed", error)

    def skip(self, error: str = "") -> None:
        """It was not sent, or tmux threw it away after one that failed."""
        self.status, self.error, self._elapsed = "skipped", error, None

    @property
    def left(self) -> str:
        """What a rollback cannot undo of it, "" if there is nothing."""
        why = self.operation.stays
        if self.status == "unknown":
            if self.operation.makes:
                return "no answer came: if tmux still makes the pane, it is closed then"
            return "no answer came: what it did, or may still do, is not undone" if why else ""
        # A step that failed may have run a command, or moved a pane, before it failed.
        changed = self.status == "succeeded" or self.output is not None or bool(self.window)
        return why if changed else ""

    def result(self) -> StepResult:
        single = self.operation.kind in ("new_window", "split_pane", "break_pane")
        return StepResult(
            index=self.index,
            kind=self.operation.kind,
            status=self.status,
            stdout=self.stdout,
            error=self.error,
            created_pane_id=self.panes[0] if single and self.panes else "",
            created_pane_ids=() if single else tuple(self.panes),
            created_window_id=self.window,
            lines=self.lines,
            output=self.output,
            exit_code=self.exit_code,
            elapsed_ms=self._elapsed,
        )


@final
@dataclass(slots=True)
class Part:
    """A plain step as it is written: its commands, of which the last one does it; those before ask how things are."""

    step: Step
    commands: list[Arguments]
    shown: Arguments
    places: Sequence[Place]
    spec: PaneSpec | None = None  # of the pane that it makes
    first: int = 0  # which block of its line is its first

    @property
    def tab(self) -> Tab | None:
        return self.places[0].tab if self.places else None

    def blocks(self, answer: Pending) -> Sequence[CommandBlock]:
        return answer.blocks[self.first : self.first + len(self.commands)]

    def was_done(self, answer: Pending) -> bool:
        blocks = self.blocks(answer)
        return len(blocks) == len(self.commands) and not blocks[-1].error


class RunState:
    """The panes that were made, what was sent; `planned` is what a dry run calls its panes."""

    def __init__(self, options: RunOptions, around: RunContext) -> None:
        self.options = options
        self.book, self.seat, self.host = around.book, around.seat, around.host
        self.dry = around.server is None
        self.made: dict[str, Tab] = {}
        self.planned: dict[str, str] = {}
        self.dispatches: list[Dispatch] = []
        self.typed_at: dict[str, int] = {}  # by pane: where the answer to what a step typed begins
        self.attached = AsyncExitStack()  # to the sessions of the tabs that were named so far
        self.whole = anyio.CancelScope()  # of the whole list: its deadline is that of the run
        self._around = around
        self.rolls_back = options.rollback_on_error and not self.dry

    @property
    def server(self) -> TmuxServer:
        assert self._around.server is not None
        return self._around.server

    @property
    def maker(self) -> TabMaker:
        assert self._around.maker is not None
        return self._around.maker

    @contextmanager
    def time_for(self, seconds: float) -> Iterator[tuple[float, str]]:
        """Yield the time limit of a step that has its own, and words for it: `seconds`, or what is left for the list.

        The deadline of the whole list does not cancel the step: it ends itself by this limit, and returns what it has.
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
            tab = self.book.open.get(self.called(target)) or await self._around.find(target)
        if tab.pane.session.closed:
            tab = await self._around.find(tab.pane_id)  # which says why
        await self.attached.enter_async_context(attached(tab))
        return Place(tab.pane_id, tab.session_id or self.server.sessions.hub, tab)

    def _planned_place(self, target: Target) -> Place:
        if isinstance(target, Ref):
            return Place(_placeholder(target.name), f"<session of {target.name}>")
        tabs = self.book.open
        tab = tabs.get(self.called(target)) or next((one for one in tabs.values() if one.pane_id == target), None)
        return Place(tab.pane_id, tab.session_id) if tab is not None else Place(target, f"<session of {target}>")

    def plan(self, step: Step) -> None:
        step.status = "planned"
        for ref in step.operation.made_refs:
            self.planned[ref] = _placeholder(ref)
            step.panes.append(_placeholder(ref))

    def called(self, name: str) -> str:
        """The id by which callers name a window or a pane of tmux: with its machine, if that is another one."""
        return self.host.prefix + name

    def keep(self, step: Step, tabs: Sequence[Tab]) -> None:
        step.panes = [self.called(tab.pane_id) for tab in tabs]
        step.made = list(tabs)
        self.made.update(zip(step.operation.made_refs, tabs, strict=False))

    def refuse(self, step: Step, error: MuxwireError) -> None:
        lost = [one for one in step.operation.targets if isinstance(one, Ref) and one.name not in self.made]
        if lost:
            step.skip(explained(error))
        else:
            step.fail(explained(error))

    async def apart(
        self, work: Callable[[], Awaitable[object]], late: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """Wait for `work`, in a task that is not cancelled with the step; if the step was, `late` follows the work."""
        done, failures, abandoned = anyio.Event(), [], anyio.Event()

        async def run() -> None:
            try:
                await work()
            except MuxwireError as error:
                failures.append(error)
            done.set()
            if late is not None and abandoned.is_set() and not failures:
                await late()

        self.book.spawn(run)
        try:
            await done.wait()
        except BaseException:
            abandoned.set()
            raise
        if failures:
            raise failures[0]


def explained(error: MuxwireError) -> str:
    return f"{error}; {error.remedy}" if error.remedy else str(error)


def written(arguments: Sequence[str]) -> str:
    return command(*arguments).line.decode("ascii", "replace")


def in_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidArgument(f"{name} is {value}", remedy=f"use {least} to {most}")


def _text(answer: Sequence[bytes]) -> str | None:
    return "\n".join(line.decode("utf-8", "replace") for line in answer) if answer else None


def _placeholder(ref: str) -> str:
    return f"<ref:{ref}>"
