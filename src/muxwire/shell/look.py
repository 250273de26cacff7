"""What the kernel says of a terminal at one moment, and what follows from it: who reads there, and what is waited for.

`PaneLook` is built by `host/`, from /proc on this machine and from the helper's answer on another one. Every judgement
is a pure function of it, and of what the pane shows. The rule of them all: a claim needs proof.

1. A process waits for input if it sleeps in a read of the terminal. Which file is read is known by the arguments of the
   system call; where the kernel hides those, the function of the kernel in which the process sleeps must do.
2. A poll of nothing but the terminal, without a time limit, is as good as a read. Any other poll is a weaker proof,
   because programs that work poll for keys as well: text must stand on the cursor's line, or the program must have
   drawn a screen of its own. In line mode it must be for nothing else, or without a time limit. One with a limit of
   less than a second proves something of a terminal that is not in line mode and stands `still`, while nothing else in
   front works: so editors and menus poll that have a timer. Two are believed at once: a pinentry; and a Python that
   shows its prompt, which from 3.13 on polls for keys alone, 0.1 s at a time (`handle1` in Lib/_pyrepl/reader.py).
3. A thread that reads proves nothing beside a main thread that works: the main one must wait for it, or for anything,
   without a time limit, and the program must show something to answer, have its line editor on, or have no thread that
   could do anything else.
4. Only the foreground group counts of the terminal's own session, since a read of any other one stops it (SIGTTIN). Of
   other sessions every process counts that has the terminal open: `su USER -c`, `setsid`, pinentry, screen.
5. A process that holds the master of a pseudoterminal relays. It waits if it reads its own terminal, and what runs in
   each of the inner terminals waits too.
6. What sleeps in a read though something lies there to be read was woken, and has had no processor since. It waits
   for nothing, however long that takes on a busy machine.
7. What is not visible here is `hidden`: a relay to another machine or into a container, a process of another user.
   Nothing is claimed of it, but for a terminal in line mode without echo: a program that hides the answer has asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What is waited for: `line`, `password`, `raw`, `editor` (raw, by the shell itself), or "" for nothing.
Waiting = Literal["line", "password", "raw", "editor", ""]

# Linux 5 and 6 name the first for a read of a terminal (n_tty_read) or a write to one (n_tty_write), and for a read of
# a TCP socket (sk_wait_data) or of inotify.
_READ: Final = ("wait_woken", "n_tty_read")
# Those in which a process waits for one of several files; a compiled copy adds `.constprop.0`.
POLL: Final = ("poll_schedule_timeout", "do_sys_poll", "do_poll", "do_select", "ep_poll", "do_epoll_wait")
# In these it waits for another thread (futex_wait_queue_me until Linux 5.15), or for nothing but time.
FUTEX: Final = "futex"
_PAUSE: Final = ("hrtimer_nanosleep", "do_nanosleep")
# What the kernel says of a process that runs, and of one of another user, wherever it sleeps.
NOWHERE: Final = ("0", "")
# busybox's `read` polls the terminal before it reads a byte, for nothing else.
_POLLS_FIRST: Final = ("busybox", "ash")

# Programs that put another terminal's shell on this one, also where that cannot be seen. Others (a REPL, a database)
# would take a probe as input.
RELAYS: Final = frozenset((
    "ssh", "mosh-client", "telnet", "docker", "podman", "nerdctl", "kubectl", "oc", "crictl", "lxc", "lxc-attach",
    "incus", "machinectl", "script", "sshpass", "autossh", "nsenter", "chroot", "sudo", "su", "doas", "runuser",
    "login", "systemd-run", "distrobox", "toolbox",
))  # fmt: skip
# Those whose inner terminal is on another machine, in a container, or held by a process that is not their child.
_CARRIERS: Final = frozenset((
    "ssh", "mosh-client", "telnet", "docker", "podman", "nerdctl", "kubectl", "oc", "crictl", "lxc", "lxc-attach",
    "incus", "machinectl", "autossh", "systemd-run", "distrobox", "toolbox",
))  # fmt: skip
# They ask for secrets and for nothing else, with keys of their own.
_ASK_SECRETS: Final = ("pinentry",)
_PYTHONS: Final = ("python", "pypy")
# Of these a read of the terminal is a question of their own (a host key, a password): what they relay they poll for.
_ASK_THEMSELVES: Final = frozenset(("ssh", "telnet", "mosh-client", "autossh"))

# A question for a secret, or for a yes to a stranger's key, at the end of what is shown.
_SECRET: Final = re.compile(
    r"(?i)(?:passw|passphrase|passcode|\bpin\b|\botp\b|(?:verification|security|access|one-time|2fa|login) code|yes/no)"
    r"[^\n]{0,60}[:?\])>]\Z"
)
# What a question ends in, and a prompt of psql; what shows that a line is a progress bar, and no question; what a
# shell's prompt ends in. psql's are `=# `, `=*# `, `-# `, `(# ` and more: there a probe would end a transaction.
_QUESTION: Final = re.compile(r"(?:[?\]):>]|\w[-=*!?'\"($^@]{1,2}#)\Z")
_PROGRESS: Final = re.compile(r"[0-9] ?%")
_PROMPT: Final = re.compile(r"(?:(?<![-=*!?'\"($^@])#|(?<!=)[$%❯]) +\Z")
# A terminal stands still if for so many seconds nothing was drawn and its programs used next to no processor time: at
# most this share of one. A prompt that is drawn anew ten times a second (prompt_toolkit) takes 0.03.
STILL_SECONDS: Final = 1.0
_STILL_SHARE: Final = 0.05

# The prompts of an interactive Python (`sys.ps1`, `sys.ps2`).
_PYTHON_PROMPT: Final = re.compile(r"(?:\A|\s)(?:>>>|\.\.\.) \Z")


@final
@dataclass(frozen=True, slots=True)
class TtyModes:
    """The modes of a tty that tell a line reader from a password prompt from a full-screen program.

    `unread`: what was typed lies there, in line mode a whole line of it, and no program has read it.
    """

    icanon: bool
    echo: bool
    isig: bool
    opost: bool = True
    unread: bool = False


@final
@dataclass(frozen=True, slots=True)
class Foreground:
    """The foreground process group of a pane: its id and its leader's program."""

    pgrp: int
    program: str


