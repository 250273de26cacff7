"""A look at a terminal of this machine: one pass over /proc makes a `PaneLook`. Sources: proc(5), pty(7), syscalls(2).

What a call of a sleeping process is about is known from its arguments (/proc/PID/syscall): the descriptor that is read,
and the set that is polled, which lies in the memory of the process, or for epoll(7) in its `fdinfo`. Only a process
that may trace it can read the first two: with Yama's `ptrace_scope` 1 its ancestors and root.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
import struct
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, final

from muxwire.host.processes import (
    KERNEL_THREAD,
    Stat,
    device_of,
    executable,
    pids,
    read_proc,
    stat_of,
    tty_modes,
)
from muxwire.shell.look import (
    FUTEX,
    NOWHERE,
    POLL,
    PaneLook,
    Process,
    Sleep,
    may_read,
    sleeps_for_keys as is_sleep_for_keys,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


# Whether the kernel reports in which of its functions a process sleeps.
SEES_WAITS = os.path.exists("/proc/self/wchan")  # noqa: PTH110 - at import

_TICKS = os.sysconf("SC_CLK_TCK")  # a second
# /dev/tty, a process's own controlling terminal, and /dev/ptmx, from which masters are made (devices.txt).
_CONTROLLING, _MASTERS = os.makedev(5, 0), os.makedev(5, 2)
# devices.txt: the major number of the inner ends of pseudoterminals. Linux counts all of them by the minor one (pty.c).
_PTS_MAJOR = 136
# A relay in a relay in a relay (ssh to itself under script under sudo) is deep enough.
_DEPTH = 4
# So many processes are examined in one step: about a millisecond.
_STEP = 64
# A process of another session that has more files open is a server, which asks nothing.
_FILES_MAX = 256
# Of a poll set no more is read: a program that asks a person waits for a handful of files.
_POLLED_MAX = 1024
# struct pollfd (poll(2)), and POLLIN.
_POLLFD, _POLLIN = struct.Struct("iHH"), 0x001
_WORD = struct.Struct("q")
# The numbers of the calls by machine (arch/*/entry/syscalls/syscall*.tbl; asm-generic/unistd.h).
_GENERIC = {
    63: "read", 65: "read", 64: "write", 66: "write", 72: "select", 73: "ppoll", 22: "epoll", 441: "epoll2",
}  # fmt: skip
_CALLS: dict[int, str] = {
    "x86_64": {
        0: "read", 19: "read", 1: "write", 20: "write", 7: "poll", 271: "ppoll", 23: "select", 270: "select",
        232: "epoll", 281: "epoll", 441: "epoll2",
    },
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
}.get(os.uname().machine, {})  # fmt: skip
# Which argument is the time limit: a number of milliseconds (negative: none), or the address of a struct timespec or
# timeval, both with the seconds first (NULL: none).
_LIMIT_MS, _LIMIT_AT = {"poll": 2, "epoll": 3}, {"ppoll": 2, "select": 4, "epoll2": 3}


@final
@dataclass(slots=True)
class _Files:
    """The descriptors of a process that matter: the terminal's, masters and their file systems, and any socket.

    `here`: the terminal itself is open; `elsewhere`: a terminal of the same number in a container is.
    """

    terminal: set[int]
    masters: dict[int, int]
    sockets: bool = False
    here: bool = False
    elsewhere: bool = False


def look(leader: int, tty: str, *, near: bool = False) -> PaneLook:
    """Look at the terminal of the session that `leader` leads; its processes are missing if that is gone.

    With `near` only the leaders of the session and of the foreground group are examined, and no inner terminals, which
    takes a tenth.
    """
    *_, seen = looks(leader, tty, near=near)
    return seen


def looks(leader: int, tty: str, *, near: bool = False) -> Iterator[PaneLook]:
    """A look in steps of about a millisecond: nothing of the foreground is known before the last one.

    Between two steps a caller can do something else. A thread would be worse: it gives up the interpreter's lock at
    every system call, and beside a busy main thread waits up to 5 ms (`sys.getswitchinterval`) to have it back.
    """
    seen_at = time.monotonic()
    seen = PaneLook(leader, tty_modes(tty), 0, tells=SEES_WAITS, seen_at=seen_at)
    first = stat_of(leader)
    if first is None:
        yield seen
        return
    table: dict[int, Stat] = {}
    for number, pid in enumerate((leader, first.foreground) if near else pids(), 1):
        if (found := stat_of(pid)) is not None:
            table[pid] = found
        if number % _STEP == 0:
            yield seen
    strange = (one for one in table.values() if one.tty == 0 and not one.flags & KERNEL_THREAD)
    viewer = _Viewer(table, [one for one in strange if one.state == "S"], inside=not near)
    inside = [one for one in table.values() if one.tty == first.tty]
    processes = viewer.processes(inside, device_of(first.tty), first.foreground)
    modes, now = (seen.modes, first) if near else (tty_modes(tty), stat_of(leader))
    if now is None or now.foreground != first.foreground or modes != seen.modes:
        # A child is about to run a program: the modes of one moment say nothing of the foreground of the next.
        yield replace(seen, modes=modes)
    else:
        ordered = tuple(sorted(processes, key=lambda one: one.pid != leader))
        yield replace(seen, foreground=max(0, first.foreground), processes=ordered)


def sleeps_for_keys(pid: int, *, polls: bool) -> bool:
    """Whether that process reads its terminal, or with `polls` waits for several files; True if it is not known."""
    return not SEES_WAITS or is_sleep_for_keys(_wchan(pid), polls=polls)


@final
class _Viewer:
    """Looks at one terminal and those inside of it, from one table of processes."""

    def __init__(self, table: dict[int, Stat], outside: list[Stat], *, inside: bool) -> None:
        self._table = table
        self._outside = outside  # those without a controlling terminal, asleep in a call
        self._inside = inside  # whether inner terminals are examined
        self._homes: Collection[int] = ()  # the file systems in which the devices of our terminals are, once asked for
        # Devices that are being examined: a relay may hold the master of its own terminal.
        self._entered: set[int] = set()

    def processes(self, inside: list[Stat], device: int, foreground: int) -> list[Process]:
        """The processes of a terminal: `inside`, which it controls, and others that have it open and may read it."""
        self._entered.add(device)
        found = [self._examined(one, device, controls=True, waits=one.group == foreground) for one in inside]
        for one in self._outside if SEES_WAITS else ():
            files = self._files(one.pid, device, False) if may_read(_wchan(one.pid)) else None
            if files is not None and files.terminal:
                found.append(self._examined(one, device, controls=False, waits=True))
        return found

    def _examined(self, one: Stat, device: int, *, controls: bool, waits: bool) -> Process:
        closed = False
        sleeps: tuple[Sleep, ...] = ()
        inner: tuple[PaneLook | None, ...] = ()
        program = executable(one.pid) if waits or not controls else ""
        if waits:
            closed = _wchan(one.pid) in NOWHERE and one.state == "S" and _is_anothers(one.pid)
            sleeps, files = self._sleeps(one, device, controls)
            asleep = any(may_read(sleep.where) for sleep in sleeps)
            if files is not None:
                masters = files.masters.items()
                inner = tuple(self._inner(one.pid, fd, home) if self._inside else None for fd, home in masters)
            if asleep and executable(one.pid) != program:  # it has ended meanwhile, or become another program
                sleeps, inner = (), ()
        return Process(
            pid=one.pid,
            parent=one.parent,
            group=one.group,
            session=one.session,
            controls=controls,
            program=program,
            closed=closed,
            sleeps=sleeps,
            inner=inner,
            flags=one.flags,
            used=one.ticks / _TICKS,
        )

    def _inner(self, pid: int, descriptor: int, home: int) -> PaneLook | None:
        """What runs on the other end of a master; None where that is not visible from here."""
        index = _tty_index(pid, descriptor)
        path = f"/dev/pts/{index}"
        # The same number is another terminal's in the file system of a container.
        if index < 0 or home not in self._own_devices() or len(self._entered) > _DEPTH:
            return None
        device = os.makedev(_PTS_MAJOR, index)
        if device in self._entered:
            return None
        there = [
            one for one in self._table.values() if device_of(one.tty) == device and self._may_be_here(one.pid, device)
        ]
        foreground = next((one.foreground for one in there if one.foreground > 0), 0)
        modes = tty_modes(path)
        processes = self.processes(there, device, foreground)
        self._entered.discard(device)
        return PaneLook(0, modes, foreground, tuple(processes), tells=SEES_WAITS)

    def _sleeps(self, one: Stat, device: int, controls: bool) -> tuple[tuple[Sleep, ...], _Files | None]:
        """What the threads of a process sleep in; and its open files, if one may be reading and they are visible.

        The kernel lists the main thread first (`first_tid` in fs/proc/base.c).
        """
        try:
            threads = os.listdir(f"/proc/{one.pid}/task")
        except OSError:
            return (), None
        places = [(thread, _wchan(one.pid, thread)) for thread in threads]
        files = self._files(one.pid, device, controls) if any(may_read(where) for _, where in places) else None
        found = []
        for thread, where in places:
            state = one.state if int(thread) == one.pid else _thread_state(one.pid, thread)
            if may_read(where):
                found.append(_sleep(one.pid, thread, state, where, files))
            else:
                endless = int(thread) == one.pid and where.startswith(FUTEX) and _has_no_limit(one.pid)
                found.append(Sleep(state, where, endless=endless))
        return tuple(found), files

    def _files(self, pid: int, device: int, controls: bool) -> _Files | None:
        """Which descriptors of a process are the terminal's; None if that may not be read, or they are too many."""
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            return None
        if len(names) > _FILES_MAX and not controls:
            return None
        found = _Files(set(), {})
        for name in names:
            try:
                what = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116
            except OSError:
                continue
            if stat.S_ISSOCK(what.st_mode):
                found.sockets = True
            elif not stat.S_ISCHR(what.st_mode):
                continue
            elif what.st_rdev == device:
                own = what.st_dev in self._own_devices()
                found.here, found.elsewhere = found.here or own, found.elsewhere or not own
                if own:
                    found.terminal.add(int(name))
            elif controls and what.st_rdev == _CONTROLLING:
                found.terminal.add(int(name))
            elif what.st_rdev == _MASTERS:
                found.masters[int(name)] = what.st_dev
        return found

    def _may_be_here(self, pid: int, device: int) -> bool:
        """Whether a process whose terminal has that number may be on this machine's, and not on one of a container.

        A container counts its terminals from 0, too. The file system in which the process has the terminal open tells
        them apart; where it has none of that number open, or its files may not be examined, that is not known.
        """
        files = self._files(pid, device, True)
        return files is None or files.here or not files.elsewhere

    def _own_devices(self) -> Collection[int]:
        """The file systems in which the devices of our terminals are."""
        if not self._homes:
            found = set()
            for path in ("/dev/ptmx", "/dev/pts", "/dev/pts/ptmx"):
                with contextlib.suppress(OSError):
                    found.add(os.stat(path).st_dev)  # noqa: PTH116 - no path object is needed
            self._homes = found
        return self._homes


