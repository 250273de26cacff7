"""The part of the suite in which versions of tmux differ, on two that are built for it: MUXWIRE_TEST_VERSIONS=1."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import build_tmux
from tests.users import TMUX_VARIABLE

ROOT = Path(__file__).resolve().parent.parent
# The oldest and the newest release between which most differences lie; the machine's own runs everything.
VERSIONS = ("3.4", "3.7c")
# Quoting and options, moved panes and their way back, people and their keys, attaching, what a screen shows.
CHOSEN = (
    "tests/client/test_commands_on_tmux.py",
    "tests/library/operations",
    "tests/library/named/test_starts.py",
    "tests/tabs/test_people.py",
    "tests/library/test_snapshots.py",
    "tests/library/screens",
)
# Ten times what they take on two slow processors.
SECONDS = 3600


@pytest.mark.skipif(not os.environ.get("MUXWIRE_TEST_VERSIONS"), reason="takes ten minutes: MUXWIRE_TEST_VERSIONS=1")
@pytest.mark.skipif(bool(reason := build_tmux.cannot()), reason=reason)
@pytest.mark.timeout(2 * SECONDS)  # building it included
@pytest.mark.parametrize("version", VERSIONS)
def test_on_another_tmux(version: str) -> None:
    program = build_tmux.build(version)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CHOSEN],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env=os.environ | {TMUX_VARIABLE: str(program)},
    )
    assert done.returncode == 0, done.stdout[-10_000:]
