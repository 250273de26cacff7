"""Who would read a line that is typed now, and what is done until somebody does: without a terminal."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies

from muxwire.errors import ConnectionClosed, MuxwireError, TabUnavailable, TmuxSilent
from muxwire.shell.execution import Execution
from muxwire.shell.keys import CTRL_C
from muxwire.shell.listener import DRAWN, PROMPT_GRACE, START_TIMEOUT, ForegroundShell
from muxwire.shell.look import Judgement, TtyModes, Waiting
from muxwire.shell.marks import ID_RANDOM, own_id
from muxwire.shell.nesting import PROBE_TIMEOUT, prompt_of
from muxwire.shell.prompt_line import BUSY_GRACE, EDITOR_GRACE, LATE_GRACE, LOOK_MAX, SLEEPS_LONG
from muxwire.shell.ready import INTERRUPT_SECONDS, UNEXAMINED_SECONDS
from tests.shell.driven import NESTED_PID, NONCE, OTHER, osc
from tests.shell.world import Over, World, at_prompt

# A call's own timeout, longer than whatever is decided earlier.
PATIENT = 10.0
# A command of another process begins, also in a nested shell, and ends.
_OTHERS = own_id(bytes.fromhex(OTHER)[:ID_RANDOM], NONCE)
ENDED = osc(f"E;{_OTHERS};0;/;{_OTHERS}")
NESTED = osc(f"C;{NONCE};1") + osc(f"T;{_OTHERS}") + osc(f"S;{_OTHERS}")
ANSWERS_IN = 0.3  # seconds that a foreign shell takes to answer a probe
C_C, ENTER = f"press {CTRL_C!r}", "press b'\\r'"


def reached(world: World, seconds: float = PATIENT) -> ForegroundShell:
    return world.run(world.ready.reached(world.time + seconds))


def accept(world: World) -> None:
    """A person enters a line."""
    world.write(osc(f"C;{world.session.nonce};{world.session.prompt_seq}"))


# -- at a prompt of ours


@pytest.mark.parametrize(
    ("shell", "reads", "edits"),
    [("bash", b"1", True), ("bash", b"0", False), ("fish", b"1", True), ("dash", b"0", False)],
)
def test_a_shell_that_says_that_it_reads_is_not_asked(shell: str, reads: bytes, edits: bool) -> None:
    world = World(shell)
    world.prompt(reads=reads)
    world.sleeps = ""
    found = reached(world)
    assert (found.level, found.edits, world.done, world.looks) == (1, edits, [], 0)


def test_its_word_takes_the_place_of_the_kernels() -> None:
    """A hook of the prompt may sleep until keys come: it reads the terminal, for a moment."""
    world = at_prompt()
    accept(world)
    world.prompt(b"")
    world.later(0.3, lambda: world.write(osc(f"A;{NONCE};1")))
    begun = world.time
    assert reached(world).level == 1
    assert 0.3 <= world.time - begun < 0.3 + 2 * LOOK_MAX


@pytest.mark.parametrize(("shell", "keys"), [("bash", b"\x03"), ("dash", b"\x03"), ("zsh", b"")])
def test_an_unfinished_command_is_thrown_away_where_the_key_does_not_leave_it(shell: str, keys: bytes) -> None:
    world = at_prompt(shell)
    world.write(osc(f"A;{NONCE};2"))
    world.pressed = lambda _: world.later(0.01, functools.partial(world.prompt, status=130, reads=b"1"))
    assert (reached(world).level, world.input) == (1, keys)


@pytest.mark.parametrize(("shell", "reads"), [("bash", b""), ("ksh", b""), ("dash", b""), ("bash", b"1")])
def test_a_shell_that_is_late_at_its_prompt_is_given_longer_than_a_program(shell: str, reads: bytes) -> None:
    """The machine is busy, and others write into the terminal after the prompt's mark. Or a person has had a shell
    that reads begin a program, as fzf.
    """
    world = World(shell)
    world.prompt(reads=reads)
    world.sleeps, world.time = "", world.time + SLEEPS_LONG
    world.write(b"printed by a job\r\n")
    assert not world.on_its_way()
    world.later((BUSY_GRACE + LATE_GRACE) / 2, lambda: setattr(world, "sleeps", "editor"))
    assert (reached(world).level, world.sleeps) == (1, "editor")


def test_what_a_person_started_is_given_a_moment() -> None:
    world = at_prompt("zsh")
    accept(world)
    world.runs("ls")
    world.later(BUSY_GRACE / 2, world.comes_back)
    assert reached(world).level == 1


def test_the_prompt_after_a_command_of_ours_is_waited_for_longer_than_a_program() -> None:
    world = at_prompt("zsh")
    ran = world.typed()
    world.begins(ran)
    world.ends(ran)
    world.sleeps, world.found = "", Judgement()
    world.later(3 * BUSY_GRACE, world.comes_back)
    assert reached(world).level == 1


@pytest.mark.parametrize(
    ("prepare", "seconds", "state"),
    [
        pytest.param(lambda w: w.runs("vim"), BUSY_GRACE, "busy", id="a person's program"),
        pytest.param(lambda w: w.runs("cat", "line"), BUSY_GRACE, "interactive", id="one that waits"),
        pytest.param(lambda w: w.begins(w.typed()) or w.runs("make"), PATIENT, "running", id="a command of ours"),
        pytest.param(lambda w: w.write(NESTED + ENDED) or w.runs("vim"), BUSY_GRACE, "busy", id="after a nested one"),
        pytest.param(
            lambda w: w.begins(w.typed()) or w.runs("cat", "line"), 0.15, "interactive", id="one of ours that waits"
        ),
        pytest.param(lambda w: w.write(osc(f"X;{w.session.nonce};3")), 0.0, "dead", id="it has ended"),
    ],
)
def test_a_command_is_refused_once_waiting_is_no_use(
    prepare: Callable[[World], object], seconds: float, state: str
) -> None:
    world = at_prompt("zsh")
    if seconds == BUSY_GRACE:
        accept(world)
    prepare(world)
    begun = world.time
    with pytest.raises(TabUnavailable) as refused:
        reached(world)
    assert refused.value.state == state
    assert seconds <= world.time - begun <= seconds + 0.5
    assert not any("press" in one for one in world.done)
    assert world.done.count("take_received") == (state != "dead")
    assert world.looks <= 100 * max(seconds, 1.0)  # with a wait between two


@pytest.mark.parametrize(("timeout", "comes"), [(0.5, START_TIMEOUT - 1), (4 * START_TIMEOUT, 3 * START_TIMEOUT)])
def test_a_shell_that_starts_is_waited_for_longer_than_a_call(timeout: float, comes: float) -> None:
    world = World()
    world.runs("bash")
    world.later(comes, world.comes_back)
    assert reached(world, timeout).level == 1


@pytest.mark.parametrize(("timeout", "waits"), [(0.5, ""), (4 * START_TIMEOUT, "line")])
def test_a_shell_that_does_not_start_is_refused_as_is_one_that_asks(timeout: float, waits: Waiting) -> None:
    world = World()
    world.runs("bash", waits)
    with pytest.raises(TabUnavailable):
        reached(world, timeout)
    assert START_TIMEOUT <= world.time < START_TIMEOUT + 1


def test_a_shell_that_shows_no_mark_is_examined_after_a_moment() -> None:
    world = World()
    world.started_at = world.time
    world.runs("bash")
    world.later(UNEXAMINED_SECONDS / 3, lambda: world.write(b"motd\r\n"))
    with pytest.raises(Over):
        world.run(world.ready.reached(PATIENT), UNEXAMINED_SECONDS * 1.1)
    assert world.looks
    world.looks = 0
    with pytest.raises(Over):  # nor does a later call wait once more
        world.run(world.ready.reached(PATIENT), world.time + DRAWN)
    assert world.looks


def test_a_stopped_shell_continues() -> None:
    world = at_prompt("zsh")
    accept(world)
    world.runs("ksh")
    world.stopped = True
    world.later(0.1, world.comes_back)
    reached(world)
    assert world.done.count("continue") == 1


# -- what was typed before


def test_a_c_c_is_dealt_with_first() -> None:
    world = at_prompt()
    world.interrupted_at = world.time
    world.later(0.1, lambda: world.prompt(status=130, reads=b"1"))
    reached(world)
    begun = world.time
    reached(world)  # once
    assert world.time - begun < 0.1


@pytest.mark.parametrize(
    ("shell", "says", "seconds"),
    [("bash", False, PROMPT_GRACE), ("fish", True, PROMPT_GRACE), ("bash", True, INTERRUPT_SECONDS)],
)
def test_a_shell_that_sleeps_may_not_have_got_the_c_c(shell: str, says: bool, seconds: float) -> None:
    """Of one that would draw a prompt at it the kernel's word is none; in any case it is waited for once."""
    world = at_prompt(shell, known=says)
    world.interrupted_at = begun = world.time
    reached(world)
    assert seconds <= world.time - begun < seconds + PROMPT_GRACE


