"""Many tabs opened, used once and closed, some at a time: how fast, and what is left of them."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.contenders import clean_environment, temporary_home
from bench.scenario import Report, Scale, Target
from bench.volume import peak
from muxwire import open_terminals

if TYPE_CHECKING:
    from muxwire import Terminals

TABS, TABS_SHORT = 1000, 4
AT_ONCE = 4
# A closed tab stays known, with the offsets of its log, so some memory remains.
GROWTH_MIB = 32


async def use(terminals: Terminals, count: int) -> None:
    """One tab after the other."""
    for number in range(count):
        tab = await terminals.create_tab(shell="sh")
        result = await tab.execute(f"echo {number}")
        assert (result.output, result.exit_code) == (f"{number}\n", 0), result
        await tab.close(force=True)


def descriptors() -> int:
    """How many file descriptors this process has open."""
    return len(os.listdir("/dev/fd"))  # noqa: PTH208


async def run(scale: Scale) -> Report:
    """Open, use and close tabs; then compare with what there was before."""
    tabs = scale.of(TABS, TABS_SHORT)
    with temporary_home() as name:
        home = Path(name)
        async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
            await use(terminals, AT_ONCE)
            gc.collect()
            memory, files, begun = peak(anew=True), descriptors(), time.perf_counter()
            async with anyio.create_task_group() as tasks:
                for _ in range(AT_ONCE):
                    tasks.start_soon(use, terminals, tabs // AT_ONCE)
            seconds = time.perf_counter() - begun
            growth, more = peak() - memory, descriptors() - files
    return Report(
        "churn",
        f"{tabs} tabs opened, used once and closed, {AT_ONCE} at a time",
        ("what", "figure", "unit"),
        (
            ("tabs", tabs / seconds, "a second"),
            ("growth of memory", growth, "MiB"),
            ("descriptors that stayed open", more, "files"),
        ),
        (
            Target("growth of memory", growth, GROWTH_MIB, "MiB"),
            Target("descriptors that stayed open", more, 0, "files"),
        ),
    )
