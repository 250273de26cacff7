"""One step while it runs: skipped until it is sent, unknown until it is answered."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, final

from muxwire.operations.kinds import CapturePane
from muxwire.operations.step_results import Status, StepResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.errors import MuxwireError
    from muxwire.operations.kinds import Operation


@final
class Step:
    """The state of one step of a run."""

    def __init__(self, index: int, operation: Operation) -> None:
        self.index = index
        self.operation = operation
        self.status: Status = "skipped"
        self.error = ""
        self.stdout: str | None = None
        self.lines: tuple[str, ...] | None = None
        self.output: str | None = None
        self.exit_code: int | None = None
        self.panes: list[str] = []
        self.window = ""
        self._sent = 0.0
        self._elapsed: float | None = None

    def sent(self) -> None:
        """It goes out now; until its answer is here nobody knows what became of it."""
        self.status, self._sent = "unknown", time.monotonic()
        self.error = "no answer came: it may have happened, or may still; look before you try it again"

    def succeed(self, answer: Sequence[bytes] | None = None) -> None:
        """It was done; `answer` is what tmux printed."""
        self._end("succeeded", "")
        if answer is not None:
            lines = tuple(line.decode("utf-8", "replace") for line in answer)
            if isinstance(self.operation, CapturePane):
                self.lines = lines
            else:
                self.stdout = "\n".join(lines)

    def fail(self, error: str) -> None:
        """It was refused, or went wrong."""
        self._end("failed", error)

    def lose(self, error: str) -> None:
        """It was sent, and nobody will ever say what became of it."""
        self._end("unknown", error)

    def skip(self, error: str) -> None:
        """It was not sent, for this reason."""
        self.status, self.error = "skipped", error

    def plan(self) -> None:
        """A dry run would send it."""
        self.status = "planned"

    def never_ran(self) -> None:
        """It was sent behind one that failed, and tmux threw it away."""
        self.status, self.error, self._elapsed = "skipped", "", None

    def _end(self, status: Status, error: str) -> None:
        self.status, self.error = status, error
        if self._sent:
            self._elapsed = (time.monotonic() - self._sent) * 1000

    def result(self) -> StepResult:
        """What there is to say of it."""
        single = self.operation.kind in ("new_window", "split_pane", "break_pane")
        return StepResult(
            index=self.index,
            kind=self.operation.kind,
            status=self.status,
            stdout=self.stdout,
            error=self.error,
            created_pane_id=self.panes[0] if single and self.panes else "",
            created_pane_ids=() if single else tuple(self.panes),
            created_window_id=self.window,
            lines=self.lines,
            output=self.output,
            exit_code=self.exit_code,
            elapsed_ms=self._elapsed,
        )


def explained(error: MuxwireError) -> str:
    """An error as a step tells it."""
    return f"{error}; {error.remedy}" if error.remedy else str(error)
