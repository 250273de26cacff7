"""How cost grows with size: a straight line through the logarithms gives the power; 1 is linear, 0 is flat."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

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
# A power of 1.15 over three orders of magnitude is a factor of 3: noise, or a logarithm.
LINEAR, FLAT = 1.15, 0.25


def power(points: Sequence[tuple[float, float]]) -> float:
    """The slope of log(cost) over log(size), by least squares."""
    xs, ys = [math.log(size) for size, _ in points], [math.log(cost) for _, cost in points]
    return statistics.linear_regression(xs, ys).slope


def fastest(call: Callable[[], object]) -> float:
    """Milliseconds of the best of some runs: what is slower was held up by something else."""
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        call()
        times.append((time.perf_counter() - begun) * 1000)
    return min(times)


def marks_cost(count: int) -> float:
    """The cost of finding so many marks in a stream."""
    stream = b"".join(b"text\r\n\x1b]7770;S;%016x\x07" % number for number in range(count))
    return fastest(lambda: len(MarkScanner().feed(stream)))


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


async def tabs_cost(terminals: Terminals, count: int, opened: int) -> float:
    """The cost of `true` in one tab while so many are open."""
    for _ in range(count - opened):
        await (await terminals.create_tab(shell="bash")).execute("true")
    tab = (await terminals.list_tabs()).tabs[0].window_id
    one = await terminals.tab(tab)
    times = []
    for _ in range(REPEATS * 10):
        begun = time.perf_counter()
        await one.execute("true")
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


async def run(scale: Scale) -> Report:
    """Cost against output size, number of tabs, size of the log and number of marks."""
    outputs = [1 << bits for bits in (range(20, 27, 2) if not scale.short else (18, 20))]
    tabs = (1, 4, 16, 50) if not scale.short else (1, 4)
    sizes = [1 << bits for bits in ((22, 25, 28) if not scale.short else (20, 22))]
    marks = (1_000, 10_000, 100_000)
    found: dict[str, tuple[list[tuple[float, float]], float]] = {}
    with temporary_home() as name:
        home = Path(name)
        async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
            found["output of a command, bytes"] = ([(n, await output_cost(terminals, n)) for n in outputs], LINEAR)
            opened, points = 0, []
            for count in tabs:
                points.append((float(count), await tabs_cost(terminals, count, opened)))
                opened = count
            found["tabs open, cost of one command"] = (points, FLAT)
    found["log, cost of its last lines"] = ([(n, tail_cost(n)) for n in sizes], FLAT)
    found["marks in a stream"] = ([(n, marks_cost(n)) for n in marks], LINEAR)
    rows = tuple(
        (what, f"{points[0][0]:,.0f}", points[0][1], f"{points[-1][0]:,.0f}", points[-1][1], power(points))
        for what, (points, _) in found.items()
    )
    targets = tuple(Target(f"{what}: power", power(points), limit, "") for what, (points, limit) in found.items())
    return Report(
        "growth",
        "How cost grows",
        ("against", "from", "ms", "to", "ms ", "power"),
        rows,
        targets,
        ("the power is the slope of a line fitted through the logarithms of all sizes: 1 is linear, 0 is flat",),
        {what: points for what, (points, _) in found.items()},
    )
