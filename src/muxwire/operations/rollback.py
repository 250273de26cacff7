"""Undoing what the steps of a failed run did, last first; what cannot be undone is said.

Panes and windows that were made are killed, options and names get their old values, panes that were moved go back.
In the end every window that a step touched gets its old layout, active pane and zoom, if its panes are the same again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import InstanceUnavailable, MuxwireError
from muxwire.operations.kinds import (
    JoinPane,
    RenameWindow,
    ResizePane,
    SelectLayout,
    SelectPane,
    SetOption,
    ShowOption,
    SplitPane,
    SwapPane,
)
from muxwire.operations.tmux_commands import Arguments, Place, command_of
from muxwire.tabs.maker import window_name
from muxwire.tabs.record import TabRecord
from muxwire.tabs.windows import look_up
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from muxwire.client.pending import Pending
    from muxwire.operations.batch import Part
    from muxwire.operations.step import Step
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

TOUCHES_WINDOW = (SplitPane, ResizePane, SelectLayout, SelectPane, SwapPane, JoinPane)
# With the index of each pane: tmux 3.6 and newer do not loop over panes in the window's order.
_PICTURE = (
    "#{window_id}|#{window_zoomed_flag}|#{window_layout}|#{P:#{?pane_active,#{pane_id},}}|#{P:#{pane_index}#{pane_id} }"
)


@final
@dataclass(frozen=True, slots=True)
class Picture:
    """How a window was arranged: its panes in the window's order."""

    window: str
    zoomed: bool
    layout: str
    active: str
    panes: tuple[str, ...]

    @classmethod
    def told(cls, answer: Sequence[bytes]) -> Picture | None:
        """Read the answer to `picture_command`; None if the window is gone, which is no error to display-message."""
        if answer[0].startswith(b"|"):
            return None
        window, zoomed, layout, active, panes = answer[0].decode().split("|")
        places = sorted((int(index), f"%{number}") for index, number in (one.split("%") for one in panes.split()))
        return cls(window, zoomed == "1", layout, active, tuple(pane for _, pane in places))


def picture_command(pane: str) -> Arguments:
    """The command that tells how the window of a pane is arranged."""
    return ("display-message", "-p", "-t", pane, _PICTURE)


def name_command(pane: str) -> Arguments:
    """The command that tells what tmux shows as the name of a pane's window."""
    return ("display-message", "-p", "-t", pane, "#{window_name}")


def option_command(operation: SetOption, place: Place | None) -> Arguments:
    """The command that tells what an option is set to now; nothing if it is not set there."""
    shown = ShowOption(option=operation.option, scope=operation.scope, global_=operation.global_)
    found = command_of(shown, place, None)
    assert found is not None
    return found


