"""What a client is given of a call, small or large, in every revision; and how it takes the call back."""

from __future__ import annotations

import json

import pytest

from tests.mcp.raw_client import envelope
from tests.mcp.test_wire import HANDSHAKES, serving

COMMANDS = {
    "a result": "echo",
    "text that is escaped": 'é " \\ \x00 \u2028 \U0001f600',
    "an output that is no UTF-8": "surrogate",
    "an output with half of a pair": "half",
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
