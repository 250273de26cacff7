"""What a look at a screen costs when nothing, a little, 100 KB or 1 MB is new, beside a `capture-pane` process."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.contenders import PATIENCE, clean_environment, temporary_home
from bench.measure import WARM_UP, Timing, timing
from bench.scenario import Report, Scale, Target
from muxwire import open_terminals

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire import Tab

# A terminal of a person's, full of text.
SIZE = (200, 50)
RUNS, RUNS_SHORT = 200, 2
# What is written before a look: a line that was typed, a burst, and a long build's output.
LITTLE, MUCH, MOST = 500, 100_000, 1_000_000

# Writes as many bytes as each number of its input says, which a blank ends: lines as a build prints them, in colours.
WRITER = r"""
import os, sys, tty
tty.setraw(0)
text = b''.join(b'\x1b[32mworker\x1b[0m %06d handled a \x1b[1mrequest\x1b[m in 12 ms\r\n' % n for n in range(4000))
print('READY\r')
sys.stdout.flush()
at, number = 0, b''
while True:
    key = os.read(0, 1)
    if key != b' ':
        number += key
        continue
    left, number = int(number), b''
    while left:
        at = at if at < len(text) else 0
        wrote = os.write(1, text[at : at + left])
        at, left = at + wrote, left - wrote
"""


async def snapshot_times(home: Path, runs: int) -> dict[str, Timing]:
    """Look `runs` times in each case, the cases in turn. Only the look is timed."""
    environ = clean_environment(home)
    async with open_terminals(environ=environ, state_dir=home / "state") as terminals:
        tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", WRITER], size=SIZE)
        with anyio.fail_after(PATIENCE):
            await terminals.wait_for([tab.window_id], until="READY", timeout=PATIENCE)
        socket = (await terminals.server()).folders.socket_path
        argv = ["tmux", "-S", str(socket), "capture-pane", "-p", "-t", tab.pane_id]

        def capture() -> None:
            subprocess.run(argv, check=True, capture_output=True, env=environ)

        await _more(tab, MUCH)
        cases = {"500 bytes new": LITTLE, "100 KB new": MUCH, "1 MB new": MOST, "nothing new": 0}
        times: dict[str, list[float]] = {name: [] for name in (*cases, "capture-pane, a process")}
        warm_up = min(WARM_UP, runs)
        for turn in range(-warm_up, runs):
            for name, size in cases.items():
                await _more(tab, size)
                begun = time.perf_counter()
                await tab.snapshot()
                _keep(times[name], begun, turn)
            _keep_call(times["capture-pane, a process"], capture, turn)
    return {name: timing(name, found) for name, found in times.items()}


def _keep(found: list[float], begun: float, turn: int) -> None:
    if turn >= 0:
        found.append((time.perf_counter() - begun) * 1000)


def _keep_call(found: list[float], call: Callable[[], None], turn: int) -> None:
    begun = time.perf_counter()
    call()
    _keep(found, begun, turn)


async def _more(tab: Tab, size: int) -> None:
    """Have that much written, and wait until it is here."""
    if not size:
        return
    end = tab.next_byte + size
    # Not by Enter: before that, a text is waited for that the program would have shown.
    await tab.send_keys([f"{size} "], literal=True)
    with anyio.fail_after(PATIENCE):
        while tab.next_byte < end:
            await tab.pane.stream.changed()


async def run(scale: Scale) -> Report:
    """A snapshot when nothing, a little, 100 KB and 1 MB is new."""
    with temporary_home() as name:
        found = await snapshot_times(Path(name), scale.of(RUNS, RUNS_SHORT))
    process = found["capture-pane, a process"]
    return Report(
        "screen",
        "A snapshot of 200 x 50",
        ("case", "p50 ms", "p99 ms", "p50/process"),
        tuple((one.name, one.p50, one.p99, one.p50 / process.p50) for one in found.values()),
        (
            *(
                Target(f"snapshot after {size} of new output, p50", found[f"{size} new"].p50, 0.5, "ms")
                for size in ("500 bytes", "100 KB", "1 MB")
            ),
            Target("snapshot with nothing new, p50", found["nothing new"].p50, 0.05, "ms"),
        ),
    )
