"""How soon a wait ends after the bytes it waits for were written."""

from __future__ import annotations

import re
import sys
import time

import anyio

from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from bench.timing import timing
from muxwire import Tab, Terminals, open_terminals

RUNS, RUNS_SHORT = 300, 4
PATIENCE = 10.0
# Each prints the clock that all processes share, when it is told to by a line: as a line, and drawn with cursor moves
# in place of the blanks, so that only the screen has the text.
CLOCK = "import sys, time\nfor line in sys.stdin: print(f'<{line.strip()} at {time.monotonic_ns()}>', flush=True)"
DRAWN = r"""
import os, sys, time
for line in sys.stdin:
    os.write(1, b'\x1b[5;1H\x1b[K<%s\x1b[1Cat\x1b[1C%d>\r\n' % (line.strip().encode(), time.monotonic_ns()))
"""
WAYS = {
    "a line, waited for as a text": (CLOCK, "text"),
    "a line, waited for by a regex": (CLOCK, "regex"),
    "drawn with cursor moves, a text": (DRAWN, "text"),
    "drawn with cursor moves, a regex": (DRAWN, "regex"),
}
# From the write to the return of a wait for a line.
LATE_MS = 2.0


async def run(scale: Scale) -> Report:
    """A program prints the time; the wait for that text has ended some milliseconds later."""
    found = []
    with temporary_home() as home:
        async with open_terminals(environ=clean_environment(home)) as terminals:
            for title, (program, condition) in WAYS.items():
                tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", program])
                found.append(timing(title, await _lateness(terminals, tab, condition, scale.of(RUNS, RUNS_SHORT))))
    return Report(
        "waits",
        "How late a wait ends",
        ("what is written", "p50 ms", "p99 ms"),
        tuple((one.name, one.p50, one.p99) for one in found),
        (Target("a wait for a line, p50", found[0].p50, LATE_MS, "ms"),),
    )


async def _lateness(terminals: Terminals, tab: Tab, condition: str, runs: int) -> list[float]:
    """Milliseconds from when the program wrote its clock, as it was told by a number, to the end of a wait for that.

    The first is left out: it starts the process that matches regexes, and imports what plays drawings.
    """
    late: list[float] = []

    async def wait(number: int) -> None:
        first = tab.next_byte
        regex, ended = rf"<{number} at (\d+)>", 0
        if condition == "text":
            await terminals.wait_for([tab.key], until=f"<{number} at", from_byte=first, timeout=PATIENCE)
            ended = time.monotonic_ns()
        told = await terminals.wait_for([tab.key], regex=regex, from_byte=first, timeout=PATIENCE)
        ended = ended or time.monotonic_ns()
        assert told.outcome == "met"
        late.append((ended - int(re.findall(r"\d+", told.match)[1])) / 1e6)

    for number in range(1 + runs):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, number)
            await anyio.wait_all_tasks_blocked()
            await tab.send_keys([str(number), "Enter"])
    return late[1:]