@pytest.mark.parametrize(
    ("statuses", "drawn", "seconds", "typed"),
    [
        ((0, 130), b"$ ", 0.2, b""), ((3,), b"$ ", PROMPT_GRACE, b""),
        ((0,), b"$ ^C", PROMPT_GRACE, CTRL_C), ((), b"$ ^C", PROMPT_GRACE, CTRL_C), ((), b"$ ", PROMPT_GRACE, CTRL_C),
    ],
)  # fmt: skip
def test_a_c_c_without_its_prompt_is_late_or_kept(
    statuses: tuple[int, ...], drawn: bytes, seconds: float, typed: bytes
) -> None:
    """The shell sleeps at an older prompt until the kernel has passed the C-c on. Or it keeps it until the next, or its
    prompt has no mark, as a hook was interrupted.
    """
    world = at_prompt(drawn=drawn)
    accept(world)
    world.pressed = lambda _: world.later(0.01, functools.partial(world.prompt, status=130, reads=b"1"))
    world.interrupted_at = begun = world.time
    for number, status in enumerate(statuses, 1):
        world.later(0.1 * number, functools.partial(world.prompt, drawn, status, reads=b"1"))
    reached(world)
    assert seconds <= world.time - begun < seconds + 0.1
    assert world.input == typed


def accepts(world: World) -> None:
    """The shell takes the next of the lines that were typed."""
    accept(world)
    world.runs("sleep")


