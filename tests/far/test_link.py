"""What happens when the connection to another machine is lost, and when it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire import Terminals
from muxwire.client.watchdog import process_table
from muxwire.far.links import links
from tests.deadline import DEADLINE
from tests.far.proxied import place_of
from tests.processes import command_line, line_of, server_pid


@pytest.fixture
async def own(folder: Path, environ: dict[str, str]) -> AsyncIterator[Terminals]:
    """An instance whose connections may be broken."""
    with anyio.fail_after(DEADLINE):
        async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as opened:
            yield opened


def theirs(word: bytes) -> list[int]:
    """The processes with that in their command lines."""
    return [pid for pid in process_table() if word in command_line(pid)]


async def until(condition: Callable[[], bool]) -> None:
    """Nothing tells of another machine's processes: they are looked for."""
    with anyio.fail_after(DEADLINE):
        while not condition():
            await anyio.sleep(0.05)


async def test_a_server_that_is_gone_ends_its_tabs_and_another_is_started(own: Terminals, folder: Path) -> None:
    tab = await own.create_tab(host="box")
    running = await tab.execute("sleep 100", async_=True)
    os.kill(await server_pid(tab.client), signal.SIGKILL)
    ended = await own.command_result(running.command_id, wait=DEADLINE)
    assert (ended.running, ended.exit_code, ended.state) == (False, None, "dead"), ended
    assert ended.note
    # Nor does the next call look for it: it would wait for 7 s.
    assert not links(folder / "state", "*")
    again = await own.create_tab(host="box")
    assert (await again.execute("echo ok")).output == "ok\n"
    assert (await own.read_logs(tab.key)).content  # GENERATION/@N is not needed: @N is closed


async def test_nothing_is_left_there_after_the_end(folder: Path, environ: dict[str, str]) -> None:
    async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as opened:
        tab = await opened.create_tab(host="box")
        await tab.execute("sleep 1000 & sleep 1000", async_=True)
        place, memory = place_of(tab), tab.runner.folder.parent
        assert (place.is_dir(), memory.is_dir()) == (True, True)
    await until(lambda: not (place.exists() or memory.exists() or theirs(str(place).encode())))


DRIVER = """
import anyio, sys, muxwire
async def main():
    async with muxwire.open_terminals(state_dir=sys.argv[1]) as opened:
        tab = await opened.create_tab(host=sys.argv[3])
        await tab.execute(sys.argv[2], async_=True)
        print(tab.pane.host.facts.folder, flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


async def test_programs_there_outlive_us_for_as_long_as_is_said(folder: Path, environ: dict[str, str]) -> None:
    beats = folder / "beats"
    command = f"while :; do echo >> {beats}; sleep 0.1; done"
    argv = [sys.executable, "-c", DRIVER, str(folder / "state"), command, "brief"]
    with subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, text=True) as driver:
        try:
            place = Path((await line_of(driver)).strip())
            await until(beats.exists)
        finally:
            driver.kill()
    seen = beats.stat().st_size
    await until(lambda: beats.stat().st_size > seen + 5)
    await until(lambda: not (place.exists() or theirs(str(place).encode())))
