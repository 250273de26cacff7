"""How a list of operations is run, what it is run with, and what it did, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, final

from muxwire.errors import InvalidArgument
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.host.host import Host
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.maker import TabMaker
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

OnError = Literal["stop", "continue"]
# Seconds in which tmux must have answered: it takes a millisecond, and a machine that swaps a few seconds.
DISPATCH_TIMEOUT = 10.0
# succeeded and failed: tmux, or the pane, said so. skipped: never sent. planned: a dry run. unknown: sent, and no
# answer came in time, so it may have happened or may still happen; it is never sent again.
Status = Literal["succeeded", "failed", "skipped", "planned", "unknown"]
# A dispatch has the status that comes first here, of those that its steps have.
_WORST_FIRST: tuple[Status, ...] = ("failed", "unknown", "succeeded", "planned", "skipped")


@final
@dataclass(frozen=True, slots=True)
class RunOptions:
    on_error: OnError
    dispatch_timeout: float | None
    timeout: float | None
    rollback_on_error: bool
    max_chars: int | None

    def check(self) -> None:
        for name, seconds in (("dispatch_timeout", self.dispatch_timeout), ("timeout", self.timeout)):
            if seconds is not None and seconds <= 0:
                raise InvalidArgument(f"{name} is {seconds} s", remedy="give more than 0, or none")
        if self.on_error not in ("stop", "continue"):
            raise InvalidArgument(f"on_error is {self.on_error!r}", remedy='use "stop" or "continue"')


@final
@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with; `server` and `maker` are None in a dry run."""

    server: TmuxServer | None
    maker: TabMaker | None
    book: TabBook
    find: Callable[[str], Awaitable[Tab]]
    host: Host


@final
@dataclass(frozen=True, slots=True)
class StepResult:
    """One step. What does not apply to its kind is None, or empty.

    `stdout` is what tmux printed, or the text that a wait met; `lines` are the rows of a capture; `output` and
    `exit_code` those of a command.
    """

    index: int
    kind: str
    status: Status
    stdout: str | None = None
    error: str = ""
    created_pane_id: str = ""
    created_pane_ids: tuple[str, ...] = ()
    created_window_id: str = ""
    lines: tuple[str, ...] | None = None
    output: str | None = None
    exit_code: int | None = None
    elapsed_ms: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Dispatch:
    """What was sent at once, for which steps.

    `chain`: one line, of which tmux runs nothing after an error. `lines`: one line each. `own`: muxwire does it with
    what it has for that (`execute`, `wait_for`, `send_keys`, `kill_pane`), or asks tmux several times.
    `commands` are the tmux commands as they were written, or would be: the program of a new pane is shortened, and
    questions that are asked before a command, on its line, are left out.

    `status` is that of its steps together: `failed` or `unknown` if one of them is. `error` is that of the first such
    step; what tmux printed is with the steps. `elapsed_ms` lasts until the last answer.
    """

    operation_indexes: tuple[int, ...]
    mode: Literal["chain", "lines", "own"]
    commands: tuple[str, ...]
    status: Status = "planned"
    error: str = ""
    elapsed_ms: float | None = None

    def ended(self, steps: Sequence[StepResult]) -> Dispatch:
        """The dispatch with its result, from those of all steps of the list."""
        mine = [steps[index] for index in self.operation_indexes]
        worst = min(mine, key=lambda step: _WORST_FIRST.index(step.status))
        elapsed = max((step.elapsed_ms for step in mine if step.elapsed_ms is not None), default=None)
        return replace(self, status=worst.status, error=worst.error, elapsed_ms=elapsed)


@final
@dataclass(frozen=True, slots=True)
class OperationsResult:
    """All steps, and what became of what they made. `created_panes` maps refs to pane ids."""

    succeeded: bool
    dry_run: bool
    steps: tuple[StepResult, ...]
    created_panes: dict[str, str]
    rolled_back_panes: tuple[str, ...]
    rollback_errors: tuple[str, ...]
    dispatches: tuple[Dispatch, ...]
