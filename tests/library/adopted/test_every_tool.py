"""Every MCP tool at a tmux server that a person runs: all that the server can list is as before, and nothing stays."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.mcp.tools import TOOLS
from tests.every_tool import EVERY_TOOL
from tests.library.adopted.person import CLIENTS, Person, differences, theirs
from tests.tools import Tools, named_after_tools

# The window that the tools type into; all others are only looked at.
USED = "work:one"
# The tools whose calls here use a tab of the session `other` too: to attach to it clears what it has to tell.
ELSEWHERE = {"create_tab", "wait_for", "watch_events", "run_tmux_operations"}
# What changes something of the person's, each with a target where there is one.
CHANGING: list[dict[str, object]] = [
    {"kind": "new_window"},
    {"kind": "split_pane", "target": "two"},
    {"kind": "split_evenly", "target": "two", "count": 2},
    {"kind": "make_grid", "target": "two", "rows": 2, "cols": 2},
    {"kind": "resize_pane", "target": "two", "zoom": True},
    {"kind": "select_layout", "target": "two", "layout": "tiled"},
    {"kind": "select_pane", "target": "two"},
    {"kind": "rename_window", "target": "two", "name": "n"},
    {"kind": "swap_pane", "target": "two", "with": "three"},
    {"kind": "break_pane", "target": "two"},
    {"kind": "join_pane", "target": "two", "into": "three"},
    {"kind": "kill_pane", "target": "two"},
    {"kind": "set_option", "option": "@x", "value": "1", "global": True},
]
HARMLESS: list[dict[str, object]] = [
    {"kind": "send_keys", "target": "one", "keys": "true"},
    {"kind": "execute", "target": "one", "command": "echo ran"},
    {"kind": "wait_for", "target": "one", "idle_ms": 50},
    {"kind": "show_option", "option": "@theirs", "global": True},
    {"kind": "display_message", "target": "two", "format": "#{window_name}"},
    {"kind": "capture_pane", "target": "three"},
]


async def create_tab(tools: Tools, tab: str) -> None:
    made = await tools("create_tab", name="ours")
    assert made["session"] == "work"  # where the person is
    assert (await tools("execute_command", window_id=made["window_id"], command="echo here"))["output"] == "here\n"
    made = await tools("create_tab", session="other", command=["cat"], size=[70, 20])
    assert made["session"] == "other"
    with pytest.raises(muxwire.NoSuchTarget, match="no session 'hub'"):
        await tools("create_tab", session="hub")


async def list_tabs(tools: Tools, tab: str) -> None:
    listed = await tools("list_tabs")
    assert {(row["name"], row["session"]) for row in listed["tabs"]} == {
        ("one", "work"), ("two", "work"), ("three", "other"),
    }  # fmt: skip
    assert {(one["name"], one["attached_client_count"]) for one in listed["sessions"]} == {("work", 1), ("other", 0)}


async def close_tab(tools: Tools, tab: str) -> None:
    for target in ("one", "two", "three", "other:1", "."):
        await tools.refuses("close_tab", window_id=target)
        await tools.refuses("close_tab", window_id=target, force=True)
    made = await tools("create_tab", name="ours")
    await tools("close_tab", window_id="ours")
    rows = (await tools("list_tabs", closed=True))["tabs"]
    assert [row["window_id"] for row in rows if row.get("closed")] == [made["window_id"]]


async def at_prompt(tools: Tools) -> None:
    while next(row for row in (await tools("list_tabs"))["tabs"] if row["name"] == "one")["state"] != "prompt":
        await anyio.sleep(0.02)


async def stop_process(tools: Tools, tab: str) -> None:
    await EVERY_TOOL["stop_process"](tools, tab)
    # What the person started is the person's.
    await tools("send_keys", window_id=tab, keys=["echo up again; cat", "Enter"])
    assert (await tools("wait_for", window_ids=[tab], until="\nup again", timeout_ms=20_000))["outcome"] == "met"
    for signal in ("SIGINT", "SIGKILL"):
        await tools.refuses("stop_process", window_id=tab, signal=signal)
    await tools("send_keys", window_id=tab, keys=["C-d"])
    await at_prompt(tools)
    assert (await tools("stop_process", window_id=tab))["success"]  # nothing runs: nothing is to be done


async def set_history_limit(tools: Tools, tab: str) -> None:
    await tools.refuses("set_history_limit", limit=7)


async def send_keys(tools: Tools, tab: str) -> None:
    await EVERY_TOOL["send_keys"](tools, tab)
    await at_prompt(tools)  # until then the shell reads by lines, and so long a line is refused
    await tools("send_keys", window_id=tab, keys=["x" * 40_000], paste=True)
    await tools("send_keys", window_id=tab, keys=["C-c"])
    await tools("wait_for", window_ids=[tab], idle_ms=300, timeout_ms=20_000)


async def show_terminal(tools: Tools, tab: str) -> None:
    assert (await tools("show_terminal", why="to look"))["attach"].startswith("tmux -S ")


async def run_tmux_operations(tools: Tools, tab: str) -> None:
    result = await tools("run_tmux_operations", operations=HARMLESS)
    assert result["succeeded"], result
    for step in CHANGING:
        for dry_run in (False, True):
            with pytest.raises(muxwire.InvalidArgument, match="a person's") as refused:
                await tools("run_tmux_operations", operations=[*HARMLESS, step], dry_run=dry_run)
            assert refused.value.remedy


CALLS: dict[str, Callable[[Tools, str], Awaitable[None]]] = EVERY_TOOL | named_after_tools(globals())


def test_every_kind_of_operation_is_harmless_or_refused() -> None:
    assert {step["kind"] for step in (*HARMLESS, *CHANGING)} == set(muxwire.operations.KINDS)


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
async def test_nothing_of_a_person_changes(person: Person, environ: dict[str, str], folder: Path, tool: str) -> None:
    used = {person.pane(USED)}
    await person.settled(used)
    if tool not in ELSEWHERE:
        await person.ring("other:three")
    before, alerts = person.everything(used), person.alerts("other")
    windows = set(person.ids("list-windows", "window_id"))
    panes = set(person.ids("list-panes", "pane_id"))
    ours = environ | {"DISPLAY": ":9"}  # CONFIG has tmux take it over from whoever attaches
    async with muxwire.open_terminals(socket=person.socket, environ=ours, state_dir=folder / "state") as adopted:
        assert adopted.role == "adopted"
        await CALLS[tool](Tools(adopted), "one")
        made = {*person.ids("list-windows", "window_id"), *person.ids("list-panes", "pane_id")} - windows - panes
        assert differences(theirs(before, made), theirs(person.everything(used), made)) == []
        assert tool in ELSEWHERE or person.alerts("other") == alerts
    assert differences(before, person.everything(used)) == []
    assert person.tmux("list-clients", "-F", CLIENTS).split() == ["0"]
