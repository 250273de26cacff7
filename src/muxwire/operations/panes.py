"""Operations that make panes, move them to other windows, and end them."""

from __future__ import annotations

import math
import re
import secrets
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, final

from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.host.environment import COLUMNS_MIN, check_columns
from muxwire.operations.arrangement import NOTHING, check_name, rename
from muxwire.operations.operation import Arguments, Making, OnPane, Place, Step, Target
from muxwire.tabs.maker import checked_request, window_name
from muxwire.tabs.windows import look_up
from muxwire.verbs.catalogue import PaneRequest, TabRequest
from muxwire.verbs.describe import Says
from muxwire.verbs.types import Strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.host.host import Host
    from muxwire.operations.run import OperationsRun
    from muxwire.tabs.tab import Tab

# More panes in a window of 200 by 50 are too small to show anything.
PANES_MAX = 64
_SIZE = re.compile(r"[1-9][0-9]{0,3}%?\Z")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NewWindow(Making, TabRequest):
    """A tab with a shell, or with `command` (an argv) in its place."""

    ref: str = ""

    def check(self, host: Host) -> None:
        checked_request(host, self)

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        tab = await run.maker.make(checked_request(run.host, self), secrets.token_hex(8), patient=True)
        step.say(created_window_id=run.called(tab.window_id))
        run.keep(step, [tab])


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPane(Making, PaneRequest):
    """A further pane below `target`, or to its right if `horizontal`; `size` is rows or columns, or `30%`.

    It starts in the directory of `target`, unless `cwd` is given.
    """

    target: Target
    ref: str = ""
    horizontal: bool = False
    size: str = ""

    def check(self, host: Host) -> None:
        if self.size and not _SIZE.match(self.size):
            raise InvalidArgument(f"{self.size!r} is not a size", remedy="give rows or columns as 20, or a part as 30%")
        if self.horizontal and self.size.isdecimal():
            check_columns(int(self.size))
        checked_request(host, self._request)

    @property
    def _request(self) -> TabRequest:
        return TabRequest(cwd=self.cwd, env=self.env, login=self.login, shell=self.shell, command=self.command)

    @property
    def _flags(self) -> Arguments:
        return (*(("-h",) if self.horizontal else ()), *(("-l", self.size) if self.size else ()))

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        return [("split-window", "-t", places[0].pane, *self._flags)]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        run.keep(step, [await _split(run, self._request, places[0].tab, self._flags)])
        await look_up(run.book)  # tmux reports the size of a new pane before its tab is known here


async def _split(run: OperationsRun, new: TabRequest, beside: Tab, flags: Arguments) -> Tab:
    """A further pane, in the directory of the tab `beside` if it names none."""
    asked = checked_request(run.host, new)
    if not new.cwd and beside.cwd and run.host.is_folder(beside.cwd):
        asked = replace(asked, cwd=beside.cwd)
    return await run.maker.split(asked, secrets.token_hex(8), beside, flags)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(OnPane, Making):
    """A kind that divides a pane; `refs` name the new ones, row by row."""

    refs: Strings = ()

    @property
    @abstractmethod
    def sides(self) -> tuple[int, int]:
        """How many rows and columns it makes."""

    def check(self, host: Host) -> None:
        panes = math.prod(self.sides)
        if not 2 <= panes <= PANES_MAX:
            raise InvalidArgument(f"{panes} panes", remedy=f"make 2 to {PANES_MAX}")
        if self.refs and len(self.refs) != panes - 1:
            raise InvalidArgument(
                f"{len(self.refs)} refs for {panes - 1} new panes", remedy="name each new pane, or none"
            )

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        """Make all of them; if one cannot be made, those that were made are closed."""
        rows, cols = self.sides
        run.maker.check_room(rows * cols - 1)
        made: list[Tab] = []
        try:
            first = await _divide(run, places, places[0].tab, rows, made, horizontal=False)
            grid = [one for row in first for one in await _divide(run, places, row, cols, made, horizontal=True)]
        except MuxwireError:
            for tab in made:
                await tab.close(force=True)
            raise
        run.keep(step, grid[1:])
        await look_up(run.book)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitEvenly(Grid):
    """Make `count` panes of equal size of `target`; `refs` name the new ones, top to bottom or left to right."""

    count: Annotated[int, Says(least=2, most=PANES_MAX)]
    horizontal: bool = False

    @property
    def sides(self) -> tuple[int, int]:
        return (1, self.count) if self.horizontal else (self.count, 1)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MakeGrid(Grid):
    """Make `rows` times `cols` panes of `target`, which is the first; `refs` name the others, row by row."""

    rows: Annotated[int, Says(least=1, most=PANES_MAX)]
    cols: Annotated[int, Says(least=1, most=PANES_MAX)]

    @property
    def sides(self) -> tuple[int, int]:
        return self.rows, self.cols


