"""Tabs on other machines, over carriers of this one: what a round trip costs a command, a lost connection, many hosts.

The other machine is this one, behind `env -i`, and a program that holds every byte for half a round trip.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.contenders import clean_environment, temporary_home
from bench.measure import timing
from bench.scenario import Report, Scale, Target
from muxwire import open_terminals

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from typing import Any

    from muxwire import Tab, Terminals

# Milliseconds of a round trip; 0: no program in between.
LINKS, LINKS_SHORT = (0, 1, 50, 200), (0, 1)
COMMANDS, COMMANDS_SHORT = 100, 2
LOSSES, LOSSES_SHORT = 5, 1
MEGABYTES, MEGABYTES_SHORT = 20, 1
HOSTS, HOSTS_SHORT = 50, 2
PATIENT = 120.0
# What a login there would set.
_THERE = ("HOME", "PATH", "SHELL", "TMPDIR", "LANG", "ENV")
# The targets of the design: over the round trip, in ms; of each further host.
OVER_RTT_MS, HOST_MB, HOST_CPU_MS = 2.0, 2.0, 80.0


async def run(scale: Scale) -> Report:
    """Each link by itself, then the hosts."""
    links = LINKS_SHORT if scale.short else LINKS
    rows: list[tuple[str | float, ...]] = []
    with temporary_home() as name:
        home = Path(name)
        environ = clean_environment(home)
        carriers = {f"link-{link}": carrier(environ, link) for link in links}
        carriers |= {f"host-{number}": carrier(environ, 0) for number in range(scale.of(HOSTS, HOSTS_SHORT))}
        hosts = home / "hosts.toml"
        hosts.write_text("".join(f"[hosts.{key}]\nvia = {json.dumps(via)}\n" for key, via in carriers.items()))
        environ["MUXWIRE_HOSTS"] = str(hosts)
        over = []
        for link in links:
            async with open_terminals(environ=environ, state_dir=home / "state") as opened:
                row = await _timed(opened, f"link-{link}", carriers[f"link-{link}"], scale)
            over.append(row[2] - row[1])
            rows.append((f"{link} ms" if link else "none", *row))
        async with open_terminals(environ=environ, state_dir=home / "state") as opened:
            rows.append(("a local tab", *await _timed(opened, "", (), scale)))
            far, near = await _rate(opened, "link-0", scale), await _rate(opened, "", scale)
            memory, processor, everywhere = await _many(opened, [key for key in carriers if key.startswith("host")])
    return Report(
        "remote",
        "Tabs on other machines, by the time of a round trip to them",
        (
            "link",
            "start ms",
            "a byte there and back, p50 ms",
            "`execute` p50 ms",
            "p99 ms",
            "`sh -c` each time, p50 ms",
            "lost connection ms",
        ),
        tuple(rows),
        (
            Target("`execute`, p50, over a byte there and back", max(over), OVER_RTT_MS, "ms"),
            Target("memory of each further host", memory, HOST_MB, "MB"),
            Target("processor time of each further host", processor, HOST_CPU_MS, "ms"),
        ),
        (
            f"output of {scale.of(MEGABYTES, MEGABYTES_SHORT)} MB: {far:.1f} MB/s there, {near:.1f} in a local tab",
            f"one command on {scale.of(HOSTS, HOSTS_SHORT)} hosts at once: {everywhere:.0f} ms",
            "a lost connection: from the kill of its carrier to the result of the next command",
            "a byte there and back: through `cat` on the same link, in turn with the commands",
        ),
    )


def carrier(environ: Mapping[str, str], milliseconds: float) -> list[str]:
    """The program that reaches this machine as another one, by a link of that round trip."""
    there = [f"{name}={environ[name]}" for name in _THERE if name in environ]
    delay = [sys.executable, str(Path(__file__).with_name("delayed.py")), str(milliseconds)] if milliseconds else []
    return [*delay, "env", "-i", *there]


async def _timed(opened: Terminals, host: str, via: Sequence[str], scale: Scale) -> tuple[float, ...]:
    begun = time.perf_counter()
    tab = await opened.create_tab(host=host, shell="bash")
    await tab.execute("true", timeout=PATIENT)
    started = time.perf_counter() - begun
    commands, bytes_back, apart = [], [], []
    with subprocess.Popen([*via, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
        for _ in range(scale.of(COMMANDS, COMMANDS_SHORT)):
            # Once before each of the two, since it leaves the caches cold.
            apart.append(_apart(via))
            commands.append(await _took(tab))
            apart.append(_apart(via))
            bytes_back.append(_there_and_back(cat))
    lost = []
    for _ in range(scale.of(LOSSES, LOSSES_SHORT) if host else 0):
        os.killpg(_carrier_process(), signal.SIGKILL)
        lost.append(await _took(tab))
    found = timing("", commands)
    back = statistics.median(bytes_back)
    return started * 1000, back, found.p50, found.p99, statistics.median(apart), statistics.median(lost or [0.0])


def _apart(via: Sequence[str]) -> float:
    begun = time.perf_counter()
    subprocess.run([*via, "sh", "-c", "true"], check=True, input=b"")
    return (time.perf_counter() - begun) * 1000


def _there_and_back(cat: subprocess.Popen[bytes]) -> float:
    assert cat.stdin is not None
    assert cat.stdout is not None
    begun = time.perf_counter()
    os.write(cat.stdin.fileno(), b".")
    os.read(cat.stdout.fileno(), 1)
    return (time.perf_counter() - begun) * 1000


def _carrier_process() -> int:
    """The child that carries the one connection: the first command line there is in its own."""
    for path in Path("/proc/self/task").glob("*/children"):
        for child in path.read_text().split():
            if b"printf %b" in Path("/proc", child, "cmdline").read_bytes():
                return int(child)
    raise LookupError("there is no carrier")


async def _took(tab: Tab) -> float:
    begun = time.perf_counter()
    told = await tab.execute("true", timeout=PATIENT)
    assert told.exit_code == 0, told
    return (time.perf_counter() - begun) * 1000


async def _rate(opened: Terminals, host: str, scale: Scale) -> float:
    megabytes = scale.of(MEGABYTES, MEGABYTES_SHORT)
    tab = await opened.create_tab(host=host, shell="bash")
    begun = time.perf_counter()
    await tab.execute(f"yes 0123456789012345678901234567890123456789 | head -c {megabytes}000000", timeout=PATIENT)
    return megabytes / (time.perf_counter() - begun)


async def _many(opened: Terminals, names: Sequence[str]) -> tuple[float, float, float]:
    """Of each host MB of memory and ms of processor time; of a command on all of them at once ms."""
    tabs: list[Tab] = []

    async def open_one(name: str) -> None:
        tabs.append(await opened.create_tab(host=name, shell="bash"))

    async def everywhere(call: Callable[[Any], Coroutine[Any, Any, object]], items: Sequence[object]) -> float:
        begun = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for item in items:
                tasks.start_soon(call, item)
        return (time.perf_counter() - begun) * 1000

    memory, processor = _resident(), time.process_time()
    await everywhere(open_one, names)
    await everywhere(_took, tabs)
    memory, processor = _resident() - memory, time.process_time() - processor
    return memory / len(names), processor * 1000 / len(names), await everywhere(_took, tabs)


def _resident() -> float:
    """MB that this process holds in memory, not shared with those that it started."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6
