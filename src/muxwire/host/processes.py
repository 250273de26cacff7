"""What runs in the foreground of a pane: the kernel's view, read without a fork on Linux.

Sources: proc(5) for `stat` and `exe`; termios(3) on the pane's own tty.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import math
import os
import re
import socket
import struct
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from muxwire.errors import InstanceUnavailable
from muxwire.host.environment import variables_of
from muxwire.shell.look import Foreground, TtyModes

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator, Sequence

# How many fields of /proc/PID/stat are read after the closing bracket of the name, up to the time of the start.
_STAT_FIELDS = 20
# PF_FORKNOEXEC in the flags (include/linux/sched.h): the process runs the program of its parent.
FORKED = 0x40
# PF_KTHREAD: a thread of the kernel, which has no terminal and no files. All of them are children of the process 2.
KERNEL_THREAD = 0x200000
_KTHREADD = 2
# The signals that a process ignores, and those that it catches.
_DISPOSITIONS = re.compile(rb"^Sig(?:Ign|Cgt):\s*([0-9a-f]+)", re.MULTILINE)

# `stat` has some 350 bytes, with every number at its longest some 1,200.
_PROC_FILE = 4096

# A server in good health accepts at once; a hung one must not hold us.
_CONNECT_SECONDS = 2.0
# unix(7): struct ucred, three numbers, the process first.
_UCRED = struct.Struct("3i")


def check_proc() -> None:
    """InstanceUnavailable where /proc is not that of our PID namespace: nothing can be known of a process then.

    The numbers that it lists are those of other processes here, which would get the signals; see pid_namespaces(7).
    """
    shown = ""
    with contextlib.suppress(OSError):
        shown = os.readlink("/proc/self")  # noqa: PTH115
    if shown != str(os.getpid()):
        raise InstanceUnavailable(
            "/proc does not show the processes of this PID namespace, so none could be found or ended",
            remedy="mount this namespace's own, as root: `mount -t proc proc /proc`, or by `unshare --mount-proc`, "
            "`bwrap --proc /proc`",
        )


def read_proc(pid: int, name: str) -> bytes:
    """A small file of a process; empty if it is gone. Read plainly, because a scan reads one for each process."""
    try:
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY)  # a descriptor of Python's is never inherited
    except OSError:
        return b""
    try:
        return os.read(descriptor, _PROC_FILE)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


@final
@dataclass(frozen=True, slots=True)
class Stat:
    """What /proc/PID/stat says of a process after its name; `ticks` of the processor it has used."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    tty: int
    foreground: int
    flags: int
    ticks: int
    started: int


def stat_of(pid: int) -> Stat | None:
    """What the kernel says of a process; None if there is none of that number, or it has ended and is a zombie."""
    text = read_proc(pid, "stat")
    fields = text[text.rfind(b")") + 2 :].split(None, _STAT_FIELDS)
    if len(fields) < _STAT_FIELDS or fields[0] in b"ZX":
        return None
    parent, group, session, tty, foreground, flags = map(int, fields[1:7])
    ticks, started = int(fields[11]) + int(fields[12]), int(fields[19])
    return Stat(pid, fields[0].decode(), parent, group, session, tty, foreground, flags, ticks, started)


def pids() -> list[int]:
    """Every process. Threads of the kernel, often most of what /proc lists, are left out where one file lists them.

    That file (CONFIG_PROC_CHILDREN) may lack some of them. In a container the process 2 is one like all others.
    """
    parent, threads = stat_of(_KTHREADD), set[int]()
    if parent is not None and parent.flags & KERNEL_THREAD:
        listed = read_proc(_KTHREADD, f"task/{_KTHREADD}/children")
        # The last number is whole only if a blank follows.
        threads = {_KTHREADD, *map(int, listed[: listed.rfind(b" ") + 1].split())}
    found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in found if pid not in threads]


# `of` is a system call where there is one (getsid, getpgid): it takes a tenth of what reading a file of /proc does.
def _members(of: Callable[[int], int], value: int) -> list[int]:
    """The processes for whose pid `of` returns that value."""
    return [pid for pid in pids() if _asked(of, pid) == value]


def _asked(of: Callable[[int], int], pid: int) -> int:
    """The process's session or group, by `os.getsid` or `os.getpgid` (`of`); 0 if no process has that pid."""
    try:
        return of(pid)
    except OSError:
        return 0


def _parent_of(pid: int) -> int:
    return found.parent if (found := stat_of(pid)) is not None else 0


def foreground_pgrp(session_leader: int) -> int | None:
    """The process group in front, also where it has ended and nothing has taken its place; None if there is none.

    The kernel goes on naming one that has ended. None once its number is that of a process of another session.
    """
    leader = stat_of(session_leader)
    if leader is None or leader.foreground <= 0:
        return None
    return leader.foreground if _asked(os.getsid, leader.foreground) in (0, session_leader) else None


