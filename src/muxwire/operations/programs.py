"""Operations on what runs in a pane: typing, running commands, waiting."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import check_command
from muxwire.operations.operation import Arguments, Looking, OnPane, Operation, Place, Step, Target
from muxwire.tabs import waits
from muxwire.tabs.hand_over import with_note
from muxwire.tabs.waits import Wanted
from muxwire.verbs import catalogue
from muxwire.verbs.types import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.host.host import Host
    from muxwire.operations.run import OperationsRun


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SendKeys(OnPane):
    """Type `keys`, each tmux's name of a key or else text (always text if `literal`), and one Enter, if `enter`."""

    stays: ClassVar[str] = "what was typed cannot be taken back"
    harmless: ClassVar[bool] = True
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
class Execute(Operation, catalogue.Execute):
    """Run a shell command as `Tab.execute`; the step fails if the exit code is not 0, unless nobody waits for it.

    What a program draws on the alternate screen is left out of the output, unless `strip_ansi` is given as false.
    """

    stays: ClassVar[str] = "a command that was run cannot be taken back"
    harmless: ClassVar[bool] = True
    of_program: ClassVar[bool] = True
    target: Target

    def check(self, host: Host) -> None:
        check_command(os.fsencode(self.command))

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        return [("execute", "-t", places[0].pane, "--", os.fsdecode(self.command))]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        tab = places[0].tab
        run.typed_at.pop(tab.pane_id, None)
        limit, said = run.time_for(self.timeout)
        most, drawing = self.max_chars or run.options.max_chars, self.strip_ansi is False
        result = await tab.execute(**self.words | {"timeout": limit, "max_chars": most, "drawing": drawing})
        step.say(output=result.output, exit_code=result.exit_code)
        if self.async_:
            return
        if result.timed_out:
            interrupted = with_note(f"it was interrupted after {said}; give more time", result.note)
            step.end("failed", (result.running and result.note) or interrupted)
        elif result.running and result.state == "running":  # whether it waits cannot be seen (over ssh, in a container)
            step.end("unknown", result.note)
        elif result.exit_code != 0:
            step.end("failed", result.note or f"exit code {result.exit_code}")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(Looking, catalogue.Wait):
    """Wait as `Terminals.wait_for`, for text from the step on that last typed into the pane."""

    of_ended: ClassVar[bool] = True
    of_program: ClassVar[bool] = True
    target: Target

    async def check_pattern(self) -> None:
        await Wanted.of(self)

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        tab, (limit, said) = places[0].tab, run.time_for(self.timeout)
        begin = run.typed_at.get(tab.pane_id) if self.from_byte is None else self.from_byte
        outcome = await waits.wait_for([tab], await Wanted.of(self), from_byte=begin, timeout=limit)
        if outcome.outcome == "met":
            step.say(stdout=outcome.match)
        else:
            step.say(output=outcome.tail)
            why = {
                "closed": f"{tab.key} ended: {tab.end_reason or 'its program did'}", "asks": "it asks something first"
            }.get(outcome.outcome, f"not met within {said}")  # fmt: skip
            step.end("failed", with_note(why, outcome.note))
