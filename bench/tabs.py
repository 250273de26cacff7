"""Many tabs that all run commands at once, against a bare loop that does the same."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import anyio

from bench.contenders import READ, floor, type_into
from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from muxwire import Tab, open_terminals

if TYPE_CHECKING:
    from pathlib import Path

TABS, TABS_SHORT = 50, 2
COMMANDS, COMMANDS_SHORT = 40, 2
# What is slower was held up by something else.
ROUNDS, ROUNDS_SHORT = 3, 1
PROCESSOR_US = 130.0


@final
@dataclass(frozen=True, slots=True)
class Rate:
    """Commands a second, and the processor time in us that each took of the process that drives them, not of tmux."""

    commands: float
    processor: float


def bare(home: Path, tabs: int, commands: int) -> Rate:
    """One control client, a line typed into each pane as soon as its last answer is here."""
    with floor(home, tabs) as (writer, reader):
        _answered(writer, reader, tabs, range(1))  # every shell is at its prompt
        begun, used = time.perf_counter(), time.process_time()
        _answered(writer, reader, tabs, range(1, commands + 1))
        return _rate(tabs * commands, begun, used)


def _answered(writer: int, reader: int, tabs: int, numbers: range) -> None:
    """Have each pane echo these numbers, one after the other."""
    due = [numbers.start] * tabs
    for pane in range(tabs):
        type_into(writer, pane, "true", numbers.start)
    rest, left, ends = b"", tabs * len(numbers), [b""] * tabs
    while left:
        *lines, rest = (rest + os.read(reader, READ)).split(b"\n")
        for line in lines:
            if not line.startswith(b"%output %"):
                continue
            name, text = line.split(b" ", 2)[1:]
            pane = int(name[1:])
            wanted = b"<%d>" % due[pane]
            text, ends[pane] = ends[pane] + text, text[-len(wanted) :]  # tmux may read it in two pieces
            if wanted in text:
                due[pane] += 1
                left -= 1
                if due[pane] < numbers.stop:
                    type_into(writer, pane, "true", due[pane])


def _rate(commands: int, begun: float, used: float) -> Rate:
    seconds, processor = time.perf_counter() - begun, time.process_time() - used
    return Rate(commands / seconds, processor / commands * 1e6)


async def ours(home: Path, tabs: int, commands: int) -> Rate:
    """The same through the library."""
    async with open_terminals(environ=clean_environment(home)) as terminals:
        opened = [await terminals.create_tab(shell="bash") for _ in range(tabs)]
        for tab in opened:
            await tab.execute("true")

        async def work(tab: Tab) -> None:
            for _ in range(commands):
                assert (await tab.execute("true")).exit_code == 0

        begun, used = time.perf_counter(), time.process_time()
        async with anyio.create_task_group() as tasks:
            for tab in opened:
                tasks.start_soon(work, tab)
        return _rate(tabs * commands, begun, used)


async def run(scale: Scale) -> Report:
    """Both in turn, the better of three runs each."""
    tabs, commands = scale.of(TABS, TABS_SHORT), scale.of(COMMANDS, COMMANDS_SHORT)
    floors, found = list[Rate](), list[Rate]()
    with temporary_home() as home:
        for _ in range(scale.of(ROUNDS, ROUNDS_SHORT)):
            floors.append(bare(home, tabs, commands))
            found.append(await ours(home, tabs, commands))
    floor, best = (max(one, key=lambda rate: rate.commands) for one in (floors, found))
    least = min(rate.processor for rate in found)
    return Report(
        "tabs",
        f"{tabs} tabs, each running commands as fast as it can",
        ("approach", "commands/s", "over the floor", "us of its processor time a command"),
        (
            ("bare loop (floor)", floor.commands, 1.0, min(rate.processor for rate in floors)),
            ("muxwire library", best.commands, best.commands / floor.commands, least),
        ),
        (Target("our processor time a command", least, PROCESSOR_US, "us"),),
        ("the rate is what two processors allow to Python, tmux and bash together",),
    )
