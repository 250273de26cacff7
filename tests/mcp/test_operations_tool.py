"""run_tmux_operations over MCP, with tmux behind it: one call, a result per step, panes that the other tools know."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import muxwire
from muxwire.mcp.tools import run_tmux_operations
from muxwire.operations import KINDS, NewWindow, Ref, SendKeys
from muxwire.operations.lists import read_operation
from muxwire.verbs.describe import json_names
from tests.mcp.in_memory import text_of
from tests.mcp.test_one_call import agent_at_a_server

SCHEMA = run_tmux_operations.definition()["inputSchema"]
WORDS: str = SCHEMA["properties"]["operations"]["description"]
# What a list of kinds may take of the words that every model reads.
MAX_WORDS = 1_000
EVERY_FIELD: dict[str, Any] = {
    "login": True, "shell": "/bin/sh", "strip_ansi": True, "idle_timeout_ms": 5, "bell": True,
    "target": "%1", "ref": "a", "name": "n", "cwd": "/", "env": ["A=1"], "command": ["x"], "session": "s",
    "horizontal": True, "size": "30%", "count": 2, "rows": 2, "cols": 2, "refs": [], "keys": "x", "enter": True,
    "literal": True, "timeout_ms": 5, "until": "x", "regex": "x", "idle_ms": 5, "exit": True, "prompt": True,
    "gone": True, "stable_ms": 5, "from_byte": 5, "async": True, "on_timeout": "leave", "max_chars": 5,
    "height": 5, "width": 5, "zoom": True, "layout": "tiled", "with": "ref:a", "into": "%2", "option": "@x",
    "value": "1", "scope": "pane", "global": True, "format": "x", "start": -1, "end": 1,
}  # fmt: skip


async def test_one_call_makes_a_workspace_that_the_other_tools_know() -> None:
    async with agent_at_a_server() as agent:
        result = await agent.call("run_tmux_operations", operations=[
            {"kind": "new_window", "ref": "w", "name": "work"},
            {"kind": "split_pane", "target": {"ref": "w"}, "ref": "side", "size": 5},
            {"kind": "execute", "target": {"ref": "side"}, "command": "echo from side", "timeout_ms": 20000},
            {"kind": "show_option", "option": "status", "global": True},
        ])  # fmt: skip
        assert result["succeeded"]
        assert (result["steps"][2]["output"], result["steps"][3]["stdout"]) == ("from side\n", "on")
        assert "output" not in result["steps"][3]
        side = result["created_panes"]["side"]
        ran = await agent.call("execute_command", window_id=side, command="stty size")
        assert ran["output"].startswith("5 ")
        tabs = (await agent.call("list_tabs"))["tabs"]
        assert sorted(tab["pane_id"] for tab in tabs) == sorted(result["created_panes"].values())
        log = await agent.call("read_logs_from_tab", window_id=side)
        assert "from side" in log["content"]


async def test_a_failure_is_a_result_and_a_wrong_list_an_error() -> None:
    async with agent_at_a_server() as agent:
        failed = await agent.call("run_tmux_operations", operations=[{"kind": "kill_pane", "target": "%9"}])
        assert failed["steps"][0]["status"] == "failed"
        wrong = await agent.client.call_tool("run_tmux_operations", {"operations": [{"kind": "kill_server"}]})
        assert wrong.is_error
        assert text_of(wrong).startswith(
            "invalid_argument: operations[0]: no operation of kind 'kill_server'\nuse one of "
        )


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_takes_can_be_read_and_is_said_of_a_wrong_step(kind: str) -> None:
    known = json_names(KINDS[kind])
    with pytest.raises(muxwire.InvalidArgument) as caught:
        read_operation({"kind": kind, "no such field": 1}, "it")
    assert caught.value.remedy == f"it takes {', '.join(known)}"
    given: dict[str, Any] = {"kind": kind} | {name: EVERY_FIELD[name] for name in known}
    if kind == "execute":
        given["command"] = "x"
    if kind == "new_window":
        given["size"] = [120, 40]
    Draft202012Validator(SCHEMA).validate({"operations": [given]})
    read_operation(given, "it")


def test_a_model_is_told_of_each_kind_in_few_words() -> None:
    assert [line.partition("(")[0] for line in WORDS.splitlines()[1 : 1 + len(KINDS)]] == list(KINDS)
    assert len(WORDS) < MAX_WORDS


def test_empties_of_strict_clients_count_as_absent() -> None:
    given: dict[str, Any] = {
        "kind": "new_window",
        "ref": "",
        "name": "",
        "cwd": "",
        "env": [],
        "command": [],
        "session": None,
    }
    assert read_operation(given, "it") == NewWindow()
    keys = {"kind": "send_keys", "target": "ref:a", "keys": ["Escape", "x"], "enter": False}
    assert read_operation(keys, "it") == SendKeys(target=Ref("a"), keys=("Escape", "x"), enter=False)
