"""How fast a great deal of output goes through log and ring, against `tmux -C | cat >/dev/null` of the same output."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from muxwire import open_terminals

if TYPE_CHECKING:
    from pathlib import Path

BYTES, BYTES_SHORT = 64 << 20, 1 << 20
# Lines of 4 KB are what tmux passes on fastest.
PROGRAM = "stty -opost; yes {line} | head -c {size}".format(line="x" * 4095, size="{size}")
PIPELINE = 'tmux -u -S "$1" -f /dev/null -C new-session -- sh -c "$2" | cat >/dev/null'
# Of the floor's rate.
RATE = 0.95
# tmux passes on 5 to 25 MB/s; a machine on its knees a tenth of that.
SLOWEST = 500_000


def through_cat(home: Path, size: int) -> float:
    """The floor, in MB/s: a control client that nobody reads but cat(1). The server ends with its only pane."""
    begun = time.perf_counter()
    subprocess.run(
        ["sh", "-c", PIPELINE, "-", str(home / "cat"), PROGRAM.format(size=size)],
        stdin=os.pipe()[0],  # it stays open, as a control client wants it
        env=clean_environment(home),
        check=True,
        timeout=size / SLOWEST,
    )
    return size / (time.perf_counter() - begun) / 1e6


async def through_muxwire(home: Path, size: int) -> tuple[float, float, float]:
    """The same program in a tab: the ring has its end, the log all of it.

    MB/s, the share of a core that our process used, and by how many MiB it grew.
    """
    async with open_terminals(environ=clean_environment(home)) as terminals:
        await (await terminals.create_tab(shell="sh")).execute("true")  # the server's start is not what is measured
        before = resource.getrusage(resource.RUSAGE_SELF)
        begun = time.perf_counter()
        tab = await terminals.create_tab(command=["sh", "-c", PROGRAM.format(size=size)])
        outcome = await terminals.wait_for([tab.window_id], exit=True, timeout=size / SLOWEST)
        assert outcome.outcome == "closed" or outcome.which, outcome
        await tab.pane.stream.log.flushed()
        seconds = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_SELF)
        written = tab.next_byte
    assert written >= size, (written, size)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return size / seconds / 1e6, used / seconds, (after.ru_maxrss - before.ru_maxrss) / 1024


async def run(scale: Scale) -> Report:
    """Both in turn, twice: the disk and tmux's own memory are warm the second time, which counts."""
    size = scale.of(BYTES, BYTES_SHORT)
    with temporary_home() as home:
        for _ in range(2):
            floor = await anyio.to_thread.run_sync(through_cat, home, size)
            rate, share, growth = await through_muxwire(home, size)
    return Report(
        "throughput",
        f"{size >> 20} MiB of output through log and ring",
        ("approach", "MB/s", "share of a core", "growth MiB"),
        (("tmux -C | cat (floor)", floor, "", ""), ("muxwire", rate, share, growth)),
        (
            Target("rate over the floor's", rate / floor, RATE, at_least=True),
            Target("our share of a core", share, 0.25, "cores"),
            Target("growth of our memory", growth, 32, "MiB"),
        ),
    )
