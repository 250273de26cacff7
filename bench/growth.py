"""How cost grows with size: what each further unit costs, and whether the units of the largest size cost more."""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from bench.apart import FLOOR, LIBRARY, Apart, How, in_bursts
from bench.contenders import clean_environment, temporary_home
from bench.scenario import Report, Scale, Target
from bench.volume import LINES, LOG_BLOCK
from muxwire import Terminals, open_terminals
from muxwire.logs.read import View, last_lines
from muxwire.shell import TYPED_LINES
from muxwire.shell.marks import MarkScanner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPEATS = 5
# So much of a stream is scanned at once: in a flood muxwire reads every 2 ms, and tmux writes up to 36 MB/s.
READ = 64 << 10
# A unit of the largest size may cost so many times what one of the smallest does: more would be worse than linear. What
# does not depend on the size may cost so many times as much at the largest.
LINEAR, FLAT = 1.5, 3.0
# Idle tabs beside the one that runs commands; a server carries 100 to 200.
IDLE, IDLE_SHORT = (1, 50, 200), (1, 2)
RUNS, RUNS_SHORT = 600, 2
# What a further idle tab may add to a command of the library's, as a multiple of what it adds to the floor's: the same,
# and what two runs of one program differ by.
AS_THE_FLOOR = 1.1


@final
@dataclass(frozen=True, slots=True)
class Grown:
    """The cost in ms at each size; `unit` is so much of the size, for the table. `flat`: it should not grow at all."""

    points: list[tuple[float, float]]
    unit: float
    unit_name: str
    flat: bool = False

    @property
    def further(self) -> float:
        """Microseconds for each further unit, from the smallest to the largest size."""
        (first, cost), (last, more) = self.points[0], self.points[-1]
        return (more - cost) * 1000 / ((last - first) / self.unit)

    def target(self, what: str) -> Target:
        """That it grows as it should."""
        (first, cost), (last, more) = self.points[0], self.points[-1]
        if self.flat:
            return Target(f"{what}: at the largest, over the smallest", more / cost, FLAT)
        return Target(f"{what}: a unit at the largest, over one at the smallest", more / last / (cost / first), LINEAR)


def fastest(call: Callable[[], object]) -> float:
    """Milliseconds of processor time of the best of some runs of what only computes.

    By the clock, on a busy machine, a long run is always interrupted, and a short one seldom: a growth of its own.
    """
    times = []
    for _ in range(REPEATS):
        begun = time.process_time()
        call()
        times.append((time.process_time() - begun) * 1000)
    return min(times)


def marks_cost(count: int) -> float:
    """The cost of finding so many marks in a stream, which comes and is dealt with a read at a time."""
    stream = b"".join(b"text\r\n\x1b]7770;S;%016x\x07" % number for number in range(count))
    reads = [stream[begin : begin + READ] for begin in range(0, len(stream), READ)]

    def scan() -> None:
        scanner = MarkScanner()
        assert sum(len(scanner.feed(data)) for data in reads) == count

    return fastest(scan)


def tail_cost(size: int) -> float:
    """The cost of the last lines of a log of that size."""
    with tempfile.TemporaryDirectory(prefix="mwb") as folder:
        path = Path(folder) / "pane-@1.log"
        path.write_bytes(LOG_BLOCK * (size // len(LOG_BLOCK) + 1))
        return fastest(lambda: last_lines(path, LINES, View(TYPED_LINES, final=True)))


async def output_cost(terminals: Terminals, size: int) -> float:
    """The cost of a command that writes so much, all of it returned."""
    tab = await terminals.create_tab(shell="bash")
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        result = await tab.execute(f"head -c {size} /dev/zero | tr '\\0' x", timeout=60)
        times.append((time.perf_counter() - begun) * 1000)
        assert len(result.output) == size
    await tab.close()
    return min(times)


def tabs_cost(counts: Sequence[int], runs: int, *, exclusive: bool) -> dict[str, list[tuple[float, float]]]:
    """The cost of `true` in one tab while so many are open, by the library and by the floor, all in turn."""
    with temporary_home() as home, ExitStack() as ends:
        started = []
        for way in (FLOOR, LIBRARY):
            for count in counts:
                started.append(Apart(way, Path(home), tabs=count, exclusive=exclusive))
                ends.callback(started[-1].close)
        in_bursts(started, runs, How(exclusive=exclusive))
        found: dict[str, list[tuple[float, float]]] = {FLOOR: [], LIBRARY: []}
        for one, count in zip(started, (*counts, *counts), strict=True):
            found[one.way].append((float(count), statistics.median(one.times)))
    return found


async def run(scale: Scale) -> Report:
    """Cost against output size, number of tabs, size of the log and number of marks."""
    outputs = [1 << bits for bits in (range(20, 27, 2) if not scale.short else (14, 16))]
    sizes = [1 << bits for bits in ((22, 25, 28) if not scale.short else (16, 18))]
    marks = (1_000, 10_000, 100_000) if not scale.short else (100, 1_000)
    found: dict[str, Grown] = {}
    with temporary_home() as name:
        home = Path(name)
        async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
            points = [(float(n), await output_cost(terminals, n)) for n in outputs]
            found["output of a command, bytes"] = Grown(points, 1 << 20, "MiB")
    found["log, its last lines, bytes"] = Grown([(n, tail_cost(n)) for n in sizes], 1 << 20, "MiB", flat=True)
    found["marks in a stream"] = Grown([(n, marks_cost(n)) for n in marks], 1, "mark")
    idle = tabs_cost(IDLE_SHORT if scale.short else IDLE, scale.of(RUNS, RUNS_SHORT), exclusive=scale.exclusive)
    floor, ours = (Grown(idle[way], 1, "tab") for way in (FLOOR, LIBRARY))
    targets = [one.target(what) for what, one in found.items()]
    if not scale.short:  # what a few tabs add is lost in the noise
        what = "a further idle tab, on a command, over what it adds to the floor's"
        targets.append(Target(what, ours.further / floor.further, AS_THE_FLOOR))
    found["idle tabs, on a command: floor"], found["idle tabs, on a command: muxwire library"] = floor, ours
    rows = tuple(
        (
            what, f"{one.points[0][0]:,.0f}", one.points[0][1], f"{one.points[-1][0]:,.0f}", one.points[-1][1],
            one.further, one.unit_name,
        )
        for what, one in found.items()
    )  # fmt: skip
    return Report(
        "growth",
        "How cost grows",
        ("against", "from", "ms", "to", "ms ", "us each further", "unit"),
        rows,
        tuple(targets),
        (),
        {what: one.points for what, one in found.items() if not what.endswith(": floor")},
    )
