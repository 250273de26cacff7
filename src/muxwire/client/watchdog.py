"""A script of its own: ends what must not outlive the process that started it.

    python -I -S watchdog.py TMUX SOCKET (ephemeral | named) < liveness-socket

It reads lines from the socket: `client PID` (the `tmux -C` process; with the line comes a descriptor that keeps its
input open, since tmux may end if a client's input does, B14), `server PID`, `release` (the client has ended),
`session PID` and `session-over PID` (a pane's first process), `folder HEX` (a path's bytes, in hexadecimal digits),
`kept` (the server is no longer ephemeral). When they end, their writer is gone, however it went, SIGKILL included. Then
the client is killed: tmux would wait for it and freeze every pane. For an ephemeral instance the server follows, and
every process that descends from it or shares a session with one that does, or with a pane: the server may have been
killed before. At last the socket and the directories go.

Of a named instance whose server has ended the panes' sessions are ended. Of a person's server it knows no process.

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

# All that a pipe holds.
_READ_BYTES = 1024 * 1024
# More than one comes only when clients are started one after the other.
_DESCRIPTORS = 8


class Process(NamedTuple):
    """A row of the process table; `started` distinguishes it from a later process with the same number."""

    parent: int
    session: str
    started: str


def main(tmux: str, path: str, kind: str) -> None:
    """Wait for the end of the lines, then end what is left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    known: dict[str, dict[int, str]] = {"client": {}, "server": {}}
    panes: dict[int, Process] = {}
    folders: list[bytes] = []
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
    kill_processes(known["client"])
    if kind != "ephemeral" and known["client"]:
        ask_tmux(tmux, path, "display-message", "-p", "")  # its end is known there before its input ends
    if kind == "ephemeral":
        end_server(tmux, path, known["server"])
        end_sessions(panes, 0)
        for folder in folders:
            remove_folder(folder)
    elif known["server"] and not still_run(known["server"]):  # the kernel has hung up on its panes
        end_sessions(panes, KILL_GRACE_S)


def end_sessions(panes: dict[int, Process], grace: float) -> None:
    """Kill what is left of these panes after `grace` seconds, and return when it is gone."""
    wait_until_gone(left_of(panes, process_table()), grace)
    doomed = left_of(panes, process_table())
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
    """Return what runs in the sessions of processes that are known, or were: process id to start time."""
    # The number of one that has ended may be another's now, which has a session of its own.
    ours = [pid for pid, started in known.items() if pid not in table or table[pid].started == started]
    sessions = {table[pid].session for pid in ours if pid in table} | {str(pid) for pid in ours}
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
