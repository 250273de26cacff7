"""Timing that survives a noisy machine: all contenders in turn, in one run, compared as ratios.

Each contender has a process of its own, with an event loop, a tmux and a shell of its own, which reads lines of JSON:
how often to run, and the pause between two runs. It answers each with a line, the milliseconds of every run, and does
nothing else in between.

With `exclusive` all that belongs to a contender runs before every ordinary process of the machine (SCHED_FIFO), in
bursts that are short enough for the others. On a machine that does other things, ratios repeat only so.
"""

from __future__ import annotations

import functools
import json
import select
import statistics
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.homes import clean_environment, temporary_home
from bench.machine import ROOT
from bench.processes import WORD, Belongings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

# So many runs of one contender on end: a burst of 100 is over in 30 to 100 ms.
BURST = 100
# Any real-time priority is above every ordinary process; the kernel's own threads that matter have higher ones.
PRIORITY = 5
EXCLUSIVE = ("chrt", "--fifo", str(PRIORITY))
# The longest answer is that of a burst of a slow contender; one that says nothing for so long has gone.
ANSWER_SECONDS = 120.0


@functools.cache
def may_be_exclusive() -> bool:
    """Whether this machine lets a process run before all ordinary ones."""
    try:
        return subprocess.run([*EXCLUSIVE, "true"], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of one contender."""

    name: str
    p50: float
    p99: float


def timing(name: str, found: list[float]) -> Timing:
    """Median and 99th percentile of some times."""
    cuts = statistics.quantiles(found if len(found) > 1 else found * 2, n=100)
    return Timing(name, statistics.median(found), cuts[98])


class Contender:
    """One of them, seen from here."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        home: Path,
        *,
        environ: Mapping[str, str] | None = None,
        exclusive: bool = False,
    ) -> None:
        """Start its process, at home in `home`; `environ` is added to its environment."""
        self.name = name
        self.times: list[float] = []
        self._belongings = Belongings()
        first = EXCLUSIVE if exclusive and may_be_exclusive() else ()
        self._process: Any = subprocess.Popen(
            [*first, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            cwd=ROOT, env=clean_environment(home) | dict(environ or {}) | {WORD: self._belongings.name},
        )  # fmt: skip

    def ask(self, question: dict[str, Any], seconds: float = ANSWER_SECONDS) -> dict[str, Any]:
        """Its answer to one line; an `error` if it has gone, or says nothing for so long."""
        try:
            print(json.dumps(question), file=self._process.stdin, flush=True)
            ready = select.select([self._process.stdout], [], [], seconds)[0]
            line = self._process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {"error": "it does not answer"}
        return answer

    def run(self, count: int, pause: float = 0.0) -> None:
        """Have it run so many times, with a pause in ms before each; how long each took is kept."""
        answer = self.ask({"runs": count, "pause": pause})
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        self.times += answer["took"]

    def close(self) -> None:
        """End it, and what it started."""
        self._belongings.kill()
        self._process.communicate()


def in_bursts(contenders: Collection[Contender], runs: int, pause: float = 0.0) -> dict[str, Timing]:
    """Run each so many times, a burst of each in turn, the order turned round each time."""
    order, burst = list(contenders), min(BURST, runs)
    for one in order:  # each is at its first prompt before anything counts
        one.run(1)
        one.times.clear()
    for number in range(runs // burst):
        for one in order:
            one.run(burst, pause)
        order.reverse()
        if sys.stderr.isatty():
            print(f"\r  turn {number + 1} of {runs // burst} \r", end="", file=sys.stderr, flush=True)
    return {one.name: timing(one.name, one.times) for one in contenders}


def in_processes(
    ways: Collection[str], runs: int, command: str = "true", *, tabs: int = 1, pause: float = 0.0, exclusive: bool
) -> dict[str, Timing]:
    """Time these ways of `contenders.py` for a command: with so many tabs, the pause in ms, before all others."""
    with temporary_home() as home, ExitStack() as ends:
        started = []
        for number, way in enumerate(ways):
            folder = home / str(number)
            folder.mkdir()
            argv = [sys.executable, "-m", "bench.contenders", way, str(folder), command, str(tabs)]
            started.append(Contender(way, argv, folder, exclusive=exclusive))
            ends.callback(started[-1].close)
        return in_bursts(started, runs, pause)
