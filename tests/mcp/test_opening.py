"""When the library is opened and closed: at the first call, with the server, and again after a failure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

import anyio
import pytest
from mcp import Client

from muxwire.mcp.lifespan import LazyTerminals
from tests.mcp.fake_terminals import Opener
from tests.mcp.in_memory import build_server
from tests.mcp.test_calls import text_of


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


async def test_a_close_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muxwire.mcp.lifespan.CLOSE_SECONDS", 0.05)
    events: list[str] = []
    async with Client(build_server(Opener(events.append, slow_close=True))) as client:
        await client.call_tool("list_tabs", {})
    assert events == ["opened"]


async def test_a_library_that_fails_is_opened_again(caplog: pytest.LogCaptureFixture) -> None:
    events: list[str] = []
    opener = Opener(events.append)

    async def fail() -> None:
        raise OSError("the reader died")

    @asynccontextmanager
    async def failing_once() -> AsyncIterator[Any]:
        async with anyio.create_task_group() as tasks, opener() as terminals:
            if events == ["opened"]:
                tasks.start_soon(fail)
            yield terminals

    async with Client(build_server(failing_once)) as client:
        while events.count("opened") < 2:
            await client.call_tool("list_tabs", {})
    assert events == ["opened", "closed", "opened", "closed"]
    assert "the terminals ended unexpectedly" in caplog.text


async def test_after_the_end_nothing_is_opened() -> None:
    terminals = LazyTerminals(Opener(print))
    await terminals.aclose()
    with pytest.raises(Exception, match="shutting down"):
        await terminals.get()


async def test_who_is_cancelled_while_it_opens_leaves_that_to_the_next_call() -> None:
    events: list[str] = []
    opener, go_on = Opener(events.append), anyio.Event()

    @asynccontextmanager
    async def slowly() -> AsyncIterator[Any]:
        events.append("asked")
        await go_on.wait()
        async with opener() as terminals:
            yield terminals

    async def call(scope: anyio.CancelScope) -> None:
        with scope:
            assert await lazy.get() is cast("object", opener.terminals)

    first, second = anyio.CancelScope(), anyio.CancelScope()
    async with aclosing(LazyTerminals(slowly)) as lazy, anyio.create_task_group() as calls:
        calls.start_soon(call, first)
        calls.start_soon(call, second)
        await anyio.wait_all_tasks_blocked()
        first.cancel()
        await anyio.wait_all_tasks_blocked()
        go_on.set()
    assert (first.cancelled_caught, second.cancelled_caught) == (True, False)
    assert events == ["asked", "asked", "opened", "closed"]


async def test_who_waits_for_an_opening_opens_nothing_after_an_end() -> None:
    """A client that asked for the list of resources, after the instance had ended: a new one was opened by that."""
    events: list[str] = []
    opener, ends, found = Opener(events.append), anyio.Event(), anyio.Event()

    @asynccontextmanager
    async def until_it_ends() -> AsyncIterator[Any]:
        async def end() -> None:
            await ends.wait()
            raise OSError("the reader died")

        async with anyio.create_task_group() as tasks, opener() as terminals:
            if events == ["opened"]:
                tasks.start_soon(end)
            yield terminals

    async def wait() -> None:
        assert await lazy.when_opened() is cast("object", opener.terminals)
        found.set()

    async with aclosing(LazyTerminals(until_it_ends)) as lazy, anyio.create_task_group() as tasks:
        await lazy.get()
        ends.set()
        while lazy.opened is not None:
            await anyio.wait_all_tasks_blocked()
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert (events, found.is_set()) == (["opened", "closed"], False)
        await lazy.get()
        await found.wait()
    assert events == ["opened", "closed", "opened", "closed"]
