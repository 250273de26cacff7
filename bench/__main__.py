"""Run scenarios and print their tables: `python -m bench [SCENARIO ...] [--short] [--json FILE] [--docs]`, `soak`."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio

import muxwire
from bench import soak
from bench.picture import bars
from bench.report import as_markdown, as_text
from bench.scenario import Scale
from bench.scenarios import SCENARIOS

DOCS = Path(__file__).resolve().parent.parent / "docs"


def machine() -> dict[str, str]:
    """What the numbers were made on."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    tmux = subprocess.run(["tmux", "-V"], capture_output=True, text=True, check=False)
    return {
        "muxwire": muxwire.__version__,
        "commit": commit.stdout.strip(),
        "tmux": tmux.stdout.strip().removeprefix("tmux "),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def run_all(names: list[str], scale: Scale) -> tuple[list[dict[str, Any]], list[str]]:
    """Run scenarios one after the other, printing as they end; return their documents, and the names of broken ones."""
    documents, broken = [], []
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name} ...", file=sys.stderr, flush=True)
        begun = time.monotonic()
        try:
            report = anyio.run(SCENARIOS[name], scale)
        except Exception as error:  # noqa: BLE001 - one broken scenario must not hide the others
            print(f"{name} is broken: {error!r}", file=sys.stderr)
            broken.append(name)
            continue
        documents.append(report.document())
        print(as_text(documents[-1]), flush=True)
        print(f"[{number}/{len(names)}] {name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    return documents, broken


def main(argv: list[str] | None = None) -> int:
    """Run what was asked for; 1 if a scenario is broken. No time is judged here: a missed target is printed."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["soak"]:  # not a scenario: it measures no time and has options of its own
        return soak.main(argv[1:])
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, epilog="`soak` has options of its own"
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)} (default: all)")
    parser.add_argument("--short", action="store_true", help="a minute in place of many, and nothing is installed")
    parser.add_argument(
        "--peers", type=Path, metavar="FOLDER", help="install what is compared with there, and keep it; also if --short"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    parser.add_argument(
        "--docs", action="store_true", help="make docs/benchmarks.md and the picture in the README anew"
    )
    given = parser.parse_args(argv)
    if unknown := [name for name in given.scenarios if name not in SCENARIOS]:
        parser.error(f"no scenario {', '.join(unknown)}; there are {', '.join(SCENARIOS)}")
    documents, broken = run_all(given.scenarios or list(SCENARIOS), Scale(given.short, given.peers))
    where = machine()
    print("\n" + ", ".join(f"{name} {value}" for name, value in where.items()))
    if given.json:
        given.json.write_text(json.dumps({"machine": where, "reports": documents}, indent=1) + "\n")
    if given.docs:
        (DOCS / "benchmarks.md").write_text(as_markdown(where, documents))
        for document in documents:
            if document["name"] == "polling":
                (DOCS / "pictures" / "latency.svg").write_text(
                    bars(document["title"] + ", p50 in ms (log scale)", [row[:2] for row in document["rows"]], where)
                )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
