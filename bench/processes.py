"""The processes that belong to a contender: how many a command starts, and that none is left.

They are told by a word in their environment, which a process inherits from the one that starts it, also where that
one has gone: a tmux server is nobody's child.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORD = "MUXWIRE_BENCH_CONTENDER"

# How long a killed process may take to go on a machine that is busy, and how often we look.
DYING_SECONDS = 10.0
LOOK_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Belongings:
    """All processes of one contender, whose first one is started with WORD as that name."""

    name: str = field(default_factory=lambda: secrets.token_hex(8))

    def pids(self) -> Iterator[int]:
        """Those that run now."""
        wanted = f"{WORD}={self.name}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)

    def kill(self, patience: float = 0.0) -> int:
        """End what is left of them after so many seconds, and wait until they are gone; return how many were ended."""
        killed: set[int] = set()
        begun = time.monotonic()
        # Until none is seen: the first to go may have been starting another.
        while (left := set(self.pids())) and (waited := time.monotonic() - begun) < patience + DYING_SECONDS:
            if waited < patience:
                time.sleep(LOOK_SECONDS)
                continue
            for pid in left - killed:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            killed |= left
            time.sleep(LOOK_SECONDS)
        return len(killed)


def forked(once: Callable[[], object], times: int) -> int:
    """How many processes one run starts: the fewest that this machine started during one of so many (proc(5), `stat`).

    Other programs of the machine start some too, though not during every run.
    """
    counts = []
    for _ in range(times):
        before = _forks()
        once()
        counts.append(_forks() - before)
    return min(counts)


def _forks() -> int:
    """How many processes and threads were ever started on this machine."""
    (line,) = (line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("processes "))
    return int(line.split()[1])