def _tty_index(pid: int, descriptor: int) -> int:
    """The number of the pseudoterminal of a master, by fdinfo (Linux 4.14); -1 if it is not told."""
    for line in read_proc(pid, f"fdinfo/{descriptor}").splitlines():
        if line.startswith(b"tty-index:"):
            return int(line.split()[1])
    return -1


def _wchan(pid: int, thread: int | str = 0) -> str:
    return read_proc(pid, f"task/{thread}/wchan" if thread else "wchan").decode("ascii", "replace")


def _is_anothers(pid: int) -> bool:
    """Whether it has another user or, after newgrp, another group: either is enough to hide it (ptrace(2))."""
    try:
        return os.stat(f"/proc/{pid}")[4:6] != (os.geteuid(), os.getegid())  # noqa: PTH116
    except OSError:
        return False


def _thread_state(pid: int, thread: str) -> str:
    return read_proc(pid, f"task/{thread}/stat").rpartition(b") ")[2][:1].decode()


def _sleep(pid: int, thread: str, state: str, where: str, files: _Files | None) -> Sleep:
    """What a thread sleeps in, by its call where that may be read, else by what the process has open."""
    words = read_proc(pid, f"task/{thread}/syscall").split()
    if files is None:
        return Sleep(state, where)
    call = _CALLS.get(int(words[0]), "") if len(words) > 1 and words[0].isdigit() else ""
    if call in ("read", "write"):
        name: Literal["read", "write"] = "read" if call == "read" else "write"
        return Sleep(state, where, name, int(words[1], 16) in files.terminal)
    if call and where.startswith(POLL):
        return _poll(pid, call, [int(word, 16) for word in words[1:7]], state, where, files)
    if words == [b"running"]:  # it has just been woken
        return Sleep("R", where, tty=False)
    if not files.terminal:
        return Sleep(state, where, tty=False)
    if where.startswith(POLL):  # an epoll set may be read even where the call may not
        polled = _epoll_of(pid)
        return Sleep(state, where, "poll", None if polled is None else not files.terminal.isdisjoint(polled))
    return Sleep(state, where, tty=None if files.sockets else True)


