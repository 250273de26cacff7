"""What those need of a tab that it imports itself: waits, answers, events, processes. What it asks of its instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.pane.runner import Runner
    from muxwire.pane.state import PaneState
    from muxwire.results import ExecutionResult, State
    from muxwire.shell.execution import Execution
    from muxwire.tmux.server import TmuxServer

# The tab: a parameter, so that this module does not import what imports it.
T_contra = TypeVar("T_contra", contravariant=True)


class LiveTab(Protocol):
    """A tab; `muxwire.tabs.tab.Tab` is the one that there is."""

    name: str
    generation: int
    theirs: bool
    server: TmuxServer
    pane: PaneState
    runner: Runner

    @property
    def columns(self) -> int: ...

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
        """What a command has to say."""


class TabOwner(Protocol[T_contra]):
    """Keeps the tabs of one instance; `TabBook` is the one that there is."""

    leaves_running: bool

    def spawn(self, work: Callable[[], Awaitable[object]]) -> None:
        """Run `work` in a task of the instance."""

    def remember(self, tab: T_contra, execution: Execution) -> None:
        """A command was typed."""

    def retire(self, tab: T_contra, reason: str, *, persistent: bool = False) -> None:
        """A tab has ended."""
