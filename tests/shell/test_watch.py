"""When a command is looked at while its end is waited for: without a terminal."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast
from unittest import mock

import pytest

from muxwire.shell import examine
from muxwire.shell.execution import Execution
from muxwire.shell.watch import LOOK_EVERY, LOOKS, TICK_SECONDS, Outcome, watched
from tests.shell.world import by_hand

Found = TypeVar("Found")
NEVER = float("inf")


@dataclass
class Command:
    """A command that writes at some times, and begins and ends at others; when it is looked at."""

    begins: float = 0.0
    ends: float = NEVER
    writes: tuple[float, ...] = (0.0,)
    asks: dict[float, Outcome] = field(default_factory=dict)  # from when on an examination finds what
    near: float = NEVER  # from when on a look nearby finds that it waits
    now: float = 0.0
    done: list[tuple[str, float]] = field(default_factory=list)

    round_trip: float = 0.0

    # -- what is known

    pane = stream = terminal = property(lambda self: self)

    @property
    def shown_end(self) -> int:
        return sum(at <= self.now for at in self.writes)

    def quiet(self) -> bool:
        newest = max((at for at in self.writes if at <= self.now), default=0.0)
        return self.now - newest >= LOOKS[0] - 1e-6

    # -- what is done

    async def wait(self, seconds: float) -> bool:
        return self._passes(seconds, self.writes)

    async def ended(self, _: Execution, seconds: float) -> None:
        self._passes(seconds, ())

    def _passes(self, seconds: float, wakes: tuple[float, ...]) -> bool:
        assert seconds > 0
        marks = [at for at in (self.begins, self.ends, *wakes) if self.now < at <= self.now + seconds]
        self.now = min(self.now + seconds, *marks, NEVER)
        self._happens()
        return bool(marks)

    def _happens(self) -> None:
        if self.now >= self.begins and not self.ran.started:
            self.ran.start(0, self.now)
        if self.now >= self.ends:
            self.ran.ending = "completed"

    async def within(self, _: float, done: Awaitable[Found]) -> Found:
        return await done

    def begins_to_wait(self, _pane: object, _: Execution) -> bool:
        return self.now >= self.near

    async def unstick(self, _: Execution) -> None:
        self._note("tried again")

    async def examined(self, _port: object, _: Execution) -> Outcome | Literal[""]:
        self._note("examined")
        found = [what for at, what in self.asks.items() if at <= self.now]
        return found[-1] if found else ""

    async def report(self, _: Execution) -> None:
        self._note("reported")

    def _note(self, what: str) -> None:
        self.done.append((what, round(self.now, 2)))

    def run(self, timeout: float, *, reports: bool = False) -> str:
        self.ran = Execution(command_id="0" * 16, command=b"x", prompt_seq=1, typed_at=0, typed_time=0.0)
        self._happens()
        it = cast("Any", self)
        with mock.patch.multiple(examine, begins_to_wait=self.begins_to_wait, examined=self.examined):
            return by_hand(watched(it, self.ran, timeout, it, self.report if reports else None))

    def at(self, what: str) -> list[float]:
        return [when for name, when in self.done if name == what]


@pytest.mark.parametrize(
    ("command", "timeout", "outcome", "at"),
    [
        (Command(ends=0.01), 5, "ended", 0.01),
        (Command(ends=0.0), 5, "ended", 0.0),
        (Command(), 2.5, "timed_out", 2.5),
        (Command(), 0.0, "timed_out", 0.0),
        (Command(asks={0.0: "interactive"}), 5, "interactive", LOOKS[0]),
        (Command(asks={0.0: "silent"}), 5, "silent", LOOKS[0]),
        # What it asks later, after it has written something, is noticed at the first look after that.
        (Command(writes=(0.0, 60.0), asks={60.0: "interactive"}), 100, "interactive", 60 + LOOKS[0]),
        (Command(writes=(0.0, 3.3, 3.4), asks={3.4: "interactive"}), 100, "interactive", 3.3 + 2 * LOOKS[0]),
        # And without a word, by the look that costs little: the next one that costs more is at 65.25.
        (Command(asks={62.0: "interactive"}, near=62.0), 100, "interactive", 62 + TICK_SECONDS),
        # Without either, at the next look.
        (Command(asks={60.0: "interactive"}), 100, "interactive", 60 + LOOK_EVERY),
    ],
)
def test_how_a_wait_ends(command: Command, timeout: float, outcome: str, at: float) -> None:
    assert command.run(timeout) == outcome
    assert command.now <= at + 1e-6


def test_a_silent_command_is_looked_at_at_growing_intervals() -> None:
    command = Command()
    command.run(20.0)
    due = [round(sum(LOOKS[: number + 1]), 2) for number in range(len(LOOKS))]
    # What it wrote before the first look is news; from then on the intervals grow.
    assert command.at("examined")[:2] == [due[0], round(2 * due[0], 2)]
    gaps = [round(b - a, 2) for a, b in zip(command.at("examined")[1:], command.at("examined")[2:], strict=False)]
    assert gaps == [*LOOKS[1:], LOOK_EVERY, LOOK_EVERY][: len(gaps)]
    assert not command.at("tried again")


def test_a_line_that_does_not_begin_is_tried_again_and_never_examined() -> None:
    command = Command(begins=1.0, ends=1.2, writes=())
    assert command.run(5.0) == "ended"
    assert all(when < 1.0 for when in command.at("tried again"))
    assert command.at("tried again")
    assert all(when >= 1.0 for when in command.at("examined"))


def test_progress_is_reported_whatever_is_looked_at() -> None:
    command = Command(writes=tuple(number / 20 for number in range(200)))  # never silent
    command.run(10.0, reports=True)
    assert command.at("reported")
    assert not command.at("examined")
    assert not Command().at("reported")


def test_another_machine_is_asked_later() -> None:
    near, far = Command(), Command(round_trip=0.5)
    near.run(3.0)
    far.run(3.0)
    assert far.at("examined")[0] == pytest.approx(near.at("examined")[0] + 0.5)