@pytest.mark.parametrize(
    ("shell", "prepare", "read", "seconds"),
    [
        pytest.param("bash", lambda w: None, "read", 0.0, id="it waits for keys"),
        pytest.param("bash", lambda w: w.runs("git"), "", EDITOR_GRACE, id="a program of its prompt"),
        pytest.param("bash", lambda w: w.later(0.1, w.wakes) or w.naps(), "read", 0.1, id="it comes to read"),
        pytest.param("bash", lambda w: w.later(0.1, lambda: accepts(w)) or w.naps(), "", 0.1, id="it takes a line"),
        pytest.param("dash", lambda w: w.runs("sleep"), "", EDITOR_GRACE, id="one that does not say so"),
        pytest.param(
            "bash", lambda w: w.later(0.1, lambda: accepts(w)) or w.later(0.2, w.comes_back) or w.naps(), "", 0.1,
            id="and ends it",
        ),
        pytest.param("bash", lambda w: w.naps(LATE_GRACE), "unseen", EDITOR_GRACE, id="it is not seen to wait"),
        pytest.param("bash", lambda w: w.naps(LATE_GRACE) or w.runs("git"), "", EDITOR_GRACE, id="a slow program"),
    ],
)  # fmt: skip
def test_the_prompt_at_which_all_typed_lines_are_read(
    shell: str, prepare: Callable[[World], object], read: str, seconds: float
) -> None:
    world = at_prompt(shell)
    prepare(world)
    begun = world.time
    assert world.run(world.ready.lines_read()) == read
    assert seconds <= world.time - begun <= seconds + 0.1


def later_prompt(world: World, seconds: float = 0.1) -> None:
    """What took our line for more of itself is thrown away."""
    world.later(seconds, lambda: world.prompt(status=130))


def lost(world: World, *, heard: bool = True, rejoining: bool = False) -> None:
    """A prompt shows, for long enough, that the line never ran."""
    world.prompt()
    world.time += 1.0
    world.heard, world.stream.rejoining = heard, rejoining


def begins_late(world: World, line: Execution) -> None:
    lost(world)
    world.later(0.2, lambda: world.begins(line))


