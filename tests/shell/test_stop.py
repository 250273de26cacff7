"""How what runs is ended, without a terminal: a row for each kind of program, and any order of events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from hypothesis import given, strategies

from muxwire.errors import ConnectionClosed
from muxwire.shell.execution import Execution
from muxwire.shell.look import Front, StopTarget, TtyModes
from muxwire.shell.stop import (
    BEGINS_WITHIN,
    FORKS_WITHIN,
    STEPS,
    WAIT_SIGNAL,
    Stop,
)
from tests.shell.world import by_hand

LEADER, SHELL, PROGRAM, NEXT, NESTED = 10, 11, 20, 21, 30
EDITS = TtyModes(icanon=False, echo=False, isig=True)
LINES, RAW = TtyModes(icanon=True, echo=True, isig=True), TtyModes(icanon=False, echo=False, isig=False)
KEY = "C-c"
NEVER = float("inf")
# Of two waits for an action that never comes to pass.
SLACK = 2.0


@dataclass
class World:
    """A pane whose clock moves only as the request waits. It writes down what is done, with the times."""

    target: StopTarget = field(default_factory=lambda: StopTarget(LEADER, SHELL))
    front: int | None = PROGRAM
    modes: TtyModes | None = LINES
    # What is done to the program that ends it, and how long it takes to end after that.
    ends_by: tuple[str, ...] = (KEY,)
    takes: float = 0.01
    begins: float = 0.0  # when the typed line does; infinity for never
    begins_by_key: bool = False  # C-c throws the line away
    takes_signals_at: float = 0.0
    stopped: bool = False
    answers: bool = True  # tmux
    gets_signals: bool = True
    jobs: bool = False
    prompts: bool = False  # it stands at a prompt
    next_after: float = NEVER  # from when on the shell runs another program
    now: float = 0.0
    over_at: float = NEVER
    done: list[tuple[float, str]] = field(default_factory=list)
    line: Execution | None = None
    looks: int = 0
    round_trip: float = 0.0
    meant_for: list[int | None] = field(default_factory=list)  # whom a request means, as something is done to it

    # -- what is known

    pane = session = terminal = property(lambda self: self)

    @property
    def reachable(self) -> bool:
        return self.answers

    def signalled(self) -> None:
        pass

    def stop_target(self, spared: int) -> StopTarget:
        return replace(self.target, spared=spared)

    def front_for(self, _: str, __: int) -> Front:
        group = NEXT if self.now >= self.next_after else self.front
        takes = self.now >= self.takes_signals_at
        return Front(group, self.modes, self.stopped, takes, prompts=self.prompts)

    # -- what is done

    async def wait(self, seconds: float) -> bool:
        assert seconds > 0, "it would be asked again at once, for ever"
        # A mark wakes it, too.
        marks = [at for at in (self.begins, self.over_at) if self.now < at <= self.now + seconds]
        self.now = min(self.now + seconds, *marks, NEVER)
        if self.line is not None and self.now >= min(self.begins, self.over_at) and not self.line.started:
            self.line.start(0, self.now)
        return bool(marks)

    async def refresh(self) -> None:
        self.looks += 1
        assert self.looks < 10_000, "it never ends"

    async def ask_end(self, _: Execution) -> bool:
        return False  # the prompt of the nested shell is not seen again

    async def press(self, _: bytes) -> None:
        self._note(KEY)
        if self.begins_by_key and self.now < self.begins:
            self.over_at = min(self.over_at, self.now + self.takes)

    async def signal(self, name: str, group: int, *, spare_leader: bool) -> bool:
        self._note(f"{name} {group}" + (" spared" if spare_leader else ""))
        return self.gets_signals

    async def signal_jobs(self, name: str, _: float) -> bool:
        if self.jobs:
            self._note(f"{name} jobs")
        return self.jobs

    async def resume(self) -> None:
        self.done.append((self.now, "continue"))
        self.stopped = False

    def _note(self, what: str) -> None:
        self.done.append((round(self.now, 3), what))
        self.meant_for.append(self.request.group)
        if what in self.ends_by and self.now >= self.begins:
            self.over_at = min(self.over_at, self.now + self.takes)

    def stop(self, **given: Any) -> Stop:
        return Stop(cast("Any", self), lambda: self.now >= self.over_at, spared=self.target.spared, **given)

    def run(self, *, typed: bool = True, level: int = 1, **given: Any) -> Stop:
        """End what runs: a command that muxwire `typed`, or something else, which has just begun."""
        if typed:
            self.line = line(level)
            if self.begins <= 0:
                self.line.start(0, self.now)
            given |= {"line": self.line, "ask_end": self.ask_end if level > 1 else None}
        self.request = self.stop(**given)
        by_hand(self.request.run())
        return self.request


def line(level: int = 1) -> Execution:
    """A command that is typed."""
    return Execution(command_id="0" * 16, command=b"x", prompt_seq=1, typed_at=0, typed_time=0.0, level=level)


def actions(world: World) -> list[str]:
    return [what for _, what in world.done]


ESCALATES = [KEY, KEY, f"SIGINT {PROGRAM}", f"SIGTERM {PROGRAM}", f"SIGHUP {PROGRAM}", f"SIGKILL {PROGRAM}"]


@pytest.mark.parametrize(
    ("world", "request_", "expected", "sent"),
    [
        pytest.param(World(), {}, [KEY], "SIGINT", id="sleep"),
        pytest.param(World(ends_by=(f"SIGTERM {PROGRAM}",)), {}, ESCALATES[:4], "SIGTERM", id="traps SIGINT"),
        pytest.param(World(ends_by=(f"SIGKILL {PROGRAM}",)), {}, ESCALATES, "SIGKILL", id="traps all"),
        pytest.param(World(ends_by=()), {}, ESCALATES, "SIGKILL", id="cannot be killed"),
        pytest.param(
            World(modes=EDITS, prompts=True, ends_by=(f"SIGTERM {PROGRAM}",)), {}, [KEY, f"SIGTERM {PROGRAM}"],
            "SIGTERM", id="a REPL",
        ),
        pytest.param(
            World(modes=RAW, prompts=True, ends_by=(f"SIGHUP {PROGRAM}",)), {},
            [f"{name} {PROGRAM}" for name in ("SIGINT", "SIGTERM", "SIGHUP")], "SIGHUP", id="a shell in the shell",
        ),
        pytest.param(
            World(modes=EDITS, prompts=True, takes=0.9, ends_by=(f"SIGTERM {PROGRAM}",)), {},
            [KEY, f"SIGTERM {PROGRAM}"], "SIGTERM", id="a REPL that takes its time",
        ),
        pytest.param(
            World(modes=EDITS, prompts=True, ends_by=(f"SIGKILL {PROGRAM}",)), {"first": "SIGTERM"},
            [f"{name} {PROGRAM}" for name in ("SIGTERM", "SIGHUP", "SIGKILL")], "SIGKILL", id="a REPL, no C-c",
        ),
        pytest.param(World(over_at=0.0), {}, [], "", id="has ended"),
        pytest.param(
            World(modes=RAW, ends_by=(f"SIGINT {PROGRAM}",)), {}, [f"SIGINT {PROGRAM}"], "SIGINT", id="the tty is raw"
        ),
        pytest.param(
            World(front=SHELL, ends_by=()), {},
            [KEY, KEY, f"SIGINT {SHELL}", f"SIGURG {SHELL}", *[KEY, f"SIGINT {SHELL}"] * 2], "SIGINT",
            id="the shell itself runs it: nothing that could end the shell",
        ),
        pytest.param(
            World(front=SHELL, ends_by=(f"SIGURG {SHELL}",)), {}, [KEY, KEY, f"SIGINT {SHELL}", f"SIGURG {SHELL}"],
            "SIGURG", id="zsh waits for an earlier job",
        ),
        pytest.param(
            World(front=SHELL, jobs=True, ends_by=("SIGTERM jobs",)), {}, [KEY, KEY, f"SIGINT {SHELL}", "SIGTERM jobs"],
            "SIGTERM", id="zsh waits for its jobs",
        ),
        pytest.param(
            World(front=SHELL, jobs=True, ends_by=(KEY,)), {"first": "SIGKILL"}, [KEY], "SIGINT",
            id="a loop of the shell, though it has jobs",
        ),
        pytest.param(
            World(target=StopTarget(LEADER, SHELL, NESTED), front=NESTED, ends_by=()), {}, [KEY, KEY], "SIGINT",
            id="a relay runs it: C-c as a key and nothing else",
        ),
        pytest.param(
            World(target=StopTarget(LEADER, SHELL), front=LEADER, modes=RAW, ends_by=()), {}, [], "",
            id="the supervisor is in front: it gets nothing",
        ),
        pytest.param(
            World(
                target=StopTarget(LEADER, runs_program=True), front=LEADER, modes=RAW,
                ends_by=(f"SIGINT {LEADER} spared",),
            ),
            {}, [f"SIGINT {LEADER} spared"], "SIGINT", id="a program in place of a shell",
        ),
        pytest.param(World(front=None, ends_by=()), {}, [KEY, KEY], "SIGINT", id="nobody is in front: C-c only"),
        pytest.param(World(modes=None, ends_by=(), front=None), {}, [], "", id="the terminal is gone"),
        pytest.param(World(stopped=True), {}, ["continue", KEY], "SIGINT", id="the shell is stopped"),
        pytest.param(World(answers=False), {}, [], "", id="tmux is silent"),
        pytest.param(
            World(gets_signals=False, modes=RAW), {}, [ESCALATES[2], *ESCALATES[2:]], "", id="is another user's"
        ),
        pytest.param(
            World(ends_by=(f"SIGTERM {PROGRAM}",)), {"first": "SIGTERM"}, [f"SIGTERM {PROGRAM}"], "SIGTERM",
            id="from SIGTERM on",
        ),
        pytest.param(
            World(ends_by=(f"SIGQUIT {PROGRAM}",)), {"first": "SIGQUIT"}, [f"SIGQUIT {PROGRAM}"], "SIGQUIT",
            id="SIGQUIT, which is no step",
        ),
    ],
)  # fmt: skip
def test_what_is_done_to(world: World, request_: dict[str, Any], expected: list[str], sent: str) -> None:
    stop = world.run(**request_)
    assert actions(world) == expected
    assert stop.sent == sent
    assert set(world.meant_for) <= {world.front}
    assert world.over_at == NEVER or world.now == pytest.approx(world.over_at), "it waits for no more than the end"


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        # The program of its first signal has come by then.
        (World(begins=0.5, takes_signals_at=NEVER), [(0.5 + FORKS_WITHIN, KEY)]),
        (World(begins=0.5, takes_signals_at=0.52), [(0.52, KEY)]),
        (World(begins=NEVER, takes_signals_at=NEVER, begins_by_key=True), [(BEGINS_WITHIN, KEY)]),
        (World(begins=1.5, ends_by=(f"SIGTERM {PROGRAM}",)), [(1.0, KEY), (1.5, KEY), (2.1, KEY)]),
    ],
)
def test_when_a_line_that_is_typed_gets_its_first_signals(world: World, expected: list[tuple[float, str]]) -> None:
    world.run()
    first = world.done[: len(expected)]
    assert [what for _, what in first] == [what for _, what in expected]
    assert [when for when, _ in first] == pytest.approx([when for when, _ in expected], abs=0.01)


def test_a_line_in_a_nested_shell_is_not_thrown_away_while_it_may_begin() -> None:
    world = World(target=StopTarget(LEADER, SHELL, NESTED), front=NESTED, begins=NEVER, ends_by=())
    world.run(level=2)
    assert world.done[0][0] >= BEGINS_WITHIN
    assert actions(world) == [KEY, KEY]  # of the steps


def test_the_first_step_has_the_callers_time_and_no_other() -> None:
    world = World(ends_by=(f"SIGTERM {PROGRAM}",))
    world.run(grace=5.0)
    assert [round(when, 1) for when, _ in world.done] == [0.0, 5.0, 5.0, 5.6]


def test_c_c_is_pressed_again_for_the_next_program_of_a_loop() -> None:
    world = World(next_after=0.05, ends_by=())
    world.run()
    keys = [when for when, what in world.done if what == KEY]
    assert keys[:3] == [0.0, pytest.approx(0.1, abs=0.01), pytest.approx(0.6, abs=0.01)]


GROUPS = strategies.sampled_from([None, LEADER, SHELL, PROGRAM, NEXT, NESTED])
MODES = strategies.sampled_from([None, LINES, RAW])
EVENTS = strategies.lists(
    strategies.tuples(
        GROUPS, MODES, strategies.booleans(), strategies.booleans(), strategies.booleans(), strategies.booleans(),
        strategies.floats(0.0, 1.0),
    ),
    max_size=60,
)  # fmt: skip


class Chance(World):
    """A pane in which anything may happen while something is waited for."""

    left: Iterator[tuple[int | None, TtyModes | None, bool, bool, bool, bool, float]] = iter(())
    takes_it = done_it = True
    urged = 0

    async def wait(self, seconds: float) -> bool:
        assert seconds > 0
        share = 1.0
        if (event := next(self.left, None)) is not None:
            self.front, self.modes, self.stopped, self.takes_it, self.done_it, begins, share = event
            if begins and self.line is not None and not self.line.started:
                self.line.start(0, self.now)
        self.now += max(seconds * share, 1e-4)
        return event is not None

    def front_for(self, _: str, __: int) -> Front:
        return Front(self.front, self.modes, self.stopped, self.takes_it)

    async def press(self, _: bytes) -> None:
        if not self.done_it:
            raise ConnectionClosed("it is reconnected in a moment")

    async def signal(self, name: str, group: int, *, spare_leader: bool) -> bool:
        assert group == self.front != self.target.spared, "a nested shell gets keys only"
        assert group != SHELL or name in ("SIGINT", WAIT_SIGNAL)
        assert group != LEADER
        self.urged += name == WAIT_SIGNAL
        return self.done_it

    async def signal_jobs(self, name: str, _: float) -> bool:
        return self.done_it


@given(
    EVENTS,
    strategies.sampled_from(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL"]),
    strategies.sampled_from([0, NESTED]),
    strategies.booleans(),
    strategies.sampled_from([1, 2]),
    strategies.sampled_from([None, 0.0]),
)
def test_whatever_happens_it_ends_in_time_and_does_nothing_afterwards(
    events: list[tuple[int | None, TtyModes | None, bool, bool, bool, bool, float]],
    first: str,
    spared: int,
    typed: bool,
    level: int,
    begun: float | None,
) -> None:
    world = Chance(target=StopTarget(LEADER, SHELL, spared), begins=NEVER)
    world.left = iter(events)
    world.run(typed=typed, level=level, first=first, **({} if typed else {"begun": begun}))
    assert world.urged <= 1, "a shell that does not wait for jobs gets nothing more"
    assert world.now <= 2 * BEGINS_WITHIN + FORKS_WITHIN + sum(seconds for _, seconds in STEPS) + SLACK
