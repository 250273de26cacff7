"""Time of one command, ways to run it compared with the floor: a bare loop that types a line through `tmux -C`."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from bench.homes import temporary_home
from bench.peers.ways import IDLE_TABS
from bench.processes import forked
from bench.report import Report, Scale, Target
from bench.timing import Contender, in_processes
from tests.stages.computing import computing

if TYPE_CHECKING:
    from bench.timing import Timing

# An agent does something else between two commands: a burst finds all caches warm, this does not.
PAUSE_MS = 4.0
# As many as the machine of the targets has processors.
BESIDE = 2
COMMANDS = {
    "echo": "echo hi",
    "1,000 lines": "seq 1000",
    "1 MB": "head -c 1000000 /dev/zero | tr '\\0' x",
}
PTY, FLOOR, LIBRARY = "bare pty", "bare loop (floor)", "muxwire library"
MCP, SDK = "muxwire MCP execute_command", "bare SDK server, empty tool"
OF_SHELLS = {FLOOR: "bare-loop", LIBRARY: "muxwire"}
AMONG_IDLE = {FLOOR: "bare-loop-idle", LIBRARY: "muxwire-idle"}
OF_OUTPUT = {PTY: "bare-pty", **OF_SHELLS, MCP: "muxwire serve"}
ALL = {**OF_OUTPUT, SDK: "a tool that does nothing (floor)"}
# Runs of `true`; what writes more takes as much longer.
RUNS, RUNS_SHORT, FEWER = 2000, 2, 10
COUNTED = 101
# What the library and the whole way through MCP may take.
P50, PAUSED_P50, P50_BUSY, OVER_SDK = 1.75, 2.0, 5.0, 1.6


async def run(scale: Scale) -> Report:
    """All ways, for commands of all sizes; the targets are about `true`. A short run has those alone."""
    runs, exclusive = scale.of(RUNS, RUNS_SHORT), scale.exclusive
    fewer = max(runs // FEWER, 2)
    shortest = in_processes(ALL, runs, exclusive=exclusive)
    paused = in_processes(OF_SHELLS, fewer * 5, pause=PAUSE_MS, exclusive=exclusive)
    with computing(scale.of(BESIDE, 0)):
        busy = in_processes(OF_SHELLS, runs, exclusive=False)  # those that compute would not run
    found = {"true": shortest, f"true, {PAUSE_MS:.0f} ms between two": paused}
    found[f"true, next to {BESIDE} that compute"] = busy
    if not scale.short:
        found[f"true, {IDLE_TABS} idle tabs"] = in_processes(AMONG_IDLE, fewer, exclusive=exclusive)
        for title, command in COMMANDS.items():
            found[title] = in_processes(OF_OUTPUT, fewer, command, exclusive=exclusive)
    return Report(
        "latency",
        "One command, from call to result",
        ("command in bash", "way", "p50 ms", "p99 ms", "p50/floor"),
        tuple(
            (title, one.name, one.p50, one.p99, one.p50 / timings[FLOOR].p50)
            for title, timings in found.items()
            for one in timings.values()
        ),
        (
            Target("library, p50 over the floor's", over(shortest), P50),
            Target(f"library with {PAUSE_MS:.0f} ms between two, p50 over the floor's", over(paused), PAUSED_P50),
            Target(f"library next to {BESIDE} that compute, p50 over the floor's", over(busy), P50_BUSY),
            Target("MCP execute_command, over an empty tool of a bare SDK server",
                   shortest[MCP].p50 / shortest[SDK].p50, OVER_SDK),
            Target("processes that a command of the library starts", started(scale.of(COUNTED, 2)), 0, "processes"),
        ),
        (
            "each way, with its tmux and its shell, in processes of its own, in bursts, in turn",
            *([("each way had priority over all other processes of the machine (SCHED_FIFO), except in the rows "
                f"`next to {BESIDE} that compute`")] if exclusive else []),
        ),
    )  # fmt: skip


def over(found: dict[str, Timing]) -> float:
    """The library's median as a multiple of the floor's."""
    return found[LIBRARY].p50 / found[FLOOR].p50


def started(times: int) -> int:
    """How many processes a command of the library starts."""
    with temporary_home() as home:
        argv = [sys.executable, "-m", "bench.peers.ways", "muxwire", str(home), ""]
        with closing(Contender(LIBRARY, argv, home)) as one:
            one.run(1)
            return forked(lambda: one.run(1), times)
