"""A program of its own: ends what must not outlive the process that started it.

    watchdog.py TMUX SOCKET (ephemeral | named | adopted) < liveness-socket  (started by liveness.py)

It reads lines from the socket: `client PID` (the `tmux -C` process; with the line comes a descriptor that keeps its
input open, since tmux may end if a client's input does, B14), `server PID`, `release` (the client has ended),
`session PID` and `session-over PID` (a pane's first process), `folder HEX` (a path's bytes, in hexadecimal digits),
`kept` (the server is no longer ephemeral). When they end, their writer is gone, however it went, SIGKILL included. Then
the client is killed: tmux would wait for it and freeze every pane. For an ephemeral instance the server follows, and
every process that descends from it or shares a session with one that does, or with a pane: the server may have been
killed before. At last the socket and the directories go.

Of a named instance whose server has ended the panes' sessions are ended.

Of a person's server (adopted) it knows no process, but the panes that were made there: `made LABEL` (a word among the
arguments of a pane's first process, given before tmux is asked to make the pane). They are killed, with what is left of
their sessions; a pane is left where closing it would end a session: that is the person's.

The standard library only, and none of muxwire: it must start fast and depend on nothing that can be upgraded.
"""

# ruff: noqa: PTH118, PTH208, SIM105  (contextlib and pathlib are not imported here, see below)

from __future__ import annotations

import os
import select
import sys
import time

# The parts in C of `signal` and `socket`. Those two, `subprocess`, `pathlib`, `contextlib` and `typing` would take a
# processor 50 ms, twice what the interpreter takes by itself, and every process that opens an instance starts this.
from _signal import SIG_IGN, SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGTERM, signal  # type: ignore[import-not-found]
from _socket import CMSG_SPACE, SCM_RIGHTS, SOL_SOCKET, socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# A server in good health answers in milliseconds; a hung one must not keep us from killing it.
_TMUX_TIMEOUT_S = 2.0
# How long programs may take to end by themselves after SIGHUP (shells write their history), and then after SIGKILL.
KILL_GRACE_S = 1.0
_KILL_S = 2.0
# Between two looks at those that are to end: small against the grace, large against what a look costs.
_LOOK_S = 0.005
# What the command line of every watchdog holds, whichever installation it is of.
_SELF = b"/muxwire/client/watchdog.py"

_STDIN = 0
# Signals that are ignored: this process ends when its work is done, and not before.
_IGNORED = (SIGINT, SIGTERM, SIGHUP, SIGPIPE)
# Many lines at a time, and more than any file of /proc that is read here.
_READ_BYTES = 64 * 1024
# More than one comes only when clients are started one after the other.
_DESCRIPTORS = 8
_DESCRIPTOR_BYTES = 4


# What was made at a person's server.
_PANES = "#{pane_id} #{pane_pid} #{pane_start_command}"
# True for a pane whose end would end a session: it is the only one of its window, and that window is the only one of
# some session.
_ENDS_SESSION = (
    "#{{&&:#{{&&:#{{==:#{{pane_id}},{pane}}},#{{==:#{{window_panes}},1}}}},"
    "#{{m:*<#{{window_id}}>*,#{{S:#{{?#{{==:#{{session_windows}},1}},#{{W:<#{{window_id}}>}},}}}}}}}}"
)


class Process:
    """A row of the process table; `started` distinguishes it from a later process with the same number."""

    __slots__ = ("parent", "session", "started")

    def __init__(self, parent: int, session: str, started: str) -> None:
        self.parent = parent
        self.session = session
        self.started = started


def main(tmux: str, path: str, kind: str) -> None:
    """Wait for the end of the lines, then end what is left."""
    for number in _IGNORED:
        signal(number, SIG_IGN)
    known: dict[str, dict[int, str]] = {"client": {}, "server": {}}
    panes: dict[int, Process] = {}
    labels: set[str] = set()
    folders: list[bytes] = []
    for line in lines():
        word, _, value = line.partition(" ")
        if word == "release":
            known["client"] = {}
        elif word == "kept":
            kind = "named"
        elif word == "folder":
            folders.append(bytes.fromhex(value))
        elif word == "made":
            labels.add(value)
        elif word == "session-over":
            panes.pop(int(value), None)
        elif word == "session":
            # It may have ended already, and others of its session not.
            panes[int(value)] = rows_of((int(value),)).get(int(value), Process(0, value, ""))
        elif word in known:
            known[word] = started_now(int(value))
    signal_processes(known["client"], SIGKILL)
    if kind != "ephemeral" and known["client"]:
        # When it answers, the server knows of the client's end; only then may the client's input end (B14).
        ask_tmux(tmux, path, "display-message", "-p", "")
    if kind == "ephemeral":
        end_server(tmux, path, known["server"], panes)
    elif labels:
        close_panes(tmux, path, labels)
    elif known["server"] and not still_run(known["server"]):  # the kernel has hung up on its panes
        end_sessions(panes)
    if kind != "named":
        for folder in folders:
            remove_folder(folder)


