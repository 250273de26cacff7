"""The panes' machine is another one: what it is asked, a helper there answers, over the control connection.

The helper (`scripts/helper.sh`) is a small sh in the keeper's pane. A line that is pasted there is a question, and what
the pane writes is the answer. Files are written by the tmux server there (`save-buffer`), from the same line of
commands as what is typed after them, so that the files are there when the shell reads what is typed.
"""

from __future__ import annotations

import base64
import errno
import secrets
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Protocol, final

import anyio

from muxwire.errors import NO_PROCESS_THERE, ConnectionClosed, HostUnavailable, InvalidArgument
from muxwire.host.host import Host, Link
from muxwire.host.processes import FORKED, is_script
from muxwire.host.shells import shell_named
from muxwire.protocol.commands import command, command_list, joined
from muxwire.shell.look import NOWHERE, PaneLook, Process, Sleep, TtyModes, sleeps_for_keys
from muxwire.shell.quoting import os_bytes

if TYPE_CHECKING:
    import os
    import signal
    from collections.abc import Callable, Collection, Mapping, Sequence

    from muxwire.far.bootstrap import Facts
    from muxwire.host.host import Lines
    from muxwire.protocol.commands import Command
    from muxwire.shell import Shell
    from muxwire.shell.look import Foreground


# What the helper on another machine answers of a pane: a `PaneLook`, and what is known of its foreground group.

# Fields of a row, in the order in which helper.sh prints them.
_PROCESS_FIELDS = 8
# The calls that the helper names, as `Sleep` names them.
_CALLS: Final[dict[str, Literal["read", "write", "poll", ""]]] = {
    "read": "read", "write": "write", "poll": "poll", "": "",
}  # fmt: skip
# The label of the pane's own terminal. The labels of its inner terminals are their numbers.
_OWN = ""


@final
@dataclass(slots=True)
class _Row:
    """One process: its parent, its group, the foreground group of its terminal, and where its threads sleep.

    `terminal` is the label of the terminal in which it was found, `inner` those of which it holds the master.
    """

    pid: int
    parent: int
    pgrp: int
    tpgid: int
    flags: int
    program: str
    sleeps: list[Sleep]
    session: int = 0
    terminal: str = _OWN
    inner: list[str] = field(default_factory=list)


