"""Many tabs that all run commands at once: how many a second, and what our own process does for each."""

from __future__ import annotations

import time

import anyio

from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from muxwire import Tab, open_terminals

TABS, TABS_SHORT = 50, 2
COMMANDS, COMMANDS_SHORT = 40, 2
# What is slower was held up by something else.
ROUNDS, ROUNDS_SHORT = 3, 1
PROCESSOR_US = 130.0


async def run(scale: Scale) -> Report:
    """The best of three runs each."""
    tabs, commands = scale.of(TABS, TABS_SHORT), scale.of(COMMANDS, COMMANDS_SHORT)
    rates, processor = list[float](), list[float]()

    async def work(tab: Tab) -> None:
        for _ in range(commands):
            assert (await tab.execute("true")).exit_code == 0

    with temporary_home() as home:
        async with open_terminals(environ=clean_environment(home)) as terminals:
            opened = [await terminals.create_tab(shell="bash") for _ in range(tabs)]
            for tab in opened:
                await tab.execute("true")
            for _ in range(scale.of(ROUNDS, ROUNDS_SHORT)):
                begun, used = time.perf_counter(), time.process_time()
                async with anyio.create_task_group() as tasks:
                    for tab in opened:
                        tasks.start_soon(work, tab)
                rates.append(tabs * commands / (time.perf_counter() - begun))
                processor.append((time.process_time() - used) / (tabs * commands) * 1e6)
    return Report(
        "tabs",
        f"{tabs} tabs, each running commands as fast as it can",
        ("approach", "commands/s", "us of its processor time a command"),
        (("muxwire library", max(rates), min(processor)),),
        (Target("our processor time a command", min(processor), PROCESSOR_US, "us"),),
        ("the rate is what two processors allow to Python, tmux and bash together",),
    )
