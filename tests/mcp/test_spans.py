"""Spans of tool calls and commands for who collects them; who collects none pays nothing, and imports nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from muxwire.tabs.spans import spans_are_collected
from tests.mcp.child_client import alone
from tests.mcp.in_memory import build_server
from tests.users import environ_of

DEADLINE = 60
ROOT = Path(__file__).parents[2]
# As opentelemetry-instrument does it: the provider is there before the program begins.
COLLECTING = "from tests.collector import collect\ncollect({path!r})\n"
ALONE = """\
import sys, anyio, muxwire
async def main():
    async with muxwire.open_terminals() as terminals:
        tab = await terminals.create_tab()
        print((await tab.execute("echo ran")).output)
anyio.run(main)
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


def environ(folder: Path, *path: Path) -> dict[str, str]:
    return environ_of(folder / "home", runtime=folder) | {"PYTHONPATH": ":".join(map(str, path))}


@alone
async def test_spans_of_calls_and_commands(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "spans"
    (tmp_path / "sitecustomize.py").write_text(COLLECTING.format(path=str(kept)))
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "muxwire", "serve"], env=environ(folder, tmp_path, ROOT)
    )
    async with Client(command) as client:
        result = await client.call_tool("execute_command", {"command": "echo secret; (exit 3)"})
        said = result.structured_content or {}
        await client.call_tool("snapshot", {"window_id": said["window_id"]})
    spans: dict[str, dict[str, Any]] = {}
    for line in kept.read_text().splitlines():
        spans[json.loads(line)["name"]] = json.loads(line)
    call, command_span = spans["tools/call execute_command"], spans["command"]
    assert (call["attributes"]["muxwire.tab"], call["attributes"]["process.exit.code"]) == (said["window_id"], 3)
    assert call["attributes"]["muxwire.result_bytes"] == len(json.dumps(said, separators=(",", ":")))
    assert command_span["parent"] == call["id"]
    duration = command_span["attributes"].pop("muxwire.duration_ms")
    assert duration == pytest.approx(said["duration_ms"], abs=0.6)
    assert command_span["attributes"] == {
        "muxwire.tab": said["window_id"],
        "muxwire.command_id": said["command_id"],
        "muxwire.ending": "completed",
        "muxwire.output_bytes": len("secret\r\n"),
        "process.exit.code": 3,
    }
    assert command_span["status"] == "ERROR"
    assert spans["tools/call snapshot"]["attributes"]["muxwire.tab"] == said["window_id"]
    assert "secret" not in kept.read_text()


@alone
async def test_who_collects_no_spans_pays_nothing(folder: Path) -> None:
    def nothing() -> Any:
        raise AssertionError

    assert not build_server(nothing).middleware
    ran = subprocess.run(
        [sys.executable, "-c", ALONE], env=environ(folder), capture_output=True, text=True, check=True, timeout=DEADLINE
    )
    assert ran.stdout == "ran\n\n[]\n"


def test_a_provider_that_cannot_be_loaded_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_PYTHON_TRACER_PROVIDER", "nosuch")
    assert not spans_are_collected()
