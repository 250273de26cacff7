"""Every scenario gives its table in a short run, and leaves nothing running; no time is judged."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]
# Of all scenarios, on a machine that does other things.
DEADLINE_S = 600

pytestmark = pytest.mark.timeout(DEADLINE_S + 20)


@dataclass(frozen=True)
class Run:
    """What a run of the bench printed, and the reports that it kept."""

    printed: str
    told: str
    reports: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One short run of all: that each begins an interpreter anew would take longer than what it measures."""
    kept = tmp_path_factory.mktemp("bench") / "found.json"
    argv = [sys.executable, "-m", "bench", "--short", "--json", str(kept)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
    return Run(done.stdout, done.stderr, {report["name"]: report for report in json.loads(kept.read_text())["reports"]})


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_short_run_of_every_scenario(name: str, run: Run) -> None:
    report = run.reports[name]
    assert report["rows"]
    assert report["title"] in run.printed
    if name == "jobs":  # which measures no time: each goal is reached
        assert all(target["met"] for target in report["targets"]), report


def test_a_short_run_leaves_nothing_behind(run: Run) -> None:
    assert "left behind" not in run.told
