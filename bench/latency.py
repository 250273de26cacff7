"""Time of one command, ways to run it compared with the floor: a bare loop that types a line through `tmux -C`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.apart import EMPTY, FLOOR, LIBRARY, MCP, PTY, SDK, How, forks_of, in_processes, may_be_exclusive
from bench.claims import computing
from bench.scenario import Report, Scale, Target

if TYPE_CHECKING:
    from bench.measure import Timing

# An agent does something else between two commands: a burst finds all caches warm, this does not.
PAUSE_MS = 4.0
# As many as the machine of the targets has processors.
BESIDE = 2
SHORTEST = "true"
PAUSED = f"true, {PAUSE_MS:.0f} ms between two"
BUSY = f"true, next to {BESIDE} that compute"
COMMANDS = {
    SHORTEST: "true",
    "echo": "echo hi",
    "1,000 lines": "seq 1000",
    "1 MB": "head -c 1000000 /dev/zero | tr '\\0' x",
}
ALL = (PTY, FLOOR, LIBRARY, MCP, EMPTY, SDK)
OF_SHELLS = (FLOOR, LIBRARY)
# A short run has to give a table: of the ways only those that its targets are about.
ALL_SHORT = (FLOOR, LIBRARY, MCP, SDK)
# Runs of `true`; what writes more takes as much longer.
RUNS, RUNS_SHORT, FEWER = 2000, 2, 10
# Each command of each way is a process that starts a tmux and a shell: two seconds of a processor.
COMMANDS_SHORT = (SHORTEST,)
COUNTED, COUNTED_SHORT = 101, 2
# What the library and the whole way through MCP may take.
P50, P99, P50_BUSY, OVER_SDK = 1.75, 5.0, 5.0, 1.0


async def run(scale: Scale) -> Report:
    """All ways, for commands of all sizes; the targets are about `true`."""
    how = How(exclusive=scale.exclusive)
    runs, ways = scale.of(RUNS, RUNS_SHORT), ALL_SHORT if scale.short else ALL
    found = {
        title: in_processes(ways, runs if title == SHORTEST else max(runs // FEWER, 2), how, command=command)
        for title, command in COMMANDS.items()
        if title in COMMANDS_SHORT or not scale.short
    }
    found[PAUSED] = in_processes(OF_SHELLS, max(runs // 2, 2), How(PAUSE_MS, scale.exclusive))
    if scale.short:  # judges no time: what would compute meanwhile is left out, and so nothing is another measurement
        found[BUSY] = {way: found[SHORTEST][way] for way in OF_SHELLS}
    else:
        with computing(BESIDE):
            found[BUSY] = in_processes(OF_SHELLS, runs)  # never exclusive: those that compute would not run
    forks = await forks_of((LIBRARY,), scale.of(COUNTED, COUNTED_SHORT))
    shortest, paused, busy = found[SHORTEST], found[PAUSED], found[BUSY]
    told = "all that belongs to a way ran before every other process (SCHED_FIFO), in bursts, in turn"
    return Report(
        "latency",
        "One command, from call to result",
        ("command in bash", "way", "p50 ms", "p99 ms", "p50/floor", "p99/floor"),
        tuple(row for title, timings in found.items() for row in _rows(title, timings)),
        (
            Target("library, p50 over the floor's", over(shortest), P50),
            Target("library, p99 over the floor's p50", shortest[LIBRARY].p99 / shortest[FLOOR].p50, P99),
            Target(f"library with {PAUSE_MS:.0f} ms between two, p50 over the floor's", over(paused), P50),
            Target(f"library next to {BESIDE} that compute, p50 over the floor's", over(busy), P50_BUSY),
            Target(
                "MCP execute_command, over an empty tool of a bare SDK server", shortest[MCP].p50 / shortest[SDK].p50,
                OVER_SDK,
            ),
            Target("processes that a command of the library starts", forks[LIBRARY], 0, "processes"),
        ),
        (
            "each way, with its tmux and its shell, in processes of its own",
            *([told] if scale.exclusive and may_be_exclusive() else []),
        ),
    )  # fmt: skip


def over(found: dict[str, Timing]) -> float:
    """The library's median as a multiple of the floor's."""
    return found[LIBRARY].p50 / found[FLOOR].p50


def _rows(title: str, found: dict[str, Timing]) -> list[tuple[str | float, ...]]:
    floor = found[FLOOR].p50
    return [(title, one.name, one.p50, one.p99, one.p50 / floor, one.p99 / floor) for one in found.values()]
