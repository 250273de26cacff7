"""Timing that survives a noisy machine: all contenders in turn, in one run, compared as ratios."""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from bench.contenders import Once

# Not counted: caches fill, the first prompt comes, the interpreter specialises its loops.
WARM_UP = 20
# So many runs of one contender on end: what comes once in each burst (the log's writer, a look for garbage) is in them.
BURST = 200
# A breath between two runs: the prompt is drawn, the log is handed over. Without it only bursts are measured.
BREATH = 0.0


async def milliseconds(once: Once) -> float:
    """How long it took; by its own account, if it gives one: it may speak for a process behind a pipe."""
    begun = time.perf_counter()
    took = await once()
    return (time.perf_counter() - begun if took is None else took) * 1000


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one contender."""

    name: str
    p50: float
    p99: float
    runs: int


def progress(done: int, total: int) -> None:
    """Tell a person who watches how far it is; between two turns, where nothing is timed."""
    if sys.stderr.isatty():
        end = "\r\x1b[K" if done == total else ""
        print(f"\r  turn {done} of {total}{end}", end="", file=sys.stderr, flush=True)


async def in_turn(contenders: dict[str, Once], runs: int, between: Once | None = None) -> dict[str, Timing]:
    """Run every contender `runs` times, A B C A B C ..., so that all of them meet the same machine.

    `between` is run before each, and not counted: what one leaves behind for a reader is not the next one's to read.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    warm_up = min(WARM_UP, runs)
    for turn in range(runs + warm_up):
        for name, once in contenders.items():
            if between is not None:
                await between()
            took = await milliseconds(once)
            if turn >= warm_up:
                times[name].append(took)
            await anyio.sleep(BREATH)
        progress(turn + 1, runs + warm_up)
    return {name: timing(name, found) for name, found in times.items()}


async def in_bursts(contenders: dict[str, Once], runs: int) -> dict[str, Timing]:
    """As `in_turn`, but each contender runs BURST times on end: what a client that waits for nothing else sees.

    Before each burst it runs a few times uncounted: what it needs, the others have had out of the caches.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    burst = min(BURST, runs)
    for number in range(runs // burst):
        for name, once in contenders.items():
            for _ in range(min(WARM_UP, burst)):
                await once()
            for _ in range(burst):
                times[name].append(await milliseconds(once))
        progress(number + 1, runs // burst)
    return {name: timing(name, found) for name, found in times.items()}


def timing(name: str, found: list[float]) -> Timing:
    """Median and 99th percentile of some times."""
    cuts = statistics.quantiles(found if len(found) > 1 else found * 2, n=100)
    return Timing(name, statistics.median(found), cuts[98], len(found))