def session_processes(session_leader: int, began: str) -> list[int]:
    """Every process of the session that `session_leader` leads, the leader last; `began`: when that was started.

    While a session has a process, no other one gets its number. After that another may, and lead a session.
    """
    if started(session_leader) not in ("", began):
        return []
    return sorted(_members(os.getsid, session_leader), key=lambda pid: pid == session_leader)


def session_since(session_leader: int, since: float, until: float = math.inf) -> list[tuple[int, str]]:
    """The number and the name of each process of a session that began between two times of the monotonic clock.

    The kernel rounds down to a tick (10 ms): one that began in the tick of `since` counts, in that of `until` not.
    """
    first, end = _ticks_at(since), _ticks_at(until)
    found = []
    for pid in _members(os.getsid, session_leader):
        one = stat_of(pid)
        if one is not None and first < one.started + 1 <= end:
            found.append((pid, shown_name(pid) or executable(pid)))
    return found


def _ticks_at(when: float) -> float:
    """A time of the monotonic clock as proc(5) tells when a process started: in ticks since the machine's start."""
    return (when + time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()) * os.sysconf("SC_CLK_TCK")


def begun_apart(session_leader: int, tty: str, since: float) -> dict[int, str]:
    """What was begun in a session since then and has one of its own (setsid, a daemon): when each process started.

    It comes from a process of the session, as far as the parents live, or has the terminal open.
    """
    rows = {pid: one for pid in pids() if (one := stat_of(pid)) is not None}
    first, found = _ticks_at(since), dict[int, str]()
    for pid, one in rows.items():
        if one.started + 1 <= first or one.session == session_leader:
            continue
        above = one
        while above.session != session_leader and above.parent in rows:
            above = rows[above.parent]
        if above.session == session_leader or _has_open(pid, tty):
            found[pid] = str(one.started)
    return found


def _has_open(pid: int, path: str) -> bool:
    """Whether that is the standard input, output or error of a process."""
    with contextlib.suppress(OSError):
        return path in (os.readlink(f"/proc/{pid}/fd/{number}") for number in range(3))  # noqa: PTH115
    return False


def foreground(session_leader: int, *, supervised: bool = False) -> Foreground | None:
    pgrp = foreground_pgrp(session_leader)
    if pgrp is None:
        return None
    pid = child_of(pgrp) or pgrp if supervised and pgrp == session_leader else pgrp
    return Foreground(pgrp, executable(pid))


def child_of(pid: int) -> int:
    """The first child of a process; 0 if it has none."""
    # A kernel without CONFIG_PROC_CHILDREN has no such file.
    children = [int(child) for child in read_proc(pid, f"task/{pid}/children").split()]
    return next(iter(children or _members(_parent_of, pid)), 0)


def group_members(pgrp: int) -> list[int]:
    return _members(os.getpgid, pgrp)


def takes(pgrp: int, number: signal.Signals, shell_pid: int) -> bool:
    """Whether the leader of a process group takes a signal as its program will, and not as the shell that forked it.

    bash and dash give a child the terminal before they reset its signals, in several steps (`make_child` in bash's
    jobs.c, `restore_original_signals` in its trap.c): what the shell ignores or catches is lost until then.
    """
    leader = stat_of(pgrp)
    if leader is None or not leader.flags & FORKED:
        return True
    mine = _disposition(pgrp, number)
    return not any(mine) or mine != _disposition(shell_pid, number)


def _disposition(pid: int, number: signal.Signals) -> list[int]:
    masks = _DISPOSITIONS.findall(read_proc(pid, "status"))
    return [int(mask, 16) >> (number - 1) & 1 for mask in masks]


def executable(pid: int) -> str:
    """The file name of the program that a process runs; "" if the kernel does not tell."""
    with contextlib.suppress(OSError):
        # No path object is needed, and each look asks for it twice.
        return os.readlink(f"/proc/{pid}/exe").rpartition("/")[2].removesuffix(" (deleted)")  # noqa: PTH115
    return ""


# Options of shells that take the next word as their argument: that word names no script.
_OPTIONS_WITH_ARGUMENT = ("-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command")


def arguments(pid: int) -> list[str]:
    """The words that a program was started with, without its own name; empty if it is gone."""
    return [os.fsdecode(word) for word in read_proc(pid, "cmdline").split(b"\0")[1:-1]]


def surroundings(pid: int) -> tuple[str, dict[str, str]] | None:
    """The directory of a process, and the environment that what it runs was started with; None if not told."""
    try:
        folder, found = os.readlink(f"/proc/{pid}/cwd"), Path(f"/proc/{pid}/environ").read_bytes()  # noqa: PTH115
    except OSError:
        return None
    return (folder, variables_of(found)) if found else None


def runs_script(pid: int) -> bool:
    return ((found := stat_of(pid)) is not None and found.flags & FORKED != 0) or is_script(arguments(pid))


