"""Other machines through the MCP server and the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from tests.forked import run_muxwire

if TYPE_CHECKING:
    from pathlib import Path

DEADLINE = 60


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    [block] = result.content
    assert isinstance(block, TextContent)
    if result.is_error:
        return {"error": block.text}
    told: dict[str, Any] = json.loads(block.text)
    return told


async def test_an_agent_works_there_with_the_same_tools(environ: dict[str, str], folder: Path) -> None:
    env = environ | {"MUXWIRE_STATE_DIR": str(folder / "state")}
    server = StdioServerParameters(command=sys.executable, args=["-m", "muxwire", "serve"], env=env)
    async with Client(server) as client:
        made = await call(client, "create_tab", host="box", name="there")
        assert made["window_id"] == "box/@1", made
        ran = await call(client, "execute_command", command="echo hi; false")
        assert (ran["output"], ran["exit_code"]) == ("hi\n", 1), ran
        named = await call(client, "execute_command", window_id="box/@1", command="echo again")
        assert named["output"] == "again\n", named
        [row] = (await call(client, "list_tabs"))["tabs"]
        assert (row["window_id"], row["host"], row["link"]) == ("box/@1", "box", "up")
        shown = await call(client, "read_logs_from_tab", window_id="box/@1", strip_ansi=True)
        assert "again" in shown["content"]
        refused = await call(client, "create_tab", host="elsewhere")
        assert "not_allowed" in refused["error"]
        assert "hosts.toml" in refused["error"]
        begun = await call(client, "send_keys", window_id="box/@1", keys=["sleep 100", "Enter"])
        assert begun["next_byte"], begun
        stopped = await call(client, "stop_process", window_id="box/@1")
        assert stopped["success"], stopped
        await call(client, "close_tab", window_id="box/@1", force=True)
        assert (await call(client, "list_tabs"))["tabs"] == []


def muxwire(environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return run_muxwire(words, environ, DEADLINE)


def test_run_mirrors_a_command_there(environ: dict[str, str]) -> None:
    done = muxwire(environ, "run", "--host", "box", "echo hi; (exit 3)")
    assert (done.stdout, done.returncode) == ("hi\n", 3), done
    refused = muxwire(environ, "run", "--host", "elsewhere", "true")
    assert refused.returncode == 126, refused
    assert "not_allowed" in refused.stderr


def test_the_doctor_says_whether_a_host_can_be_used(environ: dict[str, str]) -> None:
    well = muxwire(environ, "doctor", "--host", "box", "--json")
    assert well.returncode == 0, well
    [finding] = json.loads(well.stdout)["findings"]
    assert (finding["check"], finding["level"]) == ("host box", "ok")
    ill = muxwire(environ, "doctor", "--host", "elsewhere")
    assert ill.returncode == 1, ill
    assert "not_allowed" in ill.stdout
    assert "->" in ill.stdout
