"""ShellSession: every state and every input, and what no sequence of inputs may do."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from muxwire.shell.execution import Execution
from muxwire.shell.left_shell import starts_shell
from muxwire.shell.session_table import (
    COMMAND_TABLE,
    SHELL_TABLE,
    CommandEnded,
    Fact,
    Input,
    LineTaken,
    OutputBegan,
    PromptBegan,
    ShellGone,
    ShellState,
)
from muxwire.verbs.types import OnTimeout
from tests.shell.driven import (
    ENDED,
    NESTED_PID,
    NONCE,
    OTHER,
    PID,
    REACHED,
    RUNNING,
    THEIRS,
    TYPED,
    Driven,
    entered,
    inner,
    osc,
    prompt,
    reached,
)

REACHED_BY = {
    ShellState.STARTING: (),
    ShellState.PROMPT: (Driven.prompt,),
    ShellState.SUBMITTED: TYPED,
    ShellState.ACCEPTED: (*TYPED, Driven.accept),
    ShellState.RUNNING: RUNNING,
    ShellState.FINISHED: ENDED,
    ShellState.EXITED: (Driven.prompt, Driven.exit),
    ShellState.CLOSED: (Driven.prompt, Driven.close),
}


DONE_BY: dict[Input, tuple[Callable[[Driven], object], ...]] = {
    Input.LINE_TYPED: (entered,),
    Input.LINE_ACCEPTED: (Driven.accept,),
    Input.OUTPUT_START: (Driven.type, Driven.begin),  # another command
    Input.COMMAND_FINISHED: (Driven.type, Driven.finish),
    Input.PROMPT_START: (Driven.prompt,),
    Input.PROMPT_FOUND: (Driven.find_prompt,),
    Input.SHELL_REPLACED: (Driven.replace,),
    Input.SHELL_EXITED: (Driven.exit,),
    Input.PANE_CLOSED: (Driven.close,),
}

# Said once more, by initials (T is STARTING's, and X EXITED's), in the order of the states.
EXPECTED = {
    Input.LINE_TYPED: "TSSARFXC",
    Input.LINE_ACCEPTED: "TAAARAXC",
    Input.OUTPUT_START: "RRRRRRXC",
    Input.COMMAND_FINISHED: "FFFFFFXC",
    Input.PROMPT_START: "PPPPPPXC",
    Input.PROMPT_FOUND: "TPPPPPXC",
    Input.SHELL_REPLACED: "TTTTTTXC",
    Input.SHELL_EXITED: "XXXXXXXC",
    Input.PANE_CLOSED: "CCCCCCCC",
}
STATES = dict(zip("TPSARFXC", ShellState, strict=True))


def test_the_table_is_whole() -> None:
    assert {what: [*row] for what, row in SHELL_TABLE.items()} == {key: [*ShellState] for key in EXPECTED}
    assert DONE_BY.keys() | COMMAND_TABLE.keys() == set(Input)


@pytest.mark.parametrize("what", SHELL_TABLE)
@pytest.mark.parametrize("state", ShellState)
def test_every_state_and_every_input(state: ShellState, what: Input) -> None:
    driven = reached(REACHED_BY[state])
    assert driven.session.state is state
    for step in DONE_BY[what]:
        step(driven)
    assert driven.session.state is STATES[EXPECTED[what][[*ShellState].index(state)]]


COMMAND_CASES: dict[Input, tuple[Callable[[Driven], object], str, str]] = {
    Input.COMMAND_FINISHED: (lambda driven: driven.finish(0), "completed", "completed"),
    Input.PROMPT_START: (Driven.prompt, "typed", "aborted"),
    Input.SHELL_EXITED: (Driven.exit, "shell_exited", "shell_exited"),
    Input.PROMPT_FOUND: (Driven.find_prompt, "lost", "lost"),
    Input.PANE_CLOSED: (Driven.close, "lost", "lost"),
    Input.LINE_DISCARDED: (
        lambda driven: driven.session.line_discarded(driven.commands[0], driven.now(), end=len(driven.data)),
        "never_ran",
        "running",
    ),
    Input.LINE_INTERRUPTED: (
        lambda driven: driven.session.line_interrupted(driven.commands[0], driven.now(), end=len(driven.data)),
        "aborted",
        "running",
    ),
    Input.SHELL_REPLACED: (Driven.replace, "typed", "completed"),
}


@pytest.mark.parametrize("what", COMMAND_CASES)
def test_every_phase_of_a_command_and_every_input(what: Input) -> None:
    do, from_typed, from_running = COMMAND_CASES[what]
    for begun, phase in ((False, from_typed), (True, from_running)):
        driven = reached(TYPED)
        if begun:
            driven.begin()
        do(driven)
        assert (driven.commands[0].phase, driven.commands[0].ran) == (phase, begun)
        if driven.commands[0].ending:  # the end stays what it was, whatever comes
            before = len([fact for fact in driven.facts if isinstance(fact, CommandEnded)])
            for again in itertools.chain(*DONE_BY.values()):
                again(driven)
            driven.finish(0)
            assert driven.commands[0].phase == phase
            ends = [fact for fact in driven.facts if fact == CommandEnded(driven.commands[0])]
            assert (before, len(ends)) == (1, 1)


@pytest.mark.parametrize("begun", [False, True])
def test_the_end_of_a_command_ends_what_was_typed_into_its_shell(begun: bool) -> None:
    driven = reached(RUNNING)
    driven.feed(b"nested$ ")
    nested = driven.type(level=2)
    if begun:
        driven.begin()
    assert (driven.session.state, driven.session.running) == (ShellState.RUNNING, nested)
    driven.finish(0, status=7)
    assert [(one.ending, one.exit_code) for one in driven.commands] == [("completed", 7), ("shell_lost", None)]
    assert "reached by 'x', has ended (status 7); the tab is back in its own shell, in /tmp" in nested.note
    assert driven.session.left is not None


# A command in a nested shell, the status with which that ends, and the exit code that is known by it.
LEFT = [
    (b"exit 9", 9, 9),
    (b"echo bye; exit 9", 9, 9),
    (b"make || exit 1", 1, None),
    (b"exit 9", 255, None),
    (b"exit", 3, 3),
    (b"exit", 255, None),
    (b"logout\n", 0, 0),
    (b"exec sleep 5", 0, 0),
    (b"exec sleep 5", 137, None),
    (b"exec 3>&1", 0, None),
    (b"if true; then exit 4; fi", 4, None),
    (b"echo exit", 0, None),
]


@pytest.mark.parametrize("keys", [False, True])
@pytest.mark.parametrize(("command", "status", "code"), LEFT)
def test_what_a_command_in_a_nested_shell_has_done_that_is_gone(
    command: bytes, status: int, code: int | None, keys: bool
) -> None:
    driven = Driven()
    driven.prompt()
    if keys:
        driven.session.line_entered()
        driven.accept()
    else:
        driven.type(command=b"ssh box")
        driven.begin()
    nested = driven.type(level=2, command=command)
    driven.begin()
    if not keys:
        driven.finish(0, status)
    driven.prompt(status)
    assert (nested.running, nested.exit_code) == (False, code)
    assert f"the tab is back in its own shell, in {'/home' if keys else '/tmp'}" in nested.note
    # Who leaves a shell knows it; for all others the next command is refused.
    leaves = command.split(b"; ")[-1].split(maxsplit=1)[0] in (b"exit", b"logout") or b"sleep" in command
    assert (driven.session.left is None) == leaves


@pytest.mark.parametrize("begun", [False, True])
def test_a_prompt_of_the_tabs_own_ends_what_was_typed_into_a_nested_shell(begun: bool) -> None:
    driven = reached(THEIRS)
    nested = driven.type(level=2)
    if begun:
        driven.begin()
    driven.prompt(255)
    assert (nested.ending, nested.exit_code) == ("shell_lost", None)


def test_a_nested_shell_that_ends_between_two_commands_is_told_once() -> None:
    driven = reached(
        (
            Driven.prompt,
            lambda driven: driven.type(command=b"ssh box"),
            Driven.begin,
            inner,
            Driven.begin,
            Driven.finish,
        )
    )
    assert driven.session.left is None
    driven.finish(0, status=255)
    driven.prompt(255)
    session = driven.session
    assert session.left is not None
    assert session.left.note.startswith(
        "the shell that ran the command before, reached by 'ssh box', has ended (status 255)"
    )
    told = []
    for number in (1, 0):  # a caller has the result of what reached it
        session.told_of(driven.commands[number])
        told.append(session.left is None)
    assert told == [False, True]


def test_another_shell_that_answers_in_place_of_a_nested_one_ends_what_ran_there() -> None:
    driven = reached(THEIRS)
    nested = driven.type(level=2, token=NONCE)
    driven.begin()
    driven.feed(osc(f"H;{nested.command_id};';1;{NONCE}"))
    assert nested.running
    driven.feed(osc(f"H;{nested.command_id};';255;{OTHER}"))
    assert (nested.ending, nested.exit_code) == ("shell_lost", None)
    assert "has ended (status 255); the tab is back in the shell before it" in nested.note


def test_a_command_in_a_nested_shell_does_not_move_the_tabs_own() -> None:
    driven = reached(REACHED["nested, ended"])
    assert driven.session.state is ShellState.ACCEPTED
    assert driven.commands[0].phase == "completed"


def test_an_output_begins_for_the_command_that_its_mark_names() -> None:
    driven = reached(TYPED)
    driven.type()
    driven.begin(0)
    assert [one.started for one in driven.commands] == [True, False]
    driven.feed(osc(f"S;{OTHER}"))
    assert [one.started for one in driven.commands] == [True, False]


@pytest.mark.parametrize("status", [0, 3])
def test_one_mark_that_ends_a_command_and_begins_a_prompt(status: int) -> None:
    one, two = (reached((*TYPED, Driven.begin), "bash") for _ in range(2))
    command_id = one.commands[0].command_id
    one.feed(osc(f"E;{command_id};{status};/home;{command_id}"))
    one.prompt(status)
    two.feed(osc(f"Q;{command_id};{status};2;{NONCE};/home;{command_id}"))
    told = [[type(fact) for fact in driven.facts] for driven in (one, two)]
    assert told[0] == told[1]
    for driven in (one, two):
        session, command = driven.session, driven.commands[0]
        assert (session.state, session.prompt_seq, session.cwd) == (ShellState.PROMPT, 2, "/home")
        assert (session.prompt_status, session.prompt_end) == (status, len(driven.data))
        assert (command.ending, command.exit_code, command.cwd) == ("completed", status, "/home")


@pytest.mark.parametrize(
    "foreign",
    [
        prompt(9, nonce=OTHER),
        prompt(9, pid=NESTED_PID),  # a shell that inherited the prompt
        prompt(1),  # a log that was shown again
        osc(f"C;{OTHER};1"),
        osc(f"C;{NONCE};2"),
        osc(f"X;{OTHER};0"),
        osc(f"D;{OTHER};1;0"),
        osc(f"E;{OTHER};0;/;{OTHER}"),
        osc(f"Q;{OTHER};0;9;{OTHER};/;{OTHER}"),
        osc(f"Q;{OTHER};0;1;{NONCE};/;{OTHER}"),  # a log that was shown again
    ],
)
def test_what_is_not_ours_moves_nothing(foreign: bytes) -> None:
    driven = reached(TYPED)
    before = (driven.session.state, driven.session.prompt_seq, driven.session.cwd, [*driven.facts])
    driven.feed(foreign)
    assert (driven.session.state, driven.session.prompt_seq, driven.session.cwd, driven.facts) == before


def test_a_bash_says_at_its_start_that_it_marks_accepted_lines() -> None:
    driven = Driven("bash")
    assert not driven.session.has_preexec_mark
    driven.feed(osc(f"C;{NONCE};0"))
    assert (driven.session.state, driven.session.has_preexec_mark, driven.facts) == (ShellState.STARTING, True, [])


@pytest.mark.parametrize(
    ("shell", "before", "status", "expected"),
    [
        ("zsh", b"out\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m" + b" " * 9 + b"\r \r", 0, (3, 130)),
        ("bash", b"out", 1, (3, 1)),
        ("bash", b"^C\r\n", 1, (4, 130)),  # before 4.4
        ("ksh", b"out", 256, (3, 130)),
        ("ksh", b"out", 265, (3, 137)),
        ("dash", b"out", 2, (3, 2)),
    ],
)
def test_a_prompt_says_how_a_command_was_cut_short(
    shell: str, before: bytes, status: int, expected: tuple[int, int]
) -> None:
    driven = reached(TYPED, shell)
    driven.begin()
    driven.feed(before)
    driven.prompt(status=status)
    command = driven.commands[0]
    assert (command.end - command.begin, command.exit_code, command.ending) == (*expected, "aborted")


def test_fish_says_where_the_output_ended_before_its_prompt() -> None:
    driven = reached(RUNNING, "fish")
    driven.feed(b"out\r\n\x1b]133;D;5\x07" + osc(f"D;{NONCE};1;5") + b"\x1b[?1h" + osc(f"D;{NONCE};0;7"))  # a late one
    driven.prompt(status=5)
    command = driven.commands[0]
    assert (command.end - command.begin, command.exit_code) == (5, 5)


def test_commands_of_an_earlier_process() -> None:
    """Marks since the first whose end nobody saw say what became of each; a line that was overtaken never ran."""
    driven = reached((*TYPED, Driven.type))
    log = driven.data
    later = Driven()
    later.data = log
    later.commands = driven.commands
    assert later.session.recall(driven.commands, PID, 7) == len(log)
    assert later.session.state is ShellState.SUBMITTED
    later.commands[1].typed_at += 1
    later.begin(1)
    later.session.recalled(later.now(), end=len(later.data))
    assert [one.phase for one in later.commands] == ["never_ran", "running"]
    assert later.session.last_input.offset == 7


def test_a_nested_shell_that_had_ended_before_this_process_came_refuses_nothing() -> None:
    earlier = reached((Driven.prompt, inner, Driven.begin))
    later = Driven()
    later.session.recall(earlier.commands, PID, -1)
    later.prompt()
    later.prompt()
    assert later.session.left is not None
    later.session.recalled(later.now(), end=len(later.data))
    assert later.session.left is None


def told(fact: Fact) -> tuple[object, ...]:
    match fact:
        case OutputBegan(execution):
            return "began", execution.command_id, execution.begin
        case CommandEnded(command):
            return "ended", command.command_id, command.ending, command.begin, command.end, command.exit_code
        case LineTaken() | PromptBegan() | ShellGone():
            return (fact,)


# What happens to a pane: bytes of its stream, or (as a number) a command of that level that we type.
PIECES = st.sampled_from(
    [
        1, 1, 2, *(prompt(seq) for seq in range(1, 5)), prompt(3, pid=NESTED_PID), prompt(3, nonce=OTHER),
        *(osc(f"C;{NONCE};{seq}") for seq in range(4)), *(osc(f"S;{number:016x}") for number in range(4)),
        *(osc(f"E;{number:016x};1;/e;{number:016x}") for number in range(4)), osc(f"D;{NONCE};2;0"),
        *(osc(f"Q;{number:016x};1;{number + 1};{NONCE};/e;{number:016x}") for number in range(4)),
        osc(f"X;{NONCE};3"), osc(f"N;{NONCE};1"), osc(f"B;{0:016x};1"), osc(f"T;{0:016x}"), b"out\r\n", b"\x1b]777",
        b"\x1b[7m%\x1b[27m   \r \r", b"^C\r\n",
    ]
)  # fmt: skip


def drive(pieces: list[int | bytes], size: int, shell: str) -> Driven:
    driven = Driven(shell)
    for piece in pieces:
        if isinstance(piece, int):
            driven.type(piece)
        else:
            for at in range(0, len(piece), size):
                driven.feed(piece[at : at + size])
    return driven


@given(pieces=st.lists(PIECES, max_size=24), size=st.integers(1, 40), shell=st.sampled_from(["bash", "zsh", "fish"]))
def test_chunks_do_not_matter(pieces: list[int | bytes], size: int, shell: str) -> None:
    whole, cut = drive(pieces, 1 << 20, shell), drive(pieces, size, shell)
    assert [*map(told, cut.facts)] == [*map(told, whole.facts)]
    assert cut.session.state is whole.session.state


@given(pieces=st.lists(PIECES, max_size=30), shell=st.sampled_from(["bash", "zsh", "fish", "dash"]))
def test_what_no_sequence_does(pieces: list[int | bytes], shell: str) -> None:
    driven = Driven(shell)
    begun: list[Execution] = []
    ended: list[Execution] = []
    prompts: list[int] = []
    for piece in pieces:
        known, seen, gone = [*driven.commands], len(driven.facts), driven.session.dead
        if isinstance(piece, int):
            driven.type(piece)
        else:
            driven.feed(piece)
        for fact in driven.facts[seen:]:
            match fact:
                case OutputBegan(execution) if execution is not None:
                    # Not before it was typed, once, and not after its end.
                    assert execution in known
                    assert execution not in [*begun, *ended]
                    begun.append(execution)
                case CommandEnded(execution):
                    assert execution in known
                    assert execution not in ended
                    assert execution.typed_at <= execution.begin <= execution.end <= len(driven.data)
                    ended.append(execution)
                case PromptBegan(end):
                    assert not gone
                    prompts.append(end)
                    assert not [one for one in known if one.phase == "running"]  # rule 4
                    assert driven.session.state is ShellState.PROMPT
        live = driven.session.running
        assert live is None or live.running
        assert [one for one in driven.commands if one.ending] == [one for one in driven.commands if one in ended]
    assert prompts == sorted(prompts)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ("", 2.0),  # typed at 2, ended at 4: a shell that does not say how long it took
        (":100.0:101.5", 1.5),
        (":100.0:103.0", 2.0),  # longer than since it was typed: the clock was set meanwhile
        (":100.0:99.0", 2.0),
    ],
)
def test_a_command_lasts_as_its_shell_says_and_never_less_than_it_can_have(times: str, seconds: float) -> None:
    driven = reached(TYPED)
    command = driven.commands[-1]
    # Both marks come in one read, as those of a short command do.
    driven.feed(osc(f"S;{command.command_id}") + osc(f"E;{command.command_id};0{times};/tmp;{command.command_id}"))
    assert command.lasted(driven.now()) == pytest.approx(seconds)


FORGED = ("S;{}", "T;{}", "B;{};1", "B;{};0", "E;{};0;/x;{}", "Q;{};0;99;{};/x;{}", "H;{};';0", "R;{}", "X;{};0",
          "P;{};99;4242;0;/x;{}", "C;{};1", "D;{};1;0", "N;{};1")  # fmt: skip


@pytest.mark.parametrize("state", [state for state in REACHED_BY if state is not ShellState.CLOSED])
@pytest.mark.parametrize("text", FORGED)
def test_marks_that_are_not_of_the_tab_change_nothing(state: ShellState, text: str) -> None:
    driven = reached(REACHED_BY[state])
    driven.session.hide("f" * 16, len(driven.data))
    names = [name for name in vars(driven.session) if not name.startswith("_")]
    before = {name: getattr(driven.session, name) for name in names}
    told = list(driven.facts)
    commands = [(command.phase, command.cut, command.note, list(command.ours)) for command in driven.commands]
    for word in (OTHER, "a" * 16):
        driven.feed(osc(text.replace("{}", word)))
    assert {name: getattr(driven.session, name) for name in names} == before
    assert driven.facts == told
    assert [(one.phase, one.cut, one.note, list(one.ours)) for one in driven.commands] == commands


def ask(driven: Driven, *, written: bytes = b"") -> None:
    """Ask a nested shell how its command ended, out of sight; `written` comes before."""
    session, command_id = driven.session, driven.commands[-1].command_id
    end = osc(f"T;{command_id}") if session.hidden_id else b""
    session.hide(command_id, len(driven.data))
    driven.feed(written + end + osc(f"B;{command_id};1") + b"case in")


def throw_away(driven: Driven) -> None:
    driven.feed(b"^C\r\n$ ")


def ask_later(driven: Driven) -> None:
    """The end of the first question came after the second one was typed."""
    ask(driven, written=osc(f"T;{driven.commands[-1].command_id}"))


@pytest.mark.parametrize(
    "asks",
    [
        (ask,),
        (ask, throw_away, ask),
        (ask, ask_later),  # the shell had read the first question by then
        (ask, lambda driven: driven.session.unhide(reported=True), ask_later),  # the first was taken back
    ],
)
def test_what_a_nested_shell_is_asked_twice_is_no_output_either(asks: tuple[Callable[[Driven], None], ...]) -> None:
    driven = reached((*RUNNING, lambda driven: driven.feed(b"$ "), inner, Driven.begin, throw_away))
    for step in asks:
        step(driven)
    driven.feed(osc(f"T;{driven.commands[-1].command_id}"))
    outer, session = driven.commands[0], driven.session
    assert outer.held == -1
    assert (session.hidden_id, session.hidden_since, session.hidden_begin) == ("", -1, -1)
    driven.finish()
    driven.feed(b"$ ")
    seen, at = b"", outer.begin
    for begin, end in sorted(outer.ours):
        seen, at = seen + driven.data[at:begin], max(at, end)
    assert (seen + driven.data[at:]).startswith(b"$ ")
    assert not any(word in seen + driven.data[at:] for word in (b"case", b";B;", b";T;"))


@pytest.mark.parametrize(
    ("on_timeout", "signal_sent", "running", "ended"),
    [
        ("leave", "", True, False),  # it ended by itself
        ("leave", "SIGINT", True, False),  # by stop_process, later
        ("interrupt", "SIGINT", True, True),
        ("interrupt", "", True, False),  # it ended by itself before anything was sent
    ],
)
def test_a_command_timed_out_if_it_runs_on_after_its_time_or_was_ended_for_it(
    on_timeout: OnTimeout, signal_sent: str, running: bool, ended: bool
) -> None:
    driven = reached(TYPED)
    command = driven.commands[-1]
    assert not command.timed_out
    driven.begin()
    command.overdue(on_timeout)
    command.signalled(signal_sent)
    assert command.timed_out is running
    driven.finish()
    assert command.timed_out is ended


def test_the_status_at_a_prompt_is_known_if_its_mark_said_so() -> None:
    driven, known = Driven("ksh"), []
    driven.prompt(256 + 15)
    known.append(driven.session.status_at_prompt)
    driven.type()
    driven.find_prompt()
    known.append(driven.session.status_at_prompt)
    driven.prompt(1)
    known.append(driven.session.status_at_prompt)
    assert known == [128 + 15, None, 1]


def test_a_command_waits_no_longer_once_keys_were_typed_though_nothing_was_written() -> None:
    driven = reached((*TYPED, Driven.begin))
    command = driven.commands[-1]
    end = len(driven.data)
    command.asks(end, "a line")
    command.fell_silent(end)
    assert command.waits_at(end)
    assert command.silent_since(end)
    assert not command.waits_at(end + 1)
    driven.session.input_typed(b"y\r", end)
    assert not command.waits_at(end)
    assert not command.silent_since(end)
    command.asks(end, "a line")  # by a new look
    assert command.waits_at(end)


@pytest.mark.parametrize(
    ("command", "starts"),
    [
        (b"bash", True), (b"bash --norc", True), (b"cd / && bash --norc", True), (b"sudo -i", True),
        (b"TERM=x zsh -f", True), (b"env A=b /usr/bin/fish", True), (b"ls; exec dash", True), (b"echo bash", False),
        (b"exec $SHELL -l", True), (b"""A='b c' D="e f" ssh box""", True), (b"""A='b c' echo ssh""", False),
        (b"bash -c true | cat", False), (b"basher", False), (b"python3", False), (b"bash; echo done", False),
    ],
)  # fmt: skip
def test_which_commands_start_a_shell(command: bytes, starts: bool) -> None:
    assert starts_shell(command) is starts


def test_a_note_is_added_once__also_if_it_is_a_part_of_another() -> None:
    command = Execution("1", b"", prompt_seq=1, typed_at=0, typed_time=0.0)
    for note in ("15 bytes are lost", "5 bytes are lost", "", "a; b", "5 bytes are lost", "a; b"):
        command.explain(note)
    assert command.note == "15 bytes are lost; 5 bytes are lost; a; b"
