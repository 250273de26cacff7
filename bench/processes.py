"""The processes that belong to a contender: what they cost, and that none is left.

They are told by a word in their environment, which a process inherits from the one that starts it, also where that
one has gone: a tmux server is nobody's child.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import select
import signal
import socket
import statistics
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.contenders import Once

WORD = "MUXWIRE_BENCH_CONTENDER"

# How long a killed process may take to go on a machine that is busy, and how often we look.
DYING_SECONDS = 10.0
LOOK_SECONDS = 0.001

# Places in proc(5)'s `stat`, counted from the state, which is its third field.
STAT_VSIZE, STAT_ENV_START, STAT_ENV_END = 23 - 3, 50 - 3, 51 - 3


@dataclass(frozen=True, slots=True)
class Belongings:
    """All processes of one contender."""

    name: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def environ(self) -> dict[str, str]:
        """What its first process must be started with."""
        return {WORD: self.name}

    def pids(self) -> Iterator[int]:
        """Those that run now."""
        wanted = f"{WORD}={self.name}".encode()
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                with contextlib.suppress(OSError):
                    if wanted in _environment(folder).split(b"\0"):
                        yield int(folder.name)

    def cpu(self) -> float:
        """CPU seconds of them, and of their children that have ended and were waited for (proc(5), `stat`)."""
        total = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15]))
        return total / os.sysconf("SC_CLK_TCK")

    def kill(self) -> int:
        """End what is left of them, and wait until they are gone; return how many there were."""
        killed: set[int] = set()
        until = time.monotonic() + DYING_SECONDS
        # Until none is seen: the first to go may have been starting another.
        while (left := set(self.pids())) and time.monotonic() < until:
            for pid in left - killed:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            killed |= left
            time.sleep(LOOK_SECONDS)
        return len(killed)


def _environment(folder: Path) -> bytes:
    """What a process was started with; nothing if it has ended (proc(5), `environ`).

    Between two programs of execve(2) a process lives and has none yet; that is waited for.
    """
    while not (found := (folder / "environ").read_bytes()):
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        memory, begins, ends = (int(fields[place]) for place in (STAT_VSIZE, STAT_ENV_START, STAT_ENV_END))
        if not memory or (ends and begins == ends):  # a zombie or the kernel's own; or it was given none
            break
        time.sleep(LOOK_SECONDS)
    return found


def forks() -> int:
    """How many processes were ever started on this machine (proc(5), `stat`)."""
    (line,) = (line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("processes "))
    return int(line.split()[1])


# <linux/connector.h>, <linux/cn_proc.h>: the connector of process events, its one group, the order to listen, and the
# event of a fork. An event follows a netlink header, a connector's header, its kind, a processor and a time.
_NETLINK_CONNECTOR, _CN_IDX_PROC, _CN_VAL_PROC, _LISTEN, _EVENT_FORK = 11, 1, 1, 1, 1
_EVENT_AT = 16 + 20
_EVENT_BYTES = 4096
# The first event comes at once where events come at all.
_ORDER_SECONDS = 1.0
# <asm-generic/socket.h>; Python does not name it.
_SO_RCVBUFFORCE = 33
# Room for the events of a busy machine between two looks.
_EVENTS_ROOM = 8 << 20


class ForkCount:
    """Counts the processes that those of `belongings` start, and what they started; `close` it.

    `exact`: the kernel tells of every fork with its parent (to root only). Else all forks of the machine are counted.
    """

    def __init__(self, belongings: Belongings) -> None:
        """Count from now on."""
        self._socket: socket.socket | None = None
        self._machine = forks()
        with contextlib.suppress(OSError, AttributeError):
            self._socket = _fork_events()
        self._pids = set(belongings.pids()) if self.exact else set[int]()
        self.new()

    @property
    def exact(self) -> bool:
        """Whether only forks of these processes count."""
        return self._socket is not None

    def close(self) -> None:
        """Count no longer."""
        if self._socket is not None:
            self._socket.close()

    def new(self) -> int:
        """How many there were since the last look."""
        if self._socket is None:
            before, self._machine = self._machine, forks()
            return self._machine - before
        count = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                event = self._socket.recv(_EVENT_BYTES)
                if len(event) < _EVENT_AT + 32 or struct.unpack_from("=I", event, _EVENT_AT)[0] != _EVENT_FORK:
                    continue
                _, parent, child, child_group = struct.unpack_from("=IIII", event, _EVENT_AT + 16)
                if parent in self._pids and child == child_group:  # else it is a thread
                    self._pids.add(child)
                    count += 1
        return count


def _fork_events() -> socket.socket:
    """Every event of a process of this machine, to be read without waiting. OSError where that is not allowed."""
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_CONNECTOR)
    try:
        opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _EVENTS_ROOM)
        opened.bind((0, _CN_IDX_PROC))
        order = struct.pack("=IIIIHHI", _CN_IDX_PROC, _CN_VAL_PROC, 0, 0, 4, 0, _LISTEN)
        opened.send(struct.pack("=IHHII", 16 + len(order), 3, 0, 0, 0) + order)
        # The order is not answered where it is refused: a fork of our own must be told.
        opened.settimeout(_ORDER_SECONDS)
        subprocess.run(["true"], check=True)
        opened.recv(_EVENT_BYTES)
    except BaseException:
        opened.close()
        raise
    opened.setblocking(False)
    return opened


async def forked(once: Once, times: int, belongings: Belongings | None = None) -> float:
    """How many processes one run usually starts: those of `belongings` where the kernel tells, else of the machine."""
    counts = []
    with contextlib.ExitStack() as ends:
        count = ForkCount(belongings) if belongings is not None else None
        if count is not None:
            ends.callback(count.close)
        for _ in range(times):
            before = forks()
            await once()
            counts.append(count.new() if count is not None else forks() - before)
    return usual(counts)


def json_line(output: IO[str], seconds: float) -> dict[str, Any]:
    """The next line of JSON that a process prints; {} if none comes in that time, or it has ended."""
    ready = select.select([output], [], [], seconds)[0]
    line = output.readline() if ready else ""
    found: dict[str, Any] = json.loads(line) if line else {}
    return found


def usual(counts: Sequence[int]) -> float:
    """What a run forks, of runs some of which shared the machine with others."""
    return statistics.median(counts)


def finished(argv: Sequence[str], seconds: float) -> str:
    """Run a program that may take minutes and asks nobody; return why it did not succeed, or nothing.

    It has a session of its own, so that a program that is late goes with all that it started.
    """
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return f"{argv[0]}: {error.strerror}"
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"{Path(argv[0]).name} took longer than {seconds:.0f} s"
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    if process.returncode == 0:
        return ""
    return reason(said) or f"{Path(argv[0]).name} ended with {process.returncode}"


_ADDRESS = re.compile(r"\s*(- GET )?https?://\S+")


def reason(said: str) -> str:
    """The line of an installer's complaints that names the fault: npm ends with where its log is."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    worth = [line for line in errors if "Not Found" in line or "No matching" in line] or errors or lines
    # Which registry this machine uses is nobody's business.
    return _ADDRESS.sub("", worth[0])[:120] if worth else ""