@final
@dataclass(slots=True)
class PaneAnswer:
    """One answer: the processes in the order of their tree, the pane's first process first."""

    modes: TtyModes | None = None
    rows: dict[int, _Row] = field(default_factory=dict)
    arguments: dict[int, list[str]] = field(default_factory=dict)
    masks: dict[int, list[int]] = field(default_factory=dict)
    shares: set[int] = field(default_factory=set)
    inner_modes: dict[str, TtyModes | None] = field(default_factory=dict)

    def take(self, kind: str, fields: list[str]) -> None:
        """Take one line; ValueError, LookupError for one that the helper never writes."""
        match kind:
            case "m":
                self.modes = _modes(fields[0].split())
            case "s":
                found = _process(fields)
                self.rows[found.pid] = found
            case "t":
                self.rows[int(fields[0])].sleeps.append(Sleep(fields[1], fields[2]))
            case "d":
                self._detail(int(fields[0]), *fields[1:])
            case "i":
                self.rows[int(fields[0])].inner.append(fields[1])
            case "I":
                self.inner_modes[fields[0]] = _modes(fields[1].split())
            case "p":
                label, pid, state, parent, pgrp, session, tpgid, waits, program = fields
                found = _process([pid, state, parent, pgrp, tpgid, "0", waits, program])
                found.session, found.terminal = int(session), label
                self.rows[found.pid] = found  # it may stand in the tree as well
            case "c":
                self.arguments[int(fields[0])] = fields[1].split("\x1f")[1:-1]
            case "g":
                self.masks.setdefault(int(fields[0]), []).append(int(fields[2], 16))
            case "r":
                self.shares.add(int(fields[0]))
            case "x":  # another program, or none, by now: where it sleeps is not known
                found = self.rows[int(fields[0])]
                found.sleeps, found.inner = [], []
            case _:
                raise ValueError(kind)

    def _detail(self, pid: int, call: str, tty: str, alone: str, limit: str) -> None:
        """What the call is for in which the first thread of a process sleeps."""
        sleeps = self.rows[pid].sleeps
        sleeps[0] = replace(
            sleeps[0],
            call=_CALLS[call],
            tty={"1": True, "0": False}.get(tty),
            alone=alone == "1",
            endless=limit == "endless",
            brief=limit == "brief",
        )

    def look(self, leader: int, *, tells: bool) -> PaneLook:
        first = self.rows.get(leader)
        return PaneLook(
            leader=leader,
            modes=self.modes,
            foreground=max(0, first.tpgid) if first is not None else 0,
            processes=self._processes(_OWN, leader, tells=tells),
            tells=tells,
        )

    def _processes(self, terminal: str, session: int, *, tells: bool) -> tuple[Process, ...]:
        return tuple(
            Process(
                pid=one.pid,
                parent=one.parent,
                group=one.pgrp,
                session=one.session or session,
                controls=True,
                program=PurePosixPath(one.program).name,
                # Another user's: who may not read where it sleeps may not read what it runs either.
                closed=not one.program and any(nap.state == "S" and nap.where in NOWHERE for nap in one.sleeps[:1]),
                sleeps=tuple(one.sleeps),
                inner=tuple(self._inside(label, tells=tells) for label in one.inner if label != terminal),
                flags=one.flags,
            )
            for one in self.rows.values()
            if one.terminal == terminal
        )

    def _inside(self, label: str, *, tells: bool) -> PaneLook | None:
        """What was seen of an inner terminal; None if it was not examined."""
        if label not in self.inner_modes:
            return None
        foregrounds = [one.tpgid for one in self.rows.values() if one.terminal == label and one.tpgid > 0]
        return PaneLook(
            leader=0,
            modes=self.inner_modes[label],
            foreground=next(iter(foregrounds), 0),
            processes=self._processes(label, 0, tells=tells),
            tells=tells,
        )

    def takes(self, pgrp: int, number: int, shell_pid: int) -> bool:
        """As `processes.takes`."""
        leader = self.rows.get(pgrp)
        if leader is None or not leader.flags & FORKED:
            return True
        mine = [mask >> (number - 1) & 1 for mask in self.masks.get(pgrp, [])]
        return not any(mine) or mine != [mask >> (number - 1) & 1 for mask in self.masks.get(shell_pid, [])]


def _modes(words: list[str]) -> TtyModes | None:
    """What stty -a says; None where it said nothing, since the terminal is gone."""
    if not words:
        return None
    return TtyModes(icanon="icanon" in words, echo="echo" in words, isig="isig" in words, opost="opost" in words)


def _process(fields: list[str]) -> _Row:
    if len(fields) != _PROCESS_FIELDS:
        raise ValueError(fields)
    pid, state, parent, pgrp, tpgid, flags, waits, program = fields
    name = program.removesuffix(" (deleted)")
    return _Row(int(pid), int(parent), int(pgrp), int(tpgid), int(flags), name, [Sleep(state, waits)])


# Questions to the helper on another machine (`scripts/helper.sh`), and its answers.

# The helper answers in a few ms and a round trip. It may wait for a terminal that hangs; no call waits for it longer.
_ANSWER_SECONDS = 5.0
# How long the helper is asked again if no process could be started there, and the pause between two times: most such
# shortages come from a build, which starts and ends many processes a second.
_SHORT_SECONDS, _SHORT_PAUSE = 5.0, 0.2
# What is kept of an answer's line that has not ended: a longer one is none of our helper's.
_LINE_BYTES = 64 << 10
# And of all its lines: the longest are a quarter of a MiB of output, as hexadecimal digits.
_ANSWER_BYTES = 2 << 20
_DIGITS = 9  # of a question's number
# The number of a process's first question is below this. No process asks as many as are left.
_FIRST_MAX = 9 * 10 ** (_DIGITS - 1)


class Line(Protocol):
    """The control connection, as far as a host needs it."""

    def submit_prepared(self, commands: Sequence[Command]) -> object:
        """Write lines of several tmux commands each; no call waits for the answers. ConnectionClosed."""


