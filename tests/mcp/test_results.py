"""What a client is given of a call, small or large, in every revision; and how it takes the call back."""

from __future__ import annotations

import asyncio
import json
import os
import tracemalloc
from typing import Any

import anyio
import pytest
from mcp import types
from mcp.shared.message import SessionMessage

from muxwire.mcp.messages import Answers
from muxwire.mcp.tasks import succeeded
from muxwire.mcp.wire import WireWriter
from tests.mcp.raw_client import READ_BYTES, envelope
from tests.mcp.test_wire import HANDSHAKES, serving

# Multiples of the size of a result that are in memory, itself and parts of its JSON, until it is written.
PEAK = 1.5
COMMANDS = {
    "a result": "echo",
    "text that is escaped": 'é " \\ \x00 \u2028 \U0001f600',
    "an output that is no UTF-8": "surrogate",
    "a large output": "big 100000",
    "a large output that is escaped": 'é " \\ \x00 \u2028 \U0001f600' * 50_000,
    "a large output that is no UTF-8": "surrogate 300000",
}


@pytest.mark.parametrize("revision", [*HANDSHAKES, "modern"])
async def test_a_result_is_said_twice_and_alike(revision: str) -> None:
    async with serving() as client:
        meta = {"_meta": envelope()} if revision == "modern" else {}
        if not meta:
            await client.initialize(revision)
        for name, command in COMMANDS.items():
            params = {"name": "execute_command", "arguments": {"window_id": "@1", "command": command}}
            result = (await client.request("tools/call", params | meta))["result"]
            [block] = result["content"]
            assert (block["type"], result["isError"], result.get("resultType")) == (
                ("text", False, "complete" if meta else None)
            ), name
            assert json.loads(block["text"]) == result["structuredContent"], name
            assert ("_meta" in result) == bool(meta)
        assert result["structuredContent"]["output"] == "caf\ufffd" * 300_000


async def test_a_large_result_is_held_once_until_it_is_written() -> None:
    size = 1 << 22
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    writer = WireWriter(writing, asyncio.get_running_loop())
    tracemalloc.start()
    try:
        made = succeeded({"output": "x" * size}, later=True)
        result: dict[str, Any] = made.model_dump(by_alias=True, mode="json", exclude_none=True)
        message = SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=1, result=result))
        del made, result
        written = 0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Answers(writer).send, message)
            del message
            await anyio.wait_all_tasks_blocked()
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