async def _divide(
    run: OperationsRun, places: Sequence[Place], tab: Tab, count: int, made: list[Tab], *, horizontal: bool
) -> list[Tab]:
    """Make `count` panes of equal size of a tab; return it with its new ones after it, which are put into `made` too.

    Every split takes the new pane's size off the end of the first one.
    """
    if count == 1:
        return [tab]
    unzoom = ("if-shell", "-F", "-t", tab.pane_id, "#{window_zoomed_flag}", f"resize-pane -Z -t {tab.pane_id}", NOTHING)
    size = "#{pane_width}" if horizontal else "#{pane_height}"
    _, (answer,) = await run.ask(
        places,
        unzoom,
        # display-message would ignore a missing pane
        ("list-panes", "-t", tab.pane_id, "-f", f"#{{==:#{{pane_id}},{tab.pane_id}}}", "-F", size),
    )
    side = int(answer)
    least, more = divmod(side - (count - 1), count)  # a line between each two
    if least < (COLUMNS_MIN if horizontal else 1):
        raise InvalidArgument(
            f"no space for {count} panes in {side} {'columns' if horizontal else 'rows'}",
            remedy="make fewer panes, or use a larger window",
        )
    new: list[Tab] = []
    for place in reversed(range(1, count)):
        flags = (*(("-h",) if horizontal else ()), "-l", str(least + (place < more)))
        new.append(await _split(run, TabRequest(), tab, flags))
        made.append(new[-1])
    return [tab, *reversed(new)]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BreakPane(OnPane):
    """Move a pane out of its window, into one of its own."""

    name: str = ""

    def check(self, host: Host) -> None:
        if self.name:
            check_name(self.name)

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        pane, hub = places[0].pane, places[0].session
        renamed = [("rename-window", "-t", pane, "--", window_name(self.name))] if self.name else []
        return [("break-pane", "-d", "-P", "-F", "#{window_id}", "-s", pane, "-t", f"{hub}:"), *renamed]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        tab, hub = places[0].tab, run.server.sessions.hub
        [(count,)] = await run.ask(places, ("display-message", "-p", "-t", tab.pane_id, "#{window_panes}"))
        if count == b"1":  # tmux would move the window, unseen by muxwire
            raise InvalidArgument(f"{tab.pane_id} is the only pane of its window already", remedy="leave this step out")
        [lines] = await run.ask(places, self.commands([Place(tab.pane_id, hub)])[0])
        moved = lines[-1].decode()
        step.say(created_window_id=run.called(moved), created_pane_id=run.called(tab.pane_id))
        await look_up(run.book)
        tab.name = moved
        if self.name:
            await rename(run.book, tab, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move(OnPane):
    """A kind that moves panes to other windows."""

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        await run.ask(places, *self.commands(places))
        await look_up(run.book)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JoinPane(Move):
    """Move a pane into the window of `into`, below it, or to its right if `horizontal`."""

    into: Target
    horizontal: bool = False

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        flags = ("-h",) if self.horizontal else ()
        return [("join-pane", "-d", *flags, "-s", places[0].pane, "-t", places[1].pane)]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SwapPane(Move):
    """Let two panes change places."""

    with_: Target

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        return [("swap-pane", "-d", "-s", places[0].pane, "-t", places[1].pane)]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KillPane(OnPane):
    """End a pane and every process in it; with its last pane its window goes."""

    stays: ClassVar[str] = "a pane that was killed does not come back"

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        await run.end(places[0].tab)
