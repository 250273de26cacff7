"""A pane without a terminal: what is known of it at each moment, and a port of it that never suspends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from muxwire.errors import State, TabUnavailable
from muxwire.host.shells import shell_for
from muxwire.shell import tab_state
from muxwire.shell.execution import Execution
from muxwire.shell.keys import CTRL_C
from muxwire.shell.listener import (
    ForegroundShell,
    InFront,
    find_listener,
    hidden_waiting,
    on_its_way,
    prompt_at_end,
)
from muxwire.shell.look import (
    Foreground,
    Judgement,
    PaneLook,
    StopTarget,
    TtyModes,
    Waiting,
    asks_secret,
)
from muxwire.shell.marks import ID_RANDOM, MarkScanner, own_id
from muxwire.shell.port import Asked
from muxwire.shell.ready import Ready
from muxwire.shell.send_keys import Keys
from muxwire.shell.session import ShellSession
from muxwire.shell.shell import Shell
from muxwire.vt.drawn import Picture
from muxwire.vt.ring import RingBuffer
from tests.shell.driven import NONCE, OTHER, PID, osc, prompt

Found = TypeVar("Found")
NEVER = float("inf")
PROMPT = b"$ "
PROGRAM, LEADER = 5151, 4141
# What a look or a decision takes: so a request that looks again and again without a wait is over some time.
_COST = 1e-4


class Over(Exception):
    """The time of a request is over."""


@dataclass
class Told:
    """A question that tmux was sent."""

    lines: tuple[bytes, ...] = ()

    async def wait_within(self, _: float) -> tuple[bytes, ...]:
        return self.lines


@dataclass
class Stream:
    ring: RingBuffer = field(default_factory=lambda: RingBuffer(1 << 16))
    last_output: float = 0.0
    rejoining: bool = False

    @property
    def end(self) -> int:
        return self.ring.end

    @property
    def shown_end(self) -> int:
        return self.ring.end

    def holds(self, offset: int) -> bool:
        return offset >= self.ring.start

    def written(self, begin: int) -> bytes:
        return self.ring.read(begin, self.ring.end)


class World:
    """One pane: what happens in it by itself, and what it does about each action.

    `at` has what happens at which moment, `pressed` what happens when keys are typed; each is a call.
    """

    pane_id = "%0"

    def __init__(self, shell: str = "bash") -> None:
        self.time = 0.0
        self.terminal = self
        self.stream = Stream()
        kind = shell_for(shell)
        self.session = ShellSession(nonce=NONCE, shell=kind, cwd="/", read=self.stream.ring.read, tell=lambda _: None)
        self.interrupted_at = -NEVER
        self.started_at = -NEVER
        self.at: list[tuple[float, Callable[[], None]]] = []
        self.pressed: Callable[[bytes], None] = lambda _: None
        self.submitted: Callable[[tuple[str, ...]], tuple[bytes, ...]] = lambda _: ()
        self.done: list[str] = []
        self.input, self.pasted = b"", b""  # all that was typed, and what of it was marked as a paste
        self.looks = 0
        self.machine = ""
        self.round_trip = 0.0
        self.answer_seconds = 0.7
        self.reachable = True
        self.sees_waits = True
        self.front_group, self.program = PID, shell
        self.groups = {PID}
        self.found = Judgement("editor")
        self.sleeps = "editor"
        self.stopped = False
        self.modes: TtyModes | None = TtyModes(icanon=False, echo=False, isig=True)
        self.heard = True
        self.flags = b"0 0 0 0 0 0 0 0 200 50"  # those that keys are made by
        self._scanner = MarkScanner(0)
        self.port = cast("Any", ByHand(self))  # it has what these tests call
        self.ready = Ready(self.port, self.find_shell, lambda: self.heard)
        self.keys = Keys(self.port, self.ready)
        self._ids = 0
        self.limit = NEVER  # of the time, for what is done now

    # -- what happens

    def write(self, data: bytes) -> None:
        self.stream.ring.append(data)
        self.stream.last_output = self.time
        for mark in self._scanner.feed(data):
            self.session.on_mark(mark, self.time)

    def prompt(self, drawn: bytes = PROMPT, status: int = 0, *, reads: bytes = b"") -> None:
        """A prompt, whose shell may say that it `reads` (the step of A)."""
        line_end = b"\r\n" if self.last_line() else b""
        said = osc(f"A;{NONCE};{reads.decode()}") if reads else b""
        self.write(line_end + prompt(self.session.prompt_seq + 1, status=status) + said + drawn)

    def later(self, seconds: float, happens: Callable[[], None]) -> None:
        self.at.append((self.time + seconds, happens))

    def runs(self, program: str, waiting: Waiting = "", *, hidden: bool = False, group: int = PROGRAM) -> None:
        """A program is in front, in that process group."""
        self.front_group, self.program, self.found, self.sleeps = group, program, Judgement(waiting, hidden), ""

    def naps(self, seconds: float = 0.0) -> None:
        """So many seconds pass in which the tab's shell, in front, does not wait for keys; nor does it afterwards."""
        self.sleeps, self.time = "", self.time + seconds

    def wakes(self) -> None:
        """The tab's shell waits for keys."""
        self.sleeps = "editor"

    def comes_back(self, status: int = 0) -> None:
        """The tab's shell is in front, at its prompt."""
        self.front_group, self.found, self.sleeps = PID, Judgement("editor"), "editor"
        self.prompt(status=status)

    def typed(
        self, level: int = 1, group: int = 0, shown: bytes = b"", command: bytes = b"x", token: str = ""
    ) -> Execution:
        """A command is typed."""
        self._ids += 1
        execution = Execution(
            command_id=f"{self._ids:016x}", command=command, prompt_seq=self.session.prompt_seq,
            typed_at=self.stream.end, typed_time=self.time, level=level, shell_pgrp=group, shell_prompt=shown,
            shell_token=token,
        )  # fmt: skip
        self.session.typed(execution)
        return execution

    def begins(self, execution: Execution) -> None:
        self.write(osc(f"S;{execution.command_id}"))

    def ends(self, execution: Execution, status: int = 0) -> None:
        self.write(osc(f"E;{execution.command_id};{status};/tmp;{execution.command_id}"))

    # -- what is known

    @property
    def now(self) -> float:
        self.time += _COST / 100
        return self.time

    @property
    def shell(self) -> Shell | None:
        return self.session.shell

    @property
    def listens(self) -> bool:
        return tab_state.listens(self.session, self, self.now)

    @property
    def takes_next(self) -> bool:
        return self.listens and tab_state.not_begun(self.session) is None

    @property
    def is_back(self) -> bool:
        return self.session.dead or self.listens

    def on_its_way(self) -> bool:
        return on_its_way(self.session, self.stream.written(self.session.prompt_end))

    def shell_in_front(self) -> bool:
        return self.front_group == self.session.shell_pid

    def shell_sleeps(self) -> str:
        return self.sleeps

    def shell_stopped(self) -> bool:
        return self.stopped

    def stop_target(self, spared: int = 0) -> StopTarget:
        return StopTarget(LEADER, self.session.shell_pid, spared)

    def front_shell(self) -> Shell | None:
        return shell_for(self.program)

    def reads(self) -> bool:
        return bool(self.found.waiting)

    def find_shell(self, waited: float, _: PaneLook | None) -> ForegroundShell | None:
        own = self.front_group == self.session.shell_pid
        if self.session.shell_pid == 0 and not self.found.hidden and not self.found.waiting:
            return None
        seen = InFront(
            Foreground(self.front_group, self.program), self.found, self.shell if own else shell_for(self.program),
            raw=self.modes is not None and not self.modes.icanon,
            silent=self.time - self.stream.last_output, waited=waited,
        )  # fmt: skip
        return find_listener(self.session, seen, self.now)

    def front(self) -> Foreground | None:
        return Foreground(self.front_group, self.program)

    def replaced_by(self) -> Shell | None:
        return None

    is_replaced = replaced_by

    def replacing_shell(self) -> Shell | None:
        return shell_for(self.program)

    def foreground_group(self) -> int | None:
        return self.front_group

    def group_exists(self, group: int) -> bool:
        return group in self.groups

    def tty_modes(self) -> TtyModes | None:
        return self.modes

    def waits_for_input(self) -> Waiting:
        return self.found.waiting

    def awaited(self, execution: Execution, look: PaneLook | None = None) -> Waiting:
        return self.found.waiting if execution.running else ""

    def hidden_waiting(self, look: PaneLook | None = None) -> Waiting:
        return hidden_waiting(self.found, self.last_line().decode(), editor=False)

    def falls_silent(self, look: PaneLook | None = None) -> bool:
        return self.quiet(3.0) and self.found.hidden and self.may_ask()

    def asks_secret(self) -> bool:
        return asks_secret(self.last_line().decode())

    def may_ask(self) -> bool:
        return self.last_line().endswith(b"? ")

    def tab_state(self, look: PaneLook | None = None) -> State:
        return tab_state.tab_state(self.session, self, self.now)

    def quiet(self, seconds: float = 0.15) -> bool:
        return self.time - self.stream.last_output >= seconds

    def last_line(self) -> bytes:
        return self.stream.written(0).rpartition(b"\n")[2].rpartition(b"\x07")[2]

    def prompt_again(self, execution: Execution) -> int:
        if execution.level == 1 or not execution.started or self.front_group != execution.shell_pgrp:
            return -1
        tail = self.stream.written(execution.begin)
        drawn = prompt_at_end(execution, tail, silent=self.quiet())
        return -1 if drawn is None else self.stream.end - len(drawn)

    def refusal(self) -> TabUnavailable:
        return TabUnavailable("refused", state=self.tab_state(), remedy="")

    def new_id(self) -> str:
        return own_id(bytes.fromhex(OTHER)[:ID_RANDOM], NONCE)

    def answer(self, words: tuple[str, ...]) -> tuple[bytes, ...]:
        """Of tmux."""
        if given := self.submitted(words):
            return given
        if "pane_in_mode" in words[-1]:
            return (self.flags,)
        if "cursor_flag" in words[-1]:
            return (b"01",)
        return ()

    def passes(self, seconds: float) -> bool:
        """Pass that time, or less, if something happens; whether something has."""
        until = self.limit
        assert seconds < NEVER
        end = self.time + max(seconds, 0.0)
        when, happens = min(self.at, key=lambda one: one[0], default=(NEVER, lambda: None))
        if when <= min(end, until):
            self.at.remove((when, happens))
            self.time = max(self.time, when)
            happens()
            return True
        if until < end:
            self.time = until
            raise Over
        self.time = end
        return False

    def run(self, decides: Coroutine[Any, Any, Found], until: float = NEVER) -> Found:
        """Do it by hand; `Over` if that takes longer."""
        before, self.limit = self.limit, min(self.limit, until)
        try:
            return by_hand(decides)
        finally:
            self.limit = before


