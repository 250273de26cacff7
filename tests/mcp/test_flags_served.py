"""`muxwire serve --read-only` and `--toolsets`, as a client meets them: what is not offered cannot be called either."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError

from muxwire.mcp.tools import TOOLS
from tests.mcp.child_client import alone, call, forked_in
from tests.users import environ_of

DEADLINE = 60


def environ(folder: Path) -> dict[str, str]:
    return environ_of(folder / "home", runtime=folder) | {"MUXWIRE_STATE_DIR": str(folder / "state")}


@asynccontextmanager
async def served(folder: Path, *flags: str) -> AsyncIterator[Client]:
    with anyio.fail_after(DEADLINE):
        async with Client(forked_in(folder, *flags)) as client:
            yield client


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@alone
async def test_a_reader_beside_a_worker(folder: Path) -> None:
    """Two servers on one named instance: one works, the other only looks, and sees what there is to see."""
    async with served(folder, "--name", "x") as worker, served(folder, "--name", "x", "--read-only") as reader:
        tab = await call(worker, "create_tab", name="work")
        window = tab["window_id"]
        try:
            for changing in {tool.name for tool in TOOLS} - await names(reader):
                with pytest.raises(MCPError, match="Unknown tool"):
                    await reader.call_tool(changing, {})
            assert not {tool.name for tool in TOOLS if not tool.hints.read_only} & await names(reader)
            assert [row["name"] for row in (await call(reader, "list_tabs"))["tabs"]] == ["work"]
            ran = await call(worker, "execute_command", window_id="work", command="echo shown; false")
            assert ran["exit_code"] == 1
            met = await call(reader, "wait_for", window_ids=[window], until="shown", from_byte=0)
            assert met["outcome"] == "met"
            assert "shown" in (await call(reader, "read_logs_from_tab", window_id=window))["content"]
            assert any("shown" in line for line in (await call(reader, "snapshot", window_id=window))["lines"])
        finally:
            await call(worker, "close_tab", window_id=window, force=True)
            subprocess.run(["tmux", "-S", str(next((folder / "muxwire").glob("*x*.sock"))), "kill-server"], check=False)


async def test_unused_tabs_are_closed(folder: Path) -> None:
    async with served(folder, "--close-idle", "1s") as client:
        short = (await call(client, "create_tab"))["window_id"]
        long = (await call(client, "create_tab", idle_timeout_ms=3_600_000))["window_id"]
        batch = await call(client, "watch_events", kinds=["tab_closed"], since=0)
        assert [event["window_id"] for event in batch["events"]] == [short]
        rows = {row["window_id"]: row.get("reason") for row in (await call(client, "list_tabs", closed=True))["tabs"]}
        assert rows == {short: "it was not used for 1 s", long: None}
    wrong = subprocess.run(
        [sys.executable, "-m", "muxwire", "serve", "--close-idle", "0m"],
        env=environ(folder), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert (wrong.returncode, "not '0m'" in wrong.stderr) == (2, True)


async def test_toolsets(folder: Path) -> None:
    async with served(folder, "--toolsets", "core, scripts") as client:
        assert await names(client) == {tool.name for tool in TOOLS if tool.toolset in ("core", "scripts")}
    wrong = subprocess.run(
        [sys.executable, "-m", "muxwire", "serve", "--toolsets", "core,moon"],
        env=environ(folder), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert wrong.returncode == 2, wrong
    assert "unknown toolset: 'moon'" in wrong.stderr
    assert "core, screen, scripts, ops" in wrong.stderr
    assert "Traceback" not in wrong.stderr
