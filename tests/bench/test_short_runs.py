"""Every scenario gives its table in a short run, and leaves nothing running; no time is judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_short_run_of_every_scenario(name: str, tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    argv = [sys.executable, "-m", "bench", name, "--short", "--json", str(kept)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(kept.read_text())["reports"]
    assert report["name"] == name
    assert report["rows"]
    assert report["title"] in done.stdout
    assert "left behind" not in done.stderr
