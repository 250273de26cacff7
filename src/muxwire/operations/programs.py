"""Operations on what runs in a pane: typing, running commands, waiting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import check_command
from muxwire.operations.operation import Arguments, Operation, Place, Step, Target
from muxwire.tabs import waits
from muxwire.tabs.hand_over import with_note
from muxwire.tabs.waits import Wanted
from muxwire.verbs.catalogue import Wait
from muxwire.verbs.types import (
    DEFAULT_TIMEOUT,
    Cwd,
    Environment,
    Milliseconds,
    StripAnsi,
    Texts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.host.host import Host
    from muxwire.operations.run import OperationsRun


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SendKeys(Operation):
    """Type `keys`, each tmux's name of a key or else text (always text if `literal`), and one Enter, if `enter`."""

    kind: ClassVar[str] = "send_keys"
    stays: ClassVar[str] = "what was typed cannot be taken back"
    harmless: ClassVar[bool] = True
    target: Target
    keys: Texts
    enter: bool = True
    literal: bool = False

    @property
    def each(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.keys,) if isinstance(self.keys, str) else self.keys))

    @property
    def adds_enter(self) -> bool:
        return self.enter and (self.literal or self.each[-1:] != ("Enter",))

    def check(self, host: Host) -> None:
        if not self.each and not self.enter:
            raise InvalidArgument("keys is empty", remedy='give text, or a key as "C-c"')
        if any("\0" in text for text in self.each):
            raise InvalidArgument("a NUL byte cannot be typed through tmux", remedy="leave it out")

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        flags, enter = ("-l",) if self.literal else (), ("Enter",) if self.adds_enter else ()
        return [("send-keys", *flags, "-t", places[0].pane, "--", *self.each, *enter)]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        keys, tab = list(self.each), places[0].tab
        if self.adds_enter:
            keys.append("\r" if self.literal else "Enter")
        sent = await tab.send_keys(keys, literal=self.literal)
        run.typed_at[tab.pane_id] = sent.next_byte


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Execute(Operation):
    """Run a shell command; the step fails if the exit code is not 0. `timeout` None: as `Tab.execute`.

    What a program draws on the alternate screen is left out of the output, unless `strip_ansi` is given as false.
    """

    kind: ClassVar[str] = "execute"
    stays: ClassVar[str] = "a command that was run cannot be taken back"
    harmless: ClassVar[bool] = True
    of_program: ClassVar[bool] = True
    target: Target
    command: str
    cwd: Cwd = ""
    env: Environment = field(default_factory=dict)
    strip_ansi: StripAnsi | None = None
    timeout: Milliseconds | None = None

    def check(self, host: Host) -> None:
        check_command(self.command.encode("utf-8", "surrogateescape"))
        if self.timeout is not None and self.timeout <= 0:
            raise InvalidArgument("a command needs a timeout of more than 0 s", remedy="leave it out for the default")

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        return [("execute", "-t", places[0].pane, "--", self.command)]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        tab = places[0].tab
        run.typed_at.pop(tab.pane_id, None)
        limit, said = run.time_for(DEFAULT_TIMEOUT if self.timeout is None else self.timeout)
        result = await tab.execute(
            self.command, timeout=limit, strip_ansi=self.strip_ansi, env=self.env, cwd=self.cwd,
            drawing=self.strip_ansi is False, max_chars=run.options.max_chars,
        )  # fmt: skip
        step.say(output=result.output, exit_code=result.exit_code)
        if result.timed_out:
            interrupted = f"it was interrupted after {said}; give more time"
            error = result.note if result.running and result.note else with_note(interrupted, result.note)
            step.end("failed", error)
        elif result.running and result.state == "running":  # whether it waits cannot be seen (over ssh, in a container)
            step.end("unknown", result.note)
        elif result.exit_code != 0:
            step.end("failed", result.note or f"exit code {result.exit_code}")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(Operation, Wait):
    """Wait as `Terminals.wait_for`, for text from the step on that last typed into the pane."""

    kind: ClassVar[str] = "wait_for"
    of_ended: ClassVar[bool] = True
    stays: ClassVar[str] = ""
    harmless: ClassVar[bool] = True
    of_program: ClassVar[bool] = True
    target: Target

    def check(self, host: Host) -> None:
        Wanted.of(self)

    async def check_pattern(self) -> None:
        await Wanted.of(self).checked()

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        tab, (limit, said) = places[0].tab, run.time_for(self.timeout)
        begin = run.typed_at.get(tab.pane_id) if self.from_byte is None else self.from_byte
        outcome = await waits.wait_for([tab], Wanted.of(self), from_byte=begin, timeout=limit)
        if outcome.outcome == "met":
            step.say(stdout=outcome.match)
            return
        step.say(output=outcome.tail)
        ended = f"{tab.key} ended: {tab.end_reason or 'its program did'}"
        step.end("failed", ended if outcome.outcome == "closed" else f"not met within {said}")
