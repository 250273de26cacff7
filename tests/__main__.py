"""Run every check of the project, and say in one line how it went."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

ROOT = Path(__file__).resolve().parent.parent

# Tests wait for tmux, for shells and for time to pass: with five workers on two processors half of these were idle, and
# a run took 500 s. With seven, under Python 3.13, it took 427, and what failed was of that Python; eight beside other
# programs, which left nothing idle, made nine tests fail that pass by themselves.
WORKERS = 3 * (os.cpu_count() or 1) + 1

TESTS = ("pytest", "-q", "-p", "tests.workers", "--workers", str(WORKERS))
# The quick ones first: a slip of style shows in seconds. All of them run, whatever fails, so one run tells everything.
CHECKS = {
    "lint": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "types": ("mypy",),
    "tests": TESTS,
}
# Half a minute of one processor: it runs while the others do, in the time in which they leave a processor idle.
BESIDE = "types"
GIVES_WAY = ("nice", "-n", "10")


def start(
    arguments: tuple[str, ...], output: IO[bytes] | int | None = None, before: tuple[str, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start a module of this Python, which writes to `output` or to our own; `before` is the command that runs it."""
    # With this variable each of the thousand processes that tests start would compile all that it imports.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # No check reads the terminal; a test that waits for a key would hang a run by hand and pass in CI.
    return subprocess.Popen(
        [*before, sys.executable, "-m", *arguments],
        cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
    )  # fmt: skip


def announce(name: str) -> None:
    """Say which check's output follows."""
    print(f"== {name}: {' '.join(CHECKS[name])}", flush=True)


def run_all() -> list[str]:
    """Run every check; the names of those that failed."""
    failed = []
    with TemporaryFile() as output, start(CHECKS[BESIDE], output, GIVES_WAY) as beside:
        for name, arguments in CHECKS.items():
            if name == BESIDE:
                continue
            announce(name)
            failed += [name] * (start(arguments).wait() != 0)
        announce(BESIDE)
        failed += [BESIDE] * (beside.wait() != 0)
        output.seek(0)
        print(output.read().decode(errors="replace"), end="", flush=True)
    return failed


def main() -> int:
    """Return 0 if every check passed."""
    started = time.monotonic()
    absent = subprocess.run(["sh", ".ci/needs", "missing"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    failed = run_all()
    if absent:
        print(f"== not installed, and their tests were skipped: {absent}")
    seconds = time.monotonic() - started
    verdict = f"FAILED: {', '.join(failed)}" if failed else f"all passed: {', '.join(CHECKS)}"
    print(f"== {verdict} ({seconds:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
