"""What others do: poll. capture-pane by subprocess, a pipe-pane log that is read again and again, libtmux, pexpect."""

from __future__ import annotations

import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.contenders import capture_pane, clean_environment, library, pipe_pane, temporary_home
from bench.measure import in_bursts
from bench.peers import INSTALL_SECONDS
from bench.scenario import Report, Scale, Target

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bench.contenders import Once

RUNS, RUNS_SHORT = 200, 20
BURST = 20
DRIVERS = Path(__file__).with_name("drivers.py")
TIGHT, LIBRARY = "capture-pane, tight loop", "muxwire library"


@asynccontextmanager
async def driver(python: Path, road: str, home: Path) -> AsyncIterator[Once]:
    """A road that runs in a process of its own, with a Python of its own."""
    process = subprocess.Popen(
        [str(python), str(DRIVERS), road, str(home / road)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(home),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise RuntimeError(f"{road} did not start")

    async def once() -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        if process.stdout.readline() != b"done\n":
            raise RuntimeError(f"{road} ended")

    try:
        yield once
    finally:
        process.stdin.close()
        process.wait()


def install(folder: Path) -> str:
    """The libraries that muxwire does not use; why they cannot be had, or nothing."""
    for argv in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "pip"), "install", "-q", "libtmux", "pexpect"],
    ):
        try:
            done = subprocess.run(argv, capture_output=True, timeout=INSTALL_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return type(error).__name__
        if done.returncode:
            return "pip could not install them"
    return ""


async def run(scale: Scale) -> Report:
    """All in turn, each a few commands on end: a loop is tight only on end."""
    notes = []
    with temporary_home() as name:
        home = Path(name)
        async with AsyncExitStack() as stack:
            roads: dict[str, Once] = {
                LIBRARY: await stack.enter_async_context(library(home)),
                TIGHT: await stack.enter_async_context(capture_pane(home)),
                "capture-pane, every 10 ms": await stack.enter_async_context(capture_pane(home, 0.010)),
                "capture-pane, every 50 ms": await stack.enter_async_context(capture_pane(home, 0.050)),
                "pipe-pane, file read every 1 ms": await stack.enter_async_context(pipe_pane(home, 0.001)),
            }
            missing = "the short run installs nothing" if scale.short else install(home / "venv")
            if missing:
                notes.append(f"libtmux and pexpect: {missing}")
            else:
                for road in ("libtmux", "pexpect"):
                    once = await stack.enter_async_context(driver(home / "venv" / "bin" / "python", road, home))
                    roads[f"{road}, tight loop" if road == "libtmux" else f"{road} (no tmux)"] = once
            found = await in_bursts(roads, scale.of(RUNS, RUNS_SHORT), BURST)
    ours = found[LIBRARY].p50
    return Report(
        "polling",
        "`true` in bash, by polling and by listening",
        ("road", "p50 ms", "p99 ms", "times ours"),
        tuple((one.name, one.p50, one.p99, one.p50 / ours) for one in found.values()),
        (Target("capture-pane in a tight loop takes more than ours", found[TIGHT].p50 / ours, 10, at_least=True),),
        tuple(notes),
    )
