"""Who gets a line that is typed now, and what a caller is told if nobody does: a row for each, without a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from muxwire.errors import State, TabUnavailable
from muxwire.host.shells import shell_for
from muxwire.shell.execution import Execution
from muxwire.shell.listener import (
    DRAWN,
    FIRST_PROMPT,
    PROMPT_GRACE,
    PROMPT_SILENT,
    QUIET,
    START_TIMEOUT,
    UNHOOKED_QUIET,
    ForegroundShell,
    InFront,
    find_listener,
    hidden_waiting,
    on_its_way,
    prompt_at_end,
    prompt_expected,
    ready_deadline,
    refusal,
    shows_prompt,
)
from muxwire.shell.look import Foreground, Judgement, Waiting
from muxwire.shell.session import ShellSession
from tests.shell.driven import ENDED, NESTED_PID, NONCE, PID, RUNNING, Driven, inner, osc, reached

OTHER_PID = 4444
LATER = 60.0
HIDDEN = Judgement("", True)
Steps = tuple[Callable[[Driven], object], ...]
STARTING: Steps = ()
PROMPT: Steps = (Driven.prompt,)
NESTED: Steps = (*RUNNING, inner, Driven.begin)
NESTED_ENDED: Steps = (*NESTED, Driven.finish)
PERSONS: Steps = (Driven.prompt, Driven.accept)
# It took the hook of the prompt away: no mark of one comes before the next line.
PERSONS_TWICE: Steps = (*PERSONS, Driven.accept)
# The tab is being closed, and its shell has ended.
HUNG_UP: Steps = (Driven.prompt, lambda driven: driven.session.hang_up(), Driven.exit)


def front(
    name: str, waiting: Waiting = "editor", *, pid: int = NESTED_PID, found: Judgement | None = None, **more: object
) -> InFront:
    values = {"silent": LATER, "waited": LATER, **more}
    return InFront(Foreground(pid, name), found or Judgement(waiting), shell_for(name), **values)  # type: ignore[arg-type]


def own(name: str, waiting: Waiting = "editor", **more: object) -> InFront:
    return front(name, waiting, pid=PID, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shell", "before", "seen", "level"),
    [
        # A nested shell on this terminal.
        ("zsh", RUNNING, front("bash"), 2),
        ("zsh", RUNNING, front("dash", "line"), 2),
        ("zsh", RUNNING, front("bash", ""), 0),  # it computes
        ("zsh", RUNNING, front("bash", "line"), 0),  # a `read`
        ("zsh", RUNNING, front("bash", "password"), 0),
        ("zsh", RUNNING, front("bash", script=True), 0),
        ("zsh", RUNNING, front("bash", silent=DRAWN / 2), 0),  # it still writes
        ("zsh", PROMPT, front("bash", silent=DRAWN / 2), 2),
        ("zsh", NESTED, front("bash"), 0),  # it runs a command of ours, which reads
        ("zsh", NESTED_ENDED, front("bash"), 2),
        # A program that relays another terminal.
        ("zsh", RUNNING, front("ssh", "raw", raw=True), 2),
        ("zsh", RUNNING, front("ssh", found=HIDDEN, raw=True), 2),
        ("zsh", RUNNING, front("ssh", "line", raw=False), 0),
        ("zsh", RUNNING, front("ssh", found=HIDDEN, raw=True, secret=True), 0),
        ("zsh", RUNNING, front("ssh", found=HIDDEN, raw=True, silent=QUIET / 2), 0),
        ("zsh", NESTED, front("ssh", found=HIDDEN, raw=True), 0),
        ("zsh", NESTED, front("script", "raw", raw=True, inner=OTHER_PID), 0),  # a `read` of that very shell
        ("zsh", NESTED, front("script", "raw", raw=True, inner=OTHER_PID, begun=True), 2),
        ("zsh", NESTED, front("script", "raw", raw=True, inner=OTHER_PID, begun=True, silent=QUIET / 2), 0),
        # A program of another user, of which nothing is told, not even its name.
        ("zsh", RUNNING, front("", found=HIDDEN, raw=True, prompted=True), 2),
        ("zsh", RUNNING, front("", found=HIDDEN, raw=True, prompted=True, silent=PROMPT_SILENT / 2), 0),
        ("zsh", RUNNING, front("", found=HIDDEN, raw=True, prompted=True, editor=True, silent=QUIET), 2),
        ("zsh", RUNNING, front("", found=HIDDEN, raw=True, editor=True), 0),
        ("zsh", RUNNING, front("", found=HIDDEN, prompted=True), 0),
        ("zsh", RUNNING, front("", found=HIDDEN, raw=True, prompted=True, secret=True), 0),
        ("zsh", RUNNING, front("", "raw", raw=True, prompted=True), 0),
        ("zsh", RUNNING, front("python3", "raw", raw=True), 0),
        ("zsh", RUNNING, front("psql", "editor", raw=True), 0),
        # The tab's own shell, without a prompt of ours.
        ("zsh", PERSONS, own("zsh"), 0),
        ("zsh", ENDED, own("zsh"), 2),
        ("zsh", RUNNING, own("zsh"), 0),
        ("zsh", PROMPT, own("zsh", "line"), 1),  # `unsetopt zle`
        ("zsh", PERSONS, own("zsh", "line"), 0),
        ("zsh", PERSONS_TWICE, own("zsh"), 1),
        ("zsh", PERSONS_TWICE, own("zsh", "line"), 0),
        # A start-up file that became another shell.
        ("zsh", STARTING, front("bash", silent=UNHOOKED_QUIET), 2),
        ("zsh", STARTING, front("bash", silent=UNHOOKED_QUIET / 2, waited=0.0), 0),
        ("zsh", STARTING, front("dash", "line", waited=0.0), 0),
        ("zsh", STARTING, front("dash", "line", waited=START_TIMEOUT), 2),
    ],
)
def test_who_gets_a_line(shell: str, before: Steps, seen: InFront, level: int) -> None:
    driven = reached(before, shell)
    found = find_listener(driven.session, seen, driven.now() + LATER)
    assert (found.level if found is not None else 0) == level


def test_the_tabs_own_shell_has_a_moment_for_the_mark_of_its_prompt() -> None:
    driven = reached(ENDED)
    end = driven.commands[-1].end_time
    assert find_listener(driven.session, own("zsh"), end + PROMPT_GRACE / 2) is None
    assert find_listener(driven.session, own("zsh"), end + 2 * PROMPT_GRACE) is not None


def test_an_editor_is_off_where_the_tabs_own_shell_reads_lines() -> None:
    driven = Driven()
    driven.prompt()
    found = find_listener(driven.session, own("zsh", "line"), LATER)
    assert found is not None
    assert not found.edits


@pytest.mark.parametrize("before", [PROMPT, RUNNING, NESTED, ENDED, PERSONS, STARTING])
@pytest.mark.parametrize("name", ["zsh", "bash", "dash", "ssh", "python3"])
@pytest.mark.parametrize("pid", [PID, NESTED_PID, OTHER_PID])
def test_where_nothing_waits_nobody_listens(before: Steps, name: str, pid: int) -> None:
    driven = reached(before)
    for found in (Judgement(), Judgement("password")):
        assert find_listener(driven.session, front(name, pid=pid, found=found, raw=name != "ssh"), LATER) is None


def test_a_shell_that_starts_has_more_time_than_the_call() -> None:
    driven = Driven()
    assert ready_deadline(driven.session, 10.0, 10.1) == 10.0 + START_TIMEOUT
    driven.prompt()
    assert ready_deadline(driven.session, 10.0, 10.1) == 10.1


@pytest.mark.parametrize(
    ("shell", "before", "drawn", "expected"),
    [
        ("zsh", PROMPT, b"$ ", True),
        ("zsh", PROMPT, b"ls\r\n", True),  # zsh would have said that it took a line
        ("dash", PROMPT, b"$ ", True),
        ("dash", PROMPT, b"$ ls\r\n", False),
        ("zsh", ENDED, b"", True),
        ("zsh", RUNNING, b"", False),
        ("zsh", PERSONS, b"", False),
        ("zsh", STARTING, b"", False),
    ],
)
def test_whether_the_shell_comes_to_its_prompt_by_itself(
    shell: str, before: Steps, drawn: bytes, expected: bool
) -> None:
    driven = reached(before, shell)
    assert on_its_way(driven.session, drawn) is expected


@pytest.mark.parametrize(
    ("found", "line", "editor", "expected"),
    [
        (HIDDEN, "Password: ", False, "password"),
        (HIDDEN, "box$ ", True, "editor"),
        (HIDDEN, "In [1]: ", True, "raw"),
        (HIDDEN, "box$ ", False, ""),
        (HIDDEN, "  ", True, ""),
        (Judgement(), "Password: ", True, ""),
    ],
)
def test_what_is_waited_for_where_it_cannot_be_seen(found: Judgement, line: str, editor: bool, expected: str) -> None:
    assert hidden_waiting(found, line, editor=editor) == expected


@pytest.mark.parametrize(
    ("last_line", "expected"),
    [
        (b"$ ", True),
        (b"", False),
        (b"   ", False),
        (b"%" + b" " * 79 + b"\r \r", False),  # zsh, after an output without a line end
        (b"%" + b" " * 79 + b"\r \rbox% ", True),
        (b"\x1b[1m#   \x1b[m", False),
        ("⏎ \r".encode(), False),
    ],
)
def test_whether_a_prompt_stands_there(last_line: bytes, expected: bool) -> None:
    assert shows_prompt(last_line) is expected


def execution(prompt: bytes, name: str = "bash") -> Execution:
    return Execution("0" * 16, b"x", 1, 0, 0.0, level=2, shell_prompt=prompt, shell_name=name)


@pytest.mark.parametrize(
    ("prompt", "name", "tail", "silent", "expected"),
    [
        (b"box$ ", "bash", b"out\r\nbox$ ", False, b"box$ "),
        (b"box$ ", "bash", b"out\r\n\x1b[32mbox$\x1b[m ", False, b"\x1b[32mbox$\x1b[m "),  # as it looks
        (b"a\nbox$ ", "bash", b"out\r\na\nbox$ ", False, b"a\nbox$ "),
        (b"box$ ", "bash", b"out\r\n", False, None),
        (b"box$ ", "bash", b"more? ", True, None),  # a question is no prompt
        (b"box$ ", "bash", b"^C\r\nin /tmp$ ", False, b"in /tmp$ "),  # after C-c any prompt will do
        (b"/$ ", "dash", b"^C\r\nname? ", False, None),  # a `read` of dash looks like its prompt
        (b"/$ ", "dash", b"^C\r\n/tmp$ ", False, b"/tmp$ "),
        # Over a relay it is not seen whether a shell asks, or a program that goes on after a C-c.
        (b"box# ", "", b"^C\r\nmysql> ", True, None),
        (b"box# ", "", b"^C\r\ndb=# ", True, None),
        (b"box# ", "", b"^C\x1b[?2004l\r\r\n(interrupt) use quit to exit.\r\n\x1b[?2004h", True, None),  # bc
        (b"box# ", "", b"^C\r\n\x1b[?2004hin /tmp# ", False, b"\x1b[?2004hin /tmp# "),
        (b"a\nbox> 9:59", "", b"^C\r\nbox/tmp> 10:00", True, b"box/tmp> 10:00"),
        (b"", "bash", b"^C\r\n", True, b""),  # an empty prompt
        (b"", "bash", b"^C\r\n", False, None),
        (b"", "bash", b"^C", True, None),
        (b"", "fish", b"\r\nout^Cbox> ", False, b"box> "),
        (b"box$ ", "bash", b"box$ ^C\r\nbox$ ", False, b"box$ "),  # a program has written that; the C-c ended it
        (b"box$ ", "bash", b"^C\r\nbox$ ls^C\r\nbox$ ", False, b"box$ "),
    ],
)
def test_where_the_prompt_of_a_nested_shell_begins(
    prompt: bytes, name: str, tail: bytes, silent: bool, expected: bytes | None
) -> None:
    assert prompt_at_end(execution(prompt, name), tail, silent=silent) == expected


def test_how_long_the_prompt_of_a_nested_shell_is_waited_for() -> None:
    driven = reached(RUNNING)
    there, here = ForegroundShell(shell_for("bash"), 2, NESTED_PID), ForegroundShell(shell_for("zsh"), 2, PID)
    assert prompt_expected(driven.session, there) == PROMPT_GRACE  # its first
    assert prompt_expected(driven.session, here) is None
    command = driven.type(level=2)
    assert prompt_expected(driven.session, there) is None  # the last one was empty
    command.shell_prompt = b"box$ "
    assert prompt_expected(driven.session, there) == FIRST_PROMPT


Refuse = Callable[[ShellSession], TabUnavailable]


def refused(state: State, program: str = "", **seen: Any) -> Refuse:
    return lambda session: refusal(session, state, LATER, program=program, **seen)


@pytest.mark.parametrize(
    ("before", "refuse", "what", "remedy", "state"),
    [
        (STARTING, refused("dead"), "ended by its start-up files", "--shell", "dead"),
        ((Driven.exit,), refused("dead"), "ended by its start-up files with status 3", "`shell`", "dead"),
        (
            (lambda driven: driven.feed(osc(f"X;{NONCE};139")),),
            refused("dead"),
            "program has ended with status 139",
            "create_tab",
            "dead",
        ),
        ((Driven.prompt, Driven.exit), refused("dead"), "program has ended with status 3", "create_tab", "dead"),
        (HUNG_UP, refused("dead"), "the tab was closed", "create_tab", "dead"),
        (RUNNING, refused("running", machine="box"), "box does not answer", "link is up", "running"),
        (STARTING, refused("starting"), "first prompt yet", "read the tab's log", "starting"),
        (STARTING, refused("starting", asks=True), "start-up files wait", "answer with `send_keys`", "starting"),
        (
            PROMPT,
            refused("prompt", "git"),
            "not wait at its prompt: git runs, started by its prompt or its line editor",
            "more time",
            "busy",
        ),
        (RUNNING, refused("running", "top"), "'x' (command_id", "command_result", "running"),
        (RUNNING, refused("interactive", "cat"), "and cat waits for input", "wait_for", "interactive"),
        (
            NESTED,
            refused("interactive", "script"),
            "script waits for input",
            "start it again with `send_keys`",
            "interactive",
        ),
        (
            PERSONS,
            refused("busy", "make"),
            "make runs in the foreground, from a line that was typed",
            "stop_process",
            "busy",
        ),
        (PROMPT, refused("busy", "make"), "not started by execute_command", "stop_process", "busy"),
        (PROMPT, refused("busy", ""), "a program runs", "stop_process", "busy"),
    ],
)
def test_what_a_command_is_refused_with(before: Steps, refuse: Refuse, what: str, remedy: str, state: State) -> None:
    driven = reached(before)
    error = refuse(driven.session)
    assert what in str(error)
    assert remedy in error.remedy
    assert error.state == state
