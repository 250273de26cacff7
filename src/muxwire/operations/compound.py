"""Steps that are more than one tmux command: what muxwire has its own way of doing, and what must ask tmux first."""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, InvalidArgument, MuxwireError, TmuxSilent
from muxwire.host.environment import COLUMNS_MIN
from muxwire.operations.checks import request, wanted
from muxwire.operations.kinds import (
    BreakPane,
    Execute,
    KillPane,
    MakeGrid,
    NewWindow,
    Operation,
    ResizePane,
    SendKeys,
    SplitEvenly,
    SplitPane,
    WaitFor,
    targets_of,
)
from muxwire.operations.rollback import Picture, picture_command, rename
from muxwire.operations.step import explained
from muxwire.operations.step_results import Dispatch
from muxwire.operations.tmux_commands import Arguments, Place, folder_of, shown_birth, written
from muxwire.tabs import waits
from muxwire.tabs.maker import window_name
from muxwire.tabs.tab import DEFAULT_TIMEOUT
from muxwire.tabs.windows import look_up

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.client.pending import Pending
    from muxwire.operations.run_state import RunState
    from muxwire.operations.step import Step
    from muxwire.tabs.maker import PaneSpec
    from muxwire.tabs.tab import Tab

# Seconds, as `Terminals.wait_for`: what a build's step or a server's start takes.
WAIT_TIMEOUT = 30.0

_NOTHING = "display-message -p ''"
_ALONE = "alone"