def end_sessions(panes: dict[int, Process]) -> None:
    """Kill what is left of these panes after a grace, and return when it is gone."""
    wait_until_gone(hung_up(left_of(panes, table := process_table()), table), KILL_GRACE_S)
    kill_until_gone(lambda table: left_of(panes, table))


def lines() -> Iterator[str]:
    """The lines of the liveness socket. Of the descriptors that come with them the last one is held open."""
    rest, held = b"", -1
    liveness = socket(fileno=_STDIN)
    while True:
        data, ancillary, _, _ = liveness.recvmsg(_READ_BYTES, CMSG_SPACE(_DESCRIPTOR_BYTES * _DESCRIPTORS))
        for descriptor in descriptors_in(ancillary):
            if held >= 0:
                os.close(held)
            os.set_inheritable(descriptor, False)
            held = descriptor
        if not data:
            return
        *whole, rest = (rest + data).split(b"\n")
        yield from map(bytes.decode, whole)


def descriptors_in(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    """The descriptors that came with a message (unix(7)): C integers, one after the other."""
    packed = b"".join(data for level, kind, data in ancillary if (level, kind) == (SOL_SOCKET, SCM_RIGHTS))
    starts = range(0, len(packed), _DESCRIPTOR_BYTES)
    return [int.from_bytes(packed[at : at + _DESCRIPTOR_BYTES], sys.byteorder, signed=True) for at in starts]


def started_now(pid: int) -> dict[int, str]:
    return {pid: found[pid].started} if pid in (found := rows_of((pid,))) else {}


def end_server(tmux: str, path: str, server: dict[int, str], panes: dict[int, Process]) -> None:
    """End the tmux server, what runs in its panes and what that has started; then remove the socket."""
    answer = "" if server else ask_tmux(tmux, path, "display-message", "-p", "#{pid}").strip()
    server = server or started_now(int(answer) if answer.isdigit() else 0)
    known = hung_up(family(server, table := process_table()), table)
    # As kill-server does, without asking tmux: its programs get SIGHUP. A server that hangs is killed with them.
    signal_processes(server, SIGTERM)
    wait_until_gone(known, KILL_GRACE_S)
    # What was started in the meantime has the session of one that is known.
    kill_until_gone(
        lambda table: same_sessions(known, table) | left_of(panes, table) | ({} if known else starting(path, table))
    )
    for made in (path, f"{path}.lock"):  # a client that was killed while it started the server leaves its lock
        remove(os.fsencode(made))


def hung_up(doomed: dict[int, str], table: dict[int, Process]) -> dict[int, str]:
    """Send SIGHUP to those that lead no session, the oldest first, and return all of them.

    When a terminal goes, the kernel tells the leader of its session and what is in the foreground. The shell of a tab
    is neither while a command runs: the command would end, and the shell would run the rest of the line.
    """
    inner = {pid: started for pid, started in doomed.items() if table[pid].session != str(pid)}
    signal_processes(dict(sorted(inner.items(), key=lambda one: (int(one[1]), one[0]))), SIGHUP)
    return doomed


def kill_until_gone(left: Callable[[dict[int, Process]], dict[int, str]]) -> None:
    """Kill the processes that `left` finds in the process table, until it finds none, or some stay for too long."""
    deadline = time.monotonic() + _KILL_S
    while time.monotonic() < deadline and (doomed := left(process_table())):
        signal_processes(doomed, SIGKILL)
        wait_until_gone(doomed, deadline - time.monotonic())


def ask_tmux(tmux: str, path: str, *command: str) -> str:
    """Return what a tmux command prints; empty if it cannot be started. A client that hangs is killed."""
    argv = [tmux, "-N", "-S", path, *command]  # -N: a question must not start a server
    reader, writer = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    try:
        pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions, setsigdef=_IGNORED)
    except OSError:
        os.close(reader)
        return ""
    finally:
        os.close(null)
        os.close(writer)
    output, deadline = b"", time.monotonic() + _TMUX_TIMEOUT_S
    readable = select.poll()
    readable.register(reader, select.POLLIN)
    while time.monotonic() < deadline and readable.poll(max(0.0, deadline - time.monotonic()) * 1000):
        data = os.read(reader, _READ_BYTES)
        output += data
        if not data:
            break
    else:
        os.kill(pid, SIGKILL)
    os.close(reader)
    os.waitpid(pid, 0)
    return output.decode("utf-8", "replace")


def family(roots: dict[int, str], table: dict[int, Process]) -> dict[int, str]:
    """Return `roots`, if they run still, what descends from them, and all of their sessions: process id to start time.

    A server may have ended long ago, while the process that we watch over was stopped: its number is another's then.
    """
    doomed = {pid for pid, started in roots.items() if is_same(pid, started, table)}
    while True:
        # The session of the server is its own: it made itself a daemon.
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


