"""Who waits for input, by what the kernel says of a terminal: a row for each kind of program."""

from __future__ import annotations

from dataclasses import replace

import pytest

from muxwire.shell.look import (
    Foreground,
    Judgement,
    PaneLook,
    Process,
    Rest,
    Shown,
    Sleep,
    TtyModes,
    asks,
    asks_secret,
    reads_as_prompt,
    sleeps_for_keys,
)

SHELL, PROGRAM, INSIDE, OTHER = 10, 20, 30, 40
LINES = TtyModes(icanon=True, echo=True, isig=True)
SECRET = TtyModes(icanon=True, echo=False, isig=True)
RAW = TtyModes(icanon=False, echo=False, isig=False)

READ = Sleep("S", "wait_woken", "read", tty=True)
READ_FILE = Sleep("S", "wait_woken", "read", tty=False)
READ_UNKNOWN = Sleep("S", "wait_woken")
WRITE = Sleep("S", "wait_woken", "write", tty=True)
POLL = Sleep("S", "poll_schedule_timeout.constprop.0", "poll", tty=True, alone=True, endless=True)
POLL_TIMED = Sleep("S", "poll_schedule_timeout.constprop.0", "poll", tty=True, alone=True)
POLL_BRIEF = Sleep("S", "poll_schedule_timeout.constprop.0", "poll", tty=True, alone=True, brief=True)
POLL_MORE = Sleep("S", "do_epoll_wait", "poll", tty=True, endless=True)
POLL_TIMED_MORE = Sleep("S", "do_epoll_wait", "poll", tty=True)
POLL_FILE = Sleep("S", "do_epoll_wait", "poll", tty=False)
POLL_UNKNOWN = Sleep("S", "ep_poll")
NANOSLEEP = Sleep("S", "hrtimer_nanosleep")
JOIN, JOIN_TIMED = Sleep("S", "futex_do_wait", endless=True), Sleep("S", "futex_wait_queue")
POLL_SOCKETS = Sleep("S", "do_epoll_wait", "poll", tty=False, endless=True)
POLL_BRIEF_MORE = replace(POLL_BRIEF, alone=False)
CHILD = Sleep("S", "do_wait")
RUNS = Sleep("R", "0", tty=False)
HIDDEN = Sleep("S", "0")
TEXT, SCREEN, BLANK = Shown(line=True), Shown(screen=True), Shown()
STILL_TEXT, STILL_SCREEN, STILL_BLANK = (replace(one, still=True) for one in (TEXT, SCREEN, BLANK))
AT_PYTHON, AT_ITS_NEXT_LINE = Shown.of(">>> ", screen=False), Shown.of("... ", screen=False)


def program(
    *sleeps: Sleep, name: str = "prog", closed: bool = False, inner: tuple[PaneLook | None, ...] = ()
) -> Process:
    return Process(PROGRAM, SHELL, PROGRAM, SHELL, program=name, closed=closed, sleeps=sleeps, inner=inner)


def child(*sleeps: Sleep) -> Process:
    """Another process of the group in the foreground."""
    return Process(PROGRAM + 1, PROGRAM, PROGRAM, SHELL, program="other", sleeps=sleeps)


def in_its_group(*sleeps: Sleep) -> Process:
    """What a shell runs in its own process group."""
    return Process(PROGRAM, SHELL, SHELL, SHELL, program="prog", sleeps=sleeps)


def stranger(*sleeps: Sleep, name: str = "prog", parent: int = 1) -> Process:
    return Process(OTHER, parent, OTHER, OTHER, controls=False, program=name, sleeps=sleeps)


def pane(modes: TtyModes | None, *processes: Process, foreground: int = PROGRAM, tells: bool = True) -> PaneLook:
    shell = Process(SHELL, 1, SHELL, SHELL, program="bash", sleeps=(NANOSLEEP,))
    return PaneLook(SHELL, modes, foreground, (shell, *processes), tells=tells)