@final
@dataclass(frozen=True, slots=True)
class Front:
    """Who is in front of a terminal, by the questions that cost least: to ask all of a `PaneLook` takes some ms.

    `group` is the foreground process group, None if the pane's first process is gone; `modes` None if the terminal is.
    `stopped`: a signal has stopped the tab's own shell. `takes`: the leader of the group treats the signal that is to
    be sent as its own program does; when it was just forked, it still treats it as the shell does. `prompts`: it
    seems to stand at a prompt, and waits for input.
    """

    group: int | None
    modes: TtyModes | None = None
    stopped: bool = False
    takes: bool = True
    prompts: bool = False


@final
@dataclass(frozen=True, slots=True)
class StopTarget:
    """Which processes are whose. All are process groups.

    `shell`: the tab's own shell, 0 if it has none; `leader`: the pane's first process; `runs_program`: the leader is
    our supervisor, and the program beneath it, in place of a shell, is in its group. `spared`: a nested shell or a
    relay that runs the command, which gets C-c as a key only; 0 for none.
    """

    leader: int
    shell: int = 0
    spared: int = 0
    runs_program: bool = False

    def is_program(self, group: int | None) -> bool:
        """Whether the foreground group is a program's: not the shell's, the leader's or the spared one."""
        return group not in (None, self.shell, self.leader, self.spared)


@final
@dataclass(frozen=True, slots=True)
class Sleep:
    """What one thread does: its state (proc(5)), the function of the kernel in which it sleeps, and in which call.

    `call` is `read`, `write` or `poll`; "" if it is another one, or if the kernel does not say. `tty`: whether that is
    a call on the terminal that was looked at; None if it is not known. Of a poll, `alone`: of nothing else; `endless`:
    without a time limit, also of a wait for another thread; `brief`: with one of less than a second.
    """

    state: str
    where: str
    call: Literal["read", "write", "poll", ""] = ""
    tty: bool | None = None
    alone: bool = False
    endless: bool = False
    brief: bool = False

    @property
    def may_be_for_keys(self) -> bool:
        """Whether it is a read or a poll that may be of the terminal."""
        return self.tty is not False and self.call != "write" and may_read(self.where)


