"""Operations on what runs in a pane: typing, running commands, waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import check_command
from muxwire.operations.operation import Arguments, Compound, Place, RunState, Step, Target
from muxwire.tabs import waits
from muxwire.tabs.tab import DEFAULT_TIMEOUT
from muxwire.tabs.waits import Wanted
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.host.host import Host
    from muxwire.tabs.tab import Tab

# Seconds, as `Terminals.wait_for`: what a build's step or a server's start takes.
WAIT_TIMEOUT = 30.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SendKeys(Compound):
    """Type `keys`, each tmux's name of a key or else text (always text if `literal`), and one Enter, if `enter`."""

    kind: ClassVar[str] = "send_keys"
    harmless: ClassVar[bool] = True
    unanswered_stays: ClassVar[bool] = True
    target: Target
    keys: str | tuple[str, ...]
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

    def words(self, places: Sequence[Place]) -> Arguments:
        flags, enter = ("-l",) if self.literal else (), ("Enter",) if self.adds_enter else ()
        return ("send-keys", *flags, "-t", places[0].pane, "--", *self.each, *enter)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        keys, tab = list(self.each), tabs[0]
        if self.adds_enter:
            keys.append("\r" if self.literal else "Enter")
        sent = await tab.send_keys(keys, literal=self.literal)
        run.typed_at[tab.pane_id] = sent.next_byte
        step.succeed()
        run.cannot_undo(step, "what was typed cannot be taken back")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Execute(Compound):
    """Run a shell command; the step fails if the exit code is not 0. `timeout` None: as `Tab.execute`."""

    kind: ClassVar[str] = "execute"
    harmless: ClassVar[bool] = True
    own_time: ClassVar[bool] = True
    target: Target
    command: str
    timeout: float | None = None

    def check(self, host: Host) -> None:
        check_command(self.command.encode("utf-8", "surrogateescape"))

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("execute", "-t", places[0].pane, "--", self.command)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        tab = tabs[0]
        run.typed_at.pop(tab.pane_id, None)
        run.cannot_undo(step, "a command that was run cannot be taken back")
        with run.time_for(DEFAULT_TIMEOUT if self.timeout is None else self.timeout) as (limit, said):
            result = await tab.execute(self.command, timeout=limit, max_chars=run.options.max_chars)
        step.output, step.exit_code = result.output, result.exit_code
        if result.timed_out:
            interrupted = f"it was interrupted after {said}; give the step a longer time"
            step.fail(result.note if result.running and result.note else interrupted)
        elif result.exit_code == 0:
            step.succeed()
        else:
            step.fail(result.note or f"exit code {result.exit_code}")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(Compound):
    """Wait as `Terminals.wait_for`, for text from the step on that last typed into the pane."""

    kind: ClassVar[str] = "wait_for"
    harmless: ClassVar[bool] = True
    own_time: ClassVar[bool] = True
    target: Target
    until: str = ""
    regex: str = ""
    idle: float | None = None
    exit: bool = False
    prompt: bool = False
    timeout: float | None = None

    def check(self, host: Host) -> None:
        self._wanted()

    def _wanted(self) -> Wanted:
        idle = self.idle or None  # strict clients send 0 for no time, as to the tool
        return Wanted.checked(until=self.until, regex=self.regex, idle=idle, exit=self.exit, prompt=self.prompt)

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("wait-for", "-t", places[0].pane)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        tab = tabs[0]
        with run.time_for(WAIT_TIMEOUT if self.timeout is None else self.timeout) as (limit, said):
            outcome = await waits.wait_for(tabs, self._wanted(), from_byte=run.typed_at.get(tab.pane_id), timeout=limit)
        if outcome.outcome == "met":
            step.stdout = outcome.match
            step.succeed()
            return
        step.output = outcome.tail
        ended = f"{tab.key} ended: {tab.end_reason or 'its program did'}"
        step.fail(ended if outcome.outcome == "closed" else f"not met within {said}")