@final
class Question:
    """A question that has not been answered yet."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.encoded: list[str] = []  # lines that are no rows
        self.size = 0
        # `cut`: the connection was lost before there was an answer. `short`: no process could be started there, so the
        # rows prove nothing.
        self.answered = self.cut = self.short = False
        self.done = anyio.Event()


@final
class Helper:
    """The sh in the keeper's pane: a line that is pasted there is a question, what the pane writes is the answer."""

    def __init__(self) -> None:
        self._line: Line | None = None
        self._pane = ""
        self._unread = b""
        # Random: an answer to a muxwire that was killed may come to the next one, which asks other things.
        self._number = secrets.randbelow(_FIRST_MAX)
        self._asked: dict[int, Question] = {}
        self._answering: Question | None = None  # whose encoded lines come now

    def connect(self, line: Line, pane: str) -> None:
        """There is a connection: what is asked goes there. Questions to an earlier one are asked again."""
        self._line, self._pane, self._unread, self._answering = line, pane, b"", None
        for question in self._asked.values():
            question.cut = True
            question.done.set()

    def feed(self, data: bytes) -> None:
        """Take what the helper's pane wrote; what is no answer of the helper is ignored."""
        *lines, rest = (self._unread + data).split(b"\n")
        self._unread = rest[-_LINE_BYTES:]
        for line in lines:
            first, *fields = line.decode("utf-8", "surrogateescape").split("\t")
            number = int(first) if len(first) <= _DIGITS and first.isdecimal() else 0
            question = self._asked.get(number)
            if (asked := question or self._answering) is not None:
                asked.size += len(line)
                if asked.size > _ANSWER_BYTES:
                    continue
            if not fields and self._answering is not None:
                self._answering.encoded.append(line.decode("ascii", "replace"))
            elif question is None or not fields:
                continue
            elif fields[0] in (".", "!"):
                self._answering = None
                question.answered, question.short = True, fields[0] == "!"
                question.done.set()
            else:
                self._answering = question
                question.rows.append(fields)

    async def ask(self, verb: str, *words: str) -> list[list[str]] | None:
        """The rows of an answer; None if there is none in time."""
        found = await self.answer(verb, *words)
        return found.rows if found is not None and not found.short else None

    async def answer(self, verb: str, *words: str, again: bool = True) -> Question | None:
        """Ask, and `again` where the connection was lost meanwhile: these questions change nothing.

        Where no process can be started there it is asked until one can, or the time for an answer is over; then the
        answer that is returned is `short`.
        """
        until = time.monotonic() + _SHORT_SECONDS
        while (found := await self._answer(verb, *words, again=again)) is not None and found.short:
            if time.monotonic() >= until:
                break
            await anyio.sleep(_SHORT_PAUSE)
        return found

    async def _answer(self, verb: str, *words: str, again: bool) -> Question | None:
        cut = True
        while cut:
            question = Question()
            try:
                number = self._send(verb, *words)
            except ConnectionClosed:
                return None
            self._asked[number] = question
            try:
                with anyio.move_on_after(_ANSWER_SECONDS):
                    await question.done.wait()
            finally:
                del self._asked[number]
            if question.answered:
                return question
            cut = question.cut and again
        return None

    def _send(self, *words: str) -> int:
        """Paste a question, or a request whose answer is not waited for; its number. ConnectionClosed."""
        assert self._line is not None
        self._number += 1
        line = command_list(
            ("set-buffer", "-b", "muxwire-ask", "--", f"{self._number} {' '.join(words)}\n"),
            ("paste-buffer", "-r", "-d", "-b", "muxwire-ask", "-t", self._pane),
        )
        self._line.submit_prepared((line,))
        return self._number

    def say(self, verb: str, *words: str) -> bool:
        """Have the helper do something; False between two connections."""
        try:
            self._send(verb, *words)
        except ConnectionClosed:
            return False
        return True


# A question that was open for a round trip and so long when its call was cancelled counts as unanswered: most take
# 10 ms.
_ANSWERED_WITHIN = 0.1
# How many looks at one pane are asked for at a time: while the helper works on one, the next is on its way. It may take
# long where a pane has many processes; a call that gives up meanwhile leaves no question behind.
_LOOKS_THERE = 2
# What a call cannot do without is asked so often: 30 s, in which most connections that were lost are back.
_ASKED_AGAIN = 6
# As much as one line of commands should carry: tmux parses it on its only thread.
_CHUNK = 16 << 10
# The tmux buffer that brings content to a file.
_BUFFER = "muxwire-file"
# Of the files of so many tabs the command is kept ready.
_PATHS_KEPT = 64


