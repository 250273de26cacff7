"""Interfaces: of a tab, for modules that `tab.py` imports (waits, answers, events, processes); of its instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from muxwire.pane.runner import Runner
    from muxwire.pane.state import PaneState
    from muxwire.results import ExecutionResult, Snapshot, State
    from muxwire.shell.execution import Execution
    from muxwire.tabs.record import CommandBook
    from muxwire.tmux.server import TmuxServer
    from muxwire.vt.drawn import Picture

# The type of the tab: a parameter, so that this module does not import `tab.py`, which imports this one.
T = TypeVar("T")


class LiveTab(Protocol):
    """A tab; `muxwire.tabs.tab.Tab` is the only implementation."""

    name: str
    generation: int
    is_adopted: bool
    strip_ansi: bool
    log_path: Path
    size: tuple[int, int]  # columns and rows
    server: TmuxServer
    pane: PaneState
    runner: Runner
    typists: CommandBook | None

    @property
    def key(self) -> str: ...

    @property
    def state(self) -> State: ...

    @property
    def next_byte(self) -> int:
        """The offset of the next byte that its pane will write."""

    async def result(
        self, execution: Execution, *, strip_ansi: bool | None = None, max_chars: int | None = None
    ) -> ExecutionResult:
        """What a command wrote, its state, and its exit code once it has ended."""

    async def snapshot(
        self, scrollback: int | None = None, *, cells: bool = False, unwrap: bool = False, at_byte: int | None = None,
        ago: float | None = None,
    ) -> Snapshot:  # fmt: skip
        """What its screen shows, or showed at an offset, or `ago` seconds ago."""

    async def picture(self) -> Picture:
        """The text of its screen; TabUnavailable, CommandError if it ends in this moment."""

    async def screen(self) -> dict[str, Any]:
        """The fields of `OnScreen` if a program is on the alternate screen, else nothing."""

    async def picture_at(self, offset: int) -> Picture | None:
        """The text of its screen at that offset of its output, played from the log; None if the log does not say."""


class TabOwner(Protocol[T]):
    """Keeps the tabs of one instance; `TabBook` is the only implementation."""

    leaves_running: bool

    def spawn(self, work: Callable[[], Awaitable[object]]) -> None:
        """Run `work` in a task of the instance."""

    def remember(self, tab: T, execution: Execution) -> None:
        """A command was typed."""

    def command(self, command_id: str) -> tuple[T, Execution]:
        """The tab and the command of that id; NoSuchTarget."""

    def retire(self, tab: T, reason: str, *, persistent: bool = False) -> None:
        """A tab has ended."""
