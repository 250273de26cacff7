"""The floor and the library, each in a process and with an event loop of its own.

`python -m bench.apart floor|library FOLDER` reads a line with a number, runs `true` so many times on end, and answers
with a line of JSON: the milliseconds of each run. Between two lines it does nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.contenders import bare_loop, clean_environment, library, temporary_home
from bench.machine import ROOT
from bench.measure import BURST, WARM_UP, Timing, milliseconds, timing

if TYPE_CHECKING:
    from collections.abc import Iterable

APPROACHES = {"floor": bare_loop, "library": library}


async def serve(name: str, folder: Path) -> None:
    """Run what the lines of standard input ask for."""
    async with APPROACHES[name](folder) as once:
        for line in sys.stdin:
            for _ in range(WARM_UP):
                await once()
            print(json.dumps([await milliseconds(once) for _ in range(int(line))]), flush=True)


class Apart:
    """One of them, seen from here."""

    def __init__(self, name: str, home: Path) -> None:
        """Start its process."""
        folder = home / name
        folder.mkdir()
        self.times: list[float] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.apart", name, str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=clean_environment(folder),
        )  # fmt: skip

    def run(self, count: int) -> None:
        """Have it run so many times, and keep how long each took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(count, file=self._process.stdin, flush=True)
        self.times += json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it, and what it started."""
        self._process.communicate()


def in_processes(names: Iterable[str], runs: int) -> dict[str, Timing]:
    """Run each `runs` times, in bursts and in turn, in a process of its own."""
    with temporary_home() as home, ExitStack() as ends:
        started = {name: Apart(name, Path(home)) for name in names}
        for one in started.values():
            ends.callback(one.close)
        burst = min(BURST, runs)
        for _ in range(runs // burst):
            for one in started.values():
                one.run(burst)
    return {name: timing(name, one.times) for name, one in started.items()}


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], Path(sys.argv[2]))
