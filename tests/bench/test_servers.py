"""What each server answers, as it was recorded, becomes an output and an exit code; what it is asked stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.peers.cases import Answer
from bench.peers.servers import (
    DesktopCommander,
    Driver,
    LibtmuxMcp,
    PeerError,
    Result,
    TmuxKeys,
)

RECORDED = Path(__file__).parent / "recorded"
DRIVERS: dict[str, type[Driver]] = {
    "desktop-commander": DesktopCommander,
    "libtmux-mcp": LibtmuxMcp,
    "tmux-mcp-pypi": TmuxKeys,
}


class Replay:
    """A server that says what it said when it was recorded, and only to the calls that were recorded."""

    def __init__(self) -> None:
        self.due: list[list[Any]] = []

    def ask(self, tool: str, **arguments: object) -> Result:
        recorded, expected, result = self.due.pop(0)
        assert (tool, arguments) == (recorded, expected)
        answer: Result = result
        return answer


@pytest.mark.parametrize("name", DRIVERS)
def test_a_recorded_session(name: str) -> None:
    document = json.loads((RECORDED / f"{name}.json").read_text())
    server = Replay()
    server.due = document["open"]
    driver = DRIVERS[name](server.ask)
    assert server.due == [], "it asked less than was recorded"
    for run in document["runs"]:
        server.due = run["calls"]
        if "error" in run:
            with pytest.raises((PeerError, TimeoutError), match=r"^.+") as refused:
                driver.run(run["command"], run["seconds"])
            assert str(refused.value) == run["error"]
        else:
            assert driver.run(run["command"], run["seconds"]) == Answer(run["output"], run["code"])
        assert server.due == [], "it asked less than was recorded"


def test_every_recording_has_a_driver() -> None:
    assert {path.stem for path in RECORDED.glob("*.json")} == set(DRIVERS)