# What happens to a line that was typed a second ago, what the keys call forth that are typed then, and what is done.
LOST: dict[str, tuple[Callable[[World, Execution], None], Callable[[World, Execution, bytes], None], list[str]]] = {
    "a prompt came, and no start mark before it": (lambda w, _: lost(w), lambda *_: None, ["type_again"]),
    "the prompt is too new": (lambda w, _: w.prompt(), lambda *_: None, []),
    "an open quote": (lambda *_: None, lambda w, *_: later_prompt(w), [C_C, "type_again"]),
    "an open quote, no editor": (
        lambda *_: None, lambda w, _, keys: later_prompt(w) if keys == b"\r" else None, [C_C, ENTER, "type_again"],
    ),
    "no prompt ever comes": (lambda *_: None, lambda *_: None, [C_C, ENTER, "type_again"]),
    "its shell does something": (lambda w, _: w.naps(), lambda *_: None, []),
    "something is written": (lambda w, _: w.write(b"by a program"), lambda *_: None, []),
    "it has begun": (lambda w, line: w.begins(line), lambda *_: None, []),
    "it may have begun while nobody heard": (lambda w, _: lost(w, heard=False), lambda *_: None, []),
    "it begins as what was before it is thrown away": (
        lambda *_: None, lambda w, line, _: w.later(0.05, lambda: w.begins(line)), [C_C],
    ),
    "it begins late": (begins_late, lambda *_: None, []),
    "some of its output is missing": (lambda w, _: lost(w, rejoining=True), lambda *_: None, []),
    "two calls see it": (  # a second C-c would hit the line that was typed again
        lambda *_: None, lambda w, line, _: w.run(w.ready.unstick(line)), [C_C, ENTER, "type_again"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST)
def test_a_line_is_typed_again_only_if_it_never_ran(what: str) -> None:
    happens, calls_forth, done = LOST[what]
    world = at_prompt()
    line = world.typed()
    world.time += 1.0
    world.pressed = lambda keys: calls_forth(world, line, keys)
    happens(world, line)
    world.run(world.ready.unstick(line))
    assert [one for one in world.done if one.startswith(("press", "type_again"))] == done


# -- shells that our hooks do not reach


def nested(program: str = "bash", *, hidden: bool = False) -> World:
    """A tab in which a command of ours started a shell, or reached one."""
    world = at_prompt()
    ran = world.typed()
    world.begins(ran)
    world.front_group, world.program, world.sleeps = NESTED_PID, program, ""
    world.groups.add(NESTED_PID)
    world.found = Judgement("" if hidden else "editor", hidden)
    world.write(b"inner$ ")
    world.time += 1.0
    return world


@pytest.mark.parametrize("program", ["bash", "ssh"])
def test_a_foreign_shell_is_probed(program: str) -> None:
    world = nested(program, hidden=program == "ssh")
    answer = osc(f"H;{world.new_id()};\\;7;{OTHER}") + b"inner$ "  # and its prompt once more
    world.pressed = lambda _: world.later(ANSWERS_IN, lambda: world.write(answer))
    found = reached(world)
    assert (found.level, found.pgrp, found.status, found.token) == (2, NESTED_PID, 7, OTHER)
    assert [one[:5] for one in world.done if one[:5] in ("hide", "press")] == ["hide", "press"]
    assert world.run(prompt_of(world.port, found)) == b"inner$ "


def test_what_does_not_answer_a_probe_is_no_shell() -> None:
    world = nested("ssh", hidden=True)
    with pytest.raises(TabUnavailable, match="no shell answered"):
        reached(world)
    assert world.done[-1].startswith("press")
    assert PROBE_TIMEOUT <= world.time < PROBE_TIMEOUT + 5


@pytest.mark.parametrize(("since", "refused"), [(b"\x1b[?1049htop", True), (b"\x1b[?12;25l", True), (b"1049h", False)])
def test_a_program_with_the_whole_screen_is_not_probed(since: bytes, refused: bool) -> None:
    """One that has taken it since the tab's own prompt: what an earlier one has left so is no reason to refuse."""
    world = nested("ssh", hidden=True)
    world.write(since)
    world.submitted = lambda words: (b"10",) if "flag" in words[-1] else ()
    with pytest.raises(TabUnavailable, match="full-screen program" if refused else "no shell answered"):
        reached(world)
    assert any("press" in one for one in world.done) != refused


# -- tmux, or a machine, that does not answer


def test_a_silent_tmux_is_waited_for_until_the_deadline() -> None:
    silent = TmuxSilent("tmux does not answer", remedy="wait")
    world = at_prompt(known=False)
    world.submitted = Mock(side_effect=[*[silent] * 20, *[()] * 20])
    world.time += 1.0
    assert reached(world).level == 1
    world = at_prompt(known=False)
    world.submitted = Mock(side_effect=silent)
    with pytest.raises(TmuxSilent):
        reached(world, 0.5)


def test_another_machine_that_does_not_answer_is_named() -> None:
    world = at_prompt(known=False)
    world.machine, world.round_trip, world.reachable = "box", 0.1, False
    world.stream.rejoining = True
    begun = world.time
    with pytest.raises(TabUnavailable, match="box does not answer"):
        reached(world, 1.0)
    assert 1.0 <= world.time - begun < 2.0


# -- whatever happens

EVENT = strategies.sampled_from(
    ["prompt", "prompt130", "text", "begin", "end", "program", "waits", "hidden", "back", "stop", "raw", "rejoin",
     "sleeps", "silent", "closed", "exit", "stranger"]
)  # fmt: skip
EVENTS = strategies.lists(strategies.tuples(strategies.floats(0, 3), EVENT), max_size=12)


class Storm:
    """Events in any order, each at its time from now on."""

    def __init__(self, world: World, events: list[tuple[float, str]]) -> None:
        self.world = world
        self.failure: type[MuxwireError] | None = None
        world.submitted = self._answer
        for when, what in events:
            world.later(when, functools.partial(self.happen, what))

    def _answer(self, _: tuple[str, ...]) -> tuple[bytes, ...]:
        if self.failure is TmuxSilent:
            self.world.time += self.world.answer_seconds
            raise TmuxSilent("silent", remedy="")
        if self.failure is ConnectionClosed:
            raise ConnectionClosed("closed")
        return ()

    def happen(self, what: str) -> None:
        world, running = self.world, self.world.session.running
        if world.session.dead:
            return
        match what:
            case "prompt" | "prompt130":
                world.prompt(status=130 if what == "prompt130" else 0)
            case "text":
                world.write(b"text")
            case "begin" if running is not None and not running.started:
                world.begins(running)
            case "end" if running is not None and running.started:
                world.ends(running)
            case "program":
                world.runs("make")
            case "waits":
                world.runs("cat", "line")
            case "hidden":
                world.runs("ssh", hidden=True)
            case "back":
                world.comes_back()
            case "stop":
                world.stopped = True
            case "raw":
                world.modes = TtyModes(icanon=True, echo=True, isig=True)
            case "rejoin":
                world.stream.rejoining = not world.stream.rejoining
            case "sleeps":
                world.sleeps = "" if world.sleeps else "line"
            case "silent":
                self.failure = None if self.failure else TmuxSilent
            case "closed":
                self.failure = None if self.failure else ConnectionClosed
            case "exit":
                world.write(osc(f"X;{world.session.nonce};3"))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example([(1.0, "hidden"), (2.0, "exit"), (0.5, "begin")], "bash", False, False, True, 1.0)
@given(
    EVENTS, strategies.sampled_from(["bash", "zsh", "fish", "ksh", "dash", "busybox"]), strategies.booleans(),
    strategies.booleans(), strategies.booleans(), strategies.floats(0, 3),
)  # fmt: skip
def test_whatever_happens_every_call_ends(
    events: list[tuple[float, str]], shell: str, remote: bool, known: bool, running: bool, seconds: float
) -> None:
    """With a listener or an error, in time; and nothing is typed into a tab that has ended (`World.carry_out`)."""
    world = at_prompt(shell, known=known)
    world.machine, world.round_trip = ("box", 0.1) if remote else ("", 0.0)
    if running:
        world.typed()
    Storm(world, events)
    begun = world.time
    with suppress(MuxwireError):
        assert reached(world, seconds).level in (1, 2)
    # What was begun in time may have limits of its own: a probe, keys that a shell is slow to take, tmux's silence.
    assert world.time - begun < seconds + START_TIMEOUT + PROBE_TIMEOUT + 3 * LATE_GRACE