def inside(modes: TtyModes, *sleeps: Sleep) -> PaneLook:
    return PaneLook(0, modes, INSIDE, (Process(INSIDE, PROGRAM, INSIDE, INSIDE, program="inner", sleeps=sleeps),))


EMPTY = PaneLook(0, LINES, 0)
EDITS = PaneLook(SHELL, RAW, SHELL, (Process(SHELL, 1, SHELL, SHELL, program="bash", sleeps=(POLL,)),))
UNSEEN = Judgement("", hidden=True)

ROWS: dict[str, tuple[PaneLook, Shown, Judgement | str]] = {
    "a read": (pane(LINES, program(READ)), BLANK, "line"),
    "a read without echo": (pane(SECRET, program(READ)), BLANK, "password"),
    "a read of a raw terminal": (pane(RAW, program(READ)), BLANK, "raw"),
    "a read of what lies there": (pane(replace(LINES, unread=True), program(READ)), TEXT, ""),
    "a shell's editor that has not come to its keys": (
        replace(EDITS, modes=replace(RAW, unread=True)), TEXT, ""),
    "a read of another file": (pane(LINES, program(READ_FILE)), TEXT, ""),
    "a read of an unknown file": (pane(LINES, program(READ_UNKNOWN)), BLANK, ""),
    "a read of an unknown file, after text": (pane(LINES, program(READ_UNKNOWN)), TEXT, "line"),
    "a read of an unknown file, without echo": (pane(SECRET, program(READ_UNKNOWN)), BLANK, "password"),
    "a write that the terminal does not take": (pane(LINES, program(WRITE)), TEXT, ""),
    "a write to a raw terminal": (pane(RAW, program(WRITE)), TEXT, ""),
    "a thread that reads beside one that sleeps": (pane(LINES, program(NANOSLEEP, READ)), TEXT, ""),
    "beside one that computes": (pane(LINES, program(RUNS, READ)), TEXT, ""),
    "beside one that reads a connection": (pane(LINES, program(READ_FILE, READ)), TEXT, ""),
    "beside one that waits some time for a thread": (pane(LINES, program(JOIN_TIMED, READ)), TEXT, ""),
    "beside one that waits some time for events": (pane(LINES, program(POLL_FILE, READ)), STILL_TEXT, ""),
    "a thread that reads, which the main one waits for": (pane(LINES, program(JOIN, READ)), TEXT, "line"),
    "which asks for nothing": (pane(LINES, program(JOIN, READ, JOIN_TIMED)), BLANK, ""),
    "which asks for nothing, and nothing else is there": (pane(RAW, program(JOIN, READ)), BLANK, "raw"),
    "a thread that reads, for a loop of events": (pane(LINES, program(POLL_SOCKETS, READ)), TEXT, "line"),
    "a thread that reads, where nothing is known of polls": (pane(LINES, program(POLL_UNKNOWN, READ)), TEXT, "line"),
    "JLine at its prompt": (pane(RAW, program(JOIN, JOIN_TIMED, READ)), TEXT, "raw"),
    "JLine while the line is evaluated": (pane(RAW, program(JOIN, JOIN_TIMED, READ)), BLANK, ""),
    "one that was just woken": (pane(RAW, program(RUNS)), TEXT, ""),
    "sleep": (pane(LINES, program(NANOSLEEP)), TEXT, ""),
    "sleep, raw": (pane(RAW, program(NANOSLEEP)), SCREEN, ""),
    "busybox read": (pane(LINES, program(POLL)), BLANK, "line"),
    "read -t of bash": (pane(LINES, program(POLL_TIMED)), TEXT, "line"),
    "read -t of bash, without a prompt": (pane(LINES, program(POLL_TIMED)), BLANK, ""),
    "a server that polls its keys": (pane(LINES, program(POLL_MORE)), BLANK, ""),
    "a server that asks": (pane(LINES, program(POLL_MORE)), TEXT, "line"),
    "a server that polls with a limit": (pane(LINES, program(POLL_TIMED_MORE)), TEXT, ""),
    "curl, after a progress bar": (pane(LINES, program(POLL_FILE)), TEXT, ""),
    "an unknown poll in line mode": (pane(LINES, program(POLL_UNKNOWN)), TEXT, ""),
    "busybox, an unknown poll": (pane(LINES, program(POLL_UNKNOWN, name="busybox")), TEXT, "line"),
    "vim": (pane(RAW, program(POLL_TIMED)), SCREEN, "raw"),
    "dialog --gauge": (pane(RAW, program(POLL_BRIEF)), SCREEN, ""),
    "node at its prompt": (pane(RAW, program(POLL_TIMED_MORE)), TEXT, "raw"),
    "node that evaluates": (pane(RAW, program(POLL_TIMED_MORE)), BLANK, ""),
    "python at its prompt, from 3.13 on": (pane(RAW, program(POLL_BRIEF, name="python3.13")), AT_PYTHON, "raw"),
    "python in a block": (pane(RAW, program(POLL_BRIEF, name="python3")), AT_ITS_NEXT_LINE, "raw"),
    "python that looks for keys as it works": (
        pane(RAW, program(POLL_BRIEF, name="python3.13")), Shown.of("working ... 12 % ", screen=False), ""),
    "python that looks for more than keys": (
        pane(RAW, program(replace(POLL_BRIEF, alone=False), name="python3.13")), AT_PYTHON, ""),
    "python in line mode": (pane(LINES, program(POLL_BRIEF, name="python3.13")), AT_PYTHON, ""),
    "another program after such a text": (pane(RAW, program(POLL_BRIEF)), AT_PYTHON, ""),
    "a menu that looks ten times a second": (pane(RAW, program(POLL_BRIEF)), STILL_SCREEN, "raw"),
    "a prompt beside a timer": (pane(RAW, program(POLL_BRIEF_MORE, JOIN)), STILL_TEXT, "raw"),
    "a line editor whose prompt is not seen to stand there": (
        pane(RAW, program(POLL_BRIEF_MORE)), replace(STILL_BLANK, editor=True), "raw"),
    "the same of a thread, beside an idle one and a loop of events": (
        pane(RAW, program(POLL_SOCKETS, JOIN, POLL_BRIEF_MORE)), replace(STILL_BLANK, editor=True), "raw"),
    "without a question": (pane(RAW, program(POLL_BRIEF_MORE, JOIN)), STILL_BLANK, ""),
    "in line mode": (pane(LINES, program(POLL_BRIEF_MORE)), STILL_TEXT, ""),
    "a thread that looks, beside a loop of events": (
        pane(RAW, program(POLL_FILE, JOIN, POLL_BRIEF)), STILL_SCREEN, "raw"),
    "which was drawn just now": (pane(RAW, program(POLL_FILE, JOIN, POLL_BRIEF)), SCREEN, ""),
    "beside a main thread that sleeps": (pane(RAW, program(NANOSLEEP, POLL_BRIEF)), STILL_TEXT, ""),
    "beside a thread that sleeps": (pane(RAW, program(POLL_SOCKETS, NANOSLEEP, POLL_BRIEF)), STILL_SCREEN, ""),
    "beside a thread that computes": (pane(RAW, program(POLL_BRIEF, RUNS)), STILL_TEXT, ""),
    "beside a thread that reads a connection": (pane(RAW, program(POLL_BRIEF, READ_FILE)), STILL_TEXT, ""),
    "in a program that waits for it": (pane(RAW, child(CHILD), program(POLL_BRIEF)), STILL_TEXT, "raw"),
    "while another program sleeps": (pane(RAW, program(POLL_BRIEF), child(NANOSLEEP)), STILL_SCREEN, ""),
    "while another program downloads": (pane(RAW, program(POLL_BRIEF), child(POLL_FILE)), STILL_SCREEN, ""),
    "beside one that only waits": (pane(RAW, program(POLL_BRIEF), child(POLL_SOCKETS)), STILL_SCREEN, "raw"),
    "beside a kernel of Jupyter that rests": (
        pane(RAW, program(POLL_BRIEF_MORE), stranger(POLL_SOCKETS, NANOSLEEP, POLL_FILE)), STILL_TEXT, "raw"),
    "beside one that works in a session of its own": (
        pane(RAW, program(POLL_BRIEF_MORE), stranger(NANOSLEEP, POLL_SOCKETS)), STILL_TEXT, ""),
    "over script": (pane(RAW, program(POLL_MORE, inner=(inside(RAW, POLL_BRIEF),))), STILL_TEXT, "raw"),
    "a raw poll of other files": (pane(RAW, program(POLL_FILE)), SCREEN, ""),
    "an unknown poll of a screen": (pane(RAW, program(POLL_UNKNOWN)), SCREEN, "raw"),
    "the background": (pane(LINES, program(READ), foreground=SHELL), TEXT, ""),
    "no foreground": (pane(LINES, program(READ), foreground=0), TEXT, ""),
    "no terminal": (pane(None, program(READ)), TEXT, ""),
    "the shell's editor": (EDITS, BLANK, "editor"),
    "a shell that computes in a raw terminal": (pane(RAW, foreground=SHELL), BLANK, ""),
    "whiptail in $(...)": (pane(RAW, in_its_group(POLL_MORE), foreground=SHELL), SCREEN, "raw"),
    "one that works in $(...)": (pane(RAW, in_its_group(NANOSLEEP), foreground=SHELL), SCREEN, ""),
    "dialog --gauge in $(...)": (pane(RAW, in_its_group(POLL_BRIEF), foreground=SHELL), SCREEN, "editor"),
    "su -c, setsid": (pane(LINES, program(NANOSLEEP, name="su"), stranger(READ)), BLANK, "line"),
    "pinentry": (pane(RAW, program(NANOSLEEP, name="gpg"), stranger(POLL_BRIEF, name="pinentry")), SCREEN, "password"),
    "script, what runs inside sleeps": (pane(RAW, program(POLL_MORE, inner=(inside(LINES, NANOSLEEP),))), TEXT, ""),
    "script, what runs inside reads": (pane(RAW, program(POLL_MORE, inner=(inside(LINES, READ),))), BLANK, "line"),
    "sudo, a secret inside": (pane(RAW, program(POLL_MORE, inner=(inside(SECRET, READ),))), BLANK, "password"),
    "expect, which reads no keys": (pane(LINES, program(NANOSLEEP, inner=(inside(LINES, READ),))), TEXT, ""),
    "apt, before dpkg runs": (pane(RAW, program(POLL_TIMED_MORE, inner=(EMPTY,))), TEXT, ""),
    "script in sudo": (
        pane(RAW, program(POLL_MORE, inner=(
            PaneLook(0, RAW, INSIDE, (Process(INSIDE, 1, INSIDE, INSIDE, sleeps=(POLL_MORE,),
                                              inner=(inside(LINES, READ),)),)),))), BLANK, "line"),
    "two inside, of which one works": (
        pane(RAW, program(POLL_MORE, inner=(inside(LINES, READ), inside(LINES, NANOSLEEP)))), TEXT, ""),
    "a master that cannot be followed": (pane(RAW, program(POLL_MORE, inner=(None,))), TEXT, UNSEEN),
    "ssh": (pane(RAW, program(POLL_MORE, name="ssh")), TEXT, UNSEEN),
    "ssh without a terminal there": (pane(LINES, program(POLL_MORE, name="ssh")), TEXT, UNSEEN),
    "ssh asks for a password": (pane(SECRET, program(READ, name="ssh")), TEXT, "password"),
    "ssh asks about a host": (pane(LINES, program(READ, name="ssh")), TEXT, "line"),
    "docker run -i": (pane(LINES, program(READ, name="docker")), TEXT, UNSEEN),
    "docker exec -it": (pane(RAW, program(READ, name="docker")), TEXT, UNSEEN),
    "ssh | less": (
        pane(RAW, program(POLL_MORE, name="ssh"), Process(21, SHELL, PROGRAM, SHELL, sleeps=(READ,))), TEXT, "raw"),
    "sudo of another user asks": (pane(SECRET, program(HIDDEN, name="sudo", closed=True)), TEXT, "password"),
    "sudo of another user works": (pane(RAW, program(HIDDEN, name="sudo", closed=True)), TEXT, UNSEEN),
    "sudo that hidepid=2 hides asks": (pane(SECRET), TEXT, "password"),
    "sudo that hidepid=2 hides works": (pane(RAW), TEXT, UNSEEN),
    "passwd of another user runs": (pane(SECRET, program(RUNS, closed=True)), TEXT, UNSEEN),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_what_is_waited_for(name: str) -> None:
    look, shown, expected = ROWS[name]
    found = look.judge(SHELL, shown)
    assert (found if found.hidden else found.waiting) == expected


@pytest.mark.parametrize(
    ("looks", "lasts"),
    [
        pytest.param([(0.0, 1.0)], False, id="one look"),
        pytest.param([(0.0, 1.0), (0.5, 1.0)], False, id="half a second"),
        pytest.param([(0.0, 1.0), (1.0, 1.0)], True, id="a second"),
        pytest.param([(0.0, 1.0), (0.5, 1.0), (1.0, 1.0)], True, id="looks between"),
        pytest.param([(0.0, 1.0), (1.0, 1.04)], True, id="it polls"),
        pytest.param([(0.0, 1.0), (1.0, 1.06)], False, id="it computes a little"),
        pytest.param([(0.0, 1.0), (5.0, 1.24)], True, id="it polls, seen seldom"),
        pytest.param([(0.0, 1.0), (1.0, 1.0), (1.3, 1.2)], False, id="it begins to compute"),
        pytest.param([(n, n / 2) for n in range(9)], False, id="it computes half the time"),
    ],
)
def test_when_programs_rest(looks: list[tuple[float, float]], lasts: bool) -> None:
    rest = Rest()
    for at, used in looks:
        seen = PaneLook(SHELL, RAW, PROGRAM, (replace(program(POLL_BRIEF), used=used),), seen_at=at)
        rest = rest.after(seen)
        assert rest.after(seen) == rest  # a look that is used twice says nothing new
    assert rest.lasts == lasts
    for more in ((*seen.processes, child(CHILD)), (program(POLL_MORE), stranger(POLL))):
        assert not rest.after(replace(seen, processes=more)).lasts  # another program has begun
    (one,) = seen.processes
    fewer = replace(seen, processes=(replace(one, sleeps=()),))
    assert not rest.after(fewer).lasts  # a thread has ended: what it did was work


def test_what_runs_inside_must_rest_as_well() -> None:
    rest = Rest()
    for at in range(3):
        there = PaneLook(0, RAW, INSIDE, (replace(program(POLL_BRIEF), group=INSIDE, used=at / 2),))
        rest = rest.after(PaneLook(SHELL, RAW, PROGRAM, (program(POLL, inner=(there, None)),), seen_at=at))
        assert not rest.lasts


@pytest.mark.parametrize(
    ("look", "waiting"),
    [
        (pane(LINES, program(), tells=False), ""),
        (pane(RAW, program(), tells=False), "raw"),
        (pane(RAW, program(name="ssh"), tells=False), ""),
        (pane(RAW, foreground=SHELL, tells=False), "editor"),
    ],
)
def test_where_the_kernel_tells_nothing(look: PaneLook, waiting: str) -> None:
    assert look.judge(SHELL, TEXT).waiting == waiting
    assert look.reads


def test_a_shell_that_computes_on_a_raw_terminal_does_not_read() -> None:
    for sleep, expected in ((POLL_TIMED_MORE, True), (READ, True), (NANOSLEEP, False), (RUNS, False), (WRITE, False)):
        shell = Process(SHELL, 1, SHELL, SHELL, program="fish", sleeps=(sleep,))
        assert PaneLook(SHELL, RAW, SHELL, (shell,)).reads is expected


def test_who_reads_from_another_session() -> None:
    asks_here, waits_elsewhere, unsure = stranger(POLL), stranger(POLL_FILE), stranger(POLL_UNKNOWN)
    assert pane(RAW, asks_here, foreground=SHELL).strangers() == [asks_here]
    for one in (waits_elsewhere, unsure, program(POLL)):
        assert not pane(RAW, one, foreground=SHELL).strangers()
    child = stranger(POLL, parent=PROGRAM)
    look = pane(RAW, program(NANOSLEEP), child)
    assert look.descends(child.pid, PROGRAM)
    assert look.descends(child.pid, SHELL)
    assert not look.descends(child.pid, INSIDE)


def test_who_is_in_front_over_relays() -> None:
    there = inside(RAW, READ)
    for inner, expected in (
        ((there,), INSIDE),
        ((there, EMPTY), INSIDE),  # nothing runs in the other one
        ((there, there), 0),  # which one is shown is not known
        ((there, None), 0),
        ((EMPTY,), 0),
        ((), 0),
    ):
        found = pane(RAW, program(POLL_MORE, name="script", inner=inner)).innermost()
        assert (found.foreground if found is not None else 0) == expected, inner
    at_its_own_prompt = program(POLL, name="python3", inner=(there,))  # it has spawned a shell, and passes no keys on
    assert pane(RAW, at_its_own_prompt).innermost() is None
    relay = Process(
        INSIDE, PROGRAM, INSIDE, INSIDE, program="script", sleeps=(POLL_MORE,), inner=(inside(LINES, READ),)
    )
    for hidden, modes in (((), LINES), ((None,), None)):
        middle = PaneLook(0, RAW, INSIDE, (replace(relay, inner=relay.inner + hidden),))
        deeper = pane(RAW, stranger(READ), program(POLL_MORE, name="sudo", inner=(middle,))).innermost()
        assert (deeper.modes if deeper is not None else None) == modes
        assert deeper is None or OTHER not in [one.pid for one in deeper.processes]
        assert deeper is None or deeper.descends(deeper.processes[-1].pid, SHELL)


def test_what_is_in_front() -> None:
    assert pane(LINES, program(READ)).front(supervised=False) == Foreground(PROGRAM, "prog")
    beneath = Process(PROGRAM, SHELL, SHELL, SHELL, program="top")
    assert pane(LINES, beneath, foreground=SHELL).front(supervised=True) == Foreground(SHELL, "top")
    assert pane(LINES, foreground=0).front(supervised=True) is None


@pytest.mark.parametrize(
    ("line", "question", "secret", "prompt"),
    [
        ("Do you want to continue? [Y/n] ", True, False, False),
        ("[sudo] password for bob: ", True, True, False),
        ("Enter passphrase for key 'id_ed25519': ", True, True, False),
        ("Verification code: ", True, True, False),
        ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", True, True, False),
        ("Which one? ", True, False, False),
        ("(Pdb) ", True, False, False),
        (">>> ", True, False, False),
        ("bob@box:~$ ", True, False, True),
        ("/ # ", True, False, True),
        ("postgres=# ", True, False, False),
        ("postgres=*# ", True, False, False),
        ("postgres-# ", True, False, False),
        ("postgres(!# ", True, False, False),
        ("box% ", True, False, True),
        ("checking for gcc... ", False, False, False),
        ("Reading package lists... 0%", False, False, False),
        ("100% [Working]", False, False, False),
        ("Generating code", False, False, False),
        ("Compiling the password module... ", False, False, False),
        ("[ 50% ]", False, False, False),
        ("", False, False, False),
    ],
)
def test_what_a_line_reads_like(line: str, question: bool, secret: bool, prompt: bool) -> None:
    assert (asks(line), asks_secret(line), reads_as_prompt(line)) == (question, secret, prompt)


@pytest.mark.parametrize(("where", "polls", "waits"), [
    ("n_tty_read", False, True),
    ("do_poll", True, True),
    ("do_poll", False, False),
    ("hrtimer_nanosleep", True, False),
])  # fmt: skip
def test_sleeps_for_keys__polls_only_where_that_is_asked(where: str, polls: bool, waits: bool) -> None:
    assert sleeps_for_keys(where, polls=polls) is waits
