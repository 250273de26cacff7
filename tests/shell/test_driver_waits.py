"""When a command is looked at while its end is waited for: without a terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from muxwire.shell.driver import (
    LOOK_EVERY,
    LOOKS,
    TICK_SECONDS,
    Ended,
    Examine,
    LookNear,
    Outcome,
    Report,
    TryAgain,
    WaitWritten,
    Watch,
    WatchView,
)
from muxwire.shell.request import Wait

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

    def view(self) -> WatchView:
        written = [at for at in self.writes if at <= self.now]
        silent = self.now - max(written, default=0.0) >= LOOKS[0] - 1e-6
        return WatchView(self.now < self.ends, self.now >= self.begins, len(written), silent)

    def run(self, timeout: float, *, reports: bool = False, delay: float = 0.0) -> str:
        watch = Watch(self.now, timeout, reports=reports, delay=delay)
        while not isinstance(action := watch.next(self.view(), self.now), Ended):
            if isinstance(action, Wait | WaitWritten):
                assert action.seconds > 0
                writes = self.writes if isinstance(action, WaitWritten) else ()
                self.now = min(self.now + action.seconds, *(at for at in (self.ends, *writes) if at > self.now))
                continue
            self.done.append((type(action).__name__, round(self.now, 2)))
            if isinstance(action, LookNear):
                watch.on_done(self.now >= self.near)
            elif isinstance(action, Examine):
                found: list[Outcome] = [what for at, what in self.asks.items() if at <= self.now]
                watch.on_found(found[-1] if found else "")
        return watch.outcome

    def at(self, what: type) -> list[float]:
        return [when for name, when in self.done if name == what.__name__]


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
        # And without a word, by the look that costs little.
        (Command(asks={60.0: "interactive"}, near=60.0), 100, "interactive", 60 + TICK_SECONDS),
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
    assert command.at(Examine)[:2] == [due[0], round(2 * due[0], 2)]
    gaps = [round(b - a, 2) for a, b in zip(command.at(Examine)[1:], command.at(Examine)[2:], strict=False)]
    assert gaps == [*LOOKS[1:], LOOK_EVERY, LOOK_EVERY][: len(gaps)]
    assert not command.at(TryAgain)


def test_what_reads_seconds_after_it_has_asked_is_noticed_in_two_seconds() -> None:
    """As on a busy machine; and not as the leader of its group, whom the look that costs little would find."""
    for reads_at in (1.2, 2.0, 3.3, 5.4, 7.2):
        command = Command(asks={reads_at: "interactive"})
        assert command.run(60.0) == "interactive"
        assert command.now <= reads_at + 2.0


def test_a_line_that_does_not_begin_is_tried_again_and_never_examined() -> None:
    command = Command(begins=1.0, ends=1.2, writes=())
    assert command.run(5.0) == "ended"
    assert all(when < 1.0 for when in command.at(TryAgain))
    assert command.at(TryAgain)
    assert all(when >= 1.0 for when in command.at(Examine))


def test_progress_is_reported_whatever_is_looked_at() -> None:
    command = Command(writes=tuple(number / 20 for number in range(200)))  # never silent
    command.run(10.0, reports=True)
    assert command.at(Report)
    assert not command.at(Examine)
    assert not Command().at(Report)


def test_another_machine_is_asked_later() -> None:
    near, far = Command(), Command()
    near.run(3.0)
    far.run(3.0, delay=0.5)
    assert far.at(Examine)[0] == pytest.approx(near.at(Examine)[0] + 0.5)
