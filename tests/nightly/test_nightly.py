"""Chance, load and all programs that claims are made of: nothing is lost, wrong or claimed that is not so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 300
# What is under way at the end, and all claims once on a machine that does other things.
END_SECONDS = 1800

pytestmark = pytest.mark.timeout(SECONDS + END_SECONDS)


@pytest.mark.parametrize(
    ("harness", "options"),
    [
        ("soak", ("--seconds", str(SECONDS))),
        ("claims", ()),
        ("owners", ("--seconds", str(SECONDS))),
    ],
)
def test_nothing_goes_wrong(harness: str, options: tuple[str, ...]) -> None:
    argv = [sys.executable, "-m", f"tests.nightly.{harness}", *options]
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout
