"""Operations that arrange and name what is there: sizes, layouts, the active pane, names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import SIDE_MAX, check_columns
from muxwire.operations.operation import Arguments, OnPane, Place, Step
from muxwire.tabs.maker import window_name
from muxwire.tabs.targets import check_tab_name
from muxwire.verbs.describe import Says

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.host.host import Host
    from muxwire.operations.run import OperationsRun
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab

Layout = Literal["even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"]
NOTHING = "display-message -p ''"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ResizePane(OnPane):
    """Give a pane so many rows or columns, or let it fill its window (`zoom`), or end that."""

    height: Annotated[int | None, Says(least=1, most=SIDE_MAX)] = None
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
        return [ends, ("if-shell", "-F", "-t", pane, this, NOTHING, toggle)] if self.zoom else [ends]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        await run.ask(places, *self.commands(places))  # which print nothing, or an empty line


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectLayout(OnPane):
    """Arrange the panes of a window, by one of tmux's five names."""

    layout: Layout

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
