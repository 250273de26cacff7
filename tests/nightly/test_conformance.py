"""MCP's own conformance suite says of our server what tests/mcp/conformance.yml expects, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.users import environ_of, needs

# Packages come from their registry, which may be slow.
pytestmark = pytest.mark.timeout(1800)
ROOT = Path(__file__).parents[2]
# The suite runs on Node 22; a machine's own may be older.
SUITE = ("npx", "--yes", "--package=node@22", "--package=@modelcontextprotocol/conformance@0.2.0-alpha.12")
# What the revision requires, all of tasks, and the one extension that its list has not.
RUNS = (
    ("--requirements", "2026-07-28"),
    *(("--scenario", f"sep-2640-skills-{name}", "--force") for name in ("enumeration", "manifest", "directory")),
)


def test_the_suite_finds_what_is_expected(home: Path) -> None:
    needs("npx")
    environ = environ_of(home / "home", runtime=home / "run") | {"MUXWIRE_STATE_DIR": str(home / "state")}
    with subprocess.Popen(
        [sys.executable, ROOT / "tests/mcp/http_server.py", "0"],
        cwd=ROOT, env=environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stderr is not None
            (address,) = next(found for line in server.stderr if (found := re.findall(r"http://[\d.]+:\d+", line)))
            for run in RUNS:
                suite = [*SUITE, "conformance", "server", "--url", f"{address}/mcp", *run]
                expected = ("--expected-failures", ROOT / "tests/mcp/conformance.yml")
                # In the environment of who runs the tests, which knows where packages come from.
                done = subprocess.run([*suite, *expected], cwd=home, capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        finally:
            server.terminate()