def is_script(arguments: Sequence[str]) -> bool:
    """Whether a shell with these arguments runs a script, or a command of `-c`."""
    # The first argument of busybox is the applet.
    left = iter(arguments[1:] if list(arguments[:1]) in (["sh"], ["ash"]) else arguments)
    for word in left:
        short = word[:1] in ("-", "+") and word[:2] != "--"
        if word in _OPTIONS_WITH_ARGUMENT:
            next(left, None)
        elif word == "--command" or (short and "c" in word) or word[:1] not in ("-", "+"):
            return True
        elif short and "s" in word:  # the words that follow are its parameters
            return False
    return False


def shown_name(pid: int) -> str:
    """What tmux shows as the command of a pane (`osdep_get_name`): the file name of its argv[0]; "" if it is gone."""
    return os.fsdecode(read_proc(pid, "cmdline").partition(b"\0")[0]).rpartition("/")[2]


def command_name(pid: int) -> str:
    """What ps(1) calls a process, of any user; "" if it is gone."""
    return os.fsdecode(read_proc(pid, "comm")).rstrip("\n")


def group_exists(pgrp: int) -> bool:
    """Whether there is a process in that group, of any user."""
    try:
        os.killpg(pgrp, 0)
    except OSError as error:
        return error.errno == errno.EPERM
    return True


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal (state T); False where the kernel's account is not to be had."""
    return (found := stat_of(pid)) is not None and found.state == "T"


def started(pid: int) -> str:
    return str(found.started) if (found := stat_of(pid)) is not None else ""


def supervisor_waits(pid: int) -> bool:
    return command_name(pid) == "sleep"


def shares_folder(pid: int, folder: Path) -> bool:
    """Whether a process finds our private directory where we do, and may read in it: not after `chroot` or `su bob`."""
    try:
        owner = os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116 - no path of ours
        theirs, ours = os.stat(f"/proc/{pid}/root{folder}"), folder.stat()  # noqa: PTH116
    except PermissionError:  # only root may examine root's processes
        return owner == 0
    except OSError:
        return False
    return owner in (0, os.geteuid()) and os.path.samestat(theirs, ours)


@contextlib.contextmanager
def _opened(tty: str, access: int, leader: int | None = None) -> Iterator[int]:
    """A descriptor of the tty at that path; OSError if it is gone. It never becomes our controlling terminal, and one
    that is stopped is not waited for.

    With `leader`, a pane's process, OSError once that has ended: the path may then be another terminal's, which the
    open descriptor rules out for what comes after the comparison.
    """
    descriptor = os.open(tty, access | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if leader is not None and (
            (process := stat_of(leader)) is None or device_of(process.tty) != os.fstat(descriptor).st_rdev
        ):
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), tty)
        yield descriptor
    finally:
        os.close(descriptor)


def tty_modes(tty: str) -> TtyModes | None:
    """The modes of the tty at that path; None if it is gone."""
    try:
        with _opened(tty, os.O_RDONLY) as descriptor:
            _, oflag, _, lflag, *_ = termios.tcgetattr(descriptor)
            return TtyModes(
                icanon=bool(lflag & termios.ICANON),
                echo=bool(lflag & termios.ECHO),
                isig=bool(lflag & termios.ISIG),
                opost=bool(oflag & termios.OPOST),
                unread=any(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))),
            )
    except (OSError, termios.error):
        return None


def device_of(tty_nr: int) -> int:
    """A device number as stat(2) has it, from the field `tty_nr` of proc(5): minor bits 31 to 20 and 7 to 0."""
    return os.makedev((tty_nr >> 8) & 0xFFF, (tty_nr & 0xFF) | ((tty_nr >> 12) & 0xFFF00))


def write_tty(tty: str, data: bytes, leader: int, *, unordered: bool = False) -> bool:  # noqa: ARG001 - it never waits
    """Write to the terminal of a pane whose process is `leader`, unless that is stopped (C-s), or full."""
    with contextlib.suppress(OSError), _opened(tty, os.O_WRONLY, leader) as descriptor:
        return os.write(descriptor, data) == len(data)
    return False


def restore_line_modes(tty: str, leader: int) -> None:
    with contextlib.suppress(OSError, termios.error), _opened(tty, os.O_RDWR, leader) as descriptor:
        modes = termios.tcgetattr(descriptor)
        modes[0] |= termios.ICRNL
        modes[1] |= termios.OPOST | termios.ONLCR
        modes[3] |= termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN
        termios.tcsetattr(descriptor, termios.TCSANOW, modes)
        termios.tcflush(descriptor, termios.TCIFLUSH)


def signal_process(pid: int, number: signal.Signals) -> bool:
    """Send a signal to a process, or to the group whose number that is with a minus (kill(2)); False if none got it."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def listening_pid(socket_path: Path) -> int | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_SECONDS)
        try:
            probe.connect(str(socket_path))
        except OSError:
            return None
        answer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        return int(_UCRED.unpack(answer)[0])
