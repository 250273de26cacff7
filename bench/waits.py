"""How soon a wait ends after the bytes it waits for were written, and what a hostile pattern costs other tabs."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import anyio

from bench.contenders import clean_environment, temporary_home
from bench.measure import Timing, timing
from bench.scenario import Report, Scale
from muxwire import InvalidArgument, Tab, Terminals, open_terminals

RUNS, RUNS_SHORT = 300, 40
# Prints the clock that all processes share, when it is told to by a line.
CLOCK = "import sys, time\nfor line in sys.stdin: print(f'<{line.strip()}={time.monotonic_ns()}>', flush=True)"
PATIENCE = 10.0
# It takes longer than the universe lasts on that text; tried again and again, it keeps a process busy all the time.
HOSTILE, TEXT = "^(a+)+$", "a" * 60 + "!"
# Bursts of `true` with and without it, in turn: the machine's load is shared by both.
BURSTS, BURSTS_SHORT, BURST = 20, 4, 25


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
            alone, beside = await beside_a_pattern(terminals, scale.of(BURSTS, BURSTS_SHORT))
    found: Timing = timing("wait_for, from write to return", late)
    return Report(
        "waits",
        "How late a wait ends",
        ("what", "p50 ms", "p99 ms"),
        (
            (found.name, found.p50, found.p99),
            (f"true in another tab, beside {HOSTILE}", beside.p50, beside.p99),
            ("true alone", alone.p50, alone.p99),
            ("the same, times alone (target: 2)", beside.p50 / alone.p50, beside.p99 / alone.p99),
        ),
    )


async def beside_a_pattern(terminals: Terminals, bursts: int) -> tuple[Timing, Timing]:
    """`true` in one tab: while nothing else happens, and while a pattern that takes for ever is tried in another."""
    tab, other = await terminals.create_tab(), await terminals.create_tab()
    await tab.execute(f"echo {TEXT}")
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(2 * bursts):
        async with anyio.create_task_group() as tasks:
            if number % 2:
                tasks.start_soon(_try_for_ever, terminals, tab)
            for _ in range(BURST):
                begun = time.perf_counter()
                await other.execute("true")
                times[number % 2].append((time.perf_counter() - begun) * 1e3)
            tasks.cancel_scope.cancel()
    return timing("alone", times[0]), timing("beside", times[1])


async def _try_for_ever(terminals: Terminals, tab: Tab) -> None:
    while True:
        with suppress(InvalidArgument):
            await terminals.wait_for([tab.window_id], regex=HOSTILE, from_byte=0, timeout=PATIENCE)