@final
@dataclass(frozen=True, slots=True)
class Process:
    """One process that has the terminal open, or as its controlling terminal (`controls`).

    `program` is the file name of its executable, "" if that is not known. `closed`: it is another user's or, after
    newgrp, of another group, and the kernel does not say where it sleeps. `sleeps`: what its threads do, the main one
    first. `inner`: what was seen of each pseudoterminal whose master it holds; None for one that cannot be looked at.
    `used`: the seconds of processor time that its threads have had, counted in ticks (proc(5)).
    """

    pid: int
    parent: int
    group: int
    session: int
    controls: bool = True
    program: str = ""
    closed: bool = False
    sleeps: tuple[Sleep, ...] = ()
    inner: tuple[PaneLook | None, ...] = ()
    flags: int = 0
    used: float = 0.0

    @property
    def relays(self) -> bool:
        """Whether it waits for keys, and for more than them at once: what holds a master and waits for keys alone, as
        a Python at its prompt that has spawned a shell, passes none on.
        """
        return any(one.may_be_for_keys and one.where.startswith(POLL) and not one.alone for one in self.sleeps)

    @property
    def works(self) -> bool:
        """Whether a thread is awake, waits for time to pass or for what comes over a connection; in a program that does
        not look for keys, also for anything within some time.

        Of a program in a session of its own only the main thread counts: a service that the one in front uses (the
        kernel of a Jupyter console) has threads that look after it at all times.
        """
        looks = any(one.tty and one.may_be_for_keys for one in self.sleeps)
        for sleep in self.sleeps if self.controls else self.sleeps[:1]:
            awake = sleep.state in ("R", "D") or sleep.where.startswith(_PAUSE)
            elsewhere = sleep.tty is False and (sleep.where.startswith(_READ) or not (looks or sleep.endless))
            if awake or elsewhere:
                return True
        return False

    def judge(self, modes: TtyModes, shown: Shown, shell: int, *, tells: bool) -> Judgement:
        """What it waits for in a terminal with these modes, of which the other arguments are as for `PaneLook`."""
        kind: Waiting = "raw" if not modes.icanon else "line" if modes.echo else "password"
        if self.program.startswith(_ASK_SECRETS):
            kind = "password"
        if not tells:
            return Judgement("", self.program in _CARRIERS)
        if self.inner:
            return self._judge_relay(shown)
        if self.closed:  # sudo, su, passwd: a program that turns the echo off asks for a secret
            sleeping = any(one.state == "S" for one in self.sleeps)
            return Judgement(kind) if sleeping and kind == "password" else Judgement("", True)
        main, others = self.sleeps[:1], self.sleeps[1:]
        if (
            main
            and (shown.asks or shown.editor or all(one.tty for one in others))
            and _leaves_to_others(main[0], modes, shown)
        ):
            main += others
        waits = any(self._waits(sleep, modes, shown, shell) for sleep in main)
        if self.program in _CARRIERS:
            asks = kind == "password" or (kind == "line" and self.program in _ASK_THEMSELVES)
            read = any(one.where.startswith(_READ) for one in self.sleeps)
            return Judgement(kind) if waits and asks and read else Judgement("", True)
        return Judgement(kind) if waits else Judgement()

    def _judge_relay(self, shown: Shown) -> Judgement:
        """Rule 5. Of a relay with several inner terminals it is not known which one gets the keys: all must wait."""
        if not any(one.may_be_for_keys for one in self.sleeps):
            return Judgement()
        kinds: list[Waiting] = []
        for inner in self.inner:
            if inner is None or (inner.modes is None and inner.processes):
                return Judgement("", True)
            if not inner.processes:  # nothing runs there (any more)
                continue
            found = inner.judge(0, shown)
            if not found.waiting:
                return found
            kinds.append(found.waiting)
        return Judgement(kinds[0]) if kinds else Judgement()

    def _waits(self, sleep: Sleep, modes: TtyModes, shown: Shown, shell: int) -> bool:
        """Whether a thread of it that sleeps so waits for keys."""
        if not sleep.may_be_for_keys:
            return False
        if sleep.where.startswith(_READ):
            # A program that asks for something hides the answer, or leaves the line open.
            return sleep.tty is True or sleep.where == "n_tty_read" or not modes.echo or shown.line
        if sleep.tty and sleep.alone and sleep.endless:
            return True
        # It may look for keys between two pieces of work; pinentry-curses looks every 70 ms, and does nothing else.
        if sleep.brief and not self.program.startswith(_ASK_SECRETS):
            at_prompt = self.program.startswith(_PYTHONS) and shown.at_python and sleep.alone
            still = shown.still and (shown.asks or shown.editor)
            return bool((at_prompt or still) and sleep.tty and not modes.icanon)
        if not modes.icanon:
            return shown.asks
        if sleep.tty is None:
            return self.program in _POLLS_FIRST and (shown.line or self.pid == shell)
        return shown.line and (sleep.alone or sleep.endless)


