"""Operations that arrange and name what is there: sizes, layouts, the active pane, names.

Layout strings, as tmux prints them (`#{window_layout}`), are read before tmux does: a broken one must not reach it.

    CHECKSUM,WIDTHxHEIGHT,X,Y[,PANE] or [...] above each other, {...} next to each other

The checksum is that of `layout_checksum` in tmux's layout-custom.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import SIDE_MAX, check_columns
from muxwire.operations.operation import Arguments, OnPane, Place, Step
from muxwire.tabs.maker import window_name
from muxwire.tabs.targets import check_tab_name
from muxwire.verbs.describe import Least, Most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.host.host import Host
    from muxwire.operations.run import OperationsRun
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab

NAMES = ("even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled")

# A cell without others in it, and one with: the latter is read from inside.
_CELL = r"[0-9]{1,5}x[0-9]{1,5},[0-9]{1,5},[0-9]{1,5}"
_LEAF = rf"{_CELL}(?:,[0-9]{{1,10}}(?![0-9x]))?"
_SOME = rf"{_LEAF}(?:,{_LEAF})*"
_PARENT = re.compile(rf"({_CELL})(?:\[{_SOME}\]|\{{{_SOME}\}})")
# tmux's own windows stop at a few dozen panes; a deeper nesting than this is not a layout of tmux.
_DEPTH_MAX = 64
NOTHING = "display-message -p ''"


def check_layout(layout: str) -> None:
    """InvalidArgument for a name that tmux does not know, and for a string that it would not have printed."""
    if layout in NAMES:
        return
    checksum, _, cells = layout.partition(",")
    left = cells
    for _ in range(_DEPTH_MAX):
        left = _PARENT.sub(r"\1", left)
    if not re.fullmatch(r"[0-9a-f]{4}", checksum) or not re.fullmatch(_LEAF, left):
        raise InvalidArgument(
            f"{layout!r} is not a layout", remedy=f"use {', '.join(NAMES)}, or a whole #{{window_layout}} of tmux"
        )
    if f"{checksum_of(cells):04x}" != checksum:
        raise InvalidArgument("the layout's checksum is wrong", remedy="use a whole #{window_layout}, unchanged")


def checksum_of(cells: str) -> int:
    """What tmux writes in front of a layout."""
    total = 0
    for sign in cells.encode():
        total = ((total >> 1) + ((total & 1) << 15) + sign) & 0xFFFF
    return total


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ResizePane(OnPane):
    """Give a pane so many rows or columns, or let it fill its window (`zoom`), or end that."""

    height: Annotated[int | None, Least(1), Most(SIDE_MAX)] = None
    width: int | None = None
    zoom: bool | None = None

    def check(self, host: Host) -> None:
        if self.height is None and self.width is None and self.zoom is None:
            raise InvalidArgument("nothing to change", remedy="give height, width or zoom")
        if self.zoom and (self.height, self.width) != (None, None):
            raise InvalidArgument("a zoomed pane has no size of its own", remedy="give zoom, or height and width")
        if self.width is not None:
            check_columns(self.width)

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        """`resize-pane -Z` toggles, so it is sent only when needed. The pane that is zoomed is the active one."""
        pane = places[0].pane
        if self.zoom is None:
            sides = (("-x", self.width), ("-y", self.height))
            given = (word for flag, side in sides if side is not None for word in (flag, str(side)))
            return [("resize-pane", "-t", pane, *given)]
        toggle = f"resize-pane -Z -t {pane}"
        this = "#{&&:#{window_zoomed_flag},#{pane_active}}"
        other = "#{&&:#{window_zoomed_flag},#{!=:#{pane_active},1}}"
        ends = ("if-shell", "-F", "-t", pane, other if self.zoom else this, toggle, NOTHING)
        begins = ("if-shell", "-F", "-t", pane, this, NOTHING, toggle)
        return [ends, begins] if self.zoom else [ends]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        await run.ask(places, *self.commands(places))  # which print nothing, or an empty line


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectLayout(OnPane):
    """Arrange the panes of a window: one of tmux's five names, or a layout string as tmux prints it."""

    layout: str

    def check(self, host: Host) -> None:
        check_layout(self.layout)

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        return [("select-layout", "-t", places[0].pane, self.layout)]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectPane(OnPane):
    """Make a pane the active one of its window."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RenameWindow(OnPane):
    """Give a tab a name; nothing in it is expanded."""

    name: str

    def check(self, host: Host) -> None:
        check_name(self.name)

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        return [("rename-window", "-t", places[0].pane, "--", window_name(self.name))]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        await rename(run.book, places[0].tab, self.name)


def check_name(name: str) -> None:
    if "\0" in name or not window_name(name):
        raise InvalidArgument(f"the name {name!r} has no visible character", remedy="give it one at least")
    check_tab_name(name)


async def rename(book: TabBook, tab: Tab, name: str) -> None:
    """Give a tab's window a name, as `rename_window` does."""
    (asked,) = tab.client.submit(("rename-window", "-t", tab.pane_id, "--", window_name(name)))

    def renamed() -> None:
        for one in () if asked.failed or asked.blocks[-1].error else book.panes(tab.window_id):
            one.keep_name(name)

    asked.then(renamed)  # the reader calls it, before tmux reports the name, shortened
    await asked.settled()
    asked.result()
