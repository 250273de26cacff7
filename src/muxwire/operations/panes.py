"""Operations that make panes, move them to other windows, and end them."""

from __future__ import annotations

import re
import secrets
from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar, final

from muxwire.errors import CommandError, InvalidArgument
from muxwire.host.environment import COLUMNS_MIN, check_columns
from muxwire.operations.arranging import NOTHING, check_name, rename
from muxwire.operations.operation import (
    Arguments,
    Compound,
    Operation,
    Part,
    Place,
    RunState,
    Step,
    Target,
    in_range,
)
from muxwire.operations.rollback import Picture, Rollback, picture_command
from muxwire.tabs.maker import PANE_FORMAT, window_name
from muxwire.tabs.request import TabRequest
from muxwire.tabs.windows import look_up
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.client.pending import Pending
    from muxwire.host.host import Host
    from muxwire.tabs.maker import PaneSpec
    from muxwire.tabs.tab import Tab

# A window of 200 by 50 has room for no more that show anything.
PANES_MAX = 64
_SIZE = re.compile(r"[1-9][0-9]{0,3}%?\Z")
# A pane's program as dispatches show it: the supervisor's text is the same for all, and holds the pane's nonce.
_SHELL_SHOWN = "<shell>"
_ALONE = "alone"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NewWindow(Operation):
    """A tab with a shell, or with `command` (an argv) in its place."""

    kind: ClassVar[str] = "new_window"
    ref: str = ""
    name: str = ""
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    session: str = ""

    @property
    def plain(self) -> bool:
        return not self.session

    def check(self, host: Host) -> None:
        self._request(host)

    def _request(self, host: Host) -> TabRequest:
        return _request(host, self.cwd, self.env, self.command, name=self.name, session=self.session)

    def words(self, places: Sequence[Place]) -> Arguments:
        return self._words(self.cwd)

    def _words(self, cwd: str) -> Arguments:
        named = ("-n", window_name(self.name)) if self.name else ()
        return ("new-window", "-d", "-P", "-F", PANE_FORMAT, *named, *_program_shown(cwd, self.env, self.command))

    def part(self, run: RunState, step: Step, places: Sequence[Place]) -> Part:
        asked = self._request(run.host)
        shown = self._words(asked.cwd)
        if run.dry:
            return Part(step, [shown], shown, places)
        spec = run.maker.prepare(asked, secrets.token_hex(8))
        return Part(step, [run.maker.window_command(spec)], shown, places, spec=spec)

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        return [(*self.words(places), "#", "session", self.session)]

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        made: list[Tab] = []

        async def make() -> None:
            made.append(await run.maker.make(self._request(run.host), secrets.token_hex(8), patient=True))

        async def late() -> None:
            if run.rollback is not None:
                await made[0].close(force=True)

        await run.apart(make, late)
        step.window = run.called(made[0].window_id)
        run.keep(step, made)
        step.succeed()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPane(Operation):
    """A further pane below `target`, or to its right if `horizontal`; `size` is rows or columns, or `30%`.

    It starts in the directory of `target`, unless `cwd` is given.
    """

    kind: ClassVar[str] = "split_pane"
    touches_window: ClassVar[bool] = True
    target: Target
    ref: str = ""
    horizontal: bool = False
    size: str = ""
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()

    def check(self, host: Host) -> None:
        if self.size and not _SIZE.match(self.size):
            raise InvalidArgument(f"{self.size!r} is no size", remedy="give rows or columns as 20, or a part as 30%")
        if self.horizontal and self.size.isdecimal():
            check_columns(int(self.size))
        _request(host, self.cwd, self.env, self.command)

    def part(self, run: RunState, step: Step, places: Sequence[Place]) -> Part:
        place = places[0]
        asked = _request(run.host, self.cwd, self.env, self.command, beside=place.tab)
        flags = (*(("-h",) if self.horizontal else ()), *(("-l", self.size) if self.size else ()))
        known = self.cwd or place.tab is not None
        program = _program_shown(asked.cwd if known else "", self.env, self.command)
        shown = ("split-window", "-d", "-P", "-F", PANE_FORMAT, "-t", place.pane, *flags, *program)
        if run.dry:
            return Part(step, [shown], shown, places)
        spec = run.maker.prepare(asked, secrets.token_hex(8), is_split=True)
        asks = [picture_command(place.pane)] if run.rollback is not None else []
        return Part(step, [*asks, run.maker.split_command(spec, place.pane, flags)], shown, places, spec=spec)