def _has_no_limit(pid: int) -> bool:
    """Whether the main thread waits for a futex(2) without a time limit, or that may not be read."""
    words = read_proc(pid, "syscall").split()
    return len(words) < 5 or words[4] == b"0x0"


def _poll(pid: int, call: str, words: list[int], state: str, where: str, files: _Files) -> Sleep:
    if call.startswith("epoll"):
        polled = _epoll_set(pid, words[0])
    elif call == "select":
        polled = _select_set(pid, words[1], words[0])
    else:
        polled = _poll_set(pid, words[0], words[1])
    limit = _limit(pid, call, words)
    tty = None if polled is None else not files.terminal.isdisjoint(polled)
    alone = polled is not None and polled <= files.terminal
    return Sleep(state, where, "poll", tty, alone=alone, endless=limit is None, brief=limit is not None and limit < 1)


def _limit(pid: int, call: str, words: list[int]) -> float | None:
    """The time limit of a poll, in whole seconds if it is longer than one; None for none, or one that is not known."""
    if (at := _LIMIT_MS.get(call)) is not None:
        milliseconds = words[at] & 0xFFFFFFFF
        return None if milliseconds >> 31 else milliseconds / 1000
    address = words[_LIMIT_AT[call]]
    data = _memory(pid, address, 2 * _WORD.size) if address else None
    if data is None:
        return None if address == 0 else math.inf
    (seconds,) = _WORD.unpack_from(data)
    return float(seconds)


