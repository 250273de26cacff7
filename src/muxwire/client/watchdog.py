"""A script of its own: ends what must not outlive the process that started it.

    python -I -S watchdog.py TMUX SOCKET (ephemeral | named) < liveness-pipe

It reads lines from the pipe: `client PID` (the `tmux -C` process), `server PID`, `release` (the client has ended),
`session PID` and `session-over PID` (a pane's first process), `folder HEX` (a path's bytes, in hexadecimal digits).
When the pipe ends, its writer is gone, however it went, SIGKILL included. Then the client is killed: tmux would
otherwise wait for it and freeze every pane. For an ephemeral instance the server follows, and every process that
descends from it or shares a session with one that does, or with a pane: the server may have been killed before.
At last the socket and the folders go.

The standard library only, and none of muxwire: it must start fast and depend on nothing that can be upgraded.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# A server in good health answers in milliseconds; a hung one must not keep us from killing it.
_TMUX_TIMEOUT_S = 2.0

# How long programs may take to end by themselves after SIGHUP (shells write their history), and then after SIGKILL.
_GRACE_S = 1.0
_KILL_S = 2.0

# Between two looks at the process table while they end: small against the grace, large against the look's cost.
_LOOK_S = 0.02

_STAT = Path("/proc/self/stat")


class Process(NamedTuple):
    """A row of the process table; `started` tells it from a later process with the same number."""

    parent: int
    session: str
    started: str


def main(tmux: str, socket: str, kind: str) -> None:
    """Wait for the end of the pipe, then end what is left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    known: dict[str, dict[int, str]] = {"client": {}, "server": {}}
    panes: dict[int, Process] = {}
    folders: list[bytes] = []
    for line in sys.stdin:
        word, _, value = line.strip().partition(" ")
        if word == "release":
            known["client"] = {}
        elif word == "folder":
            folders.append(bytes.fromhex(value))
        elif word == "session-over":
            panes.pop(int(value), None)
        elif word == "session":
            # It may have ended already, and others of its session not.
            panes[int(value)] = process_table().get(int(value), Process(0, value, ""))
        elif word in known:
            known[word] = started_now(int(value), process_table())
    kill_processes(known["client"])
    if kind == "ephemeral":
        end_server(tmux, socket, known["server"])
        doomed = left_of(panes, process_table())
        kill_processes(doomed)
        wait_until_gone(doomed, _KILL_S)
        for folder in folders:
            remove_folder(folder)


def started_now(pid: int, table: dict[int, Process]) -> dict[int, str]:
    """Return the process with its start time; nothing if there is no such process."""
    return {pid: table[pid].started} if pid in table else {}


def end_server(tmux: str, socket: str, server: dict[int, str]) -> None:
    """End the tmux server, what runs in its panes and what that has started; then remove the socket."""
    table = process_table()
    for pid in server or started_now(server_pid(tmux, socket), table):
        doomed = family(pid, table)
        # As kill-server does, without asking: its programs get SIGHUP. One that hangs is killed with them.
        signal_processes({pid: doomed.get(pid, "")}, signal.SIGTERM)
        wait_until_gone(doomed, _GRACE_S)
        # What was started in the meantime has the session of one that we know.
        doomed |= same_sessions(doomed, process_table())
        kill_processes(doomed)
        wait_until_gone(doomed, _KILL_S)
    with contextlib.suppress(OSError):
        os.unlink(socket)  # noqa: PTH108  (a path as bytes of the system, nothing to join)


def server_pid(tmux: str, socket: str) -> int:
    """Return the server's process id; 0 if it does not say."""
    answer = ask_tmux(tmux, socket, "display-message", "-p", "#{pid}").strip()
    return int(answer) if answer.isdigit() else 0


def ask_tmux(tmux: str, socket: str, *command: str) -> str:
    """Return what a tmux command prints; empty if it fails or hangs."""
    # -N: a question must not start a server.
    argv = [tmux, "-N", "-S", socket, *command]
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
    """Return the processes whose session was that of a known one, which is named after its first process."""
    sessions = {table[pid].session for pid in known if pid in table} | {str(pid) for pid in known}
    return {pid: row.started for pid, row in table.items() if row.session in sessions and pid != os.getpid()}


def left_of(panes: dict[int, Process], table: dict[int, Process]) -> dict[int, str]:
    """Return what still runs in the sessions of panes: process id to start time."""
    # While a session has a process, no other process gets its number; after that another may, and lead a session.
    ours = {pid: row for pid, row in panes.items() if pid not in table or table[pid].started == row.started}
    # A pane may have been looked at before it made its session, which has its number then.
    sessions = {row.session for row in ours.values()} | {str(pid) for pid in ours}
    return {pid: row.started for pid, row in table.items() if row.session in sessions and pid != os.getpid()}


def remove_folder(folder: bytes) -> None:
    """Remove a folder and all in it, never what a link points to. shutil would take longer to import than all this."""
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with contextlib.suppress(OSError):
                os.unlink(parent + b"/" + name)  # noqa: PTH108
        for name in folders:
            path = parent + b"/" + name
            with contextlib.suppress(OSError):
                (os.unlink if os.path.islink(path) else os.rmdir)(path)  # noqa: PTH114
    with contextlib.suppress(OSError):
        os.rmdir(folder)  # noqa: PTH106


def wait_until_gone(doomed: dict[int, str], seconds: float) -> None:
    """Return as soon as all have ended, or when the time is over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        table = process_table()
        if not any(is_same(pid, started, table) for pid, started in doomed.items()):
            return
        time.sleep(_LOOK_S)


def kill_processes(doomed: dict[int, str]) -> None:
    """SIGKILL those that are still the processes they were."""
    signal_processes(doomed, signal.SIGKILL)


def signal_processes(processes: dict[int, str], number: signal.Signals) -> None:
    """Send a signal to those that are still the processes they were."""
    table = process_table()
    for pid, started in processes.items():
        if is_same(pid, started, table):
            with contextlib.suppress(OSError):
                os.kill(pid, number)


def is_same(pid: int, started: str, table: dict[int, Process]) -> bool:
    """Whether the process of that number is still the one that started then."""
    return pid in table and table[pid].started == started


def process_table() -> dict[int, Process]:
    """Return every process that is not a zombie."""
    return linux_processes() if _STAT.exists() else ps_processes()


def linux_processes() -> dict[int, Process]:
    """Read /proc."""
    table = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208  (names are all that is needed, of thousands of entries)
        if entry.isdigit():
            with contextlib.suppress(OSError):
                # The name may hold spaces and parentheses; the fields begin after its last one.
                fields = Path("/proc", entry, "stat").read_text("latin-1").rpartition(") ")[2].split(" ")
                if fields[0] not in "ZX":
                    table[int(entry)] = Process(int(fields[1]), fields[3], fields[19])
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
    main(*sys.argv[1:4])
