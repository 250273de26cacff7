"""Undoing what the steps of a failed run did, last first; what cannot be undone is said.

Panes and windows that were made are killed, options and names get their old values, panes that were moved go back.
In the end every window that a step touched gets its old layout, active pane and zoom, if its panes are the same again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import MuxwireError
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

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
    def read(cls, answer: Sequence[bytes]) -> Picture | None:
        """Read the answer to `picture_command`; None if the window is gone, which is no error to display-message."""
        if answer[0].startswith(b"|"):
            return None
        window, zoomed, layout, active, panes = answer[0].decode().split("|")
        places = sorted((int(index), f"%{number}") for index, number in (one.split("%") for one in panes.split()))
        return cls(window, zoomed == "1", layout, active, tuple(pane for _, pane in places))


def picture_command(pane: str) -> tuple[str, ...]:
    return ("display-message", "-p", "-t", pane, _PICTURE)


@final
class Rollback:
    """What one run has done so far, and how to undo it."""

    def __init__(self, server: TmuxServer, apart: Callable[[Callable[[], Awaitable[object]]], Awaitable[None]]) -> None:
        """`apart` does what no call may interrupt; a call may end before it."""
        self.silent = True  # until tmux has answered; an undo is only begun meanwhile, and done when tmux answers
        self.rolled_back: list[str] = []
        self.errors: list[str] = []
        self.pictures: dict[str, Picture] = {}
        self._server = server
        self._apart = apart
        self._undo: list[tuple[int, str, Callable[[], Awaitable[object]]]] = []
        self._index = 0

    def at(self, index: int) -> None:
        """What is said next is of this step."""
        self._index = index

    def saw(self, picture: Picture | None) -> None:
        """A step is about to touch this window; only how it was before the first one counts."""
        if picture is not None:
            self.pictures.setdefault(picture.window, picture)

    def cannot(self, kind: str, why: str) -> None:
        report = f"operations[{self._index}] ({kind}): {why}"

        async def say() -> None:
            self.errors.append(report)

        self.then("", say)

    def made(self, tab: Tab) -> None:

        async def close() -> None:
            await tab.close(force=True)

        async def undo() -> None:
            await (self._apart(close) if self.silent else close())
            self.rolled_back.append(tab.pane_id)

        self.then(f"pane {tab.pane_id}", undo)

    def then(self, what: str, undo: Callable[[], Awaitable[object]]) -> None:
        """A step was done, which this undoes; `what` it is that was changed."""
        self._undo.append((self._index, what, undo))

    async def run(self, timeout: float) -> None:
        """Undo all of it, last first, each in `timeout` seconds at most."""
        self._undo.sort(key=lambda one: one[0])  # what came late was said last
        for _, what, undo in reversed(self._undo):
            await self._one(what, undo, timeout)
        for picture in list(self.pictures.values()):

            async def arrange(picture: Picture = picture) -> None:
                await self._arrange(picture)

            await self._one(f"layout of {picture.window}", arrange, timeout)

    async def _one(self, what: str, undo: Callable[[], Awaitable[object]], timeout: float) -> None:
        try:
            with anyio.fail_after(0 if self.silent else timeout):
                await undo()
        except MuxwireError as error:
            self.errors.append(f"{what}: {error}")
        except TimeoutError:
            self.errors.append(f"{what}: tmux did not answer in {timeout:.1f} s")

    async def _arrange(self, before: Picture) -> None:
        client = self._server.client
        now = Picture.read(await client.command(*picture_command(before.window)))
        if now is None or now == before:
            return
        if set(now.panes) != set(before.panes):
            self.errors.append(f"layout of {before.window}: it has other panes than before")
            return
        # A layout is filled with the panes in the window's order. That may differ: join-pane of tmux 3.7 ignores -b.
        commands: list[tuple[str, ...]] = [
            *swaps(now.panes, before.panes),
            ("select-layout", "-t", before.window, before.layout),
        ]
        if now.active != before.active:
            commands.append(("select-pane", "-t", before.active))
        if before.zoomed:
            commands.append(("resize-pane", "-Z", "-t", before.active))
        await client.submit_list(*commands).wait()


def swaps(now: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The commands that bring the same panes of one window from one order into another."""
    order = list(now)
    for at, pane in enumerate(wanted):
        if (other := order[at]) != pane:
            order[order.index(pane)] = other
            yield ("swap-pane", "-d", "-s", pane, "-t", other)
