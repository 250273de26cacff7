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
    ServerCommands,
    ShellServer,
    TmuxKeys,
    TmuxMcp,
)

RECORDED = Path(__file__).parent / "recorded"
DRIVERS: dict[str, type[Driver]] = {
    "desktop-commander": DesktopCommander,
    "libtmux-mcp": LibtmuxMcp,
    "mcp-server-commands": ServerCommands,
    "mcp-shell-server": ShellServer,
    "tmux-mcp-npm": TmuxMcp,
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


def text(*blocks: str, failed: bool = False) -> Result:
    return {"content": [{"type": "text", "text": block} for block in blocks], "isError": failed}


def test_libtmux_mcp_refuses_in_words_and_without_structure() -> None:
    def ask(_tool: str, **_arguments: object) -> Result:
        return text("command must be a single line when suppress_history=True", failed=True)

    with pytest.raises(PeerError, match="single line"):
        LibtmuxMcp(ask)


def test_libtmux_mcp_may_answer_in_text_alone() -> None:
    answers = ['{"active_pane_id": "%0"}', '{"output": ["$ echo hi", "hi"], "exit_status": 0, "timed_out": false}']

    def ask(_tool: str, **_arguments: object) -> Result:
        return text(answers.pop(0))

    assert LibtmuxMcp(ask).run("echo hi", 8) == Answer("$ echo hi\nhi", 0)


def test_desktop_commander_that_lost_the_output_of_a_command() -> None:
    started = text("Process started with PID 26426 (shell: /usr/bin/bash)\nInitial output:\n")
    read = text(
        "[Reading 0 new lines (total: 0 lines)]\n\n(No output in requested range)\n"
        "✅ Process completed with exit code 0 (runtime: 0.02s)"
    )
    assert DesktopCommander.answer(started, read) == Answer("", 0)


def test_desktop_commander_whose_command_still_runs() -> None:
    started = text("Process started with PID 1 (shell: /bin/bash)\nInitial output:\nhalf\n")
    read = text("[Reading 1 new lines (total: 1 lines)]\n\nhalf\n\n⏳ Process is running.")
    assert DesktopCommander.answer(started, read) == Answer("half\n", None)


def test_mcp_shell_server_tells_streams_of_a_failure_apart() -> None:
    said = "Error executing command: Command failed with exit status 3\nstdout:\nout\nstderr:\nerr"
    assert ShellServer.answer(text(said, failed=True)) == Answer("out\nerr", 3)


def test_tmux_mcp_that_runs_has_no_answer_yet() -> None:
    pending = "Status: pending\nCommand: sleep 1\n\n--- Message ---\nCommand output could not be captured properly"
    assert TmuxMcp.answer(text(pending)) is None
    with pytest.raises(PeerError, match="not found"):
        TmuxMcp.answer(text("Command not found: x", failed=True))
