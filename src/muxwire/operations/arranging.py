"""Operations that arrange and name what is there: sizes, layouts, the active pane, names, places.

Layout strings, as tmux prints them (`#{window_layout}`), are read before tmux does: a broken one must not reach it.

    CHECKSUM,WIDTHxHEIGHT,X,Y[,PANE] or [...] above each other, {...} next to each other

The checksum is that of `layout_checksum` in tmux's layout-custom.c.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import SIDE_MAX, check_columns
from muxwire.operations.operation import Arguments, Operation, Part, Place, RunState, Step, Target, in_range
from muxwire.tabs.maker import printed_name, window_name
from muxwire.tabs.record import note_name
from muxwire.tabs.windows import look_up
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.pending import Pending
    from muxwire.host.host import Host
    from muxwire.operations.rollback import Rollback
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab

NAMES = ("even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled")

_CELL = re.compile(r"[0-9]{1,5}x[0-9]{1,5},[0-9]{1,5},[0-9]{1,5}")
_PANE = re.compile(r",[0-9]{1,10}(?![0-9x])")
# tmux's own windows stop at a few dozen panes; a deeper nesting than this is no layout of theirs.
_DEPTH_MAX = 64
NOTHING = "display-message -p ''"


def check_layout(layout: str) -> None:
    """InvalidArgument for a name that tmux does not know, and for a string that it would not have printed."""
    if layout in NAMES:
        return
    checksum, _, cells = layout.partition(",")
    if not re.fullmatch(r"[0-9a-f]{4}", checksum) or _cell(cells, 0, 0) != len(cells):
        raise InvalidArgument(
            f"{layout!r} is no layout", remedy=f"use {', '.join(NAMES)}, or a whole #{{window_layout}} of tmux"
        )
    if f"{checksum_of(cells):04x}" != checksum:
        raise InvalidArgument("the layout's checksum is wrong", remedy="use a whole #{window_layout}, unchanged")


def checksum_of(cells: str) -> int:
    """What tmux writes in front of a layout."""
    total = 0
    for sign in cells.encode():
        total = ((total >> 1) + ((total & 1) << 15) + sign) & 0xFFFF
    return total


def _cell(text: str, at: int, depth: int) -> int:
    """Where the cell that begins at `at` ends; -1 if there is none."""
    found = _CELL.match(text, at)
    if found is None or depth > _DEPTH_MAX:
        return -1
    at = found.end()
    if pane := _PANE.match(text, at):
        return pane.end()
    closing = {"[": "]", "{": "}"}.get(text[at : at + 1], "")
    while closing:
        at = _cell(text, at + 1, depth + 1)
        if at < 0 or text[at : at + 1] not in (",", closing):
            return -1
        if text[at] == closing:
            return at + 1
    return at


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ResizePane(Operation):
    """Give a pane so many rows or columns, or let it fill its window (`zoom`), or end that."""

    kind: ClassVar[str] = "resize_pane"
    touches_window: ClassVar[bool] = True
    target: Target
    height: int | None = None
    width: int | None = None
    zoom: bool | None = None

    @property
    def plain(self) -> bool:
        return self.zoom is None

    def check(self, host: Host) -> None:
        if self.height is None and self.width is None and self.zoom is None:
            raise InvalidArgument("nothing to change", remedy="give height, width or zoom")
        if self.zoom and (self.height, self.width) != (None, None):
            raise InvalidArgument("a zoomed pane has no size of its own", remedy="give zoom, or height and width")
        if self.height is not None:
            in_range("height", self.height, 1, SIDE_MAX)
        if self.width is not None:
            check_columns(self.width)

    def words(self, places: Sequence[Place]) -> Arguments:
        sides = (("-x", self.width), ("-y", self.height))
        given = (word for flag, side in sides if side is not None for word in (flag, str(side)))
        return ("resize-pane", "-t", places[0].pane, *given)

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        """`resize-pane -Z` toggles, so it is sent only when needed. A pane fills its window if that is zoomed on it."""
        pane = places[0].pane
        toggle = f"resize-pane -Z -t {pane}"
        this = "#{&&:#{window_zoomed_flag},#{pane_active}}"
        other = "#{&&:#{window_zoomed_flag},#{!=:#{pane_active},1}}"
        ends = ("if-shell", "-F", "-t", pane, other if self.zoom else this, toggle, NOTHING)
        begins = ("if-shell", "-F", "-t", pane, this, NOTHING, toggle)
        return [ends, begins] if self.zoom else [ends]

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        await run.saw(tabs[0])
        for answer in run.server.client.submit(*self.shown([Place(tabs[0].pane_id, "")])):
            await answer.wait()
        step.succeed()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectLayout(Operation):
    """Arrange the panes of a window: one of tmux's five names, or a layout string as tmux prints it."""

    kind: ClassVar[str] = "select_layout"
    touches_window: ClassVar[bool] = True
    target: Target
    layout: str

    def check(self, host: Host) -> None:
        check_layout(self.layout)

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("select-layout", "-t", places[0].pane, self.layout)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectPane(Operation):
    """Make a pane the active one of its window."""

    kind: ClassVar[str] = "select_pane"
    touches_window: ClassVar[bool] = True
    target: Target

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("select-pane", "-t", places[0].pane)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SwapPane(Operation):
    """Let two panes change places."""

    kind: ClassVar[str] = "swap_pane"
    touches_window: ClassVar[bool] = True
    moves: ClassVar[bool] = True
    target: Target
    with_: Target

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("swap-pane", "-d", "-s", places[0].pane, "-t", places[1].pane)

    def undo(self, run: RunState, rollback: Rollback, part: Part, answers: Sequence[tuple[bytes, ...]]) -> None:
        Operation.undo(self, run, rollback, part, answers)

        async def undo() -> None:
            await run.server.client.command(*part.shown)  # once more
            await look_up(run.book)

        rollback.then(" and ".join((f"swap of {part.places[0].pane}", part.places[1].pane)), undo)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RenameWindow(Operation):
    """Give a tab a name; nothing in it is expanded."""

    kind: ClassVar[str] = "rename_window"
    target: Target
    name: str

    def check(self, host: Host) -> None:
        check_name(self.name)

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("rename-window", "-t", places[0].pane, "--", window_name(self.name))

    def questions(self, places: Sequence[Place]) -> list[Arguments]:
        return [("display-message", "-p", "-t", places[0].pane, "#{window_name}")]

    def sent(self, run: RunState, part: Part) -> None:
        if part.tab is not None:
            will_rename(run.book, part.tab)

    def refused(self, run: RunState, part: Part) -> None:
        if part.tab is not None:
            will_rename(run.book, part.tab, -1)

    def done(self, run: RunState, part: Part, answers: Sequence[tuple[bytes, ...]]) -> None:
        if part.tab is not None:
            was_renamed(run.book, part.tab, self.name)

    def undo(self, run: RunState, rollback: Rollback, part: Part, answers: Sequence[tuple[bytes, ...]]) -> None:
        if part.tab is not None:
            shown = printed_name(b" ".join(answers[0])).replace("#", "##")  # tmux reads a doubled # as one
            _name_again(run, rollback, part.tab, part.was_called, shown)

    def undo_unanswered(self, run: RunState, rollback: Rollback, part: Part) -> bool:
        if part.tab is not None:  # after the step itself, whenever that is done
            _name_again(run, rollback, part.tab, part.was_called, "")
        return part.tab is not None