@final
class CompoundSteps:
    """Does one step at a time, for one run."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._typed_at: dict[str, int] = {}  # by pane: where the answer to what a step typed begins

    async def do(self, step: Step) -> None:
        """Do a step; what becomes of it is in the step."""
        run, operation = self._run, step.operation
        try:
            places = [await run.place(target) for target in targets_of(operation)]
        except MuxwireError as error:
            run.refuse(step, error)
            return
        run.dispatches.append(Dispatch((step.index,), "own", tuple(map(written, _shown(operation, places)))))
        if run.dry:
            run.plan(step)
            return
        step.sent()
        if run.rollback is not None:
            run.rollback.at(step)
        # These two end by times of their own.
        limit = None if isinstance(operation, Execute | WaitFor) else run.options.dispatch_timeout
        with anyio.move_on_after(limit):
            try:
                await self._do(step, places[0].tab if places else None)
            except TmuxSilent as error:
                step.lose(explained(error))
            except MuxwireError as error:
                step.fail(explained(error))

    async def _do(self, step: Step, tab: Tab | None) -> None:
        operation = step.operation
        if isinstance(operation, NewWindow):
            await self._new_window(step, operation)
            return
        assert tab is not None
        match operation:
            case SendKeys():
                await self._send_keys(step, operation, tab)
            case Execute():
                await self._execute(step, operation, tab)
            case WaitFor():
                await self._wait_for(step, operation, tab)
            case KillPane():
                await self._apart(partial(tab.close, force=True))
                step.succeed()
                self._cannot(step, "a pane that was killed does not come back")
            case ResizePane(zoom=zoom):
                await self._saw(tab)
                await self._zoom(tab.pane_id, wanted=bool(zoom))
                step.succeed()
            case BreakPane():
                await self._break(step, operation, tab)
            case SplitEvenly(count=count, horizontal=horizontal):
                await self._saw(tab)
                made = await self._divide(step, [tab], count, horizontal=horizontal)
                self._made(step, [new for row in made for new in row[1:]])
            case MakeGrid(rows=rows, cols=cols):
                await self._saw(tab)
                column = (await self._divide(step, [tab], rows, horizontal=False))[0] if rows > 1 else [tab]
                grid = (
                    await self._divide(step, column, cols, horizontal=True) if cols > 1 else [[one] for one in column]
                )
                self._made(step, [one for row in grid for one in row][1:])
            case _:
                raise AssertionError(operation.kind)

    def _cannot(self, step: Step, why: str) -> None:
        if self._run.rollback is not None:
            self._run.rollback.cannot(step, why)

    async def _saw(self, tab: Tab) -> Picture | None:
        if self._run.rollback is None:
            return None
        picture = Picture.told(await tab.client.command(*picture_command(tab.pane_id)))
        self._run.rollback.saw(picture)
        return picture

    # -- what runs in a pane

    async def _send_keys(self, step: Step, operation: SendKeys, tab: Tab) -> None:
        keys = list(operation.each)
        if operation.enter:
            keys.append("\r" if operation.literal else "Enter")
        sent = await tab.send_keys(keys, literal=operation.literal)
        self._typed_at[tab.pane_id] = sent.next_byte
        step.succeed()
        self._cannot(step, "what was typed cannot be taken back")

    async def _execute(self, step: Step, operation: Execute, tab: Tab) -> None:
        timeout = DEFAULT_TIMEOUT if operation.timeout is None else operation.timeout
        self._typed_at.pop(tab.pane_id, None)
        self._cannot(step, "a command that was run cannot be taken back")
        with self._run.time_for(timeout) as (limit, said):
            result = await tab.execute(operation.command, timeout=limit, max_chars=self._run.options.max_chars)
        step.output, step.exit_code = result.output, result.exit_code
        if result.timed_out:
            step.fail(f"it was interrupted after {said}; give the step a longer time")
        elif result.exit_code == 0:
            step.succeed()
        else:
            step.fail(result.note or f"exit code {result.exit_code}")

    async def _wait_for(self, step: Step, operation: WaitFor, tab: Tab) -> None:
        timeout = WAIT_TIMEOUT if operation.timeout is None else operation.timeout
        with self._run.time_for(timeout) as (limit, said):
            outcome = await waits.wait_for(
                [tab], wanted(operation), from_byte=self._typed_at.get(tab.pane_id), timeout=limit
            )
        if outcome.outcome == "met":
            step.stdout = outcome.match
            step.succeed()
            return
        step.output = outcome.tail
        ended = f"{tab.key} ended: {tab.end_reason or 'its program did'}"
        step.fail(ended if outcome.outcome == "closed" else f"not met within {said}")

    # -- windows

    async def _new_window(self, step: Step, operation: NewWindow) -> None:
        run, made = self._run, []

        async def make() -> None:
            asked = request(operation, run.around.host, "")
            made.append(await run.maker.make(asked, secrets.token_hex(8), patient=True))

        async def late() -> None:
            if run.rollback is not None:
                await made[0].close(force=True)

        await self._apart(make, late)
        step.window = made[0].window_id
        self._made(step, made)

    async def _apart(
        self, work: Callable[[], Awaitable[object]], late: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """Wait for what is done whole or not at all, for as long as the step has; `late` follows if that was less."""
        done, failures, abandoned = anyio.Event(), [], anyio.Event()

        async def run() -> None:
            try:
                await work()
            except MuxwireError as error:
                failures.append(error)
            done.set()
            if late is not None and abandoned.is_set() and not failures:
                await late()

        self._run.around.book.spawn(run)
        try:
            await done.wait()
        except BaseException:
            abandoned.set()
            raise
        if failures:
            raise failures[0]

    async def _zoom(self, pane: str, *, wanted: bool) -> None:
        for answer in self._run.server.client.submit(*zoom_commands(pane, wanted=wanted)):
            await answer.wait()

    async def _break(self, step: Step, operation: BreakPane, tab: Tab) -> None:
        run, before, was_called = self._run, await self._saw(tab), tab.name
        lines = await run.server.client.command(*break_command(tab.pane_id, run.server.sessions.hub))
        if lines[-1:] == (_ALONE.encode(),):
            raise InvalidArgument(f"{tab.pane_id} is the only pane of its window already")
        step.window = lines[-1].decode()
        step.panes = [tab.pane_id]
        await look_up(run.around.book)
        if run.rollback is not None and before is not None:
            run.rollback.moved(tab, before, was_called)
        tab.name = step.window
        if operation.name:
            await rename(run.around.book, tab, operation.name)
        step.succeed()

    # -- several panes at once

    async def _divide(self, step: Step, tabs: Sequence[Tab], count: int, *, horizontal: bool) -> list[list[Tab]]:
        """Make `count` panes of equal size of each tab; return each with its new ones behind it.

        Every split takes the new pane's size off the end of the first one, so none needs the answer to another.
        """
        client = self._run.server.client
        unzoom = ("if-shell", "-F", "-t", tabs[0].pane_id, "#{window_zoomed_flag}",
                  f"resize-pane -Z -t {tabs[0].pane_id}", _NOTHING)  # fmt: skip
        size = "#{pane_width}" if horizontal else "#{pane_height}"
        asked = client.submit(unzoom, *(("display-message", "-p", "-t", tab.pane_id, size) for tab in tabs))
        sides = [int((await answer.wait())[0]) for answer in asked[1:]]
        jobs = []
        for tab, side in zip(tabs, sides, strict=True):
            least, more = divmod(side - (count - 1), count)  # a line between each two
            if least < (COLUMNS_MIN if horizontal else 1):
                raise InvalidArgument(f"no space for {count} panes in {side} {'columns' if horizontal else 'rows'}")
            sizes = [least + (place < more) for place in range(1, count)]
            flags = ("-h",) if horizontal else ()
            jobs += [(tab, (*flags, "-l", str(share))) for share in reversed(sizes)]
        made = await self._carve(step, jobs)
        new = iter(made)
        return [[tab, *reversed([next(new) for _ in range(count - 1)])] for tab in tabs]

    async def _carve(self, step: Step, jobs: Sequence[tuple[Tab, tuple[str, ...]]]) -> list[Tab]:
        """Split as often as there are jobs, in one write; if one fails, what the others made goes again."""
        run = self._run
        cwd = {tab.pane_id: folder_of(tab) for tab, _ in jobs}
        specs = []
        for tab, _ in jobs:
            asked = request(SplitPane(target=tab.pane_id), run.around.host, cwd[tab.pane_id])
            specs.append((run.maker.prepare(asked, secrets.token_hex(8), is_split=True), tab))
        commands = [
            run.maker.split_command(spec, tab.pane_id, flags)
            for (spec, tab), (_, flags) in zip(specs, jobs, strict=True)
        ]
        answer = run.server.client.submit_list(*commands)
        tabs: list[Tab] = []
        try:
            await answer.wait()
        except CommandError:
            pass
        finally:
            tabs += self._collect(answer, specs)
            if not answer.done:
                run.around.book.spawn(lambda: self._late(answer, specs[len(tabs) :], len(tabs)))
        if len(tabs) < len(jobs):
            for tab in [*tabs, *(one for one in map(run.around.book.open.get, step.panes) if one is not None)]:
                await tab.close(force=True)
            step.panes.clear()
            answer.result()
        step.panes += [tab.pane_id for tab in tabs]
        await look_up(run.around.book)
        return tabs

    def _collect(self, answer: Pending, specs: Sequence[tuple[PaneSpec, Tab]], first: int = 0) -> list[Tab]:
        """The panes that tmux has made so far."""
        tabs = []
        for block, (spec, beside) in zip(answer.blocks[first:], specs, strict=False):
            if block.error:
                break
            tabs.append(self._run.maker.register(spec, block.output, beside=beside))
        if answer.done:
            for spec, _ in specs[len(tabs) :]:
                spec.discard()
        return tabs

    async def _late(self, answer: Pending, specs: Sequence[tuple[PaneSpec, Tab]], first: int) -> None:
        """The step was given up; the panes that are made all the same are known all the same."""
        await answer.settled()
        tabs = self._collect(answer, specs, first)
        if self._run.rollback is not None:
            for tab in tabs:
                await tab.close(force=True)

    def _made(self, step: Step, tabs: Sequence[Tab]) -> None:
        step.panes.clear()
        self._run.keep(step, tabs)
        step.succeed()


def zoom_commands(pane: str, *, wanted: bool) -> tuple[Arguments, ...]:
    """`resize-pane -Z` turns it over; so tmux is told when to. A pane fills its window if that is zoomed on it."""
    toggle = f"resize-pane -Z -t {pane}"
    this = "#{&&:#{window_zoomed_flag},#{pane_active}}"
    other = "#{&&:#{window_zoomed_flag},#{!=:#{pane_active},1}}"
    ends = ("if-shell", "-F", "-t", pane, other if wanted else this, toggle, _NOTHING)
    begins = ("if-shell", "-F", "-t", pane, this, _NOTHING, toggle)
    return (ends, begins) if wanted else (ends,)


def break_command(pane: str, hub: str) -> Arguments:
    """Move a pane into a window of its own; alone in its window it would be moved with that, out of our sight."""
    move = f"break-pane -d -P -F '#{{window_id}}' -s {pane} -t '{hub}:'"
    return ("if-shell", "-F", "-t", pane, "#{==:#{window_panes},1}", f"display-message -p {_ALONE}", move)


def _shown(operation: Operation, places: Sequence[Place]) -> list[tuple[str, ...]]:
    """What a dispatch says of a step that is more than one command."""
    pane = places[0].pane if places else ""
    match operation:
        case NewWindow():
            return [(*shown_birth(operation, None, operation.cwd), "#", "session", operation.session)]
        case SendKeys(enter=enter, literal=literal):
            flags = ("-l",) if literal else ()
            return [("send-keys", *flags, "-t", pane, "--", *operation.each, *(("Enter",) if enter else ()))]
        case Execute(command=command):
            return [("execute", "-t", pane, "--", command)]
        case WaitFor():
            return [("wait-for", "-t", pane)]
        case KillPane():
            return [("kill-pane", "-t", pane)]
        case ResizePane(zoom=zoom):
            return list(zoom_commands(pane, wanted=bool(zoom)))
        case BreakPane(name=name):
            renamed = [("rename-window", "-t", pane, "--", window_name(name))] if name else []
            return [break_command(pane, "<hub>"), *renamed]
        case SplitEvenly(count=count, horizontal=horizontal):
            return [("split-window", "-d", *(("-h",) if horizontal else ()), "-t", pane)] * (count - 1)
        case MakeGrid(rows=rows, cols=cols):
            down, across = ("split-window", "-d", "-t", pane), ("split-window", "-d", "-h", "-t", "<each row>")
            return [down] * (rows - 1) + [across] * (rows * (cols - 1))
        case _:
            return []
