"""Other machines through the MCP server and the command line."""

from __future__ import annotations

import json
import subprocess

from tests.forked import run_muxwire

DEADLINE = 60


def muxwire(environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return run_muxwire(words, environ, DEADLINE)


def test_run_mirrors_a_command_there(environ: dict[str, str]) -> None:
    done = muxwire(environ, "run", "--host", "box", "echo hi; (exit 3)")
    assert (done.stdout, done.returncode) == ("hi\n", 3), done
    refused = muxwire(environ, "run", "--host", "elsewhere", "true")
    assert refused.returncode == 126, refused
    assert "not_allowed" in refused.stderr


def test_the_doctor_says_whether_a_host_can_be_used(environ: dict[str, str]) -> None:
    well = muxwire(environ, "doctor", "--host", "box", "--json")
    assert well.returncode == 0, well
    [finding] = json.loads(well.stdout)["findings"]
    assert (finding["check"], finding["level"]) == ("host box", "ok")
    ill = muxwire(environ, "doctor", "--host", "elsewhere")
    assert ill.returncode == 1, ill
    assert "not_allowed" in ill.stdout
    assert "->" in ill.stdout