def _name_again(run: RunState, rollback: Rollback, tab: Tab, name: str, given: str) -> None:
    async def undo() -> None:
        await rename(run.book, tab, name, given)

    rollback.then(f"name of {tab.window_id}", undo)


def check_name(name: str) -> None:
    if "\0" in name or not window_name(name):
        raise InvalidArgument(f"{name!r} would show nothing", remedy="give a name that can be read")


async def rename(book: TabBook, tab: Tab, name: str, given: str = "") -> None:
    """Give a tab's window a name, as `rename_window` does; `given` is what tmux gets of it."""
    (asked,) = tab.client.submit(("rename-window", "-t", tab.pane_id, "--", given or window_name(name)))
    will_rename(book, tab)
    try:
        await asked.wait()
    finally:
        asked.then(lambda: _renamed(book, tab, name, asked))


def _renamed(book: TabBook, tab: Tab, name: str, asked: Pending) -> None:
    if asked.blocks and not asked.blocks[-1].error:
        was_renamed(book, tab, name)
    else:
        will_rename(book, tab, -1)


def will_rename(book: TabBook, tab: Tab, count: int = 1) -> None:
    """Tell the tabs of a window that the next name that tmux reports is ours, and shortened."""
    for one in book.panes(tab.window_id):
        one.renamings = max(0, one.renamings + count)  # none, if the connection was lost since


def was_renamed(book: TabBook, tab: Tab, name: str) -> None:
    """The window goes by that name now, for a later process too."""
    for one in book.panes(tab.window_id):
        one.name = name
        if one.pane.host.is_local:
            note_name(one.runner.folder, name)
