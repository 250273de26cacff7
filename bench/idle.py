"""What muxwire does while nobody asks anything of it: nothing."""

from __future__ import annotations

import time
from pathlib import Path

import anyio

from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from muxwire import open_terminals

TABS, TABS_SHORT = 50, 2
SECONDS, SECONDS_SHORT = 10, 1
# The last prompts come, logs are flushed, shells fall asleep; and ten seconds after the last command the watch over
# tmux's answers wakes up once, to see that none is due (`client/client.py`).
SETTLE, SETTLE_SHORT = 11, 1


def wake_ups(pid: str = "self") -> int:
    """How often the process's threads went to sleep so far, and so were woken (proc(5), `status`)."""
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        total += int(fields["voluntary_ctxt_switches"])
    return total


async def run(scale: Scale) -> Report:
    """Open tabs, wait, and count. Our own sleep is one wake-up, which is taken off."""
    tabs, seconds = scale.of(TABS, TABS_SHORT), scale.of(SECONDS, SECONDS_SHORT)
    with temporary_home() as home:
        async with open_terminals(environ=clean_environment(home)) as terminals:
            for _ in range(tabs):
                await (await terminals.create_tab(shell="bash")).execute("true")
            client_pid = (await terminals.server()).process.pid
            await anyio.sleep(scale.of(SETTLE, SETTLE_SHORT))
            before, client_before, cpu = wake_ups(), wake_ups(str(client_pid)), time.process_time()
            await anyio.sleep(seconds)
            ours, client = wake_ups() - before - 1, wake_ups(str(client_pid)) - client_before
            cpu = time.process_time() - cpu
    return Report(
        "idle",
        f"{tabs} idle tabs for {seconds} s",
        ("process", "wake-ups", "CPU ms"),
        (("muxwire", max(0, ours), cpu * 1000), ("tmux -C", client, "")),
        (Target("wake-ups of muxwire", max(0, ours), 0, "wake-ups"),),
        (f"from {scale.of(SETTLE, SETTLE_SHORT)} s after the last command on",),
    )
