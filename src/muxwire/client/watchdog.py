"""A script of its own: ends what must not outlive the process that started it.

    python -I -S watchdog.py TMUX SOCKET (ephemeral | named) [OUTPUT INPUT] < liveness-socket

It reads lines from the socket: `client PID` (the `tmux -C` process; with the line comes a descriptor that keeps its
input open, since tmux may end if a client's input does, B14), `server PID`, `release` (the client has ended),
`session PID` and `session-over PID` (a pane's first process), `folder HEX` (a path's bytes, in hexadecimal digits),
`kept` (the server is no longer ephemeral). When they end, their writer is gone, however it went, SIGKILL included. Then
the client is killed: tmux would wait for it and freeze every pane. For an ephemeral instance the server follows, and
every process that descends from it or shares a session with one that does, or with a pane: the server may have been
killed before. At last the socket and the directories go.

Of a named instance it has the control connection too (OUTPUT, which tmux writes, and INPUT), and `tail HEX HEX` (a
path, and a mark that nobody has printed), `pane %N HEX HEX` (its terminal and a command for tmux), `pane-over %N`.
Before the client is killed, the panes' logs are handed over: the commands are sent, which have tmux itself write on;
then the mark is printed on every pane's terminal, and what tmux says goes to the tail until it has said the mark of
each. So both have it, and the log can be continued behind it without a byte lost or doubled. Of a named instance whose
server has ended the panes' sessions are ended.

The standard library only, and none of muxwire: it must start fast and depend on nothing that can be upgraded.
"""

# ruff: noqa: E402  (what it imports has to wait, see below)

from __future__ import annotations

import select
import sys

# Its own start takes a processor 15 ms, just when tmux and the first shell start: it comes after them, or at once if
# the liveness socket's writer is gone, but never so late that what it needs could have been upgraded meanwhile.
# Where the server runs already (named) nothing else starts, and a short process would wait for us at its end.
_START_AFTER_MS = 300
_STDIN = 0

if __name__ == "__main__" and sys.argv[3] == "ephemeral":
    _liveness = select.poll()
    _liveness.register(_STDIN, 0)  # POLLHUP comes unasked
    _liveness.poll(_START_AFTER_MS)

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A server in good health answers in milliseconds; a hung one must not keep us from killing it.
_TMUX_TIMEOUT_S = 2.0
# How long programs may take to end by themselves after SIGHUP (shells write their history), and then after SIGKILL.
KILL_GRACE_S = 1.0
_KILL_S = 2.0
# Between two checks of the process table while they end: small against the grace, large against the look's cost.
_LOOK_S = 0.02
_STAT = Path("/proc/self/stat")
# What the command line of every watchdog holds, whichever installation it is of.
_SELF = (b"/muxwire/client/watchdog.py", b"/muxwire/client/adopted_watchdog.py")

# tmux may first have minutes of output to tell, if we had stood still for long.
_DRAIN_S = 60.0
# Marks come back within milliseconds; whoever comes next waits for the end of this.
_MARKS_S = 5.0
# A terminal that does not take the mark for so long is stopped (C-s): nothing is written there, so no byte can come
# between what was said and what is written.
_STOPPED_S = 0.5

# All that a pipe holds.
_READ_BYTES = 1024 * 1024
# More than one comes only when clients are started one after the other.
_DESCRIPTORS = 8


class Process(NamedTuple):
    """A row of the process table; `started` distinguishes it from a later process with the same number."""

    parent: int
    session: str
    started: str


class Panes:
    """What must be known to hand the panes of a named instance over."""

    def __init__(self) -> None:
        self.tail = self.mark = b""
        self.rows: dict[str, tuple[bytes, bytes]] = {}

    def take(self, word: str, value: str) -> None:
        if word == "tail":
            self.tail, self.mark = map(bytes.fromhex, value.split(" "))
        elif word == "pane":
            pane, tty, command = value.split(" ")
            self.rows[pane] = (bytes.fromhex(tty), bytes.fromhex(command))
        elif word == "pane-over":
            self.rows.pop(value, None)


