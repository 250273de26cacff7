"""`muxwire serve` with a real tmux: the loop of a session, and nothing left behind."""

from __future__ import annotations

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
from tests.forked import start_muxwire
from tests.mcp import child_client
from tests.mcp.child_client import ENDINGS, ChildClient, alone, closing, environ_in
from tests.processes import appeared, children_of, gone

SERVE = (sys.executable, "-m", "muxwire", "serve")


class Served(ChildClient):
    """The raw client of `muxwire serve`, which is a fork of this process; `anew`: of a Python of its own."""

    def __init__(self, folder: Path, *options: str, anew: bool = False) -> None:
        environ = environ_in(folder)
        way = () if "--name" in options else child_client.WAY
        forked = partial(start_muxwire, ["serve", *way, *options], environ)
        start = partial(subprocess.Popen[Any], [*SERVE, *options], env=environ) if anew else forked
        super().__init__(start, folder / "stderr")


@asynccontextmanager
async def serving(folder: Path, *options: str, anew: bool = False) -> AsyncIterator[Served]:
    async with closing(Served(folder, *options, anew=anew)) as client:
        await client.initialize()
        yield client


@alone
async def test_a_server_that_is_only_asked_starts_nothing(folder: Path) -> None:
    async with serving(folder) as client:
        before = {path for path in folder.rglob("*") if path.name != "stderr"}
        await client.request("tools/list")
        await client.call("execute_command", comand="true")
        assert children_of(client.child.pid) == set()
        assert {path for path in folder.rglob("*") if path.name != "stderr"} == before


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
        await appeared(mark)
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
