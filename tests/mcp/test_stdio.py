"""A server in a process of its own: nothing but JSON-RPC on stdout, and an orderly end whatever ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.mcp.child_client import ENDINGS, ChildClient, closing

ROOT = Path(__file__).parents[2]
SERVER = ("-m", "tests.mcp.fake_server")  # found from ROOT


class Process(ChildClient):
    """The raw client of a server without tmux, and what its library saw."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._events = folder / "events"
        argv = [sys.executable, *SERVER, self._events, *options]
        super().__init__(partial(subprocess.Popen[Any], argv, cwd=ROOT), folder / "stderr")

    @property
    def events(self) -> list[str]:
        return self._events.read_text().split() if self._events.exists() else []

    async def until(self, event: str) -> None:
        while event not in self.events:
            await anyio.sleep(0.005)


# Each ending where there is most to end; the signals have one handler, so one of them is enough before a call runs.
@pytest.mark.parametrize(
    ("moment", "ending"),
    [
        *(("mid_call", name) for name in ENDINGS if name != "SIGKILL"),
        *((moment, name) for moment in ("before", "idle") for name in ("eof", "closed_stdout", "SIGTERM")),
    ],
)
async def test_every_ending_is_orderly(tmp_path: Path, moment: str, ending: str) -> None:
    async with closing(Process(tmp_path)) as client:
        await client.initialize()
        if moment != "before":
            await client.call("list_tabs")
        if moment == "mid_call":
            arguments = {"window_id": "@1", "command": "forever"}
            await client.start("tools/call", {"name": "execute_command", "arguments": arguments})
            await client.until("began")
        ENDINGS[ending](client)
        assert await client.ended() == 0
    expected = {
        "before": [],
        "idle": ["opened", "leaves_running", "closed"],
        "mid_call": ["opened", "began", "leaves_running", "interrupted", "closed"],
    }
    assert client.events == [*expected[moment], "returned"]
    assert (tmp_path / "stderr").read_text() == ""


async def test_a_library_that_does_not_close_cannot_hold_up_the_end(tmp_path: Path) -> None:
    async with closing(Process(tmp_path, "--slow-close")) as client:
        await client.initialize()
        await client.call("list_tabs")
        client.child.send_signal(signal.SIGTERM)
        assert await client.ended() == 0
    assert "did not close" in (tmp_path / "stderr").read_text()


async def test_only_json_rpc_on_stdout_whatever_a_tool_does(tmp_path: Path) -> None:
    async with closing(Process(tmp_path)) as client:
        await client.initialize()
        result = await client.call("execute_command", window_id="@1", command="noise")
        assert result["structuredContent"]["exit_code"] == 0
        client.hang_up()
        assert await client.ended() == 0
        with pytest.raises(EOFError):
            await client.line()
    assert (tmp_path / "stderr").read_text() == "printed by a tool\nechoed by a child\n"


async def test_an_ignored_hangup_stays_ignored(tmp_path: Path) -> None:
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does for its child
    try:
        async with closing(Process(tmp_path)) as client:
            await client.initialize()
            client.child.send_signal(signal.SIGHUP)
            for _ in range(20):  # the first may overtake the signal
                assert (await client.request("ping"))["result"] == {}
            client.hang_up()
            assert await client.ended() == 0
    finally:
        signal.signal(signal.SIGHUP, previous)