def main(tmux: str, path: str, kind: str, *connection: str) -> None:
    """Wait for the end of the lines, then end what is left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    known: dict[str, dict[int, str]] = {"client": {}, "server": {}}
    panes: dict[int, Process] = {}
    folders: list[bytes] = []
    logged = Panes()
    for line in lines():
        word, _, value = line.partition(" ")
        if word == "release":
            known["client"] = {}
        elif word == "kept":
            kind = "named"
        elif word == "folder":
            folders.append(bytes.fromhex(value))
        elif word == "session-over":
            panes.pop(int(value), None)
        elif word == "session":
            # It may have ended already, and others of its session not.
            panes[int(value)] = rows_of((int(value),)).get(int(value), Process(0, value, ""))
        elif word in known:
            known[word] = started_now(int(value))
        else:
            logged.take(word, value)
    if connection and logged.rows and logged.tail:
        with contextlib.suppress(OSError):  # the panes continue, whatever becomes of their logs
            handoff(int(connection[0]), int(connection[1]), logged)
    kill_processes(known["client"])
    if kind != "ephemeral" and known["client"]:
        ask_tmux(tmux, path, "display-message", "-p", "")  # its end is known there before its input ends
    if kind == "ephemeral":
        end_server(tmux, path, known["server"])
        end_sessions(panes, 0)
        for folder in folders:
            remove_folder(folder)
    elif connection and not still_run(known["server"]):  # the kernel has hung up on its panes
        end_sessions(panes, KILL_GRACE_S)


def end_sessions(panes: dict[int, Process], grace: float) -> None:
    doomed = left_of(panes, process_table())
    wait_until_gone(doomed, grace)
    kill_processes(doomed)
    wait_until_gone(doomed, _KILL_S)


def lines() -> Iterator[str]:
    """The lines of the liveness socket. Of the descriptors that come with them the last one is held open."""
    rest, held = b"", -1
    with socket.socket(fileno=_STDIN) as liveness:
        while True:
            data, descriptors, _, _ = socket.recv_fds(liveness, _READ_BYTES, _DESCRIPTORS)
            for descriptor in descriptors:
                if held >= 0:
                    os.close(held)
                held = descriptor
            if not data:
                return
            *whole, rest = (rest + data).split(b"\n")
            yield from map(bytes.decode, whole)


def handoff(output: int, control: int, panes: Panes) -> None:
    """Have tmux itself write the panes' logs on, and put into the tail what it says up to the mark of each; OSError."""
    tail = os.open(panes.tail, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    connection = Connection(output, control, tail)
    connection.answered()
    connection.say(*(command for _, command in panes.rows.values()))
    connection.answered()
    printed = set[str]()
    for pane, (tty, _) in panes.rows.items():
        # In a thread: a terminal that is stopped is waited for, and our end ends that.
        threading.Thread(target=print_mark, args=(tty, panes.mark, pane, printed), daemon=True).start()
    connection.hear_marks(panes, printed)


def print_mark(tty: bytes, mark: bytes, pane: str, printed: set[str]) -> None:
    """Write to a terminal, and note that it took all of it."""
    with contextlib.suppress(OSError):  # the pane is gone
        descriptor = os.open(tty, os.O_WRONLY | os.O_NOCTTY)
        os.write(descriptor, mark)
        printed.add(pane)


class Connection:
    """The control connection, after the death of the process that had it."""

    def __init__(self, output: int, control: int, tail: int) -> None:
        self._output, self._control, self._tail = output, control, tail
        self._deadline = time.monotonic() + _DRAIN_S
        self._questions = 0
        # The dead may have left half a line; as a comment the rest of it is nothing, and so is a whole one.
        self.say(b"#")

    def say(self, *commands: bytes) -> None:
        data = b"".join(command + b"\n" for command in commands)
        while data and self._ready(write=True):
            data = data[os.write(self._control, data) :]

    def _ready(self, *, write: bool) -> bool:
        ends = ([], [self._control]) if write else ([self._output], [])
        return any(select.select(*ends, [], max(0.0, self._deadline - time.monotonic())))

    def answered(self) -> None:
        """Ask tmux something, and put all that it says until its answer into the tail."""
        self._questions += 1
        answer = b"\nmuxwire-handoff-%d-%d\n" % (os.getpid(), self._questions)
        self.say(b"display-message -p " + answer.strip())
        rest = b""
        while answer not in rest and self._ready(write=False):
            rest = rest[-len(answer) :] + self._hear()

    def hear_marks(self, panes: Panes, printed: set[str]) -> None:
        """Put all that tmux says into the tail, until it has said the mark of each pane; not of one that is stopped."""
        mark = panes.mark.replace(b"\x1b", b"\\033").replace(b"\x07", b"\\007")  # as tmux escapes it
        left, begun, rest = set(panes.rows), time.monotonic(), b""
        ends: dict[str, bytes] = {}
        while left and time.monotonic() < begun + (_MARKS_S if left & printed else _STOPPED_S):
            if not select.select([self._output], [], [], _LOOK_S)[0]:
                continue
            *lines, rest = (rest + self._hear()).split(b"\n")
            for line in lines:
                word, _, said = line.partition(b" ")
                pane, _, said = said.partition(b" ")
                if word == b"%output" and (name := pane.decode("latin-1")) in left:
                    ends[name] = ends.get(name, b"")[-len(mark) :] + said
                    if mark in ends[name]:
                        left.discard(name)

    def _hear(self) -> bytes:
        """What tmux says next, once it is in the tail; OSError if it has ended."""
        data = rest = os.read(self._output, _READ_BYTES)
        if not data:
            raise BrokenPipeError
        with contextlib.suppress(OSError):  # a full disk: the log will have a gap, and the pane continues
            while rest:
                rest = rest[os.write(self._tail, rest) :]
        return data


def started_now(pid: int) -> dict[int, str]:
    return {pid: found[pid].started} if pid in (found := rows_of((pid,))) else {}


def end_server(tmux: str, path: str, server: dict[int, str]) -> None:
    """End the tmux server, what runs in its panes and what that has started; then remove the socket."""
    table = process_table()
    answer = "" if server else ask_tmux(tmux, path, "display-message", "-p", "#{pid}").strip()
    for pid in server or started_now(int(answer) if answer.isdigit() else 0):
        doomed = family(pid, table)
        # As kill-server does, without asking: its programs get SIGHUP. One that hangs is killed with them.
        signal_processes({pid: doomed.get(pid, "")}, signal.SIGTERM)
        wait_until_gone(doomed, KILL_GRACE_S)
        # What was started in the meantime has the session of one that we know.
        doomed |= same_sessions(doomed, process_table())
        kill_processes(doomed)
        wait_until_gone(doomed, _KILL_S)
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108  (a path as bytes of the system, nothing to join)


def ask_tmux(tmux: str, path: str, *command: str) -> str:
    """Return what a tmux command prints; empty if it fails or hangs."""
    # -N: a question must not start a server.
    argv = [tmux, "-N", "-S", path, *command]
    try:
        answer = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TMUX_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.decode("utf-8", "replace")


def family(root: int, table: dict[int, Process]) -> dict[int, str]:
    """Return the processes that descend from `root`, and all of their sessions: process id to start time."""
    doomed = {root} & table.keys()
    while True:
        # The session of the root is its own: the server made itself a daemon.
        sessions = {table[pid].session for pid in doomed}
        more = {pid for pid, row in table.items() if row.parent in doomed or row.session in sessions} - doomed
        if not more:
            break
        doomed |= more
    return {pid: table[pid].started for pid in doomed if pid != os.getpid()}


def same_sessions(known: dict[int, str], table: dict[int, Process]) -> dict[int, str]:
    sessions = {table[pid].session for pid in known if pid in table} | {str(pid) for pid in known}
    return {pid: row.started for pid, row in table.items() if row.session in sessions and pid != os.getpid()}


def left_of(panes: dict[int, Process], table: dict[int, Process]) -> dict[int, str]:
    """Return what still runs in the sessions of panes: process id to start time."""
    # While a session has a process, no other process gets its number; after that another may, and lead a session.
    ours = {pid: row for pid, row in panes.items() if pid not in table or table[pid].started == row.started}
    # A pane may have been examined before it made its session, which has its number then.
    sessions = {row.session for row in ours.values()} | {str(pid) for pid in ours}
    return {pid: row.started for pid, row in table.items() if row.session in sessions and pid != os.getpid()}


def remove_folder(folder: bytes) -> None:
    with contextlib.suppress(OSError):
        subprocess.run(["rm", "-rf", "--", folder], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def wait_until_gone(doomed: dict[int, str], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and still_run(doomed):
        time.sleep(_LOOK_S)


def still_run(processes: dict[int, str]) -> bool:
    """Whether one of them is still the process that it was."""
    table = rows_of(processes)
    return any(is_same(pid, started, table) for pid, started in processes.items())


def kill_processes(doomed: dict[int, str]) -> None:
    """SIGKILL those that are still the processes they were."""
    signal_processes(doomed, signal.SIGKILL)


def signal_processes(processes: dict[int, str], number: signal.Signals) -> None:
    """Send a signal to those that are still the processes they were.

    Another muxwire that ran in one of our panes has a watchdog too, and what it watches over is not all of our family.
    """
    table = rows_of(processes)
    for pid, started in processes.items():
        if is_same(pid, started, table) and not is_watchdog(pid):
            with contextlib.suppress(OSError):
                os.kill(pid, number)


def is_same(pid: int, started: str, table: dict[int, Process]) -> bool:
    return pid in table and table[pid].started == started


def is_watchdog(pid: int) -> bool:
    """Whether the process is a watchdog as we are: it will end by itself, when its work is done."""
    if _STAT.exists():
        with contextlib.suppress(OSError):
            return any(script in Path("/proc", str(pid), "cmdline").read_bytes() for script in _SELF)
    argv = ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)]
    line = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout
    return any(script in line for script in _SELF)


def process_table() -> dict[int, Process]:
    if not _STAT.exists():
        return ps_processes()
    return rows_of(int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 (names are enough)


def rows_of(pids: Iterable[int]) -> dict[int, Process]:
    """Return at least those of these processes that are not zombies: a few are read sooner than thousands."""
    if not _STAT.exists():
        return ps_processes()
    table = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            # The name may hold spaces and parentheses; the fields begin after its last one.
            fields = Path("/proc", str(pid), "stat").read_text("latin-1").rpartition(") ")[2].split(" ")
            if fields[0] not in "ZX":
                table[pid] = Process(int(fields[1]), fields[3], fields[19])
    return table


def ps_processes() -> dict[int, Process]:
    """Ask ps(1). macOS gives no usable session there; the terminal is what a session's processes share."""
    argv = ["/bin/ps", "-A", "-o", "pid=,ppid=,tty=,stat=,lstart="]
    answer = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    table = {}
    for line in answer.stdout.decode("utf-8", "replace").splitlines():
        pid, parent, tty, state, started = line.split(None, 4)
        if not state.startswith("Z"):
            # Processes without a terminal share nothing: each is a session of its own.
            session = pid if tty.startswith("?") or tty == "-" else tty
            table[int(pid)] = Process(int(parent), session, started)
    return table


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # who waits for us waits 5 ms less than for an interpreter that tidies up
