"""Run the scenarios and print ratios: `python -m bench [--short] [--json FILE] [--picture FILE.svg]`."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import anyio

import muxwire
from bench.contenders import bare_loop, capture_pane, library, mcp_empty, mcp_execute, mcp_server, temporary_home
from bench.measure import Timing, in_bursts, in_turn
from bench.picture import bars
from bench.volume import parse_rate, tail_of_big_log

RUNS, RUNS_SHORT = 1000, 100
BIG_LOG, BIG_LOG_SHORT = 2 << 30, 64 << 20


async def latency(runs: int) -> dict[str, Timing]:
    """`true` by every road."""
    with temporary_home() as name:
        home = Path(name)
        async with bare_loop(home) as floor, library(home) as ours, mcp_server(home) as server:
            fast = {
                "bare loop (floor)": floor,
                "muxwire library": ours,
                "muxwire MCP execute_command": mcp_execute(server),
                "muxwire MCP empty call": mcp_empty(server),
            }
            found = await in_bursts(fast, runs)
        async with capture_pane(home) as polling:
            found |= await in_turn({"capture-pane polling": polling}, max(20, runs // 20))
    return found


def machine() -> dict[str, str]:
    """What the numbers were made on."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    tmux = subprocess.run(["tmux", "-V"], capture_output=True, text=True, check=False)
    return {
        "muxwire": muxwire.__version__,
        "commit": commit.stdout.strip(),
        "tmux": tmux.stdout.strip(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def print_latency(found: dict[str, Timing]) -> None:
    """The table of times and of ratios to the floor."""
    floor = found["bare loop (floor)"]
    print(f"{'run `true` in bash':<32} {'p50 ms':>9} {'p99 ms':>9} {'p50/floor':>10} {'p99/floor':>10}")
    for one in found.values():
        ratios = f"{one.p50 / floor.p50:>10.1f} {one.p99 / floor.p50:>10.1f}"
        print(f"{one.name:<32} {one.p50:>9.3f} {one.p99:>9.3f} {ratios}")
    ours, polling = found["muxwire library"], found["capture-pane polling"]
    over = found["muxwire MCP execute_command"].p50 - found["muxwire MCP empty call"].p50
    print(f"\nthe library against capture-pane polling: {polling.p50 / ours.p50:.0f} times faster")
    print(f"MCP execute_command over an empty call of the same server: +{over:.2f} ms")


def main(argv: list[str] | None = None) -> int:
    """Run everything; 0 if every scenario worked. No time is judged here."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a minute in place of several: for CI")
    parser.add_argument("--json", type=Path, help="write the numbers there")
    parser.add_argument("--picture", type=Path, help="draw the latencies there, as SVG")
    given = parser.parse_args(argv)
    found = anyio.run(latency, RUNS_SHORT if given.short else RUNS)
    print_latency(found)
    parsed = parse_rate()
    print(f"parser: {parsed.megabytes_per_second:.0f} MB/s of control stream, over the recorded sessions in tests/")
    tail = tail_of_big_log(BIG_LOG_SHORT if given.short else BIG_LOG)
    print(f"last 500 lines of a log of {tail.size >> 20} MiB: {tail.milliseconds:.2f} ms")
    where = machine()
    print(", ".join(f"{name} {value}" for name, value in where.items()))
    document = {
        "machine": where,
        "latency": [asdict(one) for one in found.values()],
        "parser": asdict(parsed),
        "tail": asdict(tail),
    }
    if given.json:
        given.json.write_text(json.dumps(document, indent=2) + "\n")
    if given.picture:
        given.picture.write_text(bars("run `true` in bash, p50 in ms (log scale)", found.values(), where))
    return 0


if __name__ == "__main__":
    sys.exit(main())
