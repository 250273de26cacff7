"""What a kind of operation is, and what is said of a step.

A kind is one class: its fields, its check, its tmux commands, how it is done, and what a rollback leaves of it.
`Operation` has what most kinds do, and a kind overrides the rest. `lists.py` has the table of kinds.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, final

from muxwire.values import NAMES_VERBS, NEVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.host.host import Host
    from muxwire.operations.run import OperationsRun
    from muxwire.tabs.tab import Tab

# succeeded and failed: tmux, or the pane, said so. skipped: never sent. planned: a dry run. unknown: sent, and no
# answer came in time, so it may have happened or may still happen; it is never sent again.
Status = Literal["succeeded", "failed", "skipped", "planned", "unknown"]


@final
@dataclass(frozen=True, slots=True)
class StepResult:
    """One step. What does not apply to its kind is None, or empty.

    `stdout` is what tmux printed, or the text that a wait met; `lines` are the rows of a capture; `output` and
    `exit_code` those of a command. `commands` are the tmux commands of a dry run, without the programs of new panes and
    what is asked before a command; what muxwire does itself has the name of its kind.
    """

    index: int
    kind: str
    status: Status
    stdout: str | None = None
    error: str = field(default="", metadata=NAMES_VERBS)
    created_pane_id: str = ""
    created_pane_ids: tuple[str, ...] = ()
    created_window_id: str = ""
    lines: tuple[str, ...] | None = None
    output: str | None = None
    exit_code: int | None = None
    elapsed_ms: float | None = None
    commands: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class OperationsResult:
    """All steps, and what became of what they made. `created_panes` maps refs to pane ids."""

    succeeded: bool
    dry_run: bool = field(metadata=NEVER)
    steps: tuple[StepResult, ...]
    created_panes: dict[str, str]
    rolled_back_panes: tuple[str, ...] = ()
    rollback_errors: tuple[str, ...] = field(default=(), metadata=NAMES_VERBS)


Arguments = tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Ref:
    """The pane that an earlier step of the list makes."""

    name: str


Target = str | Ref
# The fields of operations that hold a target.
TARGETS = ("target", "with_", "into")


@final
@dataclass(frozen=True, slots=True)
class Place:
    """What a target stands for: tmux's ids of the pane and its session, and its tab; None in a dry run."""

    pane: str
    session: str
    known: Tab | None = None

    @property
    def tab(self) -> Tab:
        """The tab of a run that is not dry."""
        assert self.known is not None
        return self.known


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One step of a list; frozen. Every kind is a subclass."""

    kind: ClassVar[str]  # as its class is called: `split_pane`
    harmless: ClassVar[bool] = False  # may be done at a server that a person runs: nothing there changes
    stays: ClassVar[str] = "it is not undone"  # what a rollback says of it; "" if nothing of it is left then
    # What runs in a pane decides how long it takes, and it is cancelled with its list. All others are given up after
    # `dispatch_timeout`, and are then finished all the same, because tmux does what it was sent.
    of_program: ClassVar[bool] = False
    of_ended: ClassVar[bool] = False  # a pane that a step made may have ended

    def __init_subclass__(cls) -> None:
        cls.kind = re.sub(r"(?<=.)(?=[A-Z])", "_", cls.__name__).lower()

    @property
    def targets(self) -> tuple[Target, ...]:
        return tuple(target for name in TARGETS if (target := getattr(self, name, None)) is not None)

    @property
    def made_refs(self) -> tuple[str, ...]:
        several: tuple[str, ...] = getattr(self, "refs", ())
        return (one,) if (one := getattr(self, "ref", "")) else several

    def check(self, host: Host) -> None:
        """InvalidArgument for what can never work."""

    async def check_pattern(self) -> None:
        """InvalidArgument for a pattern that can never work; it is tried in another process."""

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        """The tmux commands that do it; tmux expands none of their arguments, and splits none.

        Of a kind that muxwire does itself they are only shown.
        """
        return [(self.kind.replace("_", "-"), *(word for place in places[:1] for word in ("-t", place.pane)))]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        """Do it, and put what is to be said of it into the step; MuxwireError."""
        *_, answer = await run.ask(places, *self.commands(places))
        step.say(stdout=text_of(answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class OnPane(Operation):
    """A kind that acts on one pane, or on its window."""

    target: Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Making(Operation):
    """A kind that makes panes, which a rollback closes."""

    stays: ClassVar[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking(Operation):
    """A kind that changes nothing."""

    stays: ClassVar[str] = ""
    harmless: ClassVar[bool] = True


@final
@dataclass(slots=True, eq=False)
class Step:
    """One step while it runs: skipped until it is sent, unknown until it is answered."""

    operation: Operation
    result: StepResult
    made: list[Tab] = field(default_factory=list)
    ended: bool = False
    _began: float = 0.0

    def say(self, **said: object) -> None:
        """Set fields of its result."""
        self.result = replace(self.result, **said)  # type: ignore[arg-type]

    def sent(self) -> None:
        """It goes out now; until its answer is here its outcome is unknown."""
        self.say(
            status="unknown", error="no answer came: it may have happened, or may still; check before you try it again"
        )
        self.ended, self._began = False, time.monotonic()

    def end(self, status: Status, error: str = "") -> None:
        """It was done, or refused, or was never sent, or its outcome stays unknown."""
        elapsed = (time.monotonic() - self._began) * 1000 if self._began else None
        self.say(status=status, error=error, elapsed_ms=elapsed)
        self.ended = True

    def name_panes(self, panes: Sequence[str]) -> None:
        """Say which panes it has made, or moved, or is to make."""
        several = hasattr(self.operation, "refs")
        self.say(created_pane_ids=tuple(panes)) if several else self.say(created_pane_id=(*panes, "")[0])

    @property
    def left(self) -> str:
        """What a rollback cannot undo of it, "" if there is nothing."""
        why, result = self.operation.stays, self.result
        if result.status == "unknown":
            if isinstance(self.operation, Making):
                return "no answer came: if tmux still makes the pane, it is closed then"
            return "no answer came: what it did, or may still do, is not undone" if why else ""
        # A step that failed may have run a command, or moved a pane, before it failed.
        changed = result.status == "succeeded" or result.output is not None or bool(result.created_window_id)
        return why if changed else ""


def text_of(answer: Sequence[bytes]) -> str | None:
    return "\n".join(line.decode("utf-8", "replace") for line in answer) if answer else None
