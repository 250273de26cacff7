"""Every MCP tool, and every kind of operation, with a tab of another machine: over a prefix of words, and over ssh."""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

import muxwire
from muxwire.mcp.tools import TOOLS
from tests.deadline import DEADLINE
from tests.every_tool import EVERY_TOOL
from tests.far.hosts import user_of
from tests.sshd import ssh_server
from tests.tools import Tools, named_after_tools


@pytest.fixture(scope="module", params=["prefix", "ssh"])
async def tools(
    request: pytest.FixtureRequest, environ: dict[str, str], folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Tools]:
    """The tools of an instance with a tab of this machine, so that no name means another one by chance."""
    with ExitStack() as servers:
        if request.param == "ssh":
            options = servers.enter_context(ssh_server(tmp_path_factory.mktemp("ssh")))
            words = ["ssh", "-o", "BatchMode=yes", *options, f"{getpass.getuser()}@127.0.0.1"]
            environ = user_of(environ, folder / "ssh.toml", box={"via": words})
        async with muxwire.open_terminals(state_dir=folder / request.param, environ=environ) as opened:
            for name in ("here", "here too"):
                await opened.create_tab(name=name)
            yield Tools(opened)


@pytest.fixture
async def tab(tools: Tools) -> AsyncIterator[str]:
    with anyio.fail_after(DEADLINE):
        made = await tools("create_tab", host="box", shell="bash", name="far")
        assert made["window_id"].startswith("box/@"), made
        yield str(made["window_id"])
        rows = (await tools("list_tabs"))["tabs"]
        for row in rows:
            if row.get("host") == "box" and row["window_id"].startswith("box/@"):
                await tools("close_tab", window_id=row["window_id"], force=True)


async def create_tab(tools: Tools, tab: str) -> None:
    made = await tools("create_tab", host="box", command=["cat"], size=[70, 20], cwd="/", env={"A": "b"})
    assert (made["window_id"][:5], made["window_id"] != tab) == ("box/@", True)


async def list_tabs(tools: Tools, tab: str) -> None:
    await tools("execute_command", window_id=tab, command="true")
    rows = {row["window_id"]: row for row in (await tools("list_tabs"))["tabs"]}
    assert (rows[tab]["host"], rows[tab]["link"], rows[tab]["state"]) == ("box", "up", "prompt")
    assert rows[tab]["rtt_ms"] > 0
    again = await tools("execute_command", window_id=rows[tab]["pane_id"], command="echo $TMUX_PANE")
    assert f"box/{again['output'].strip()}" == rows[tab]["pane_id"]
    assert [row["name"] for row in rows.values() if "host" not in row] == ["here", "here too"]


async def close_tab(tools: Tools, tab: str) -> None:
    await tools("close_tab", window_id=tab)
    rows = (await tools("list_tabs", closed=True))["tabs"]
    assert [row["closed"] for row in rows if row["window_id"] == tab] == [True]


async def set_history_limit(tools: Tools, tab: str) -> None:
    assert (await tools("set_history_limit", limit=5000))["success"]


async def snapshot(tools: Tools, tab: str) -> None:
    await EVERY_TOOL["snapshot"](tools, tab)
    assert (await tools("snapshot", window_id=tab))["pane"].startswith("box/%")


async def show_terminal(tools: Tools, tab: str) -> None:
    shown = await tools("show_terminal", window_id=tab, why="to look")
    assert "muxwire attach --name " in shown["attach"]
    assert shown["attach"].endswith(f" -t {tab}")


# Each kind of operation, in an order in which each can be done; {tab} is the tab.
STEPS: list[dict[str, Any]] = [
    {"kind": "new_window", "ref": "w", "name": "second", "cwd": "/", "env": ["A=b"]},
    {"kind": "rename_window", "target": "{tab}", "name": "renamed"},
    {"kind": "split_pane", "target": "{tab}", "ref": "s", "horizontal": True, "command": ["cat"]},
    {"kind": "send_keys", "target": "ref:s", "keys": "typed"},
    {"kind": "wait_for", "target": "ref:s", "until": "typed"},
    {"kind": "split_pane", "target": "{tab}", "ref": "t"},
    {"kind": "execute", "target": "ref:t", "command": "pwd"},
    {"kind": "resize_pane", "target": "{tab}", "height": 10},
    {"kind": "select_pane", "target": "ref:s"},
    {"kind": "swap_pane", "target": "ref:s", "with": "{tab}"},
    {"kind": "select_layout", "target": "{tab}", "layout": "tiled"},
    {"kind": "break_pane", "target": "ref:t", "name": "alone"},
    {"kind": "join_pane", "target": "ref:t", "into": "ref:w"},
    {"kind": "split_evenly", "target": "ref:w", "count": 2, "refs": ["e"]},
    {"kind": "make_grid", "target": "ref:e", "rows": 1, "cols": 2, "refs": ["g"]},
    {"kind": "set_option", "option": "@mine", "value": "1", "target": "{tab}", "scope": "pane"},
    {"kind": "show_option", "option": "@mine", "target": "{tab}", "scope": "pane"},
    {"kind": "display_message", "target": "ref:w", "format": "#{window_name}"},
    {"kind": "capture_pane", "target": "ref:s"},
    {"kind": "kill_pane", "target": "ref:t"},
]


async def run_tmux_operations(tools: Tools, tab: str) -> None:
    moved = await tools("execute_command", window_id=tab, command="cd /usr")
    assert moved["cwd"] == "/usr"
    steps = [{name: tab if value == "{tab}" else value for name, value in step.items()} for step in STEPS]
    planned = await tools("run_tmux_operations", operations=steps, dry_run=True)
    assert {step["status"] for step in planned["steps"]} == {"planned"}, planned
    done = await tools("run_tmux_operations", operations=steps)
    assert done["succeeded"], done
    by_kind = {step["kind"]: step for step in done["steps"]}
    assert by_kind["execute"]["output"] == "/usr\n"  # in the directory of the tab beside it
    assert (by_kind["show_option"]["stdout"], by_kind["display_message"]["stdout"]) == ("1", "second")
    assert by_kind["capture_pane"]["lines"][0] == "typed"
    assert by_kind["new_window"]["created_window_id"].startswith("box/@")
    # What was made goes by these ids in every tool.
    told = await tools("execute_command", window_id=done["created_panes"]["g"], command="echo $TMUX_PANE")
    assert f"box/{told['output'].strip()}" == done["created_panes"]["g"]
    row = next(row for row in (await tools("list_tabs"))["tabs"] if row["window_id"] == tab)
    assert row["name"] == "renamed"


CALLS: dict[str, Callable[[Tools, str], Awaitable[None]]] = EVERY_TOOL | named_after_tools(globals())


def test_every_kind_of_operation_is_among_the_steps() -> None:
    assert {step["kind"] for step in STEPS} == set(muxwire.operations.KINDS)


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
async def test_it_works_there(tools: Tools, tab: str, tool: str) -> None:
    await CALLS[tool](tools, tab)
