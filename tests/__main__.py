"""Run the checks of the project, and say in one line how it went.

python -m tests                  what is run at every commit: lint, format, types, and the first tier of tests
python -m tests --all            what is run before a merge, and by the README's command
python -m tests --nightly        everything
python -m tests tests/vt -k ring these tests only; whatever pytest takes may stand here
python -m tests --map            the first tier, and note which source files each test file runs (--nightly does, too)
python -m tests --for FILE       then: the tests that run this source file; --all and --nightly may follow
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from tests.covering import tests_of
from tests.tiers import tier_of

ROOT = Path(__file__).resolve().parent.parent

# Tests wait for tmux, for shells and for time to pass: with five workers on two processors half of these were idle, and
# a run took 500 s; with seven it took 427; eight beside other programs, which left nothing idle, made nine tests fail
# that pass by themselves.
WORKERS = 3 * (os.cpu_count() or 1) + 1
TIERS = {"--all": "merge", "--nightly": "night"}
MAP = "--map"

# The quick ones first: a slip of style shows in seconds. All of them run, whatever fails, so one run tells everything.
LINT = {"lint": ("ruff", "check", "."), "format": ("ruff", "format", "--check", ".")}
# Half a minute of one processor: they run while the tests do, in the time in which those leave a processor idle.
TYPES = ("mypy",)
GIVES_WAY = ("nice", "-n", "10")


def pytest_words(arguments: list[str]) -> tuple[str, ...]:
    """The words that run tests: those of a tier, or those that are asked for."""
    tier = next((TIERS[argument] for argument in arguments if argument in TIERS), "commit")
    asked = [argument for argument in arguments if argument not in TIERS]
    recorded = [MAP] * (MAP in asked or tier == "night")
    if asked[:1] == ["--for"]:
        asked = tests_of(asked[1]) + asked[2:]
        if tier == "commit" and any(tier_of(test.removeprefix("tests/")) for test in asked if (ROOT / test).is_dir()):
            tier = "merge"  # all tests of its own package are run then
    elif set(asked) - {MAP}:
        return ("pytest", "-q", *asked)
    # A worker runs a whole file: what a file's tests share is made once. pytest's order stays: the long ones first.
    spread = ("-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder", "--durations=25")
    return ("pytest", "-q", *spread, *dict.fromkeys((*asked, *recorded)), "--tier", tier)


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


def run(name: str, arguments: tuple[str, ...]) -> list[str]:
    """Run one check, whose output follows its name; the name, if it failed."""
    print(f"== {name}: {' '.join(arguments)}", flush=True)
    return [name] * (start(arguments).wait() != 0)


def run_all(tests: tuple[str, ...]) -> list[str]:
    """Run every check; the names of those that failed."""
    with TemporaryFile() as output, start(TYPES, output, GIVES_WAY) as types:
        failed = [name for check in LINT.items() for name in run(*check)] + run("tests", tests)
        print(f"== types: {' '.join(TYPES)}", flush=True)
        failed += ["types"] * (types.wait() != 0)
        output.seek(0)
        print(output.read().decode(errors="replace"), end="", flush=True)
    return failed


def main(arguments: list[str]) -> int:
    """Return 0 if every check passed."""
    started = time.monotonic()
    # A shell starts what it runs in the background with C-c ignored, and tests of it would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        tests = pytest_words(arguments)
    except (OSError, LookupError) as refused:
        print(refused, file=sys.stderr)
        return 2
    try:
        if set(arguments) - TIERS.keys():
            return start(tests).wait()
        failed = run_all(tests)
    except KeyboardInterrupt:  # the checks, which have the same terminal, got it too
        return 130
    absent = subprocess.run(["sh", ".ci/needs", "missing"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    if absent:
        print(f"== not installed, and their tests were skipped: {absent}")
    verdict = f"FAILED: {', '.join(failed)}" if failed else f"all passed: {', '.join((*LINT, 'tests', 'types'))}"
    print(f"== {verdict} ({time.monotonic() - started:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