@final
class RemoteHost(Host):
    """Another machine, as a `Host`; `connect` gives it the connection and the helper's pane."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.link = Link(name)
        self._facts: Facts | None = None
        self._line: Line | None = None
        self._helper = Helper()
        self.feed = self._helper.feed  # with what the helper's pane writes
        self._answers: dict[int, PaneAnswer] = {}
        self._looking = defaultdict[int, anyio.Semaphore](partial(anyio.Semaphore, _LOOKS_THERE))
        self._ttys: dict[str, int] = {}  # the first process of the pane whose terminal that is
        self._programs: dict[str, tuple[str, str]] = {}  # path, and the file that it is in the end
        self._folders: dict[str, str] = {}

    def connect(self, facts: Facts, line: Line, pane: str) -> None:
        """There is a connection: what is asked goes there. Questions to an earlier one are asked again."""
        self._facts, self._line = facts, line
        self.environ = {"HOME": facts.home, "SHELL": facts.shell}  # the little of it that is known here
        self._helper.connect(line, pane)

    @property
    def facts(self) -> Facts:
        """What the machine said of itself when it was connected first."""
        assert self._facts is not None
        return self._facts

    link: Link
    is_local = False
    settings: Mapping[str, str] = MappingProxyType({})
    brought: Mapping[str, str] = MappingProxyType({})

    @property
    def prefix(self) -> str:
        return f"{self.name}/"

    @property
    def sees_waits(self) -> bool:
        return self.facts.sees_waits

    # -- questions

    async def refresh(self, leader: int, tty: str) -> bool:
        if not self.link.up:
            return False
        asked_at = time.monotonic()
        try:
            async with self._looking[leader]:
                rows = await self._helper.ask("p", str(leader), tty)
        except anyio.get_cancelled_exc_class():
            if time.monotonic() - asked_at > _ANSWERED_WITHIN + self.link.rtt:
                self.link.answers = False
            raise
        self.link.answers = rows is not None
        if rows is None:
            return False  # what was known stays
        answer = PaneAnswer()
        try:
            for kind, *fields in rows:
                answer.take(kind, fields)
        except (ValueError, LookupError, TypeError):
            answer = PaneAnswer()  # the helper never writes that
        self._answers[leader], self._ttys[tty] = answer, leader
        return True

    async def spooled(self, pane: str, offset: int) -> tuple[int, bytes] | None:
        """What is kept there of a pane's output from an offset on, and its first offset: a later one if that is gone.

        Not more than a piece of it; b"" from the end on. The offset is -1 if nothing is kept. None without an answer,
        also where the connection was lost: on the next connection the caller asks for all panes anew.
        """
        found = await self._helper.answer("s", pane, str(offset), again=False)
        if found is None or found.short:
            return None
        try:
            [(_, first, how)] = found.rows
            text = "".join(found.encoded)
            return int(first), base64.b64decode(text) if how == "base64" else bytes.fromhex(text)
        except ValueError:
            return -1, b""

    def end_spool(self, pane: str) -> None:
        """Keep nothing more of a pane's output there, also where that was about to begin."""
        self._helper.say("e", pane)

    async def done(self) -> None:
        await self._helper.ask("n")

    def forget(self, leader: int) -> None:
        """Something was typed, or a pane has ended: what is known of it may be true no more."""
        self._answers.pop(leader, None)

    async def look_up(self, folders: Collection[str], programs: Collection[str]) -> None:
        """Bring the answers of `checked_folder`, `checked_program` and `shell_for` for these."""
        words = [*(("f", self._absolute(folder, "")) for folder in folders), *(("x", program) for program in programs)]
        found: dict[tuple[str, str], Question] = {}

        async def ask(verb: str, word: str) -> None:
            for _ in range(_ASKED_AGAIN):
                answer = await self._helper.answer(verb, _escaped(os_bytes(word)))
                if answer is not None:
                    found[verb, word] = answer
                    break

        async with anyio.create_task_group() as tasks:
            for verb, word in words:
                tasks.start_soon(ask, verb, word)
        for verb, word in words:
            if (verb, word) not in found:
                raise ConnectionClosed(
                    f"{self.name} does not answer", remedy="try again when its link is up (`list_tabs`)"
                )
            if found[verb, word].short:
                raise HostUnavailable(
                    self.name, "shell", "it could not start a process to look that up", remedy=NO_PROCESS_THERE
                )
            for row in found[verb, word].rows:
                if verb == "f":
                    self._folders[word] = row[1]
                else:
                    self._programs[word] = row[1], row[2] or row[1]

    # -- processes

    def _of(self, pid: int) -> PaneAnswer:
        """The answer about that process, or that group: its leader may have ended (`seq 9 | less`)."""
        answers = self._answers.values()
        return next(
            (one for one in answers if pid in one.rows or any(p.pgrp == pid for p in one.rows.values())), _NOTHING
        )

    def _process(self, pid: int) -> Process | None:
        return self._of(pid).look(0, tells=self.sees_waits).process(pid)

    def look(self, leader: int, tty: str, *, near: bool = False) -> PaneLook:
        del tty, near
        return self._answers.get(leader, _NOTHING).look(leader, tells=self.sees_waits)

    def foreground_pgrp(self, leader: int) -> int | None:
        found = self.foreground(leader)
        return found.pgrp if found is not None else None

    def foreground(self, leader: int, *, supervised: bool = False) -> Foreground | None:
        return self.look(leader, "").front(supervised=supervised)

    def sleeps_for_keys(self, pid: int, *, polls: bool) -> bool:
        found = self._process(pid)
        if not self.sees_waits:
            return True
        sleeps = found.sleeps[:1] if found is not None else ()
        return any(one.tty is not False and sleeps_for_keys(one.where, polls=polls) for one in sleeps)

    def takes(self, pgrp: int, number: signal.Signals, shell_pid: int) -> bool:
        return self._of(pgrp).takes(pgrp, number, shell_pid)

    def program_of(self, pid: int) -> str:
        found = self._process(pid)
        return found.program if found is not None else ""

    def child_name(self, pid: int) -> str:
        rows = self._of(pid).rows.values()
        return PurePosixPath(next((one.program for one in rows if one.parent == pid), "")).name

    def runs_script(self, pid: int) -> bool:
        """Also where its arguments are not known, since it is in front of an inner terminal."""
        known = self._of(pid)
        return (
            pid not in known.arguments
            or ((row := known.rows.get(pid)) is not None and row.flags & FORKED != 0)  # None: it has just ended
            or is_script(known.arguments[pid])
        )

    def supervisor_waits(self, pid: int) -> bool:
        return self.program_of(pid) in ("sleep", "busybox", "coreutils")

    def group_exists(self, pgrp: int) -> bool:
        return self._of(pgrp) is not _NOTHING

    def is_stopped(self, pid: int) -> bool:
        found = self._process(pid)
        return found is not None and any(one.state == "T" for one in found.sleeps[:1])

    def started(self, pid: int) -> str:
        return str(pid)  # no process there is remembered longer than this one runs

    def shares_folder(self, pid: int, folder: Path) -> bool:
        del folder
        return pid in self._of(pid).shares

    # -- terminals

    def tty_modes(self, tty: str) -> TtyModes | None:
        answer = self._answers.get(self._ttys.get(tty, 0))
        return answer.modes if answer is not None else None

    def restore_line_modes(self, tty: str, leader: int) -> None:
        self._helper.say("m", tty, str(leader))

    def write_tty(self, tty: str, data: bytes, leader: int, *, unordered: bool = False) -> bool:
        return self._helper.say("W" if unordered else "w", tty, _escaped(data), str(leader))

    # -- signals

    def signal_process(self, pid: int, number: signal.Signals) -> bool:
        return self._helper.say("k", str(int(number)), str(pid))

    def signal_group(self, pgrp: int, number: signal.Signals, *, spare: int = 0) -> bool:
        if not spare:
            return self._helper.say("k", str(int(number)), str(-pgrp))
        members = [one.pid for one in self._of(pgrp).rows.values() if one.pgrp == pgrp and one.pid != spare]
        return True in [self.signal_process(pid, number) for pid in members]

    async def signal_session(
        self,
        leader: int,
        began: str,  # noqa: ARG002 - the helper asks the kernel there whose number that is
        *numbers: signal.Signals,
        spare_leader: bool = False,
    ) -> None:
        words = "K", str(leader), str(int(spare_leader)), *(str(int(number)) for number in numbers)
        if not self.link.answers:  # the helper does it as soon as it can
            self._helper.say(*words)
        # If no process could be started there, nothing was signalled, and `answer` asks again.
        elif await self._helper.answer(*words, again=False) is None and self.link.up:
            self.link.answers = False

    def end(self) -> bool:
        """Have all that muxwire started or stored there ended and removed; False without a connection."""
        return self._helper.say("q")

    # -- files and programs

    def remove_folder(self, path: Path) -> None:
        self._helper.say("d", path.name)

    def write_command(self, folder: Path, name: str, content: bytes) -> Lines:
        return self.file_lines(folder / name, content)

    @staticmethod
    def file_lines(path: Path, content: bytes) -> Lines:
        """The commands that have the tmux server there write a file: the last line has it write all of it."""
        pieces = [content[at : at + _CHUNK] for at in range(0, len(content), _CHUNK)] or [b"\n"]
        first = command("set-buffer", "-b", _BUFFER, "--", pieces[0])
        rest = [command("set-buffer", "-a", "-b", _BUFFER, "--", piece) for piece in pieces[1:]]
        # The last line may be sent again although tmux had begun it: it appends nothing to the buffer.
        last = _saved(path)
        return [first, *rest, last] if rest else [joined((first, last))]

    def write_file(self, path: Path, content: bytes) -> None:
        """Write a file; OSError between two connections."""
        assert self._line is not None
        try:
            self._line.submit_prepared(self.file_lines(path, content))
        except ConnectionClosed as error:
            raise OSError(errno.ENOTCONN, str(error), str(path)) from error

    def checked_folder(self, cwd: str | os.PathLike[str], relative_to: str) -> Path:
        path = self._absolute(str(cwd), relative_to)
        if relative_to:  # a command's own: its `cd` says what is wrong
            return Path(path)
        if path not in self._folders:
            raise InvalidArgument(
                f"cwd {str(cwd)!r} is not a directory on {self.name}", remedy="give the path of one that you may enter"
            )
        return Path(self._folders[path])

    def _absolute(self, cwd: str, relative_to: str) -> str:
        if "\0" in cwd or "\n" in cwd:
            raise InvalidArgument("cwd contains a NUL byte or a line end", remedy="leave it out")
        if cwd == "~" or cwd.startswith("~/"):
            cwd = self.facts.home + cwd[1:]
        return str(PurePosixPath(relative_to or self.facts.start) / cwd)

    def checked_program(self, program: str, what: str) -> str:
        if program not in self._programs:
            raise InvalidArgument(
                f"{what} {program!r} is not an executable file on {self.name}",
                remedy="give its full path there, or leave it out for the default",
            )
        return self._programs[program][0]

    def bring_script(self, kept: Path, path: Path, code: bytes) -> tuple[Path, Path, Callable[[], None] | None]:
        if b"\0" in code:
            raise InvalidArgument("a script with a NUL byte cannot be sent to another machine", remedy="leave it out")
        return path, kept, partial(self.write_file, path, code)

    def own_folder(self) -> str:
        return self.facts.start

    def which(self, program: str) -> str | None:
        return self._programs.get(program, (None,))[0]

    def shell_for(self, program: str) -> Shell | None:
        files = dict(self._programs.values())
        files.setdefault(self.facts.shell, self.facts.shell_file)
        return shell_named(program) or shell_named(files.get(program, program))

    def default_shell(self) -> str:
        return self.facts.shell

    def start(self, folder: Path, cwd: str, argv: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        return "/", ("/bin/sh", "-c", _START, "sh", str(folder), self.facts.umask, cwd, *argv)


@lru_cache(_PATHS_KEPT)
def _saved(path: Path) -> Command:
    """The commands that write a buffer to a file: the files of a shell's commands have always the same paths."""
    return command_list(("save-buffer", "-b", _BUFFER, str(path).replace("#", "##")), ("delete-buffer", "-b", _BUFFER))


_NOTHING = PaneAnswer()
# A pane makes its own directory, and goes where it is to begin; home, if that is gone since it was looked up.
_START = 'umask 077; mkdir "$1"; umask "$2"; cd -- "$3" || cd; shift 3; exec "$@"'


def _escaped(data: bytes) -> str:
    """A word that `printf %b` makes these bytes of, and in which the helper's sh sees nothing special."""
    return "".join(chr(byte) if chr(byte).isascii() and chr(byte).isalnum() else f"\\0{byte:03o}" for byte in data)