def _memory(pid: int, address: int, size: int) -> bytes | None:
    try:
        descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.pread(descriptor, size, address)
    except (OSError, OverflowError):
        return None
    finally:
        os.close(descriptor)
    return data if len(data) == size else None


def _poll_set(pid: int, address: int, count: int) -> set[int] | None:
    data = _memory(pid, address, count * _POLLFD.size) if 0 < count <= _POLLED_MAX else None
    if data is None:
        return None
    return {fd for fd, events, _ in _POLLFD.iter_unpack(data) if fd >= 0 and events & _POLLIN}


def _select_set(pid: int, address: int, count: int) -> set[int] | None:
    """The set of `count` bits at that address; address 0: nothing is waited for to be read."""
    if address == 0:
        return set()
    words = -(-count // (8 * _WORD.size))
    data = _memory(pid, address, words * _WORD.size) if 0 < count <= _POLLED_MAX else None
    if data is None:
        return None
    bits = int.from_bytes(data, "little")
    return {fd for fd in range(count) if bits >> fd & 1}


def _epoll_set(pid: int, descriptor: int) -> set[int] | None:
    """What is in an epoll set, with its read event (EPOLLIN, 1)."""
    text = read_proc(pid, f"fdinfo/{descriptor}")
    if not text:
        return None
    rows = [line.split() for line in text.splitlines() if line.startswith(b"tfd:")]
    return {int(row[1]) for row in rows if int(row[3], 16) & _POLLIN}


def _epoll_of(pid: int) -> set[int] | None:
    """What is in the epoll sets of a process whose calls may not be read; None if it has none."""
    found: set[int] | None = None
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            if os.readlink(f"/proc/{pid}/fd/{name}") == "anon_inode:[eventpoll]":  # noqa: PTH115
                found = (found or set()) | (_epoll_set(pid, int(name)) or set())
    return found
