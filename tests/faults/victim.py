"""An instance in a process of its own, to be stopped, killed, measured.

`python victim.py PANES BYTES KIND STOP WAITING`

It opens PANES tabs that each write BYTES bytes of that kind when they get a line, and prints one JSON object a line:
where the logs are once the tabs are there, then, once all of them have ended and are on disk, what they came to.
A line on its standard input starts the tabs. With STOP it stops itself as soon as each of them has written so many
bytes: no other process knows when that is. At most WAITING bytes may wait for the disk.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path

import anyio
import anyio.to_thread

import muxwire
from muxwire.logs import store

# What a pane writes, and how many bytes that is for an argument of %d.
KINDS = {
    "lines": "read x; seq 1 %d",
    # So many lines a second, until there is a file called stop in the folder.
    "steady": """read x; exec python3 -u -c '
import os, time
n = 0
while not os.path.exists("stop"):
    n += 1
    print(n)
    time.sleep(1 / %d)'""",
    "no-newline": "stty -opost; read x; head -c %d /dev/zero | tr '\\0' x",
}


async def stop(tabs: list[muxwire.Tab], stop_at: int) -> None:
    for tab in tabs:
        while tab.next_byte < stop_at:
            await tab.pane.stream.changed()
    os.kill(os.getpid(), signal.SIGSTOP)


def peak_kib() -> int:
    """The most memory that this process had, in KiB: `ru_maxrss` begins with that of the process which started it."""
    (peak,) = re.findall(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(peak)


async def main(panes: int, amount: int, kind: str, stop_at: int) -> None:
    async with muxwire.open_terminals() as terminals:
        tabs = [await terminals.create_tab(command=["sh", "-c", KINDS[kind] % amount]) for _ in range(panes)]
        server = await terminals.server()
        (server_pid,) = await server.client.command("display-message", "-p", "#{pid}")
        before = peak_kib()
        report = {"pid": os.getpid(), "server": int(server_pid), "logs": [str(tab.log_path) for tab in tabs]}
        print(json.dumps(report), flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline)
        for tab in tabs:
            await tab.send_keys(["Enter"])
        if stop_at:
            await stop(tabs, stop_at)
        for tab in tabs:
            while not tab.pane.session.closed:
                await tab.pane.stream.changed()
            assert await tab.pane.stream.log.flushed()
        peak = peak_kib()
        statuses = [tab.pane.session.exit_status for tab in tabs]
        ends = [tab.next_byte for tab in tabs]
        marks = [len(f"\x1b]7770;X;{tab.pane.session.nonce};0\x07") for tab in tabs]
        print(json.dumps({"grown_kib": peak - before, "statuses": statuses, "ends": ends, "marks": marks}), flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline)


if __name__ == "__main__":
    store.BACKLOG_MAX = int(sys.argv[5])
    anyio.run(main, int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
