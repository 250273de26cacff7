"""Programs driven through MCP alone, as a model would: type, wait, look. No sleep anywhere."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.mcp.child_client import call, forked_in

DEADLINE = 60


class Model:
    """One tab, and the calls that a model makes."""

    def __init__(self, client: Client, window: str) -> None:
        self.client = client
        self.window = window

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await call(self.client, tool, **arguments)

    async def type(self, *keys: str, **options: Any) -> int:
        sent = await self.call("send_keys", window_id=self.window, keys=list(keys), **options)
        return int(sent["next_byte"])

    async def see(self, **wanted: Any) -> dict[str, Any]:
        met = await self.call("wait_for", window_ids=[self.window], timeout_ms=20_000, **wanted)
        assert met["outcome"] == "met", met
        return met

    async def look(self, **options: Any) -> dict[str, Any]:
        return await self.call("snapshot", window_id=self.window, **options)

    async def run(self, command: str, **options: Any) -> dict[str, Any]:
        return await self.call("execute_command", window_id=self.window, command=command, **options)


@asynccontextmanager
async def model_in(folder: Path) -> AsyncIterator[Model]:
    with anyio.fail_after(DEADLINE):
        async with Client(forked_in(folder)) as client:
            yield Model(client, (await call(client, "create_tab", size=[80, 24], cwd=str(folder)))["window_id"])


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
async def test_an_editor(folder: Path) -> None:
    async with model_in(folder) as model:
        await model.see(prompt=True)
        typed = await model.type("vim -n -u NONE -N -i NONE --cmd 'set ttimeout ttimeoutlen=20' notes.txt", "Enter")
        await model.see(until="notes.txt", from_byte=typed)
        await model.see(idle_ms=200)
        assert (await model.look())["alternate_screen"]
        await model.type("i", "first line\nsecond é 終", "Escape")
        cursor = {"x": 9, "y": 1}
        screen = await model.look()
        while (screen["lines"][:3], screen["cursor"]) != (["first line", "second é 終", "~"], cursor):
            await model.see(idle_ms=50)
            screen = await model.look()
        typed = await model.type(":wq", "Enter")
        await model.see(prompt=True, from_byte=typed)
        assert (await model.run("cat notes.txt"))["output"] == "first line\nsecond é 終\n"
        assert "alternate_screen" not in await model.look()
        past = await model.call("snapshot", window_id=model.window, at_byte=screen["next_byte"])
        assert (past["lines"], past["cursor"], past["source"]) == (screen["lines"], screen["cursor"], "replay")
        ended = await model.run("echo shown")
        past = await model.call("snapshot", command_id=ended["command_id"])
        assert (past["lines"][-1], past["source"]) == ("shown", "replay")
