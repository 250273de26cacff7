"""Run scenarios and print their tables: `python -m bench [SCENARIO ...] [--short] [--json FILE] [--docs]`.

`python -m bench trajectories` does again what agents did in public recordings; it has options of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from bench import claims, idle, jobs, latency, remote, startup, tabs, throughput, trajectories, verbs, waits
from bench.machine import ROOT, machine
from bench.pages import as_text, write
from bench.peers import compare
from bench.processes import WORD, Belongings
from bench.report import Scale
from bench.timing import PRIORITY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.report import Scenario

SCENARIOS: dict[str, Scenario] = {
    "latency": latency.run,
    "peers": compare.run,
    "startup": startup.run,
    "verbs": verbs.run,
    "throughput": throughput.run,
    "tabs": tabs.run,
    "idle": idle.run,
    "waits": waits.run,
    "remote": remote.run,
    "claims": claims.run,
    "jobs": jobs.run,
}
# With --exclusive these run as a whole before all other processes; `timing.py` does it for contenders of its own.
AS_A_WHOLE = frozenset(("startup", "verbs", "throughput", "tabs", "waits", "remote"))
# The run that docs/benchmarks.md was made of.
PUBLISHED = ROOT / "bench" / "published.json"
# A server that is told to end takes its time; who is still there then is ended, and told of.
LEAVE_SECONDS = 10.0


def run_all(names: list[str], scale: Scale, kept: Path | None) -> dict[str, Any]:
    """Run scenarios one after the other, printing as they end; return what is to be kept, and keep it as they end."""
    where = machine() | ({"scheduler": "SCHED_FIFO"} if scale.exclusive else {})
    found: dict[str, Any] = {"machine": where, "short": scale.short, "broken": [], "reports": []}
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name} ...", file=sys.stderr, flush=True)
        begun = time.monotonic()
        try:
            with exclusively() if scale.exclusive and name in AS_A_WHOLE else nullcontext():
                report = anyio.run(SCENARIOS[name], scale)
        except Exception as error:  # noqa: BLE001 - one broken scenario must not hide the others
            print(f"{name} is broken: {error!r}", file=sys.stderr)
            found["broken"].append(f"{name}: {type(error).__name__}")
        else:
            found["reports"].append(json.loads(json.dumps(report.document())))
            print(as_text(found["reports"][-1]), flush=True)
            print(f"[{number}/{len(names)}] {name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        if kept:
            kept.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return found


@contextmanager
def exclusively() -> Iterator[None]:
    """Run this process, and all that it starts, before all ordinary ones. PermissionError."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def main(argv: list[str] | None = None) -> int:
    """Run what was asked for; 1 if a scenario is broken. No time is judged here: a missed target is printed."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["trajectories"]:
        return trajectories.main(argv[1:])
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)} (default: all)")
    parser.add_argument("--short", action="store_true", help="two minutes in place of many; it says little of times")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="install what is compared with there, and keep it")
    parser.add_argument(
        "--exclusive", action="store_true", help="time before all other processes (SCHED_FIFO), as root"
    )
    parser.add_argument("--cli", action="store_true", help="jobs by the command line, in place of MCP")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, after each scenario")
    parser.add_argument("--docs", action="store_true", help="publish: make docs/benchmarks.md, its picture and the "
                        "figures of other pages anew")  # fmt: skip
    parser.add_argument("--docs-again", action="store_true", help="the same from the last run that was published")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.scenarios if name not in SCENARIOS]:
        parser.error(f"no scenario {', '.join(unknown)}; there are {', '.join(SCENARIOS)}")
    if given.docs_again:
        write(ROOT, json.loads(PUBLISHED.read_text()))
        return 0
    if given.docs and (given.scenarios or given.short or given.cli):
        parser.error("--docs is of all scenarios, by MCP, at full length: the page would lose the others")
    if given.exclusive:
        with exclusively():  # or not at all
            pass
    # Told to end, everything that was started is ended first, as after C-c.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    belongings = Belongings()
    os.environ[WORD] = belongings.name
    scale = Scale(given.short, given.peers, given.exclusive, given.cli)
    try:
        found = run_all(given.scenarios or list(SCENARIOS), scale, given.json or (PUBLISHED if given.docs else None))
    finally:
        if left := belongings.kill(LEAVE_SECONDS):
            print(f"{left} processes were left behind, and are ended", file=sys.stderr)
    print("\n" + ", ".join(f"{name} {value}" for name, value in found["machine"].items()))
    if given.docs:
        write(ROOT, found)
    return 1 if found["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
