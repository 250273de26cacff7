"""Run every check of the project, one after the other, and say in one line how it went."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Tests wait for tmux, for shells and for time to pass: with three workers two processors are idle for most of the time.
WORKERS = 2 * (os.cpu_count() or 1) + 1

# The quick ones first: a slip of style shows in seconds. All of them run, whatever fails, so one run tells everything.
CHECKS = (
    ("lint", ("ruff", "check", ".")),
    ("format", ("ruff", "format", "--check", ".")),
    ("types", ("mypy",)),
    # In the order of the files: sorted by their number of tests, the two minutes of the soak would come last and alone.
    ("tests", ("pytest", "-q", "-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder")),
)


def run(name: str, arguments: tuple[str, ...]) -> int:
    """Run one check; its exit code."""
    print(f"== {name}: {' '.join(arguments)}", flush=True)
    # No check reads the terminal; a test that waits for a key would hang a run by hand and pass in CI.
    # With this variable each of the thousand processes that tests start would compile all that it imports.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, check=False
    ).returncode


def main() -> int:
    """Return 0 if every check passed."""
    started = time.monotonic()
    absent = subprocess.run(["sh", ".ci/needs", "missing"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    failed = []
    for name, arguments in CHECKS:
        if run(name, arguments):
            failed.append(name)
    if absent:
        print(f"== not installed, and their tests were skipped: {absent}")
    seconds = time.monotonic() - started
    verdict = f"FAILED: {', '.join(failed)}" if failed else f"all passed: {', '.join(name for name, _ in CHECKS)}"
    print(f"== {verdict} ({seconds:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
