"""Time of one command, approaches compared with the floor: a bare loop that types a line through `tmux -C`."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.apart import in_processes
from bench.contenders import bare_loop, bare_pty, library, mcp_empty, mcp_execute, mcp_server, temporary_home
from bench.measure import Timing, in_bursts, in_turn
from bench.scenario import Report, Scale, Target

if TYPE_CHECKING:
    from bench.contenders import Once

PTY, FLOOR, LIBRARY, MCP, EMPTY = (
    "bare pty",
    "bare loop (floor)",
    "muxwire library",
    "muxwire MCP execute_command",
    "muxwire MCP empty call",
)
# The command that runs in bursts, and also one at a time: then each approach finds its caches cold.
SHORTEST = "true"
ALONE = "true, approaches in turn"
APART = "true, a process each"
COMMANDS = {
    SHORTEST: "true",
    "echo": "echo hi",
    "1,000 lines": "seq 1000",
    "1 MB": "head -c 1000000 /dev/zero | tr '\\0' x",
}
# Bursts of `true`; what writes more takes as much longer.
RUNS, RUNS_SHORT, FEWER = 2000, 20, 10


async def run(scale: Scale) -> Report:
    """All approaches, for commands of all sizes; the targets are about `true`."""
    rows: list[tuple[str | float, ...]] = []
    targets: list[Target] = []
    with temporary_home() as name:
        home = Path(name)
        for title, command in COMMANDS.items():
            runs = scale.of(RUNS, RUNS_SHORT) // (1 if title == SHORTEST else FEWER)
            async with AsyncExitStack() as stack:
                approaches = await all_approaches(stack, home, command)
                found = await in_bursts(approaches, runs)
                rows += told(title, found)
                if title != SHORTEST:
                    continue
                rows += told(ALONE, await in_turn(approaches, runs // FEWER))
                targets = [
                    *over_the_floor("", found),
                    Target("MCP execute_command over an empty call", found[MCP].p50 - found[EMPTY].p50, 0.5, "ms"),
                ]
    apart = in_processes(("floor", "library"), scale.of(RUNS, RUNS_SHORT))
    found = {FLOOR: replace(apart["floor"], name=FLOOR), LIBRARY: replace(apart["library"], name=LIBRARY)}
    rows += told(APART, found)
    targets += over_the_floor(", in a process of its own", found)
    columns = ("command in bash", "approach", "p50 ms", "p99 ms", "p50/floor", "p99/floor")
    return Report("latency", "One command, from call to result", columns, tuple(rows), tuple(targets))


async def all_approaches(stack: AsyncExitStack, home: Path, command: str) -> dict[str, Once]:
    """Every approach, ready to run `command`."""
    server = await stack.enter_async_context(mcp_server(home))
    return {
        PTY: await stack.enter_async_context(bare_pty(home, command)),
        FLOOR: await stack.enter_async_context(bare_loop(home, command)),
        LIBRARY: await stack.enter_async_context(library(home, command)),
        MCP: mcp_execute(server, command),
        EMPTY: mcp_empty(server),
    }


def over_the_floor(where: str, found: dict[str, Timing]) -> tuple[Target, Target]:
    """What the library may take, as a multiple of the floor's median."""
    floor, ours = found[FLOOR].p50, found[LIBRARY]
    return (
        Target(f"library{where}, p50 over the floor's", ours.p50 / floor, 2),
        Target(f"library{where}, p99 over the floor's p50", ours.p99 / floor, 5),
    )


def told(title: str, found: dict[str, Timing]) -> list[tuple[str | float, ...]]:
    """The table's rows of one command."""
    floor = found[FLOOR].p50
    return [(title, one.name, one.p50, one.p99, one.p50 / floor, one.p99 / floor) for one in found.values()]