def _leaves_to_others(main: Sleep, modes: TtyModes, shown: Shown) -> bool:
    """Whether a main thread that sleeps so may have another one read the terminal (rule 3)."""
    if main.endless:
        return main.where.startswith((*POLL, FUTEX))
    return main.where.startswith(POLL) and (main.tty is None or (shown.still and not modes.icanon))


@final
@dataclass(frozen=True, slots=True)
class PaneLook:
    """One terminal at one moment.

    `leader` is the first process of the pane, 0 for an inner terminal. `modes` is None if the terminal is gone or may
    not be opened, `foreground` 0 if it has no foreground group. `tells`: the kernel says where processes sleep.
    `seen_at` is the moment before the look, on the monotonic clock.
    """

    leader: int
    modes: TtyModes | None
    foreground: int
    processes: tuple[Process, ...] = ()
    tells: bool = True
    seen_at: float = 0.0

    def process(self, pid: int) -> Process | None:
        return next((one for one in self.processes if one.pid == pid), None)

    def group(self, pgrp: int) -> list[Process]:
        """The processes of a group, its leader first."""
        return sorted((one for one in self.processes if one.group == pgrp), key=lambda one: one.pid != pgrp)

    def front(self, *, supervised: bool) -> Foreground | None:
        """What runs in the foreground; None if nothing does.

        `supervised`: the leader is our supervisor, in whose process group the program beneath it is at first.
        """
        if self.foreground <= 0:
            return None
        named = self.process(self.foreground)
        if supervised and self.foreground == self.leader:
            named = next((one for one in self.processes if one.parent == self.leader), named)
        return Foreground(self.foreground, named.program if named is not None else "")

    def judge(self, shell: int, shown: Shown) -> Judgement:
        """What is waited for; `shell` is the process group of the tab's own shell, 0 if it has none.

        `editor`: the shell is in front, has the terminal raw and reads. What it runs in its own group, as in `$(fzf)`,
        may have made it raw, and may wait.
        """
        modes = self.modes
        if modes is None or modes.unread or self.foreground <= 0:
            return Judgement()
        if self.foreground == shell and not modes.icanon:
            inside = (one for one in self.group(shell) if one.pid != shell) if self.tells else ()
            found_inside = (one.judge(modes, shown, shell, tells=True) for one in inside)
            return next((one for one in found_inside if one.waiting), Judgement("editor" if self.reads else ""))
        hidden = False
        if shown.still and any(one.works for one in self._candidates()):
            shown = replace(shown, still=False)
        for process in self._candidates():
            found = process.judge(modes, shown, shell, tells=self.tells)
            if found.waiting:
                return found
            hidden = hidden or found.hidden
        if not self.tells and not modes.icanon and self.foreground != self.leader and not hidden:
            return Judgement("raw")
        return Judgement("", hidden)

    @property
    def reads(self) -> bool:
        """Whether the foreground sleeps until something is typed, whatever the modes; True where the kernel does not
        tell.

        A terminal that was left raw makes a shell that computes look like one that edits a line.
        """
        return not self.tells or any(
            sleep.may_be_for_keys for one in self.group(self.foreground) for sleep in one.sleeps
        )

    def strangers(self) -> list[Process]:
        """The processes of other sessions that read the terminal, or poll it: pinentry, for one.

        Only what is proved counts, by the arguments of the system call.
        """
        own = {one.session for one in self.processes if one.controls}
        others = [one for one in self.processes if one.session not in own]
        return [one for one in others if any(sleep.tty and sleep.may_be_for_keys for sleep in one.sleeps)]

    def innermost(self) -> PaneLook | None:
        """The inner terminal behind all relays, with the processes on the way there; None without a relay, or if
        hidden.

        A relay that holds several inner terminals in which something runs is not followed: it is not known which is
        shown.
        """
        inner = [one for process in self.group(self.foreground) if process.relays for one in process.inner]
        used = [one for one in inner if one is not None and one.processes]
        if None in inner or len(used) != 1:
            return None
        (there,) = used
        deeper = there.innermost() or (there if not any(one.inner for one in there.group(there.foreground)) else None)
        before = (one for one in self.processes if one.controls)  # others are no readers of the inner terminal
        return None if deeper is None else replace(deeper, processes=(*before, *deeper.processes))

    def descends(self, pid: int, ancestor: int) -> bool:
        """Whether a process is `ancestor` or comes from it, as far as its parents were seen."""
        parents = {one.pid: one.parent for one in self.processes}
        while pid != ancestor and pid in parents:
            pid = parents.pop(pid)
        return pid == ancestor

    def everything(self) -> Iterator[Process]:
        """The processes that may read the terminal, and those of all terminals inside of it."""
        for process in self._candidates():
            yield process
            for inner in process.inner:
                yield from inner.everything() if inner is not None else ()

    def _candidates(self) -> Iterator[Process]:
        """Those that may read the terminal (rule 4), the foreground group first, its leader before the others.

        If the kernel shows none of that group, it is another user's (proc(5): hidepid).
        """
        yield from self.group(self.foreground) or (
            Process(self.foreground, 0, self.foreground, 0, closed=True, sleeps=(Sleep("S", ""),)),
        )
        yield from (one for one in self.processes if not one.controls and one.group != self.foreground)


