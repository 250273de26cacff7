"""`muxwire serve` with a real tmux: the loop of a session, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from muxwire.client.watchdog import process_table
from muxwire.mcp.lifespan import CLOSE_SECONDS
from muxwire.mcp.wire import EOF_GRACE_SECONDS
from tests.forked import start_muxwire
from tests.mcp import child_client
from tests.mcp.child_client import ENDINGS, ChildClient, alone
from tests.processes import gone

DEADLINE = 40
SERVE = (sys.executable, "-m", "muxwire", "serve")
# After so long clients kill a server whose stdin they have closed.
CLIENT_SECONDS = 2.0


def test_a_server_ends_before_its_client_kills_it() -> None:
    assert EOF_GRACE_SECONDS + CLOSE_SECONDS <= CLIENT_SECONDS


def environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return kept | {
        "HOME": str(home),
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "XDG_RUNTIME_DIR": str(folder),
        "TMPDIR": str(folder),
        "MUXWIRE_STATE_DIR": str(folder / "state"),
    }


class Served(ChildClient):
    """The raw client of `muxwire serve`, which is a fork of this process; `anew`: of a Python of its own."""

    def __init__(self, folder: Path, *options: str, anew: bool = False) -> None:
        environ = environment(folder)
        way = () if "--name" in options else child_client.WAY
        forked = partial(start_muxwire, ["serve", *way, *options], environ)
        start = partial(subprocess.Popen[Any], [*SERVE, *options], env=environ) if anew else forked
        super().__init__(start, folder / "stderr")

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call that succeeds."""
        result = await self.call(tool, **arguments)
        assert not result.get("isError"), result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return dict(result["structuredContent"])

    async def failure(self, tool: str, **arguments: Any) -> list[str]:
        """The two lines of a call that fails."""
        result = await self.call(tool, **arguments)
        assert result["isError"], result
        return str(result["content"][0]["text"]).split("\n")


@asynccontextmanager
async def serving(folder: Path, *options: str, anew: bool = False) -> AsyncIterator[Served]:
    client = Served(folder, *options, anew=anew)
    try:
        with anyio.fail_after(DEADLINE):
            await client.initialize()
            yield client
    finally:
        client.close()


async def test_a_session_by_raw_json_rpc(folder: Path) -> None:
    async with serving(folder) as client:
        tab = await client.done("create_tab", name="work", cwd="/")
        window = tab["window_id"]
        first = await client.done("execute_command", window_id=window, command="printf 'a\\nb'; cd /usr; false")
        assert (first["output"], first["exit_code"], first["cwd"]) == ("a\nb", 1, "/usr")
        second = await client.done("execute_command", window_id="work", command="pwd; echo é >&2")
        assert (second["output"], second["exit_code"], "state" in second) == ("/usr\né\n", 0, False)
        chunk = await client.done("stream_logs_from_tab", window_id=window)
        assert "/usr" in chunk["chunk"]
        assert (await client.done("read_logs_from_tab", window_id=window, grep="é", strip_ansi=True))["content"]
        listed = await client.done("list_tabs")
        assert [(row["window_id"], row["name"], "closed" in row) for row in listed["tabs"]] == [(window, "work", False)]

        assert await client.done("close_tab", window_id=window) == {"success": True}
        assert (await client.failure("execute_command", window_id=window, command="true"))[0].startswith("no_such")
        assert (await client.done("read_logs_from_tab", window_id=window))["returned_lines"] > 0


@alone
async def test_a_server_that_is_only_asked_starts_nothing(folder: Path) -> None:
    async with serving(folder) as client:
        before = {path for path in folder.rglob("*") if path.name != "stderr"}
        await client.request("tools/list")
        await client.failure("execute_command", comand="true")
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(client.child.pid)], capture_output=True, check=False
        )
        assert children.stdout.strip() == b""
        assert {path for path in folder.rglob("*") if path.name != "stderr"} == before == {folder / "home"}


# The other signals end it by the same handler, as test_stdio.py shows of each.
@pytest.mark.parametrize("ending", ["eof", "SIGTERM", "SIGKILL"])
@alone
async def test_what_a_named_instance_runs_outlives_the_server(folder: Path, ending: str) -> None:
    """The end of the server cancels its calls, which is no reason to interrupt their commands."""
    mark, gate = folder / "began", folder / "gate"
    command = f"touch {mark}; until [ -e {gate} ]; do sleep 0.02; done; echo whole; (exit 7)"
    async with serving(folder, "--name", "kept") as client:
        window = (await client.done("create_tab"))["window_id"]
        arguments = {"window_id": window, "command": command}
        await client.start("tools/call", {"name": "execute_command", "arguments": arguments})
        while not mark.exists():
            await anyio.sleep(0.01)
        ENDINGS[ending](client)
        await client.ended()
    async with serving(folder, "--name", "kept") as client:
        gate.touch()
        met = await client.done("wait_for", window_ids=[window], until="whole", from_byte=0)
        assert met["outcome"] == "met"
        said = await client.done("execute_command", window_id=window, command="echo next; echo $?")
        assert said["output"] == "next\n0\n"
        assert "^C" not in (await client.done("read_logs_from_tab", window_id=window))["content"]
        await client.done("close_tab", window_id=window, force=True)


@pytest.mark.parametrize("ending", ENDINGS)
@alone
async def test_no_process_outlives_the_server(folder: Path, ending: str) -> None:
    async with serving(folder, anew=True) as client:
        window = (await client.done("create_tab"))["window_id"]
        command = "trap '' INT TERM HUP; sleep 1000 & echo $$ $! $(cut -d' ' -f4 /proc/$PPID/stat)"
        told = await client.done("execute_command", window_id=window, command=command)
        pids = [int(pid) for pid in told["output"].splitlines()[-1].split()]
        assert len(pids) == 3
        assert process_table().keys() >= set(pids)
        pids.append(client.child.pid)
        arguments = {"window_id": window, "command": "sleep 999", "timeout_ms": 600_000}
        await client.start("tools/call", {"name": "execute_command", "arguments": arguments})
        ENDINGS[ending](client)
        status = await anyio.to_thread.run_sync(client.child.wait, abandon_on_cancel=True)
        await gone(pids)
        assert status == (-signal.SIGKILL if ending == "SIGKILL" else 0)
    assert "Traceback" not in (folder / "stderr").read_text()
