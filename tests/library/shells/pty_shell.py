"""A shell on a real pty, driven by its marks alone: no tmux, no sleeping, a deadline on every wait."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, final

from muxwire import shell as shell_package
from muxwire.host import shells

if TYPE_CHECKING:
    from collections.abc import Mapping

# Longer than any case takes on a loaded machine; only a failure waits for so long.
DEADLINE = 8.0
# A prompt that shows up without S for so long after it: the line never ran (the not-started rule).
SETTLED = 0.4
# No prompt mark for so long after E, and a shell that waits for input: it prints none.
_SILENT = 0.15
_READ = 1 << 16
# Hundredths of a second that a program must sleep and be silent to count as waiting for input.
_CALM = 3
# Where Linux says that a process waits: for a tty, a timer, one of several descriptors.
_WAITS = {"wait_woken", "hrtimer_nanosleep", "do_sys_poll", "poll_schedule_timeout", "do_select", "ep_poll"}
# The cases that grant this many seconds start an interpreter, which may sleep on its disk before it is ready.
_SLOW = 0.5
_CALM_SLOW = 4
_MARK = re.compile(rb"\x1b\]7770;(?:([SCDXH]);([^\x07]*)|([PEQ]);([0-9a-f]{16});(.*?);\4)\x07", re.DOTALL)
# What E and Q say after the status: when the command began and ended.
_TIMES = re.compile(rb"(?<=[0-9]):[0-9.]*:[0-9.]*(?=;)")


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """A mark and where it stands in everything read so far."""

    kind: str
    fields: bytes
    start: int
    end: int
    at: float


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one command."""

    status: str
    output: bytes
    exit_code: int | None
    cwd: bytes


def status_of(field: bytes) -> int:
    """An exit status; ksh says 256 + N for a signal."""
    status = int(field)
    return status - 128 if status > 256 else status


class Deadline(AssertionError):
    """The mark that was waited for did not come; the text shows what did."""


EXECUTABLES = ("bash", "zsh", "fish", "dash", "ksh", "busybox")


class Opener(Protocol):
    """Starts a shell for a test; `extra` is added to its environment."""

    def __call__(self, name: str, *, login: bool = False, first_prompt: bool = True, **extra: str) -> PtyShell: ...


