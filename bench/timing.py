"""Timing that survives a noisy machine: all contenders in turn, in one run, compared as ratios.

Each contender has a process of its own (`peers/ways.py`), with a tmux and a shell of its own, which reads lines of
JSON: what to run, how often, and the pause between two runs. It answers each with a line, the milliseconds of every
run, and does nothing else in between.

With `exclusive`, which needs root, all that belongs to a contender runs before every ordinary process of the machine
(SCHED_FIFO), in bursts that are short enough for the others. On a machine that does other things, ratios repeat only
so.
"""

from __future__ import annotations

import json
import select
import statistics
import subprocess
import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.homes import clean_environment, temporary_home
from bench.machine import ROOT
from bench.peers.cases import TRUE
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
        self.name, self.times = name, list[float]()
        self._belongings = Belongings()
        self._argv = [*(EXCLUSIVE if exclusive else ()), *argv]
        self._environ = clean_environment(home) | dict(environ or {}) | {WORD: self._belongings.name}
        self._start()

    def _start(self) -> None:
        self._process: Any = subprocess.Popen(
            self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
            env=self._environ,
        )  # fmt: skip

    def again(self) -> None:
        """End it, and start it anew."""
        self.close()
        self._start()

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

    def run(self, count: int, command: str = TRUE, pause: float = 0.0) -> None:
        """Have it run that so many times, with a pause in ms before each; how long each took is kept."""
        answer = self.ask({"runs": count, "command": command, "pause": pause})
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        self.times += answer["took"]

    def close(self) -> None:
        """End it, and what it started."""
        self._belongings.kill()
        self._process.communicate()


def in_bursts(
    contenders: Collection[Contender], runs: int, command: str = TRUE, pause: float = 0.0
) -> dict[str, Timing]:
    """Run each so many times, a burst of each in turn, the order turned round each time."""
    order, burst = list(contenders), min(BURST, runs)
    for one in order:  # each is at its first prompt before anything counts
        one.run(1)
        one.times.clear()
    for number in range(runs // burst):
        for one in order:
            one.run(burst, command, pause)
        order.reverse()
        if sys.stderr.isatty():
            print(f"\r  turn {number + 1} of {runs // burst} \r", end="", file=sys.stderr, flush=True)
    return {one.name: timing(one.name, one.times) for one in contenders}


def in_processes(
    ways: Mapping[str, str], runs: int, command: str = TRUE, *, pause: float = 0.0, exclusive: bool
) -> dict[str, Timing]:
    """Time these ways of `peers/ways.py`, by their titles, for a command: with the pause in ms, before all others."""
    with temporary_home() as home, ExitStack() as ends:
        started = list[Contender]()
        for title, way in ways.items():
            folder = home / str(len(started))
            folder.mkdir()
            argv = [sys.executable, "-m", "bench.peers.ways", way, str(folder), ""]
            started.append(ends.enter_context(closing(Contender(title, argv, folder, exclusive=exclusive))))
        return in_bursts(started, runs, command, pause)