def by_hand(decides: Awaitable[Found]) -> Found:
    """What an awaitable returns that never suspends."""
    steps = decides.__await__()
    try:
        next(steps)
    except StopIteration as end:
        return cast("Found", end.value)
    raise AssertionError("it waits for something that is not its port's")


class ByHand:
    """The port of a `World`: it passes the world's time where it would wait, and never suspends."""

    def __init__(self, world: World) -> None:
        self.pane = self._world = world

    def _takes(self) -> World:
        """The world, in which some time has passed."""
        world = self._world
        world.time += _COST
        if world.time >= world.limit:
            raise Over
        return world

    async def wait(self, seconds: float) -> bool:
        return self._takes().passes(seconds)

    async def pause(self, seconds: float) -> None:
        world = self._takes()
        end = world.time + seconds
        while world.time < end and world.passes(end - world.time):
            pass

    async def _does_nothing(self, *_: object) -> None:
        self._takes()

    poll = refresh = settle = unhide = _does_nothing

    async def take_received(self) -> None:
        self._takes().done.append("take_received")

    async def within(self, seconds: float, request: Awaitable[Found]) -> Found | None:
        world = self._takes()
        before, world.limit = world.limit, min(world.limit, world.time + seconds)
        try:
            return await request
        except Over:
            return None
        finally:
            world.limit = before

    async def press(self, keys: bytes, *, bracketed: bool = False) -> list[Told]:
        world = self._takes()
        assert not world.session.dead, "typed into a tab that has ended"
        world.done.append(f"press {keys!r}")
        world.input += keys
        world.pasted += keys * bracketed
        world.interrupted_at = world.time if keys.endswith(CTRL_C) else world.interrupted_at
        world.pressed(keys)
        return [Told()]

    async def type(self, keys: bytes) -> None:
        await self.press(keys)

    async def type_again(self, execution: Execution) -> None:
        self._takes().done.append("type_again")

    async def submit(self, words: tuple[str, ...]) -> list[Told]:
        world = self._takes()
        world.done.append("ask")
        return [Told(world.answer(words))]

    async def answer(self, asked: Sequence[Asked], seconds: float) -> tuple[bytes, ...]:
        self._takes()
        return await asked[-1].wait_within(seconds)

    async def look(self) -> None:
        self._takes().looks += 1

    async def picture(self) -> Picture:
        world = self._takes()
        lines = tuple(world.stream.written(0).decode("utf-8", "replace").split("\n"))
        where = tuple(range(len(lines)))
        return Picture(lines, where, len(lines), False, None, 0, world.stream.end, "\n".join(lines))

    async def note_input(self) -> None:
        self._takes().done.append("note_input")

    async def resume(self) -> None:
        world = self._takes()
        world.stopped = False
        world.done.append("continue")

    async def hide(self, hidden_id: str) -> bool:
        world = self._takes()
        world.session.hide(hidden_id, world.stream.end)
        world.done.append("hide")
        return True


def at_prompt(shell: str = "bash", drawn: bytes = PROMPT, *, known: bool = True) -> World:
    """A tab whose shell is at a prompt that was drawn a while ago; it has said that it reads, or says nothing."""
    world = World(shell)
    steps = {"dash": b"0", "busybox": b"0", "ksh": b"3"}
    world.prompt(drawn, reads=steps.get(shell, b"1") if known else b"")
    world.time += 1.0
    return world