class PtyShell:
    """One shell under its supervisor on a pty."""

    def __init__(
        self,
        executable: str,
        folder: Path,
        tab_folder: Path,
        env: Mapping[str, str],
        *,
        login: bool = False,
        size: tuple[int, int] = (24, 80),
    ) -> None:
        shell = shells.shell_for(executable)
        assert shell is not None
        self.shell = shell
        self.tab_folder = tab_folder
        self.nonce = os.urandom(8).hex()
        launch = shell.launch(executable, folder, tab_folder, self.nonce, login, env)
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.process = subprocess.Popen(
            shell_package.supervisor_argv(launch.argv, os.urandom(8).hex(), takes_nonce=True),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**env, **launch.env},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
            cwd=env["HOME"],
        )
        self.tty = os.ttyname(slave)
        os.close(slave)
        os.set_blocking(self.master, False)
        self.poll = select.poll()
        self.poll.register(self.master, select.POLLIN)
        self.data = bytearray()
        self.marks: list[Mark] = []
        self.scanned = 0
        self.seq = 0
        self.last_status = 0

    def read(self, deadline: float) -> bool:
        """Read what is there, or wait for it; False at the deadline."""
        left = deadline - time.monotonic()
        if left <= 0 or not self.poll.poll(left * 1000):
            return False
        try:
            chunk = os.read(self.master, _READ)
        except BlockingIOError:
            return True
        except OSError as error:
            raise Deadline(f"pty closed: {bytes(self.data[-400:])!r}") from error
        self.data += chunk
        now = time.monotonic()
        while match := _MARK.search(self.data, self.scanned):
            kind = (match[1] or match[3]).decode()
            fields = match[2] if match[1] else match[4] + b";" + _TIMES.sub(b"", match[5])
            if kind == "Q":  # E and P in one
                command_id, status, seq, nonce, cwd = fields.split(b";", 4)
                self.marks.append(Mark("E", b";".join((command_id, status, cwd)), match.start(), match.end(), now))
                kind, fields = "P", b";".join((nonce, seq, b"0", status, cwd))
            self.marks.append(Mark(kind, fields, match.start(), match.end(), now))
            self.scanned = match.end()
        tail = self.data.find(b"\x1b]7770;", self.scanned)
        self.scanned = max(self.scanned, tail if tail >= 0 else len(self.data) - 7)
        return True

    def wait_mark(self, first: int, deadline: float, wanted: Any) -> Mark:
        """The first mark from index `first` on that `wanted` accepts."""
        while True:
            for mark in self.marks[first:]:
                if wanted(mark):
                    return mark
            first = len(self.marks)
            if not self.read(deadline):
                raise Deadline(f"no mark; the end of what came: {bytes(self.data[-600:])!r}")

    def is_prompt(self, mark: Mark) -> bool:
        """Whether this is our own shell's next prompt."""
        if mark.kind != "P":
            return False
        nonce, seq, *_ = mark.fields.split(b";", 4)
        return nonce.decode() == self.nonce and int(seq) > self.seq

    def prompt(self, first: int = 0, timeout: float = DEADLINE) -> Mark:
        """Wait for the next prompt."""
        mark = self.wait_mark(first, time.monotonic() + timeout, self.is_prompt)
        fields = mark.fields.split(b";", 4)
        self.seq, self.last_status = int(fields[1]), status_of(fields[3])
        if self.shell.settle_after_prompt:
            self.drain(self.shell.settle_after_prompt)
        return mark

    def prompt_or_silence(self, first: int) -> None:
        """The prompt after E; a shell whose prompt goes nowhere (`exec 2>/dev/null`) shows none."""
        try:
            self.prompt(first, _SILENT)
        except Deadline:
            if self.asleep():
                return
            self.prompt(first)

    def drain(self, quiet: float) -> None:
        """Read until nothing came for `quiet` seconds."""
        end = time.monotonic() + SETTLED
        while self.read(min(end, time.monotonic() + quiet)):
            pass

    def drain_until(self, first: int, wanted: Any) -> None:
        """Give a mark that may never come a moment to come."""
        try:
            self.wait_mark(first, time.monotonic() + SETTLED, wanted)
        except Deadline:
            return

    def until_quiet(self, at_most: float) -> None:
        """Wait until the foreground program waits for us: asleep and silent for a while, or `at_most` seconds."""
        end = time.monotonic() + at_most
        calm = 0
        while calm < (_CALM if at_most < _SLOW else _CALM_SLOW) and time.monotonic() < end:
            before = len(self.data)
            self.read(time.monotonic() + 0.01)
            calm = calm + 1 if len(self.data) == before and self.asleep() else 0

    def asleep(self) -> bool:
        """Whether the foreground process group's leader waits for input or a timer, not for its disk or a child."""
        process = Path(f"/proc/{os.tcgetpgrp(self.master)}")
        try:
            return process.joinpath("wchan").read_text().partition(".")[0] in _WAITS
        except OSError:
            return False

    def type(self, data: bytes) -> None:
        """Send input."""
        while data:
            try:
                data = data[os.write(self.master, data) :]
            except BlockingIOError:
                self.read(time.monotonic() + 0.01)

    def start(self, command: bytes, **options: Any) -> tuple[str, int]:
        """Type one command; its id, and the index of the first mark that may be its own."""
        command_id = os.urandom(8).hex()
        wrapped = self.shell.wrap(command, command_id, self.tab_folder, **options)
        for name, content in wrapped.files:
            (self.tab_folder / name).write_bytes(content)
        first = len(self.marks)
        self.type(wrapped.typed)
        return command_id, first

    def execute(self, command: bytes, *, timeout: float = DEADLINE, **options: Any) -> Outcome:
        """Run one command and wait for the prompt after it."""
        deadline = time.monotonic() + timeout
        command_id, first = self.start(command, **options)
        return self.finish(command_id, first, deadline)

    def finish(self, command_id: str, first: int, deadline: float) -> Outcome:
        """Wait for the end of a command."""
        wanted = command_id.encode()
        prompt_before = [mark.start for mark in self.marks[:first] if mark.kind == "P"][-1:]

        def begins(mark: Mark) -> bool:
            return mark.kind == "X" or (mark.kind == "S" and mark.fields == wanted) or self.is_prompt(mark)

        start = self.wait_mark(first, deadline, begins)
        if start.kind == "P":
            self.prompt(first)
            first = self.marks.index(start) + 1
            self.drain_until(first, begins)
            start = next(filter(begins, self.marks[first:]), start)
        if start.kind == "P":
            return Outcome("not_started", bytes(self.data[prompt_before[0] if prompt_before else 0 :]), None, b"")

        def ends(mark: Mark) -> bool:
            ours = mark.kind == "E" and mark.fields.startswith(wanted)
            ended = mark.kind == "D" and mark.fields.startswith(b"%b;%d;" % (self.nonce.encode(), self.seq))
            return ours or ended or mark.kind == "X" or self.is_prompt(mark)

        index = self.marks.index(start) + 1
        end = self.wait_mark(index, deadline, ends)
        output = bytes(self.data[start.end : end.start]).replace(b"\r\n", b"\n")
        if end.kind == "D":  # fish: what comes next says whether the shell still lives
            output = re.sub(rb"\x1b\]133;D;\d+\x07\Z", b"", output)  # and fish 4 tells its terminal as well
            index = self.marks.index(end) + 1
            then = self.wait_mark(index, deadline, lambda mark: mark.kind == "X" or self.is_prompt(mark))
            end = then if then.kind == "X" else end
        if end.kind == "X":
            return Outcome("shell_exited", output, status_of(end.fields.rpartition(b";")[2]), b"")
        if end.kind == "E":
            self.prompt_or_silence(index)
        else:
            self.prompt(index, deadline - time.monotonic())
        if end.kind == "E":
            _, status, cwd = end.fields.split(b";", 2)
            return Outcome("completed", output, status_of(status), cwd.replace(b"\r\n", b"\n"))
        if self.shell.name == "zsh":
            output = re.sub(rb"(?:\x1b\[[0-9;]*m)*[%#](?:\x1b\[[0-9;]*m)* +\r \r\Z", b"", output)
        return Outcome("aborted", output, self.last_status, b"")

    def typed(self, line: bytes) -> bytes:
        """What a person sees who types `line` and Enter, up to the next prompt."""
        first, before = len(self.marks), len(self.data)
        self.type(line + b"\r")
        self.prompt(first)
        return bytes(self.data[before:])

    def close(self) -> None:
        """End everything in the session."""
        subprocess.run(["pkill", "-KILL", "-s", str(self.process.pid)], check=False)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.master)
