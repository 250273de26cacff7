"""The watchdog is killed, as the OOM killer may do: another one takes its place, and nothing stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio

import muxwire
from muxwire.library.opening import own_terminals
from tests.processes import WATCHDOG, children_of, gone, line_of

# More than one, since another may be killed while it comes up.
KILLS = 3

# Runs in a process of its own, to be killed.
VICTIM = """
import json, os, sys, anyio, muxwire

async def main():
    async with muxwire.open_terminals() as terminals:
        tab = await terminals.create_tab(shell="bash")
        result = await tab.execute("(trap '' HUP TERM; exec sleep 1002) & echo $!")
        (server,) = await (await terminals.server()).client.command("display-message", "-p", "#{pid}")
        pids = [int(server), tab.pane.leader_pid, int(result.output.split()[-1])]
        paths = [str(path) for path in (terminals.folders.socket_path, *terminals.folders.transient)]
        print(json.dumps({"pids": pids, "paths": paths}), flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


async def test_another_one_does_its_work_when_we_are_killed(environ: dict[str, str]) -> None:
    argv = [sys.executable, "-c", VICTIM]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environ, text=True) as victim:
        try:
            told = json.loads(await line_of(victim))
            for _ in range(KILLS):
                killed = children_of(victim.pid, WATCHDOG)
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
                while not children_of(victim.pid, WATCHDOG) - killed:
                    await anyio.sleep(0.01)
            children = children_of(victim.pid)
        finally:
            victim.kill()
        await gone({*told["pids"], *children}, *map(Path, told["paths"]))


async def test_the_next_start_ends_what_was_killed_with_its_watchdog(environ: dict[str, str]) -> None:
    argv = [sys.executable, "-c", VICTIM]
    async with muxwire.open_terminals(environ=environ) as living:
        kept = await living.create_tab(shell="bash")
        with (
            subprocess.Popen(argv, stdout=subprocess.PIPE, env=environ, text=True) as victim,
        ):
            try:
                told = json.loads(await line_of(victim))
                both = {victim.pid, *children_of(victim.pid, WATCHDOG)}
                for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped, neither sees the other's end
                    for pid in both:
                        os.kill(pid, number)
            finally:
                victim.kill()
            assert all(os.path.lexists(path) for path in told["paths"])
            async with own_terminals("next", environ=environ) as terminals:
                await terminals.create_tab(shell="bash")
                await gone({*told["pids"], *both}, *map(Path, told["paths"]))
        assert (await kept.execute("echo kept")).output == "kept\n"
