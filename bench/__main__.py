"""Run scenarios and print their tables: `python -m bench [SCENARIO ...] [--short] [--json FILE] [--docs]`.

`python -m bench soak` and `python -m bench everyday` measure no time: they look for what is lost, wrong or broken.
`python -m bench trajectories` does again what agents did in public recordings.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import anyio

from bench import everyday, soak, trajectories
from bench.machine import ROOT, machine
from bench.pages import as_text, write
from bench.processes import WORD, Belongings
from bench.scenario import Scale
from bench.scenarios import SCENARIOS

DOCS = ROOT / "docs"
# A server that is told to end takes its time; who is still there then is ended, and told of.
LEAVE_SECONDS = 10.0


def run_all(names: list[str], scale: Scale, kept: Path | None) -> dict[str, Any]:
    """Run scenarios one after the other, printing as they end; return what is to be kept, and keep it as they end."""
    found: dict[str, Any] = {"machine": machine(), "short": scale.short, "broken": [], "reports": []}
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name} ...", file=sys.stderr, flush=True)
        begun = time.monotonic()
        try:
            report = anyio.run(SCENARIOS[name], scale)
        except Exception as error:  # noqa: BLE001 - one broken scenario must not hide the others
            print(f"{name} is broken: {error!r}", file=sys.stderr)
            found["broken"].append(f"{name}: {type(error).__name__}")
        else:
            found["reports"].append(report.document())
            print(as_text(found["reports"][-1]), flush=True)
            print(f"[{number}/{len(names)}] {name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        if kept:
            kept.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return found


def joined(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Several runs, each of some of the scenarios, as one: all of them take hours.

    Raises: ValueError: they measured different trees or machines, or a scenario stands in two of them.
    """
    first = min(runs, key=lambda run: str(run["machine"]["date"]))
    measured = {**first["machine"], "date": ""}
    if any({**run["machine"], "date": ""} != measured or run["short"] != first["short"] for run in runs):
        raise ValueError("these runs are not of one commit on one machine: run the scenarios again")
    reports = [report for run in runs for report in run["reports"]]
    names = [report["name"] for report in reports]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{', '.join(twice)}: in more than one of these runs: leave one out")
    order = list(SCENARIOS)
    reports.sort(key=lambda report: order.index(report["name"]) if report["name"] in order else len(order))
    return {**first, "broken": [name for run in runs for name in run["broken"]], "reports": reports}


def nothing_left(belongings: Belongings) -> int:
    """Wait until what was started is gone; end what stays, and say so."""
    until = time.monotonic() + LEAVE_SECONDS
    while (left := [pid for pid in belongings.pids() if pid != os.getpid()]) and time.monotonic() < until:
        time.sleep(0.1)
    if left:
        print(f"{len(left)} processes were left behind, and are ended", file=sys.stderr)
        belongings.kill()
    return len(left)


def options() -> argparse.ArgumentParser:
    """What can be asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        epilog="`soak`, `everyday` and `trajectories` have options of their own",
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)} (default: all)")
    parser.add_argument("--short", action="store_true", help="a minute in place of many, and nothing is installed")
    parser.add_argument(
        "--peers", type=Path, metavar="FOLDER", help="install what is compared with there, and keep it; also if --short"
    )
    parser.add_argument(
        "--exclusive", action="store_true", help="time before all other processes (SCHED_FIFO), where that is allowed"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, after each scenario")
    parser.add_argument("--docs", action="store_true", help="make docs/benchmarks.md and its pictures anew")
    parser.add_argument(
        "--docs-from",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="make them from --json files, which runs of the same commit wrote, and run nothing",
    )
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run what was asked for; 1 if a scenario is broken. No time is judged here: a missed target is printed."""
    argv = sys.argv[1:] if argv is None else argv
    # No scenarios: they measure no time and have options of their own.
    if argv[:1] == ["soak"]:
        return soak.main(argv[1:])
    if argv[:1] == ["everyday"]:
        return everyday.main(argv[1:])
    if argv[:1] == ["trajectories"]:
        return trajectories.main(argv[1:])
    parser = options()
    given = parser.parse_args(argv)
    if unknown := [name for name in given.scenarios if name not in SCENARIOS]:
        parser.error(f"no scenario {', '.join(unknown)}; there are {', '.join(SCENARIOS)}")
    if given.docs_from:
        try:
            found = joined([json.loads(file.read_text()) for file in given.docs_from])
        except ValueError as error:
            parser.error(str(error))
        write(DOCS, found)
        return 0
    if given.docs and given.scenarios:
        parser.error("--docs is of all scenarios: the page would lose the others")
    # Told to end, everything that was started is ended first, as after C-c.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    belongings = Belongings()
    os.environ[WORD] = belongings.name
    try:
        found = run_all(
            given.scenarios or list(SCENARIOS), Scale(given.short, given.peers, given.exclusive), given.json
        )
    finally:
        nothing_left(belongings)
    print("\n" + ", ".join(f"{name} {value}" for name, value in found["machine"].items()))
    if given.docs:
        write(DOCS, found)
    return 1 if found["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
