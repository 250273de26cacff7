"""What a scenario finds: a table that answers one question, and the targets that it was to meet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path  # noqa: TC003 - a dataclass names it
from typing import Any


@dataclass(frozen=True)
class Scale:
    """How much to measure: everything, or as much as CI has time for. `installed` keeps what others' need.

    `exclusive`: what is timed runs before all other processes of the machine (`timing.py`).
    `cli`: jobs are done by the command line.
    """

    short: bool
    installed: Path | None = None
    exclusive: bool = False
    cli: bool = False

    def of(self, full: int, short: int) -> int:
        """The number that belongs to this scale."""
        return short if self.short else full


@dataclass(frozen=True)
class Target:
    """A ratio or figure that the design promises: `value` may be `limit` at most, or at least if `at_least`."""

    what: str
    value: float
    limit: float
    unit: str = "x"
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether this run met it."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass(frozen=True)
class Report:
    """A table: `rows` are its lines, each with one figure or text for every column; the first names the contender."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    targets: tuple[Target, ...] = ()
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"targets": [asdict(target) | {"met": target.met} for target in self.targets]}


Scenario = Callable[[Scale], Awaitable[Report]]
