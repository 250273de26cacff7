"""examples/many, a share of many tasks for each worker of an engine: run as the engines run it, without them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "many"
TASKS = [f"echo task {number}; (exit {number % 2})" for number in range(6)]


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "tasks.txt").write_text("\n".join(TASKS))
    return {**os.environ, "HOME": str(tmp_path), "MUXWIRE_STATE_DIR": str(tmp_path / "state"), "SHELL": "/bin/sh"}


def printed(argv: list[str], env: dict[str, str], cwd: Path = EXAMPLE) -> str:
    done = subprocess.run(argv, env=env, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pod_of_the_job_runs_its_share(tmp_path: Path, user: dict[str, str]) -> None:
    job: dict[str, Any] = json.loads((EXAMPLE / "job.json").read_text())
    spec = job["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    given = {one["name"]: one["value"] for one in container["env"]}
    assert (job["kind"], spec["completionMode"]) == ("Job", "Indexed")  # it sets JOB_COMPLETION_INDEX
    assert int(given["WORKERS"]) == spec["completions"]
    volumes = {one["name"] for one in spec["template"]["spec"]["volumes"]}
    assert {one["name"] for one in container["volumeMounts"]} == volumes
    program, script, tasks = container["args"]
    assert f"COPY {Path(script).name} {Path(script).parent}/" in (EXAMPLE / "Dockerfile").read_text()
    argv = [sys.executable, str(EXAMPLE / Path(script).name), str(tmp_path / Path(tasks).name)]
    env = user | given | {"MUXWIRE_STATE_DIR": user["MUXWIRE_STATE_DIR"], "WORKERS": "3", "JOB_COMPLETION_INDEX": "1"}
    ran = [json.loads(line) for line in printed(argv, env).splitlines()]
    assert program == "python"
    assert sorted((one["output"], one["exit_code"]) for one in ran) == [("task 1\n", 1), ("task 4\n", 0)]
