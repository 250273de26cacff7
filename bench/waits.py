"""How soon a wait ends after the bytes it waits for were written, and what a hostile pattern costs other tabs."""

from __future__ import annotations

import re
import sys
import time
from contextlib import suppress
from pathlib import Path

import anyio

from bench.contenders import clean_environment, temporary_home
from bench.measure import Timing, timing
from bench.scenario import Report, Scale
from muxwire import InvalidArgument, Tab, Terminals, open_terminals

RUNS, RUNS_SHORT = 300, 4
# Prints the clock that all processes share, when it is told to by a line.
CLOCK = "import sys, time\nfor line in sys.stdin: print(f'<{line.strip()}={time.monotonic_ns()}>', flush=True)"
PATIENCE = 10.0
# The same, drawn with a cursor move for the blank, so that only the screen has the text; `turn` starts a spinner.
DRAWN = r"""
import os, sys, threading, time
go = threading.Event()
def turn():
    go.wait()
    while True:
        for frame in b'-|':
            os.write(1, b'\x1b7\x1b[3;70H%c\x1b8' % frame); time.sleep(1 / 20)
threading.Thread(target=turn, daemon=True).start()
for line in sys.stdin:
    if line == 'turn\n': go.set()
    else:
        text = line.strip().encode()
        os.write(1, b'\x1b[5;1H\x1b[K<%s\x1b[1Cat\x1b[1C%d>\r\n' % (text, time.monotonic_ns()))
"""
# A wait beside a spinner, in seconds: long enough that its beginning does not count.
SPINNING, SPINNING_SHORT = 10.0, 0.5
# It takes longer than the universe lasts on that text; tried again and again, it keeps a process busy all the time.
HOSTILE, TEXT = "^(a+)+$", "a" * 60 + "!"
# Bursts of `true` with and without it, in turn: the machine's load is shared by both.
BURSTS, BURSTS_SHORT, BURST = 20, 1, 25


async def run(scale: Scale) -> Report:
    """A program prints the time; the wait for that text has ended some microseconds later."""
    with temporary_home() as name:
        home = Path(name)
        async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
            tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", CLOCK])
            late = await _lateness(terminals, tab, r"<{}=(\d+)>", scale)
            of_text = timing("the same, for a text", await _lateness(terminals, tab, r"<{}=(\d+)>", scale, text="<{}="))
            drawn, drawn_text, spinner = await on_the_screen(terminals, scale)
            alone, beside = await beside_a_pattern(terminals, scale.of(BURSTS, BURSTS_SHORT))
    found: Timing = timing("wait_for, from write to return", late)
    return Report(
        "waits",
        "How late a wait ends",
        ("what", "p50 ms", "p99 ms"),
        (
            (found.name, found.p50, found.p99),
            (of_text.name, of_text.p50, of_text.p99),
            (drawn.name, drawn.p50, drawn.p99),
            (drawn_text.name, drawn_text.p50, drawn_text.p99),
            ("processor ms a second of waiting next to a spinner of 20 frames; ms to see it alone", *spinner),
            (f"true in another tab, next to {HOSTILE}", beside.p50, beside.p99),
            ("true alone", alone.p50, alone.p99),
            ("the same, times alone (target: 2)", beside.p50 / alone.p50, beside.p99 / alone.p99),
        ),
    )


async def _lateness(terminals: Terminals, tab: Tab, regex: str, scale: Scale, *, text: str = "") -> list[float]:
    """Milliseconds from when the program wrote its clock, as it was told by a number, to the end of a wait for that.

    With `text` that is waited for: a regex is matched in a process of its own. The first is left out: it starts that
    process, and imports what plays drawings.
    """
    late: list[float] = []

    async def wait(number: int) -> None:
        first, ended = tab.next_byte, 0
        if text:
            await terminals.wait_for([tab.key], until=text.format(number), from_byte=first, timeout=PATIENCE)
            ended = time.monotonic_ns()
        found = await terminals.wait_for([tab.key], regex=regex.format(number), from_byte=first, timeout=PATIENCE)
        ended = ended or time.monotonic_ns()
        assert found.outcome == "met"
        late.append((ended - int(re.findall(r"\d+", found.match)[1])) / 1e6)

    for number in range(1 + scale.of(RUNS, RUNS_SHORT)):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, number)
            await anyio.wait_all_tasks_blocked()
            await tab.send_keys([str(number), "Enter"])
    return late[1:]


async def on_the_screen(terminals: Terminals, scale: Scale) -> tuple[Timing, Timing, tuple[float, float]]:
    """How late waits for what is drawn end, for a regex and for a text.

    And our processor ms a second beside a spinner, waiting and not.
    """
    tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", DRAWN])
    late = await _lateness(terminals, tab, r"<{} at (\d+)>", scale)
    of_text = await _lateness(terminals, tab, r"<{} at (\d+)>", scale, text="<{} at")
    await tab.send_keys(["turn", "Enter"])
    seconds = SPINNING_SHORT if scale.short else SPINNING
    costs = []
    for waits in (True, False):
        begun = time.process_time()
        if waits:
            await terminals.wait_for([tab.key], until="never shown", timeout=seconds)
        else:
            await anyio.sleep(seconds)
        costs.append((time.process_time() - begun) * 1e3 / seconds)
    await tab.close(force=True)
    drawn = timing("what is drawn with cursor moves, from write to return", late)
    return drawn, timing("the same, for a text that is drawn", of_text), (costs[0], costs[1])


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