@final
class Rollback:
    """What one run has done so far, and how to undo it."""

    def __init__(self, server: TmuxServer, book: TabBook) -> None:
        self.rolled_back: list[str] = []
        self.errors: list[str] = []
        self._server = server
        self._book = book
        self._undo: list[tuple[int, str, Callable[[], Awaitable[object]]]] = []
        self._index = 0
        self._pictures: dict[str, Picture] = {}

    def at(self, step: Step) -> None:
        """What is said next is of this step."""
        self._index = step.index

    def saw(self, picture: Picture | None) -> None:
        """A step is about to touch this window; only how it was before the first one counts."""
        if picture is not None:
            self._pictures.setdefault(picture.window, picture)

    def cannot(self, step: Step, why: str) -> None:
        """A step that nothing undoes was done."""

        async def say() -> None:
            self.errors.append(f"operations[{step.index}] ({step.operation.kind}): {why}")

        self._then("", say)

    def made(self, tab: Tab) -> None:
        """A pane was made."""

        async def undo() -> None:
            await tab.close(force=True)
            self.rolled_back.append(tab.pane_id)

        self._then(f"pane {tab.pane_id}", undo)

    def set_option(self, operation: SetOption, place: Place | None, before: Sequence[bytes]) -> None:
        """An option was set, of which tmux had said `before`."""
        old = b"\n".join(before).decode("utf-8", "surrogateescape")
        again = command_of(
            SetOption(option=operation.option, value=old, scope=operation.scope, global_=operation.global_), place, None
        )
        assert again is not None
        # Without a value of its own before: unset, so that it shows the inherited one again.
        words = again if before else ("set-option", "-u", *again[1:-1])
        self._add(f"option {operation.option}", words)

    def renamed(self, tab: Tab, before: str, shown: Sequence[bytes]) -> None:
        """A tab was called `before`, and tmux showed that name of it."""
        # tmux doubles backslashes of names, and reads a doubled # as one.
        given = b" ".join(shown).decode("utf-8", "replace").replace("\\\\", "\\").replace("#", "##")

        async def undo() -> None:
            await rename(self._book, tab, before, given)

        self._then(f"name of {tab.window_id}", undo)

    def swapped(self, pane: str, other: str) -> None:
        """Two panes changed places."""

        async def undo() -> None:
            await self._server.client.command("swap-pane", "-d", "-s", pane, "-t", other)
            await look_up(self._book)

        self._then(f"swap of {pane} and {other}", undo)

    def moved(self, tab: Tab, before: Picture, name: str) -> None:
        """A pane was moved out of a window that looked like this, and was called so."""

        async def undo() -> None:
            at = before.panes.index(tab.pane_id)
            if len(before.panes) > 1:
                beside = ("-t", before.panes[at - 1]) if at else ("-b", "-t", before.panes[1])
                await self._server.client.command("join-pane", "-d", "-s", tab.pane_id, *beside)
                await look_up(self._book)
                return
            hub = f"{self._server.sessions.hub}:"
            await self._server.client.command("break-pane", "-d", "-s", tab.pane_id, "-t", hub)
            await look_up(self._book)
            await rename(self._book, tab, name)
            self._pictures.pop(before.window, None)
            self.errors.append(f"{before.window} ended when its last pane left; {tab.pane_id} is {tab.window_id} now")

        self._then(f"place of {tab.pane_id}", undo)

    def _add(self, what: str, words: Arguments) -> None:
        async def undo() -> None:
            await self._server.client.command(*words)

        self._then(what, undo)

    def _then(self, what: str, undo: Callable[[], Awaitable[object]]) -> None:
        self._undo.append((self._index, what, undo))

    async def run(self, timeout: float | None) -> None:
        """Undo all of it, last first, each in `timeout` seconds at most."""
        self._undo.sort(key=lambda one: one[0])  # what came late was said last
        for _, what, undo in reversed(self._undo):
            await self._one(what, undo, timeout)
        for picture in list(self._pictures.values()):

            async def arrange(picture: Picture = picture) -> None:
                await self._arrange(picture)

            await self._one(f"layout of {picture.window}", arrange, timeout)

    async def _one(self, what: str, undo: Callable[[], Awaitable[object]], timeout: float | None) -> None:
        try:
            with anyio.fail_after(timeout):
                await undo()
        except MuxwireError as error:
            self.errors.append(f"{what}: {error}")
        except TimeoutError:
            self.errors.append(f"{what}: tmux did not answer in {timeout} s")

    async def _arrange(self, before: Picture) -> None:
        client = self._server.client
        now = Picture.told(await client.command(*picture_command(before.window)))
        if now is None or now == before:
            return
        if set(now.panes) != set(before.panes):
            self.errors.append(f"layout of {before.window}: it has other panes than before")
            return
        # A layout is filled with the panes in the window's order. That may differ: join-pane of tmux 3.7 ignores -b.
        commands: list[Arguments] = [
            *swaps(now.panes, before.panes),
            ("select-layout", "-t", before.window, before.layout),
        ]
        if now.active != before.active:
            commands.append(("select-pane", "-t", before.active))
        if before.zoomed:
            commands.append(("resize-pane", "-Z", "-t", before.active))
        await client.submit_list(*commands).wait()


def swaps(now: Sequence[str], wanted: Sequence[str]) -> Iterator[Arguments]:
    """The commands that bring the same panes of one window from one order into another."""
    order = list(now)
    for at, pane in enumerate(wanted):
        if (other := order[at]) != pane:
            order[order.index(pane)] = other
            yield ("swap-pane", "-d", "-s", pane, "-t", other)


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


def undoable(rollback: Rollback, part: Part, outputs: Sequence[tuple[bytes, ...]]) -> None:
    """A step was done, and tmux has answered its commands so: what undoes it."""
    operation, place = part.step.operation, part.place
    tab = place.tab if place is not None else None
    if isinstance(operation, TOUCHES_WINDOW):
        for before in outputs[:-1]:
            rollback.saw(Picture.told(before))
    match operation:
        case SetOption():
            rollback.set_option(operation, place, outputs[0])
        case RenameWindow() if tab is not None:
            rollback.renamed(tab, part.was_called, outputs[0])
        case SwapPane() if place is not None and part.other is not None:
            rollback.swapped(place.pane, part.other.pane)
        case JoinPane() if tab is not None and (before_it := Picture.told(outputs[0])) is not None:
            rollback.moved(tab, before_it, part.was_called)
        case _:
            pass


def will_rename(book: TabBook, tab: Tab, count: int = 1) -> None:
    """Tell the tabs of a window that the next name that tmux tells is ours, and shortened."""
    for one in book.panes(tab.window_id):
        one.renamings += count


def was_renamed(book: TabBook, tab: Tab, name: str) -> None:
    """The window goes by that name now, for a later process too."""
    for one in book.panes(tab.window_id):
        one.name = name
        record = TabRecord.load(one.runner.folder)
        if record is not None:
            with suppress(InstanceUnavailable):  # it did get the name
                replace(record, name=name).save(one.runner.folder)
