"""A server that fails, in whatever way, is reported as such; the others are measured, and nothing is left running."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.packages import FromPyPI
from bench.peers import session
from bench.peers.drivers import Driver, ServerCommands
from bench.peers.scenario import WARM_UP, compare
from bench.peers.servers import FLOOR, OURS, THEIRS, Peer
from bench.processes import Belongings
from bench.scenario import Report, Scale

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

# An MCP server in a few lines: it runs commands by sh, and does what its test asks for at some call.
SERVER = """
import json, os, subprocess, sys, time
calls = 0
for line in sys.stdin:
    message = json.loads(line)
    method, result = message.get("method"), {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "fake", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "run_command", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        calls += 1
        BEHAVE
        done = subprocess.run(message["params"]["arguments"]["command"], shell=True, capture_output=True, text=True)
        result = {"content": [{"type": "text", "text": done.stdout}]}
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                          "error": {"code": -32601, "message": "no such method"}}), flush=True)
        continue
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@dataclass(frozen=True)
class Named:
    """A package that needs no installing."""

    label: str
    registry: str = "nowhere"

    def missing(self) -> str:
        return ""

    def steps(self, _folder: Path) -> list[list[str]]:
        return []


def fake(name: str, behave: str, driver: type[Driver] = ServerCommands) -> Peer:
    """A server called `name` that does `behave` at each call, before the command."""
    program = textwrap.dedent(SERVER).replace("BEHAVE", behave)
    return Peer(Named(name), lambda _folder: [sys.executable, "-c", program], driver)


WORKS = fake("works", "pass")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Belongings]:
    """The processes of every session that is made."""
    found: list[Belongings] = []

    def made() -> Belongings:
        found.append(Belongings())
        return found[-1]

    monkeypatch.setattr(session, "Belongings", made)
    return found


async def comparison(*peers: Peer) -> tuple[Report, dict[str, list[str | float]]]:
    """These side by side, and their rows by name."""
    report = await compare(peers, Scale(short=True))
    return report, {str(row[0]): list(row) for row in report.rows}


async def test_ours_is_right_and_one_that_works_has_its_row(started: list[Belongings]) -> None:
    report, rows = await comparison(FLOOR, OURS, WORKS)
    assert dict(zip(report.columns, rows[FLOOR.label], strict=True))["output exact"] == ""
    named = dict(zip(report.columns, rows["muxwire"], strict=True))
    assert (named["output exact"], named["code right"], named["from"]) == ("19 of 19", "19 of 19", "this tree")
    assert dict(zip(report.columns, rows["works"], strict=True))["output exact"] != "19 of 19"
    assert {miss["case"] for miss in report.data["works"]} >= {"failure", "both streams", "state there"}
    assert any(note.startswith("works missed: ") for note in report.notes)
    assert not [pid for one in started for pid in one.pids()]


@pytest.mark.parametrize(
    ("peer", "said"),
    [
        (Peer(Named("no program"), lambda _folder: ["no-such-program"], ServerCommands), "did not start"),
        (Peer(Named("ends at once"), lambda _folder: ["true"], ServerCommands), "did not start"),
        (fake("ends at first call", "sys.exit(1)"), "it did not work here"),
        (fake("ends later", f"if calls == {19 + WARM_UP + 2}: sys.exit(1)"), "it did not work here"),
    ],
    ids=lambda value: value.label if isinstance(value, Peer) else "",
)
async def test_one_that_ends_is_reported_and_the_others_go_on(peer: Peer, said: str, started: list[Belongings]) -> None:
    report, rows = await comparison(WORKS, peer)
    assert list(rows) == ["works"]
    (note,) = [note for note in report.notes if note.startswith(f"{peer.label}: ")]
    assert said in note
    assert not [pid for one in started for pid in one.pids()]


async def test_one_that_does_not_greet_is_waited_for_and_then_left(
    monkeypatch: pytest.MonkeyPatch, started: list[Belongings]
) -> None:
    monkeypatch.setattr(session, "START_SECONDS", 2)
    report, rows = await comparison(Peer(Named("silent"), lambda _folder: ["sleep", "1000"], ServerCommands))
    assert "silent: installed, but it did not work here: did not start: no greeting in 2 s" in report.notes
    assert not rows
    assert not [pid for one in started for pid in one.pids()]


async def test_a_package_that_cannot_be_had_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FromPyPI, "steps", lambda _self, _folder: [["sh", "-c", "echo ERROR: nothing >&2; exit 1"]])
    peer = Peer(FromPyPI(("absent==1",)), lambda _folder: ["true"], ServerCommands)
    report, rows = await comparison(WORKS, peer)
    assert "absent 1 (PyPI): not installed: ERROR: nothing" in report.notes
    assert list(rows) == ["works"]


def test_every_peer_is_named_with_an_exact_version() -> None:
    labels = [peer.label for peer in THEIRS]
    assert len(set(labels)) == len(labels)
    assert all(any(character.isdigit() for character in label.rpartition(" ")[2]) for label in labels)
    assert {peer.registry for peer in THEIRS} == {"PyPI", "npm"}
