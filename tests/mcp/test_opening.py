"""When the library is opened and closed: at the first call, with the server, and again after a failure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import AsyncMock

import anyio
import pytest
from mcp import Client

from tests.mcp.fake_terminals import Opener
from tests.mcp.in_memory import build_server, text_of


async def test_nothing_is_opened_before_a_call_and_all_is_closed_after() -> None:
    events: list[str] = []
    async with Client(build_server(Opener(events.append))) as client:
        await client.list_tools()
        assert events == []
        await client.call_tool("list_tabs", {})
        await client.call_tool("list_tabs", {})
    assert events == ["opened", "closed"]


async def test_a_failed_opening_is_told_and_tried_again() -> None:
    events: list[str] = []
    async with Client(build_server(Opener(events.append, refuse=1))) as client:
        first = await client.call_tool("list_tabs", {})
        assert text_of(first).startswith("instance_unavailable: the state folder cannot be written\n")
        assert not (await client.call_tool("list_tabs", {})).is_error
    assert events == ["opened", "closed"]


async def test_a_library_that_fails_is_opened_again(caplog: pytest.LogCaptureFixture) -> None:
    events: list[str] = []
    opener = Opener(events.append)

    @asynccontextmanager
    async def failing_once() -> AsyncIterator[Any]:
        async with anyio.create_task_group() as tasks, opener() as terminals:
            if events == ["opened"]:
                tasks.start_soon(AsyncMock(side_effect=OSError("the reader died")))
            yield terminals

    async with Client(build_server(failing_once)) as client:
        while events.count("opened") < 2:
            await client.call_tool("list_tabs", {})
    assert events == ["opened", "closed", "opened", "closed"]
    assert "the terminals ended unexpectedly" in caplog.text
