"""Many terminals in one process: a thousand tabs here, two hundred machines by a pipe, fifty containers.

The machines are this one, each behind a program of its own, with a directory and a tmux of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.churn import descriptors
from bench.containers import container
from bench.contenders import clean_environment, temporary_home
from bench.scenario import Report, Scale, Unavailable
from muxwire import Carrier, MuxwireError, Tab, Terminals, open_terminals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

TABS, TABS_SHORT = 1000, 6
MACHINES, MACHINES_SHORT = 200, 2
CONTAINERS = 50
# So many are opened, or run a command, at once: a start takes processor time, and not waiting.
AT_ONCE = 8
# The commands are timed one after the other in so many of the tabs, while all the others are open.
TIMED = 100
# All far ends are on this machine, whose processors they share.
START_SECONDS = 120.0
IDLE_SECONDS, IDLE_SECONDS_SHORT = 5.0, 0.5
NAME = "muxwire-bench-many"
# Its own words for the one who opens them.
TITLES = ("tabs on this machine", "machines by a pipe", "containers")


@dataclass(frozen=True, slots=True)
class Found:
    """What so many terminals cost: the times are wall time in seconds, the rest is of our own process."""

    count: int
    open_seconds: float
    open_processor_ms: float
    memory_kib: float
    descriptors: float
    command_ms: float
    command_processor_ms: float
    idle_percent: float
    close_seconds: float

    def row(self, title: str) -> tuple[str | float, ...]:
        """A line of the table."""
        return (
            f"{self.count} {title}", self.open_seconds, self.open_processor_ms, self.memory_kib, self.descriptors,
            self.command_ms, self.command_processor_ms, self.idle_percent, self.close_seconds,
        )  # fmt: skip


def resident() -> int:
    """How much memory this process has, in bytes (proc(5), `statm`)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def at_once(calls: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """Make all of the calls, AT_ONCE at a time."""
    limit = anyio.Semaphore(AT_ONCE)

    async def one(call: Callable[[], Awaitable[object]]) -> None:
        async with limit:
            await call()

    async with anyio.create_task_group() as tasks:
        for call in calls:
            tasks.start_soon(one, call)


async def measured(opened: Terminals, hosts: Sequence[str | Carrier], idle: float) -> Found:
    """Open a tab on each of the machines ("" is this one), run commands there, and close all."""
    tabs: list[Tab] = []

    async def open_one(host: str | Carrier) -> None:
        tab = await opened.create_tab(shell="sh", host=host)
        result = await tab.execute("echo ready", timeout=START_SECONDS)
        assert (result.output, result.exit_code) == ("ready\n", 0), result
        tabs.append(tab)

    warm = await opened.create_tab(shell="sh")
    await warm.execute("true")
    memory, files = resident(), descriptors()
    begun, used = time.perf_counter(), time.process_time()
    await at_once([lambda host=host: open_one(host) for host in hosts])  # type: ignore[misc]
    open_seconds, open_processor = time.perf_counter() - begun, time.process_time() - used
    memory, files = resident() - memory, descriptors() - files
    timed = tabs[:: max(1, len(tabs) // TIMED)]
    begun, used = time.perf_counter(), time.process_time()
    for tab in timed:
        result = await tab.execute("true")
        assert result.exit_code == 0, result
    command, processor = time.perf_counter() - begun, time.process_time() - used
    begun, used = time.perf_counter(), time.process_time()
    await anyio.sleep(idle)
    idle_share = (time.process_time() - used) / (time.perf_counter() - begun)
    begun = time.perf_counter()
    await opened.aclose()
    return Found(
        len(tabs), open_seconds, 1000 * open_processor / len(tabs), memory / 1024 / len(tabs), files / len(tabs),
        1000 * command / len(timed), 1000 * processor / len(timed), 100 * idle_share, time.perf_counter() - begun,
    )  # fmt: skip


async def _tabs(scale: Scale, home: Path, idle: float) -> Found:
    count = scale.of(TABS, TABS_SHORT)
    environ = clean_environment(home) | {"MUXWIRE_TABS": str(count + 1)}
    async with open_terminals(environ=environ, state_dir=home / "state") as opened:
        return await measured(opened, [""] * count, idle)


async def _machines(scale: Scale, home: Path, idle: float) -> Found:
    environ = clean_environment(home)
    hosts = {}
    for number in range(scale.of(MACHINES, MACHINES_SHORT)):
        place = home / str(number)
        place.mkdir(mode=0o700)
        words = [f"{name}={value}" for name, value in (environ | {"TMPDIR": str(place)}).items()]
        hosts[f"m{number}"] = Carrier(["env", "-i", *words])
    async with open_terminals(environ=environ, state_dir=home / "state", hosts=hosts) as opened:
        return await measured(opened, list(hosts), idle)


async def _containers(home: Path, folder: Path, engine: str, idle: float) -> Found:
    with container(engine, folder, NAME, more=CONTAINERS - 1) as env:
        names = [NAME, *(f"{NAME}-{number}" for number in range(1, CONTAINERS))]
        hosts = {name: Carrier([shutil.which(engine) or engine, "exec", "-i", name]) for name in names}
        environ = clean_environment(home) | {key: env[key] for key in env if key.startswith("DOCKER_")}
        async with open_terminals(environ=environ, state_dir=home / "state", hosts=hosts) as opened:
            return await measured(opened, list(hosts), idle)


async def run(scale: Scale) -> Report:
    """The three, one after the other; what no engine runs is named."""
    idle, notes, rows = IDLE_SECONDS_SHORT if scale.short else IDLE_SECONDS, list[str](), []
    for title, measure in zip(TITLES, (_tabs, _machines), strict=False):
        with temporary_home() as name:
            try:
                found = await measure(scale, Path(name), idle)
            except* MuxwireError as errors:  # all far ends share this machine, which may be too slow for them
                notes.append(f"{title} could not be opened: {errors.exceptions[0]}")
            else:
                rows.append(found.row(title))
    for engine in () if scale.short else ("docker", "podman"):
        with temporary_home() as name, tempfile.TemporaryDirectory(prefix="mwc", ignore_cleanup_errors=True) as made:
            try:
                found = await _containers(Path(name), Path(made), engine, idle)
            except Unavailable as reason:
                notes.append(f"{CONTAINERS} containers were not run: {engine}: {reason}")
            else:
                rows.append(found.row(f"{TITLES[-1]} of {engine}"))
                break
    notes.append("memory, descriptors and processor time are those of the process that uses muxwire, for each terminal")
    return Report(
        "many",
        "Many terminals in one process",
        ("terminals", "open s", "processor ms to open", "KiB", "descriptors", "command ms", "processor ms a command",
         "idle %", "close s"),
        tuple(rows),
        (),
        tuple(notes),
    )  # fmt: skip
