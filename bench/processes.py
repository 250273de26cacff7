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
import statistics
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


async def forked(once: Once, times: int) -> float:
    """How many processes one run usually starts, on the whole machine."""
    counts = []
    for _ in range(times):
        before = forks()
        await once()
        counts.append(forks() - before)
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