def starting(path: str, table: dict[int, Process]) -> dict[int, str]:
    """Return what was started for that socket: process id to start time.

    A server whose client was killed at once goes on to start, and does not answer yet. It has its client's arguments.
    """
    option = os.fsencode(f"\0-S\0{path}\0")
    return {pid: row.started for pid, row in table.items() if option in content_of(f"/proc/{pid}/cmdline")}


def left_of(panes: dict[int, Process], table: dict[int, Process]) -> dict[int, str]:
    """Return what still runs in the sessions of panes: process id to start time."""
    # While a session has a process, no other process gets its number; after that another may, and lead a session.
    ours = {pid: row for pid, row in panes.items() if pid not in table or table[pid].started == row.started}
    # A pane may have been examined before it made its session, which has its number then.
    sessions = {row.session for row in ours.values()} | {str(pid) for pid in ours}
    return {pid: row.started for pid, row in table.items() if row.session in sessions and pid != os.getpid()}


def remove_folder(folder: bytes) -> None:
    """Remove a directory and what is in it; a link in it goes, and what that points to stays."""
    for place, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            remove(os.path.join(place, name))
    remove(folder)


def remove(path: bytes) -> None:
    """Remove a file, a link or an empty directory, if there is one."""
    for call in (os.unlink, os.rmdir):
        try:
            call(path)
        except OSError:
            continue
        return


def wait_until_gone(doomed: dict[int, str], seconds: float) -> None:
    """Return when none of them runs, or after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and still_run(doomed):
        time.sleep(_LOOK_S)


def still_run(processes: dict[int, str]) -> bool:
    """Whether one of them is still the process that it was."""
    table = rows_of(processes)
    return any(is_same(pid, started, table) for pid, started in processes.items())


def signal_processes(processes: dict[int, str], number: int) -> None:
    """Send a signal to those that are still the processes they were.

    Another muxwire that ran in one of our panes has a watchdog too, and what it watches over is not all of our family.
    """
    table = rows_of(processes)
    for pid, started in processes.items():
        if is_same(pid, started, table) and not is_watchdog(pid):
            try:
                os.kill(pid, number)
            except OSError:
                pass


def is_same(pid: int, started: str, table: dict[int, Process]) -> bool:
    return pid in table and table[pid].started == started


def is_watchdog(pid: int) -> bool:
    """Whether the process is a watchdog as we are: it will end by itself, when its work is done."""
    return _SELF in content_of(f"/proc/{pid}/cmdline")


def process_table() -> dict[int, Process]:
    return rows_of(int(name) for name in os.listdir("/proc") if name.isdigit())


def rows_of(pids: Iterable[int]) -> dict[int, Process]:
    """Return those of these processes that are not zombies."""
    table = {}
    for pid in pids:
        # The name may hold spaces and parentheses; the fields begin after its last one.
        fields = content_of(f"/proc/{pid}/stat").decode("latin-1").rpartition(") ")[2].split(" ")
        if fields[0] not in "ZX":  # nor empty: it has ended
            table[pid] = Process(int(fields[1]), fields[3], fields[19])
    return table


def content_of(path: str) -> bytes:
    """Return the first bytes of a file of /proc; none if its process has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _READ_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def ends_session(pane: str) -> str:
    return _ENDS_SESSION.format(pane=pane)


def kill_command(pane: str) -> tuple[str, ...]:
    """The command that kills a pane unless a session would end with it: one command, so nothing can come between."""
    return ("if-shell", "-F", "-t", pane, ends_session(pane), "display-message -p ''", f"kill-pane -t {pane}")


def close_panes(tmux: str, socket: str, labels: set[str]) -> None:
    """Kill the panes that were made, and what was started in them and does not end with them."""
    made = made_panes(tmux, socket, labels)
    table = process_table()
    for pane, pid in made.items():
        if ask_tmux(tmux, socket, "display-message", "-p", "-t", pane, ends_session(pane)).strip() == "0":
            hung_up(left_of({pid: table[pid]} if pid in table else {}, table), table)
        ask_tmux(tmux, socket, *kill_command(pane))
    left = made_panes(tmux, socket, labels)
    sessions = {pid: table.get(pid, Process(0, str(pid), "")) for pane, pid in made.items() if pane not in left}
    end_sessions(sessions)


def made_panes(tmux: str, socket: str, labels: set[str]) -> dict[str, int]:
    """The panes whose first process was started with one of these words, each with its process id."""
    found = {}
    for line in ask_tmux(tmux, socket, "list-panes", "-a", "-F", _PANES).splitlines():
        pane, _, rest = line.partition(" ")
        pid, _, command = rest.partition(" ")
        if not labels.isdisjoint(command.split(" ")):
            found[pane] = int(pid)
    return found
