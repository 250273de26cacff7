"""How soon a wait ends after the bytes it waits for were written."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import anyio

from bench.contenders import clean_environment, temporary_home
from bench.measure import Timing, timing
from bench.scenario import Report, Scale
from muxwire import open_terminals

RUNS, RUNS_SHORT = 300, 40
# Prints the clock that all processes share, when it is told to by a line.
CLOCK = "import sys, time\nfor line in sys.stdin: print(f'<{line.strip()}={time.monotonic_ns()}>', flush=True)"
PATIENCE = 10.0


async def run(scale: Scale) -> Report:
    """A program prints the time; the wait for that text has ended some microseconds later."""
    late: list[float] = []
    with temporary_home() as name:
        home = Path(name)
        async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
            tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", CLOCK])
            for number in range(scale.of(RUNS, RUNS_SHORT)):
                outcome = None

                async def wait(number: int = number) -> None:
                    nonlocal outcome
                    outcome = await terminals.wait_for(
                        [tab.window_id], regex=rf"<{number}=(\d+)>", from_byte=tab.next_byte, timeout=PATIENCE
                    )
                    late.append(time.monotonic_ns())

                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(wait)
                    await anyio.wait_all_tasks_blocked()
                    await tab.send_keys([str(number), "Enter"])
                assert outcome is not None
                written = int(outcome.match.partition("=")[2].rstrip(">"))
                late[-1] = (late[-1] - written) / 1e6
    found: Timing = timing("wait_for, from write to return", late)
    return Report(
        "waits",
        "How late a wait ends",
        ("what", "p50 ms", "p99 ms"),
        ((found.name, found.p50, found.p99),),
    )
