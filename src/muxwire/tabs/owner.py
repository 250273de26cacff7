"""What a tab asks of the instance that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.shell.execution import Execution

# The tab: a parameter, so that this module does not import what imports it.
T_contra = TypeVar("T_contra", contravariant=True)


class TabOwner(Protocol[T_contra]):
    """Keeps the tabs of one instance; `TabBook` is the one that there is."""

    leaves_running: bool

    def spawn(self, work: Callable[[], Awaitable[object]]) -> None:
        """Run `work` in a task of the instance."""

    def remember(self, tab: T_contra, execution: Execution) -> None:
        """A command was typed."""

    def retire(self, tab: T_contra, reason: str, *, persistent: bool = False) -> None:
        """A tab has ended."""