def _request(
    host: Host, cwd: str, env: Mapping[str, str], command: tuple[str, ...], *,
    name: str = "", session: str = "", beside: Tab | None = None,
) -> TabRequest:  # fmt: skip
    """What TabMaker is asked for: without a `cwd` in the directory of the tab `beside`; InvalidArgument."""
    request = TabRequest.checked(
        host, name=name, cwd=cwd or None, env=env, login=False, shell=None, command=command or None,
        session=session or None, size=None,
    )  # fmt: skip
    if not cwd and beside is not None and beside.cwd and host.is_folder(beside.cwd):
        return replace(request, cwd=beside.cwd)
    return request


def _program_shown(cwd: str, env: Mapping[str, str], command: tuple[str, ...]) -> Arguments:
    """The end of a command that makes a pane, with its program shortened."""
    settings = [word for pair in env.items() for word in ("-e", "=".join(pair))]
    return (*(("-c", cwd) if cwd else ()), *settings, "--", *(command or (_SHELL_SHOWN,)))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitEvenly(Compound):
    """Make `count` panes of equal size of `target`; `refs` name the new ones, top to bottom or left to right."""

    kind: ClassVar[str] = "split_evenly"
    target: Target
    count: int
    horizontal: bool = False
    refs: tuple[str, ...] = ()

    @property
    def _grid(self) -> MakeGrid:
        rows, cols = (1, self.count) if self.horizontal else (self.count, 1)
        return MakeGrid(target=self.target, rows=rows, cols=cols, refs=self.refs)

    def check(self, host: Host) -> None:
        in_range("count", self.count, 2, PANES_MAX)
        self._grid.check(host)

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        flags = ("-h",) if self.horizontal else ()
        return [("split-window", "-d", *flags, "-t", places[0].pane)] * (self.count - 1)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        await self._grid.do(run, step, tabs)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MakeGrid(Compound):
    """Make `rows` times `cols` panes of `target`, which is the first; `refs` name the others, row by row."""

    kind: ClassVar[str] = "make_grid"
    target: Target
    rows: int
    cols: int
    refs: tuple[str, ...] = ()

    def check(self, host: Host) -> None:
        in_range("rows", self.rows, 1, PANES_MAX)
        in_range("cols", self.cols, 1, PANES_MAX)
        in_range("rows times cols", self.rows * self.cols, 2, PANES_MAX)
        if self.refs and len(self.refs) != self.rows * self.cols - 1:
            raise InvalidArgument(
                f"{len(self.refs)} refs for {self.rows * self.cols - 1} new panes", remedy="name each new pane, or none"
            )

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        down, across = ("split-window", "-d", "-t", places[0].pane), ("split-window", "-d", "-h", "-t", "<each row>")
        return [down] * (self.rows - 1) + [across] * (self.rows * (self.cols - 1))

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        await run.saw(tabs[0])
        run.maker.check_room(self.rows * self.cols - 1)
        (column,) = await _divide(run, step, tabs, self.rows, horizontal=False)
        grid = await _divide(run, step, column, self.cols, horizontal=True)
        run.keep(step, [one for row in grid for one in row][1:])
        step.succeed()


async def _divide(run: RunState, step: Step, tabs: Sequence[Tab], count: int, *, horizontal: bool) -> list[list[Tab]]:
    """Make `count` panes of equal size of each tab; return each with its new ones after it.

    Every split takes the new pane's size off the end of the first one, so none needs the answer to another.
    """
    if count == 1:
        return [[tab] for tab in tabs]
    client = run.server.client
    unzoom = ("if-shell", "-F", "-t", tabs[0].pane_id, "#{window_zoomed_flag}",
              f"resize-pane -Z -t {tabs[0].pane_id}", NOTHING)  # fmt: skip
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
    new = iter(await _carve(run, step, jobs))
    return [[tab, *reversed([next(new) for _ in range(count - 1)])] for tab in tabs]


async def _carve(run: RunState, step: Step, jobs: Sequence[tuple[Tab, Arguments]]) -> list[Tab]:
    """Split as often as there are jobs, in one write; if one fails, what the others made goes again."""
    specs, commands = [], []
    for tab, flags in jobs:
        spec = run.maker.prepare(_request(run.host, "", {}, (), beside=tab), secrets.token_hex(8), is_split=True)
        specs.append((spec, tab))
        commands.append(run.maker.split_command(spec, tab.pane_id, flags))
    answer = run.server.client.submit_list(*commands)
    tabs: list[Tab] = []
    try:
        await answer.wait()
    except CommandError:
        pass
    finally:
        tabs += _collect(run, answer, specs)
        if not answer.done:
            run.book.spawn(lambda: _late(run, answer, specs[len(tabs) :], len(tabs)))
    if len(tabs) < len(jobs):
        for tab in [*tabs, *(one for one in map(run.book.open.get, step.panes) if one is not None)]:
            await tab.close(force=True)
        step.panes.clear()
        answer.result()
    step.panes += [run.called(tab.pane_id) for tab in tabs]
    await look_up(run.book)
    return tabs


