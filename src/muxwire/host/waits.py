"""In which function of the kernel a process sleeps, and so whether it waits for keys: proc(5), `wchan`, `syscall`."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.host.descriptors import list_folder
from muxwire.host.processes import group_members, read_proc

if TYPE_CHECKING:
    from collections.abc import Iterable

# Whether the kernel reports in which of its functions a process sleeps.
SEES_WAITS = Path("/proc/self/wchan").exists()

# Linux 5 and 6 name the first for a read of a tty (n_tty_read), of a TCP socket (sk_wait_data) and of inotify.
_TTY_OR_SOCKET = b"wait_woken"
TTY_READ = (_TTY_OR_SOCKET, b"n_tty_read")
# What `_sleeps_in` returns in place of it: something else is read; the kernel does not say what is read.
_NO_TTY, UNSURE = b"no tty", b"tty or socket"
# What the kernel says of a process that runs, and of one of another user, wherever it sleeps.
_HIDDEN = (b"0", b"")
# Those in which a process waits for one of several things, perhaps a key; a compiled copy adds `.constprop.0`.
POLL = (b"poll_schedule_timeout", b"do_sys_poll", b"do_poll", b"do_select", b"ep_poll", b"do_epoll_wait")


def reads_tty(pgrp: int) -> bool | None:
    # The leader first: it is nearly always the one that reads.
    return SEES_WAITS and (tty_read([_sleeps_in(pgrp)]) or tty_read(map(_sleeps_in, group_members(pgrp))))


def tty_read(waits: Iterable[bytes]) -> bool | None:
    """`reads_tty` of processes that sleep there."""
    found = set(waits)
    return True if not found.isdisjoint(TTY_READ) else None if UNSURE in found else False


def _sleeps_in(pid: int) -> bytes:
    """As `wchan`, but a read of a socket is known by its descriptor, the first argument of the system call."""
    where = _wchan(pid)
    if where != _TTY_OR_SOCKET:
        return where
    number, descriptor = [*read_proc(pid, "syscall").split(), b"", b""][:2]
    if descriptor:
        return where if _is_device(pid, int(descriptor, 16)) else _NO_TTY
    if number:  # "running": it has just been woken
        return where
    # Only who may trace the process can read that: with Yama's default (ptrace_scope 1) its ancestors.
    with contextlib.suppress(OSError):
        if any(_is_socket(pid, name) for name in list_folder(f"/proc/{pid}/fd")):
            return UNSURE
    return where


def _is_device(pid: int, descriptor: int) -> bool:
    """Whether a descriptor is a terminal's, or another device's; True if nobody can tell."""
    try:
        return str(Path(f"/proc/{pid}/fd/{descriptor}").readlink()).startswith("/dev/")
    except OSError:
        return True


def _is_socket(pid: int, descriptor: str) -> bool:
    try:
        return Path(f"/proc/{pid}/fd/{descriptor}").is_socket()
    except OSError:
        return False


def hides_sleep(pgrp: int) -> bool:
    """Whether a process of another user is in the group and sleeps: the kernel says only to that user where."""
    return SEES_WAITS and any(_sleeps_hidden(pid) for pid in (pgrp, *group_members(pgrp)))


def _sleeps_hidden(pid: int) -> bool:
    with contextlib.suppress(OSError):
        theirs = Path(f"/proc/{pid}").stat().st_uid != os.geteuid()
        return theirs and _wchan(pid) in _HIDDEN and _state(pid, "stat") == b"S"
    return False


def awaits_keys(pgrp: int) -> bool:
    """Whether a thread of a group sleeps where a key may wake it; True where the kernel does not tell.

    A program that leaves the tty raw and ends, or computes, does not; whoever reads keys may do so in any thread.
    """
    if not SEES_WAITS or any(_sleeps_for_a_key(pgrp, thread) for thread in _threads(pgrp)):
        return True
    return any(_sleeps_for_a_key(pid, thread) for pid in group_members(pgrp) for thread in _threads(pid))


def polls(pgrp: int) -> bool:
    return SEES_WAITS and _wchan(pgrp).startswith(POLL)


def sleeps_for_keys(pid: int, *, polls: bool) -> bool:
    where = _wchan(pid) if SEES_WAITS else TTY_READ[0]
    return where in TTY_READ or (polls and where.startswith(POLL))


def _threads(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return list_folder(f"/proc/{pid}/task")
    return []


def _sleeps_for_a_key(pid: int, thread: str) -> bool:
    return sleeps_for_key(read_proc(pid, f"task/{thread}/wchan"), _state(pid, f"task/{thread}/stat"))


def _state(pid: int, name: str) -> bytes:
    """The letter in that file of a process: R runs, S sleeps."""
    return read_proc(pid, name).rpartition(b") ")[2][:1]


def sleeps_for_key(where: bytes, state: bytes) -> bool:
    """Whether a key may wake what sleeps in that function of the kernel, in that state of proc(5)."""
    # Of somebody else's process the kernel reports that it sleeps, not where.
    return where.startswith(POLL) or where in TTY_READ or (where in _HIDDEN and state == b"S")


def _wchan(pid: int) -> bytes:
    return read_proc(pid, "wchan")
