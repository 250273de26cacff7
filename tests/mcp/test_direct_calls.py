"""Calls that go from the wire to the tool: answered as the SDK answers them, or left to it."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from typing import Any

import anyio
import pytest

from muxwire.mcp import calls, conversation
from muxwire.mcp.conversation import Conversation
from muxwire.mcp.wire import WireWriter
from tests.mcp.raw_client import READ_BYTES, envelope
from tests.mcp.test_wire import FOREVER, serving

pytestmark = pytest.mark.anyio

# Multiples of the size of a result that are in memory, itself and parts of its JSON, until it is written.
PEAK = 1.5
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def execute(command: str, **more: object) -> dict[str, Any]:
    return {"name": "execute_command", "arguments": {"window_id": "@1", "command": command}, **more}


CALLS: dict[str, dict[str, Any]] = {
    "a result": execute("echo"),
    "text that is escaped": execute('é " \\ \x00 \u2028 \U0001f600'),
    "an output that is no UTF-8": execute("surrogate"),
    "a large output": execute("big 100000"),
    "a large output that is escaped": execute('é " \\ \x00 \u2028 \U0001f600' * 50_000),
    "a large output that is no UTF-8": execute("surrogate 100000"),
    "no arguments": {"name": "list_tabs"},
    "empty arguments": {"name": "list_tabs", "arguments": {}},
    "arguments that are null": {"name": "list_tabs", "arguments": None},
    "arguments that are a list": {"name": "list_tabs", "arguments": []},
    "an unknown argument": {"name": "list_tabs", "arguments": {"colour": 1}},
    "a missing argument": {"name": "execute_command", "arguments": {}},
    "a wrong type": {"name": "execute_command", "arguments": {"command": 7}},
    "an unknown tool": {"name": "no_such_tool", "arguments": {}},
    "no name": {"arguments": {}},
    "a name that is no text": {"name": 3},
    "an unknown key": execute("echo", colour="red"),
    "meta of a client": execute("echo", _meta={"claudecode/toolUseId": "toolu_1"}),
    "meta that is null": execute("echo", _meta=None),
    "a token of no type": execute("echo", _meta={"progressToken": [1]}),
    "a related task": execute("echo", _meta={"io.modelcontextprotocol/related-task": {"taskId": "x"}}),
    "a refusal": execute("busy"),
    "a defect": execute("crash"),
    "an error in a group": execute("grouped"),
}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_answer_is_the_same_as_through_the_sdk(revision: str) -> None:
    answers: list[list[dict[str, Any]]] = []
    for direct in (True, False):
        async with serving(direct=direct) as client:
            await client.initialize(revision)
            answers.append([await client.request("tools/call", params) for params in CALLS.values()])
    for name, ours, sdk in zip(CALLS, *answers, strict=True):
        assert ours == sdk, name


@pytest.mark.parametrize(
    ("params", "direct"),
    [
        (CALLS["a result"], True),
        (CALLS["no arguments"], True),
        (CALLS["meta of a client"], True),
        (execute("echo", _meta={"progressToken": 7}), True),
        (CALLS["a missing argument"], True),
        (CALLS["an unknown tool"], False),
        (CALLS["a related task"], False),
        (CALLS["a token of no type"], False),
        (execute("echo", _meta=envelope()), False),
    ],
)
async def test_which_calls_go_directly(params: dict[str, Any], direct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[bool] = []

    def take(self: Conversation, line: bytes, writer: WireWriter) -> bool:
        took = original(self, line, writer)
        if b"tools/call" in line:
            taken.append(took)
        return took

    original = Conversation.take
    monkeypatch.setattr(Conversation, "take", take)
    async with serving() as client:
        await client.initialize()
        await client.request("tools/call", params)
    assert taken == [direct]


async def test_no_call_is_taken_before_initialize() -> None:
    async with serving() as client:
        answer = await client.request("tools/call", {"name": "list_tabs", "arguments": {}})
        assert "error" in answer
        await client.initialize()
        assert not (await client.call("list_tabs")).get("isError")
    assert client.events == ["opened", "closed"]


@pytest.mark.parametrize("request_id", [0, -1, 10**30, "", "1", "\x00", "é\n", "\U0001f600"])
async def test_every_string_and_integer_is_an_id(request_id: int | str) -> None:
    async with serving() as client:
        await client.initialize()
        params = {"name": "list_tabs", "arguments": {}}
        await client.send({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})
        assert (await client.receive())["id"] == request_id


@pytest.mark.parametrize("given", ["7", 7])
@pytest.mark.parametrize("named", ["7", 7])
async def test_a_call_is_cancelled_by_its_id_as_a_number_or_a_text(given: int | str, named: int | str) -> None:
    async with serving() as client:
        await client.initialize()
        params = {"name": "execute_command", "arguments": FOREVER}
        await client.send({"jsonrpc": "2.0", "id": given, "method": "tools/call", "params": params})
        await client.until("began")
        await client.notify("notifications/cancelled", {"requestId": named})
        await client.until("interrupted")
        with anyio.fail_after(20):
            assert (await client.request("ping"))["result"] == {}


async def test_one_task_does_the_calls_that_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """To start a task takes longer than to read a call; one that was cancelled ends none."""
    tasks: list[object] = []

    async def call(self: calls.DirectCalls, *given: Any) -> None:
        tasks.append(asyncio.current_task())
        await original(self, *given)

    original = calls.DirectCalls._call
    monkeypatch.setattr(calls.DirectCalls, "_call", call)
    async with serving() as client:
        await client.initialize()
        await client.call("list_tabs")
        await anyio.wait_all_tasks_blocked()
        params = {"name": "execute_command", "arguments": FOREVER}
        await client.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": params})
        await client.until("began")
        await client.call("list_tabs")  # meanwhile another task does it, and waits for the next
        await client.notify("notifications/cancelled", {"requestId": "long"})
        await client.until("interrupted")
        for _ in range(2):
            await anyio.wait_all_tasks_blocked()
            await client.call("list_tabs")
    first, long, meanwhile, *later = tasks
    assert long is first
    assert meanwhile is not first
    assert later == [meanwhile, meanwhile]


async def test_a_large_result_is_held_once_until_it_is_written() -> None:
    size = 1 << 22
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    writer = WireWriter(writing, asyncio.get_running_loop())
    tracemalloc.start()
    try:
        result = {"output": "x" * size}
        writer.answer(1, *calls._member(result, conversation._legacy_result))
        del result
        written = 0
        while writer.congested:
            await anyio.wait_readable(reading)
            written += len(os.read(reading, READ_BYTES))
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        writer.close()
        os.close(reading)
        os.close(writing)
    assert written > size
    assert held < size
    assert peak < PEAK * size
