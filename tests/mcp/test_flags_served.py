"""`muxwire serve --read-only` and `--toolsets`, as a client meets them: what is not offered cannot be called either."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client, MCPError

from muxwire.mcp.tools import TOOLS
from tests.mcp.child_client import alone, call, served_in


@alone
async def test_a_reader_beside_a_worker(folder: Path) -> None:
    """Two servers on one named instance: one works, the other only looks, and sees what there is to see."""
    named = served_in(folder, "--name", "x"), served_in(folder, "--name", "x", "--read-only")
    async with Client(named[0]) as worker, Client(named[1]) as reader:
        window = (await call(worker, "create_tab", name="work"))["window_id"]
        offered = {tool.name for tool in (await reader.list_tools()).tools}
        for changing in {tool.name for tool in TOOLS} - offered:
            with pytest.raises(MCPError, match="Unknown tool"):
                await reader.call_tool(changing, {})
        assert not {tool.name for tool in TOOLS if not tool.hints.read_only} & offered
        assert [row["name"] for row in (await call(reader, "list_tabs"))["tabs"]] == ["work"]
        await call(worker, "execute_command", window_id="work", command="echo shown")
        assert "shown" in (await call(reader, "read_logs_from_tab", window_id=window))["content"]
