"""Whether what runs waits for input, and how commands end of which no mark says so: without a terminal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from muxwire.errors import ConnectionClosed, MuxwireError, TmuxSilent
from muxwire.shell import examine, nesting
from muxwire.shell.execution import Execution
from muxwire.shell.keys import CTRL_C
from muxwire.shell.listener import SILENT_SECONDS
from muxwire.shell.nesting import GONE_QUIET
from tests.shell.driven import NESTED_PID, PID
from tests.shell.test_ready import EVENTS, Storm
from tests.shell.world import World, at_prompt


def running(level: int = 1, *, shown: bytes = b"inner$ ", command: bytes = b"x") -> tuple[World, Execution]:
    """A command runs, in the tab's shell or in one nested in it."""
    world = at_prompt("bash")
    if level > 1:
        reached = world.typed()
        world.begins(reached)
        world.write(shown)
        world.groups.add(NESTED_PID)
    ran = world.typed(level, NESTED_PID if level > 1 else 0, shown if level > 1 else b"", command)
    world.begins(ran)
    world.runs("make")
    world.time += 1.0
    return world, ran


def asks(world: World) -> None:
    world.runs("cat", "line")


def asks_inside(world: World) -> None:
    world.runs("ssh", hidden=True)
    world.write(b"Go on? ")


@pytest.mark.parametrize(
    ("prepare", "rejoining", "found"),
    [
        pytest.param(lambda w: None, False, "", id="it works"),
        pytest.param(asks, False, "interactive", id="it reads"),
        pytest.param(asks_inside, False, "", id="what reads like a question, just now"),
        pytest.param(asks, True, "", id="some of its output is missing"),
    ],
)
def test_what_runs_waits_where_the_kernel_says_so(
    prepare: Callable[[World], None], rejoining: bool, found: str
) -> None:
    world, ran = running()
    prepare(world)
    world.stream.rejoining = rejoining
    assert world.run(examine.examined(world.port, ran)) == found
    assert ran.waits_at(world.stream.end) == (found == "interactive")


def test_a_question_that_cannot_be_seen_into_is_told_once() -> None:
    world, ran = running()
    asks_inside(world)
    world.time += SILENT_SECONDS
    assert world.run(examine.examined(world.port, ran)) == "silent"
    assert (world.run(examine.examined(world.port, ran)), world.run(examine.awaits_input(world.port))) == ("", "silent")


@pytest.mark.parametrize("goes_on", [lambda w: w.write(b"more"), lambda w: w.runs("make")], ids=["writes", "runs"])
def test_what_has_changed_meanwhile_is_no_proof(goes_on: Callable[[World], None]) -> None:
    """A claim needs proof: between the look and the answer of tmux the command may have ended, or have gone on."""
    world, ran = running()
    asks(world)

    def answers(_: tuple[str, ...]) -> tuple[bytes, ...]:
        goes_on(world)
        return ()

    world.submitted = answers
    assert world.run(examine.examined(world.port, ran)) == ""
    asks(world)
    assert world.run(examine.awaits_input(world.port)) == ""


@pytest.mark.parametrize(("late", "found"), [(0.2, ""), (60.0, "interactive")])
def test_a_shell_that_reads_may_be_at_a_prompt_of_which_nothing_has_come_yet(late: float, found: str) -> None:
    """On a busy machine the kernel itself is late: tmux answers, and has read nothing of it."""
    world, ran = running()
    world.runs("bash", "editor")
    world.front_group, world.sleeps = PID, "editor"
    world.later(late, lambda: world.ends(ran))
    assert world.run(examine.examined(world.port, ran)) == found
    assert ran.running == bool(found)


@pytest.mark.parametrize("failure", [ConnectionClosed("gone"), TmuxSilent("silent", remedy="wait")])
def test_a_tmux_that_does_not_answer_proves_nothing(failure: MuxwireError) -> None:
    world, ran = running()
    asks(world)
    world.submitted = Mock(side_effect=failure)
    with suppress(TmuxSilent):
        assert world.run(examine.examined(world.port, ran)) == ""
    assert not ran.waits_at(world.stream.end)
    world.submitted, world.reachable = lambda _: (), False
    assert world.run(examine.examined(world.port, ran)) == ""


@pytest.mark.parametrize(
    ("change", "looks"),
    [
        pytest.param(lambda w, ran: None, True, id="it runs and is silent"),
        pytest.param(lambda w, ran: w.write(b"more"), False, id="it has just written"),
        pytest.param(lambda w, ran: ran.asks(w.stream.end, "a line of input"), False, id="it waits, as was said"),
        pytest.param(lambda w, ran: ran.fell_silent(w.stream.end), False, id="it is silent, as was said"),
        pytest.param(lambda w, ran: w.ends(ran) or w.naps(1.0), False, id="it has ended"),
    ],
)
def test_a_result_looks_at_what_may_wait_and_was_not_told(
    change: Callable[[World, Execution], None], looks: bool
) -> None:
    world, ran = running()
    change(world, ran)
    world.run(examine.for_result(world.port, ran))
    assert bool(world.looks) == looks


# -- ends that no mark says


def test_a_nested_shell_at_its_prompt_is_asked_how_the_command_ended() -> None:
    world, ran = running(2)
    world.front_group, world.program, world.found = NESTED_PID, "bash", world.found
    world.write(b"^C\r\ninner$ ")
    world.time += 1.0
    world.run(nesting.settle_end(world.port, ran))
    assert next(one for one in world.done if "press" in one or one == "hide") == "hide"
    assert len([one for one in world.done if "press" in one]) == 1
    assert ran.cut >= 0
    world.run(nesting.settle_end(world.port, ran))  # it has been asked
    assert len([one for one in world.done if "press" in one]) == 1
    world.write(b"^C\r\ninner$ ")  # a C-c has thrown the question away
    world.time += 1.0
    world.run(nesting.settle_end(world.port, ran))
    assert len([one for one in world.done if "press" in one]) == 2


@pytest.mark.parametrize(("quiet", "lives", "ended"), [(2.0, False, True), (0.5, False, False), (2.0, True, False)])
def test_a_command_ends_with_its_nested_shell(quiet: float, lives: bool, ended: bool) -> None:
    world, ran = running(2)
    world.write(b"\r\n$ ")
    world.runs("cat", "line")
    if not lives:
        world.groups.discard(NESTED_PID)
    world.time += quiet * GONE_QUIET
    world.run(nesting.settle_end(world.port, ran))
    assert bool(ran.ending) == ended
    assert not ended or ran.exit_code is None


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(EVENTS, strategies.sampled_from([1, 2]), strategies.booleans())
def test_whatever_happens_an_examination_ends(events: list[tuple[float, str]], level: int, remote: bool) -> None:
    """And a command that it says has ended was not typed again."""
    world, ran = running(level)
    world.round_trip = 0.1 if remote else 0.0
    Storm(world, events)
    begun = world.time
    for decides in (
        examine.examined(world.port, ran),
        examine.awaits_input(world.port),
        examine.for_result(world.port, ran),
    ):
        with suppress(MuxwireError):
            assert world.run(decides) in ("interactive", "silent", "met", "", None)
    assert world.time - begun < 10.0
    assert CTRL_C not in world.input
