"""A control client's input ends after the client, whoever is killed: else tmux itself may end (B14)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.deadline import until
from tests.processes import gone, line_of

# More than tmux needs to find the end of an input.
LOOKS = 20

DRIVER = """
import sys, time
from muxwire.client.transport import TmuxProcess

argv = ["tmux", "-N", "-S", sys.argv[1], "-C", "attach-session", "-t", "=hub"]
process = TmuxProcess(argv, socket=sys.argv[1], env={"PATH": sys.argv[2], "LC_ALL": "C.UTF-8"}, ephemeral=False)
print(process.pid, process.watchdog._process.pid, flush=True)
time.sleep(1000)
"""


async def test_the_input_of_a_killed_driver_stays_open(folder: Path, environ: dict[str, str]) -> None:
    socket = str(folder / "s")

    def ask(*command: str) -> str:
        argv = ["tmux", "-N", "-S", socket, *command]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout

    subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "-s", "hub", "cat"], check=True)
    argv = [sys.executable, "-c", DRIVER, socket, environ["PATH"]]
    try:
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as driver:
            client, watchdog = map(int, (await line_of(driver)).split())
            await until(lambda: ask("list-clients", "-F", "#{client_pid}") == f"{client}\n")
            os.kill(watchdog, signal.SIGSTOP)
            driver.kill()
            driver.wait()
            for _ in range(LOOKS):
                assert ask("list-clients", "-F", "#{client_pid}") == f"{client}\n"
            os.kill(watchdog, signal.SIGCONT)
            await gone([watchdog, client])
            await until(lambda: not ask("list-clients"))
            assert ask("list-sessions") != ""
    finally:
        ask("kill-server")
