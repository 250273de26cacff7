"""Tabs on other machines, over carriers of this one: what a round trip costs a command, and a lost connection.

The other machine is this one, behind `env -i`, and a program that holds every byte for half a round trip.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from bench.stopwatch import timed
from bench.timing import timing
from muxwire import open_terminals
from tests.stages.slow_link import carrier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire import Tab, Terminals

# Milliseconds of a round trip; 0: no program in between.
LINKS, LINKS_SHORT = (0, 1, 50, 200), (0, 1)
COMMANDS, COMMANDS_SHORT = 100, 2
LOSSES, LOSSES_SHORT = 5, 1
PATIENT = 120.0
# What a command may take over the round trip.
OVER_RTT_MS = 2.0


async def run(scale: Scale) -> Report:
    """Each link by itself."""
    links = LINKS_SHORT if scale.short else LINKS
    rows: list[tuple[str | float, ...]] = []
    over = []
    with temporary_home() as home:
        environ = clean_environment(home)
        carriers = {f"link-{link}": carrier(environ, link) for link in links}
        hosts = home / "hosts.toml"
        hosts.write_text("".join(f"[hosts.{key}]\nvia = {json.dumps(via)}\n" for key, via in carriers.items()))
        environ["MUXWIRE_HOSTS"] = str(hosts)
        for link, (host, via) in zip(links, carriers.items(), strict=True):
            async with open_terminals(environ=environ) as opened:
                row = await _timed(opened, host, via, scale)
            over.append(row[2] - row[1])
            rows.append((f"{link} ms" if link else "none", *row))
    return Report(
        "remote",
        "Tabs on other machines, by the time of a round trip to them",
        ("link", "start ms", "a byte there and back, p50 ms", "`execute` p50 ms", "p99 ms",
         "`sh -c` each time, p50 ms", "lost connection ms"),
        tuple(rows),
        (Target("`execute`, p50, over a byte there and back", max(over), OVER_RTT_MS, "ms"),),
        (
            "a lost connection: from the kill of its carrier to the result of the next command",
            "a byte there and back: through `cat` on the same link, in turn with the commands",
        ),
    )  # fmt: skip


async def _timed(opened: Terminals, host: str, via: Sequence[str], scale: Scale) -> tuple[float, ...]:
    started, apart, commands, bytes_back, lost = (list[float]() for _ in range(5))
    with timed(started):
        tab = await opened.create_tab(host=host, shell="bash")
        await tab.execute("true", timeout=PATIENT)
    cat: Any = subprocess.Popen([*via, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with cat:
        for number in range(2 * scale.of(COMMANDS, COMMANDS_SHORT)):
            with timed(apart):  # before each of the two, since it leaves the caches cold
                subprocess.run([*via, "sh", "-c", "true"], check=True, input=b"")
            if number % 2:
                with timed(bytes_back):
                    os.write(cat.stdin.fileno(), b".")
                    os.read(cat.stdout.fileno(), 1)
            else:
                await _run(tab, commands)
    for _ in range(scale.of(LOSSES, LOSSES_SHORT)):
        os.killpg(_carrier_process(), signal.SIGKILL)
        await _run(tab, lost)
    found = timing("", commands)
    medians = [statistics.median(some) for some in (started, bytes_back, apart, lost)]
    return *medians[:2], found.p50, found.p99, *medians[2:]


async def _run(tab: Tab, took: list[float]) -> None:
    with timed(took):
        told = await tab.execute("true", timeout=PATIENT)
    assert told.exit_code == 0, told


def _carrier_process() -> int:
    """The child that carries the one connection: the first command line there is in its own."""
    for path in Path("/proc/self/task").glob("*/children"):
        for child in path.read_text().split():
            if b"printf %b" in Path("/proc", child, "cmdline").read_bytes():
                return int(child)
    raise LookupError("there is no carrier")