@final
@dataclass(frozen=True, slots=True)
class Shown:
    """What the pane shows, as far as it matters here.

    `line`: text stands on the cursor's line. `screen`: a program has drawn a screen of its own, on the alternate screen
    or with the cursor hidden. `at_python`: the cursor stands right after a prompt of an interactive Python. `still`:
    nothing was drawn for STILL_SECONDS, and all rests (`Rest`); `editor`: a line editor says that it is on.
    """

    line: bool = False
    screen: bool = False
    at_python: bool = False
    still: bool = False
    editor: bool = False

    @classmethod
    def of(cls, line: str, *, screen: bool, still: bool = False, editor: bool = False) -> Shown:
        """What `line`, the text on the cursor's line, says."""
        return cls(bool(line.strip()), screen, _PYTHON_PROMPT.search(line) is not None, still, editor)

    @property
    def asks(self) -> bool:
        """Whether there is something that a person could answer."""
        return self.line or self.screen


@final
@dataclass(frozen=True, slots=True)
class Rest:
    """How much processor time the programs of a terminal had `used` by the look at `at`, each with so many threads.

    `lasts`: they had used next to none for STILL_SECONDS before it.
    """

    at: float = 0.0
    used: Mapping[tuple[int, int], float] = field(default_factory=dict)
    lasts: bool = False

    def after(self, look: PaneLook) -> Rest:
        """The same by a later look. A program or a thread that has begun or ended meanwhile was at work."""
        used = {(one.pid, len(one.sleeps)): one.used for one in look.everything()}
        seconds = look.seen_at - self.at
        had = sum(used.values()) - sum(self.used.values())
        if used.keys() != self.used.keys() or had > _STILL_SHARE * max(seconds, STILL_SECONDS):
            return Rest(look.seen_at, used)
        return Rest(look.seen_at, used, lasts=True) if seconds >= STILL_SECONDS else self


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """What is waited for, and whether there is something inside that cannot be seen."""

    waiting: Waiting = ""
    hidden: bool = False


def asks_secret(line: str) -> bool:
    """Whether a line that was not ended asks for a secret."""
    return _SECRET.search(line.rstrip()) is not None


def reads_as_prompt(line: str) -> bool:
    """Whether a line that was not ended reads like a shell's prompt."""
    return _PROMPT.search(line) is not None


def asks(line: str) -> bool:
    """Whether a line that was not ended may be a question, or a prompt. It proves nothing: it may be a progress bar."""
    if _PROGRESS.search(line) is not None:
        return False
    return _QUESTION.search(line.rstrip()) is not None or _PROMPT.search(line) is not None


def sleeps_for_keys(where: str, *, polls: bool) -> bool:
    """Whether a process that sleeps in that function of the kernel reads, or with `polls` waits for several files."""
    return where.startswith(_READ) or (polls and where.startswith(POLL))


def may_read(where: str) -> bool:
    """Whether it is worth asking what a process that sleeps there reads or polls."""
    return where.startswith((*_READ, *POLL))
