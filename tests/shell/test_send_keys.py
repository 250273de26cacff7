"""When keys are typed, and what is done before and after: without a terminal."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from muxwire.errors import InvalidArgument, MuxwireError, TabUnavailable
from muxwire.shell.listener import PROMPT_GRACE
from muxwire.shell.look import TtyModes, Waiting
from muxwire.shell.prompt_line import EDITOR_GRACE
from muxwire.shell.send_keys import BEGIN_SECONDS, ESCAPE_PAUSE, LINE_MAX, TAKEN_BY_SHELL, TAKEN_SECONDS
from tests.shell.driven import PID
from tests.shell.test_ready import EVENTS, Storm, accept, reached
from tests.shell.world import PROGRAM, World, at_prompt

PASTED, LEFT = b"\x1b[?2004h", b"\x1b[?1;2004l"
LINES, KEYS = TtyModes(icanon=True, echo=True, isig=True), TtyModes(icanon=False, echo=False, isig=True)
PATIENT = 10.0


def send(world: World, *keys: str, within: float = PATIENT, paste: bool = False) -> tuple[int, int, str, bool | None]:
    return world.run(world.keys.send(keys, paste=paste, literal=False, enter=False, until=world.time + within))


def pressed(world: World) -> list[str]:
    return [one.removeprefix("press ") for one in world.done if one.startswith("press")]


def program(modes: TtyModes = LINES, shell: str = "zsh") -> World:
    """A program that a person started is in front."""
    world = at_prompt(shell)
    accept(world)
    world.runs("cat", "line")
    world.modes = modes
    world.groups.add(PROGRAM)
    world.write(b"\r\n")
    world.time += 1.0
    return world


def test_keys_are_typed_and_those_who_record_learn_of_it_first() -> None:
    world = program()
    sent, offset, note, taken = send(world, "yes", "Enter")
    assert (sent, offset, note, taken) == (4, world.stream.end, "", None)
    assert world.done.index("note_input") < next(i for i, one in enumerate(world.done) if one.startswith("press"))
    assert "".join(eval(one).decode() for one in pressed(world)) == "yes\r"
    assert world.session.last_input.offset == offset


@pytest.mark.parametrize(("alternate", "told"), [(b"0", True), (b"1", False)])
def test_a_text_that_is_not_seen_before_enter_is_said(alternate: bytes, told: bool) -> None:
    world = program(KEYS)
    world.flags = b"0 0 " + alternate + b" 0 0 0 0 0 200 50"
    note, taken = send(world, "fix the bug", "Enter")[2:]
    assert taken is False
    assert ("see with snapshot" in note) == told  # there many texts are commands, which are not shown
    world.pressed = lambda keys: world.write(keys + b"\n")
    assert send(world, "fix it", "Enter")[2:] == ("", True)


@pytest.mark.parametrize(("waiting", "asked"), [("password", b"Pw: "), ("raw", b"Password: ")])
def test_enter_after_a_secret_waits_for_nothing(waiting: Waiting, asked: bytes) -> None:
    """A relay has the terminal raw; the echo is off in the one behind it, or the question says so."""
    world = program(KEYS)
    world.runs("sudo", waiting)
    world.write(asked)
    begun = world.time
    assert send(world, "secret", "Enter")[2:] == ("", None)
    assert world.time - begun < TAKEN_SECONDS / 2


@pytest.mark.parametrize(
    ("text", "said", "pasted"),
    [
        ("two\nlines", PASTED, True),
        ("x" * 300, PASTED, True),
        (":%s/one/two/", PASTED, False),
        ("two\nlines", b"", False),
        ("two\nlines", PASTED + LEFT, False),
    ],
)
def test_a_message_is_one_paste_also_for_a_program_with_a_screen_of_its_own(
    text: str, said: bytes, pasted: bool
) -> None:
    world = program(KEYS)
    world.flags = b"0 0 1 0 0 0 0 0 200 50"
    world.write(said)
    send(world, text, "Enter")
    assert bool(world.pasted) == pasted


@pytest.mark.parametrize(
    ("shell", "said", "modes", "paste", "wanted"),
    [
        ("bash", PASTED, KEYS, False, b"a\x1b[200~\t\t\x1b[201~b\r"), ("bash", PASTED + LEFT, KEYS, False, None),
        ("ksh", b"", KEYS, False, None), ("dash", b"", LINES, False, b"a\t\tb\r"), ("fish", PASTED, KEYS, False, None),
        ("fish", PASTED, KEYS, True, None),
    ],
)  # fmt: skip
def test_tabs_of_a_text_are_pasted_or_it_is_said_that_they_may_be_lost(
    shell: str, said: bytes, modes: TtyModes, paste: bool, wanted: bytes | None
) -> None:
    world = at_prompt(shell)
    world.modes = modes
    world.write(said)
    note = send(world, "a\t\tb\n", paste=paste)[2]
    assert ("TABs" in note) == (wanted is None)
    assert wanted is None or world.input == wanted


def test_tabs_after_a_line_end_wait_for_the_line_editor() -> None:
    world = at_prompt("bash")
    world.write(PASTED)

    def pressed(keys: bytes) -> None:
        world.write(LEFT)
        world.later(TAKEN_BY_SHELL * 2, lambda: world.write(b"> " + PASTED))

    world.pressed = lambda keys: pressed(keys) if keys.endswith(b"\r") else None
    assert (send(world, "cat << E\n\ta\nE\n")[2], world.input) == ("", b"cat << E\r\x1b[200~\t\x1b[201~a\rE\r")


def test_after_a_command_its_prompt_comes_first() -> None:
    world = at_prompt("zsh")
    ran = world.typed()
    world.begins(ran)
    world.ends(ran)
    begun = world.time
    world.later(PROMPT_GRACE / 2, lambda: world.prompt(reads=b"1"))
    send(world, "x")
    assert PROMPT_GRACE / 2 <= world.time - begun < PROMPT_GRACE
    assert pressed(world) == ["b'x'"]


@pytest.mark.parametrize("begins_after", [BEGIN_SECONDS / 2, 2 * BEGIN_SECONDS])
def test_a_command_that_is_on_its_way_begins_first(begins_after: float) -> None:
    world = at_prompt("zsh")
    typed = world.typed()
    begun = world.time
    world.later(begins_after, lambda: world.begins(typed))
    send(world, "C-c")
    waited = min(begins_after, BEGIN_SECONDS)
    assert waited <= world.time - begun < waited + 2 * EDITOR_GRACE + 0.1
    assert pressed(world) == ["b'\\x03'"]


def test_an_escape_stands_alone() -> None:
    world = program(KEYS)
    begun = world.time
    send(world, "Escape", "x")
    assert pressed(world) == ["b'\\x1b'", "b'x'"]
    assert world.time - begun >= ESCAPE_PAUSE
    begun = world.time
    send(world, "Escape")
    assert world.time - begun < ESCAPE_PAUSE
    send(world, "x")
    assert world.time - begun >= ESCAPE_PAUSE


def test_a_line_that_the_terminal_would_cut_is_refused() -> None:
    world = program()
    with pytest.raises(InvalidArgument, match="reads by lines"):
        send(world, "x" * (LINE_MAX + 1))
    send(world, "x" * LINE_MAX)
    world.modes = KEYS
    send(world, "x" * (2 * LINE_MAX))


def test_what_takes_no_keys_is_said() -> None:
    world = program()
    world.flags = b"0 0 0 0 1 0 0 0 200 50"
    with pytest.raises(TabUnavailable, match="switched off"):
        send(world, "x")
    assert pressed(world) == []


def test_a_person_who_scrolls_is_told_of() -> None:
    world = program()
    world.flags = b"0 0 0 1 0 0 0 0 200 50"
    assert "copy mode" in send(world, "x")[2]


@pytest.mark.parametrize(
    ("ignores", "draws", "front", "modes", "presses", "taken"),
    [
        pytest.param(0, b"", "raw", KEYS, 1, True, id="it takes Enter"),
        pytest.param(1, b"", "raw", KEYS, 2, True, id="it takes none so soon after a paste"),
        pytest.param(9, b"", "raw", KEYS, 2, False, id="it takes none"),
        # Gemini CLI takes an Enter that comes soon after a paste for a line end in the text, and draws that.
        pytest.param(1, b"\n   ", "raw", KEYS, 2, True, id="it takes it for a line end soon after a paste"),
        pytest.param(9, b"\n   ", "raw", KEYS, 2, False, id="the text still stands in its box"),
        pytest.param(0, b"", "$(fzf)", KEYS, 1, True, id="it runs in the process group of the tab's shell"),
        pytest.param(1, b"", "", KEYS, 1, False, id="it may be about to take it"),
        pytest.param(1, b"", "ssh", KEYS, 1, False, id="its keys go to another machine"),
        pytest.param(0, b"", "raw", LINES, 1, False, id="the kernel shows what is typed ahead"),
    ],
)
def test_a_text_is_taken_if_enter_changes_the_screen(
    ignores: int, draws: bytes, front: str, modes: TtyModes, presses: int, taken: bool
) -> None:
    """It shows the text a moment after that was typed; `draws` is what it shows for an Enter that it ignores."""
    world, left = program(KEYS), ignores
    world.runs(
        "ssh" if front == "ssh" else "composer", "raw" if front else "", group=PID if front == "$(fzf)" else PROGRAM
    )

    def shows(keys: bytes) -> None:
        nonlocal left
        left -= keys == b"\r"
        if keys != b"\r":
            world.modes = modes
            world.later(0.2, lambda: world.write(keys))
        elif shown := draws if left >= 0 else b"\nthinking\n> ":
            world.write(shown)

    world.pressed = shows
    note, found = send(world, "hello", "Enter")[2:]
    assert (found, bool(note)) == (taken, not taken)
    assert world.input == b"hello" + b"\r" * presses


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    EVENTS,
    strategies.lists(strategies.sampled_from(["x", "Enter", "C-c", "Escape", "a text"]), min_size=1, max_size=4),
    strategies.booleans(), strategies.booleans(), strategies.booleans(), strategies.floats(0, 3),
)  # fmt: skip
def test_whatever_happens_keys_are_typed_or_refused_in_time(
    events: list[tuple[float, str]], keys: list[str], remote: bool, at: bool, running: bool, within: float
) -> None:
    world = at_prompt("bash") if at else program()
    world.round_trip = 0.1 if remote else 0.0
    if running:
        world.typed()
    Storm(world, events)
    begun = world.time
    with suppress(MuxwireError):
        send(world, *keys, within=within)
    each = PROMPT_GRACE + TAKEN_BY_SHELL + ESCAPE_PAUSE + BEGIN_SECONDS + 2 * within
    assert world.time - begun < 10.0 + each * len(keys)


def test_a_command_after_keys_still_finds_its_shell() -> None:
    world = at_prompt("bash")
    send(world, "x")
    assert reached(world).level == 1