def _collect(run: RunState, answer: Pending, specs: Sequence[tuple[PaneSpec, Tab]], first: int = 0) -> list[Tab]:
    tabs = []
    for block, (spec, beside) in zip(answer.blocks[first:], specs, strict=False):
        if block.error:
            break
        tabs.append(run.maker.register(spec, block.output, beside=beside))
    if answer.done:
        for spec, _ in specs[len(tabs) :]:
            spec.discard()
    return tabs


async def _late(run: RunState, answer: Pending, specs: Sequence[tuple[PaneSpec, Tab]], first: int) -> None:
    """The step was given up; the panes that are made all the same are known all the same."""
    await answer.settled()
    tabs = _collect(run, answer, specs, first)
    if run.rollback is not None:
        for tab in tabs:
            await tab.close(force=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BreakPane(Compound):
    """Move a pane out of its window, into one of its own."""

    kind: ClassVar[str] = "break_pane"
    unanswered_stays: ClassVar[bool] = True
    target: Target
    name: str = ""

    def check(self, host: Host) -> None:
        if self.name:
            check_name(self.name)

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        pane = places[0].pane
        renamed = [("rename-window", "-t", pane, "--", window_name(self.name))] if self.name else []
        return [self._words(pane, "<hub>"), *renamed]

    @staticmethod
    def _words(pane: str, hub: str) -> Arguments:
        """Alone in its window it would be moved with that, out of our sight."""
        move = f"break-pane -d -P -F '#{{window_id}}' -s {pane} -t '{hub}:'"
        return ("if-shell", "-F", "-t", pane, "#{==:#{window_panes},1}", f"display-message -p {_ALONE}", move)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        tab = tabs[0]
        before, was_called = await run.saw(tab), tab.name
        lines = await run.server.client.command(*self._words(tab.pane_id, run.server.sessions.hub))
        if lines[-1:] == (_ALONE.encode(),):
            raise InvalidArgument(f"{tab.pane_id} is the only pane of its window already")
        moved = lines[-1].decode()
        step.window, step.panes = run.called(moved), [run.called(tab.pane_id)]
        await look_up(run.book)
        if run.rollback is not None and before is not None:
            _move_back(run, run.rollback, tab, before, was_called)
        tab.name = moved
        if self.name:
            await rename(run.book, tab, self.name)
        step.succeed()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JoinPane(Operation):
    """Move a pane into the window of `into`, below it, or to its right if `horizontal`."""

    kind: ClassVar[str] = "join_pane"
    touches_window: ClassVar[bool] = True
    moves: ClassVar[bool] = True
    target: Target
    into: Target
    horizontal: bool = False

    def words(self, places: Sequence[Place]) -> Arguments:
        flags = ("-h",) if self.horizontal else ()
        return ("join-pane", "-d", *flags, "-s", places[0].pane, "-t", places[1].pane)

    def undo(self, run: RunState, rollback: Rollback, part: Part, answers: Sequence[tuple[bytes, ...]]) -> None:
        Operation.undo(self, run, rollback, part, answers)
        before = Picture.read(answers[0])
        if before is not None and part.tab is not None:
            _move_back(run, rollback, part.tab, before, part.was_called)


def _move_back(run: RunState, rollback: Rollback, tab: Tab, before: Picture, name: str) -> None:
    """Undo that a pane was moved out of a window that looked like this, and was called so."""

    async def undo() -> None:
        client, at = run.server.client, before.panes.index(tab.pane_id)
        if len(before.panes) > 1:
            beside = ("-t", before.panes[at - 1]) if at else ("-b", "-t", before.panes[1])
            await client.command("join-pane", "-d", "-s", tab.pane_id, *beside)
            await look_up(run.book)
            return
        await client.command("break-pane", "-d", "-s", tab.pane_id, "-t", f"{run.server.sessions.hub}:")
        await look_up(run.book)
        await rename(run.book, tab, name)
        rollback.pictures.pop(before.window, None)
        rollback.errors.append(f"{before.window} ended when its last pane left; {tab.pane_id} is {tab.window_id} now")

    rollback.then(f"place of {tab.pane_id}", undo)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KillPane(Compound):
    """End a pane and every process in it; with its last pane its window goes."""

    kind: ClassVar[str] = "kill_pane"
    unanswered_stays: ClassVar[bool] = True
    target: Target

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("kill-pane", "-t", places[0].pane)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        async def close() -> None:
            await tabs[0].close(force=True)

        await run.apart(close)
        step.succeed()
        run.cannot_undo(step, "a pane that was killed does not come back")
