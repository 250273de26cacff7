"""What each server answers, as it was recorded, becomes an output and an exit code; what it is asked stays."""

from __future__ import annotations

import json
from pathlib import Path

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


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.json")))
def test_a_recorded_session(name: str) -> None:
    document = json.loads((RECORDED / f"{name}.json").read_text())
    due: list[tuple[str, dict[str, object], Result]] = document["open"]

    def ask(tool: str, **arguments: object) -> Result:
        """As the server did when it was recorded, and only to the calls that were recorded."""
        recorded, expected, result = due.pop(0)
        assert (tool, arguments) == (recorded, expected)
        return result

    driver = DRIVERS[name](ask)
    for run in document["runs"]:
        assert due == [], "it asked less than was recorded"
        due += run["calls"]
        if "error" in run:
            with pytest.raises((PeerError, TimeoutError), match=r"^.+") as refused:
                driver.run(run["command"], run["seconds"])
            assert str(refused.value) == run["error"]
        else:
            assert driver.run(run["command"], run["seconds"]) == Answer(run["output"], run["code"])
    assert due == [], "it asked less than was recorded"
