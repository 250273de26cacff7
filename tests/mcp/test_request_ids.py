"""Whoever asks is answered, whatever he calls his request; the connection goes on."""

from __future__ import annotations

import json

import pytest
from mcp import types

from muxwire.mcp import messages
from tests.mcp.test_wire import serving


@pytest.mark.parametrize("method", ["ping", "tools/call", "notifications/initialized", "no/such"])
@pytest.mark.parametrize("request_id", ["null", "1.5", "1.0", "{}", "[]", "[1]", "true", "1e3"])
async def test_an_id_that_is_neither_a_string_nor_an_integer_is_refused(request_id: str, method: str) -> None:
    async with serving() as client:
        await client.initialize()
        await client.write(f'{{"jsonrpc":"2.0","id":{request_id},"method":"{method}"}}\n'.encode())
        answer = await client.receive()
        assert (answer["error"]["code"], answer["id"]) == (types.INVALID_REQUEST, None)
        assert "string or an integer" in answer["error"]["message"]
        assert (await client.request("ping"))["result"] == {}


@pytest.mark.parametrize("escaped", [rb'"\ud800"', rb'"a\udfffb"', b'"\xed\xa0\x80"'])
async def test_an_id_that_cannot_be_said_back_is_refused(escaped: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as client:
        await client.initialize()
        await client.write(b'{"jsonrpc":"2.0","id":' + escaped + b',"method":"ping"}\n')
        answer = await client.receive()
        assert (answer["error"]["code"], answer["id"]) == (types.PARSE_ERROR, None)
        assert (await client.request("ping"))["result"] == {}
    assert not caplog.records


async def test_text_that_cannot_be_read_is_refused_by_its_id() -> None:
    async with serving() as client:
        await client.initialize()
        await client.write(rb'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud800"}}' + b"\n")
        answer = await client.receive()
        assert (answer["error"]["code"], answer["id"]) == (types.PARSE_ERROR, 7)
        assert "line 1 column 71" in answer["error"]["message"]


@pytest.mark.parametrize("request_id", [0, -1, 10**30, "", "1", "\x00", "é\n", "\U0001f600"])
async def test_every_string_and_integer_is_an_id(request_id: int | str) -> None:
    async with serving() as client:
        await client.initialize()
        await client.send({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
        assert (await client.receive()) == {"jsonrpc": "2.0", "id": request_id, "result": {}}


def test_an_error_that_cannot_be_encoded_is_answered_by_another() -> None:
    error = types.ErrorData(code=types.INVALID_PARAMS, message="no file \udcff")
    said, _end = messages._encoded(types.JSONRPCError(jsonrpc="2.0", id=3, error=error))
    assert isinstance(said, bytes)
    answer = json.loads(said)
    assert (answer["id"], answer["error"]["code"]) == (3, types.INTERNAL_ERROR)


async def test_a_notification_is_not_answered_because_it_speaks_of_an_id() -> None:
    async with serving() as client:
        await client.initialize()
        await client.write(json.dumps({"jsonrpc": "2.0", "method": "no/such", "params": {"id": None}}).encode() + b"\n")
        assert (await client.request("ping"))["result"] == {}
