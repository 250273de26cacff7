"""What of a tab those need that the tab itself imports: waits, answers, starts and stops of processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from muxwire.tabs.attached import AttachedTab

if TYPE_CHECKING:
    from muxwire.pane.runner import Runner
    from muxwire.results import ExecutionResult, State
    from muxwire.shell.execution import Execution


class LiveTab(AttachedTab, Protocol):
    """A tab; `muxwire.tabs.tab.Tab` is the one that there is."""

    theirs: bool
    runner: Runner

    @property
    def columns(self) -> int:
        """How wide its pane is."""

    @property
    def key(self) -> str:
        """What it is called."""

    @property
    def state(self) -> State:
        """What it is doing now."""

    @property
    def next_byte(self) -> int:
        """The offset of the next byte that its pane will write."""

    async def result(
        self, execution: Execution, *, strip_ansi: bool | None = None, max_chars: int | None = None
    ) -> ExecutionResult:
        """What a command has to say."""
