"""Whoever asks is answered, whatever he calls his request; the connection goes on."""

from __future__ import annotations

import pytest
from mcp import types

from tests.mcp.test_wire import greeted


@pytest.mark.parametrize("method", ["ping", "tools/call", "notifications/initialized", "no/such"])
@pytest.mark.parametrize("request_id", ["null", "1.5", "1.0", "{}", "[]", "[1]", "true", "1e3"])
async def test_an_id_that_is_neither_a_string_nor_an_integer_is_refused(request_id: str, method: str) -> None:
    async with greeted() as client:
        await client.write(f'{{"jsonrpc":"2.0","id":{request_id},"method":"{method}"}}\n'.encode())
        answer = await client.receive()
        assert (answer["error"]["code"], answer["id"]) == (types.INVALID_REQUEST, None)
        assert "string or an integer" in answer["error"]["message"]
        assert (await client.request("ping"))["result"] == {}


@pytest.mark.parametrize("escaped", [rb'"\ud800"', rb'"a\udfffb"', b'"\xed\xa0\x80"'])
async def test_an_id_that_cannot_be_said_back_is_refused(escaped: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with greeted() as client:
        await client.write(b'{"jsonrpc":"2.0","id":' + escaped + b',"method":"ping"}\n')
        answer = await client.receive()
        assert (answer["error"]["code"], answer["id"]) == (types.PARSE_ERROR, None)
        assert (await client.request("ping"))["result"] == {}
    assert not caplog.records
