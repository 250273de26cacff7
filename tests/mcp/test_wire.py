"""JSON-RPC on two pipes in this process: what goes over the wire, in every protocol revision."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

import muxwire
import muxwire.mcp.registry
import muxwire.mcp.resources
from muxwire.mcp import wire
from muxwire.mcp.connection import serve_connection
from muxwire.mcp.instructions import INSTRUCTIONS
from muxwire.mcp.lifespan import LazyTerminals
from muxwire.mcp.server import offered
from tests.deadline import DEADLINE
from tests.mcp.fake_terminals import Opener
from tests.mcp.raw_client import HELLO, LEGACY, MODERN, RawClient, envelope

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


class Served(RawClient):
    """A raw client, what the library saw, and whether the server has returned."""

    def __init__(self, to_server: int, from_server: int, *, one_socket: bool) -> None:
        super().__init__(to_server, from_server)
        self.events: list[str] = []
        self.opener = Opener(self.events.append)
        self.returned = anyio.Event()
        self.scope = anyio.CancelScope()
        self._one_socket = one_socket

    def hang_up(self) -> None:
        if self._one_socket and self.to_server in self._open:
            with socket.socket(fileno=os.dup(self.to_server)) as both:
                both.shutdown(socket.SHUT_WR)
        super().hang_up()

    async def until(self, event: str) -> None:
        while event not in self.events:
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def serving(*, one_socket: bool = False) -> AsyncIterator[Served]:
    """A server on two pipes, or on one socket for both directions; closed by its client at the end."""
    if one_socket:
        ours, theirs = socket.socketpair()
        from_server, reading = ours.detach(), theirs.detach()
        to_server, writing = os.dup(from_server), os.dup(reading)
    else:
        (reading, to_server), (from_server, writing) = os.pipe(), os.pipe()
    for fd in (reading, writing):
        os.set_blocking(fd, False)
    client = Served(to_server, from_server, one_socket=one_socket)

    async def run() -> None:
        lazy = LazyTerminals(client.opener)
        with client.scope:
            await serve_connection(offered(), lazy, reading, writing)
        os.close(reading)
        os.close(writing)
        client.returned.set()

    with anyio.fail_after(DEADLINE):
        async with anyio.create_task_group() as server:
            server.start_soon(run)
            yield client
            client.hang_up()
            await client.returned.wait()
    client.stop_reading()


@asynccontextmanager
async def greeted() -> AsyncIterator[Served]:
    """The same, once the client has said hello."""
    async with serving() as client:
        await client.initialize()
        yield client


@pytest.mark.parametrize("version", HANDSHAKES)
async def test_every_handshake_revision_is_echoed(version: str) -> None:
    async with serving() as client:
        result = await client.initialize(version)
        assert result["protocolVersion"] == version
        assert result["serverInfo"] == {"name": "muxwire", "version": muxwire.__version__}
        assert result["instructions"] == INSTRUCTIONS
        assert result["capabilities"] == {
            "completions": {},
            "prompts": {"listChanged": False},
            "resources": {"subscribe": True, "listChanged": True},
            "tools": {"listChanged": False},
        }
        assert len((await client.request("tools/list"))["result"]["tools"]) > 0
        assert (await client.call("list_tabs"))["content"][0]["type"] == "text"


async def test_an_unknown_revision_gets_the_newest_handshake() -> None:
    async with serving() as client:
        assert (await client.initialize("2099-01-01"))["protocolVersion"] == LEGACY


@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_a_skill_is_listed_found_and_read_as_its_digest_says(era: str) -> None:
    async with serving() as client:
        if era == LEGACY:
            await client.initialize()
        meta = {"_meta": envelope()} if era == MODERN else {}
        (skill,) = (await client.request("skills/list", meta))["result"]["skills"]
        named = {"uri": skill["uri"]} | meta
        assert (await client.request("skills/get", named))["result"]["skill"] == skill
        (whole,) = (await client.request("resources/read", named))["result"]["contents"]
        text = whole["text"].encode()
        digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
        assert skill["resources"] == [{"uri": skill["uri"], "digest": digest, "size": len(text)}]
        listed = (await client.request("resources/list", meta))["result"]["resources"]
        assert skill["frontmatter"] | {"uri": skill["uri"], "mimeType": "text/markdown"} in listed
        another = await client.request("skills/get", {"uri": "skill://x/SKILL.md"} | meta)
        assert (another["error"]["code"], another["error"]["data"]) == (-32602, {"uri": "skill://x/SKILL.md"})
        assert client.events == []


@pytest.mark.parametrize("then", ["initialize", "modern"])
async def test_discovery_ties_a_connection_to_nothing(then: str) -> None:
    async with serving() as client:
        for _ in range(2):
            discovered = (await client.request("server/discover", {"_meta": envelope()}))["result"]
            assert discovered["supportedVersions"] == [MODERN]
            # The SDK says so of all three as soon as there are listen streams; tools and prompts never change here.
            assert discovered["capabilities"] == {
                "completions": {},
                "extensions": {f"io.modelcontextprotocol/{name}": {} for name in ("skills", "tasks", "ui")},
                "prompts": {"listChanged": True},
                "resources": {"subscribe": True, "listChanged": True},
                "tools": {"listChanged": True},
            }
            assert (discovered["instructions"], discovered["resultType"]) == (INSTRUCTIONS, "complete")
        unknown = await client.request("server/discover", {"_meta": envelope("2031-01-01")})
        assert unknown["error"]["code"] == -32022
        assert unknown["error"]["data"] == {"supported": [MODERN], "requested": "2031-01-01"}
        if then == "initialize":
            assert (await client.initialize())["protocolVersion"] == LEGACY
            assert not (await client.call("list_tabs")).get("isError")
        else:
            answer = await client.request("tools/call", {"name": "list_tabs", "_meta": envelope()})
            assert "tabs" in answer["result"]["structuredContent"]
        assert client.events == ["opened"]


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"{nonsense", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b'"' + b"[" * 10 + b'"', -32600, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'{"id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"),
        # An id that is neither a string nor an integer, of whatever kind of message; and one that cannot be said back.
        *((f'{{"jsonrpc":"2.0","id":{one},"method":"{method}"}}'.encode(), -32600, None)
          for one in ("null", "1.5", "1.0", "{}", "[]", "[1]", "true", "1e3")
          for method in ("ping", "tools/call", "notifications/initialized", "no/such")),
        *((b'{"jsonrpc":"2.0","id":' + one + b',"method":"ping"}', -32700, None)
          for one in (rb'"\ud800"', rb'"a\udfffb"', b'"\xed\xa0\x80"')),
    ],
    ids=lambda value: repr(value)[:60],
)  # fmt: skip
async def test_what_is_no_message_is_answered(
    line: bytes, code: int, request_id: object, caplog: pytest.LogCaptureFixture
) -> None:
    """And the connection goes on."""
    async with greeted() as client:
        await client.write(line + b"\n")
        answer = await client.receive()
        assert (answer["error"]["code"], answer["id"]) == (code, request_id)
        assert ("string or an integer" in answer["error"]["message"]) == (
            line.startswith(b'{"jsonrpc":"2.0"') and code == -32600
        )
        assert (await client.request("ping"))["result"] == {}
    assert not caplog.records


async def test_a_line_over_the_limit_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_LINE_BYTES", 100_000)
    async with greeted() as client:
        for line in (b"x" * 1_000_000, b"x" * 100_001):  # read in many pieces, and in few
            await client.write(line + b"\n")
            answer = await client.receive()
            assert (answer["error"]["code"], answer["id"]) == (-32600, None)
            assert (await client.request("ping"))["result"] == {}


@pytest.mark.parametrize("one_socket", [False, True])
async def test_pipelined_calls_are_all_answered_after_stdin_ended(
    monkeypatch: pytest.MonkeyPatch, one_socket: bool
) -> None:
    monkeypatch.setattr(wire, "EOF_GRACE_SECONDS", 0)
    async with serving(one_socket=one_socket) as client:  # all of it is there before the server first looks
        ids = {await client.start("initialize", HELLO)}
        arguments = {"window_id": "@1", "command": "pause"}
        for _ in range(50):
            ids.add(await client.start("tools/call", {"name": "execute_command", "arguments": arguments}))
        client.hang_up()
        answers = [await client.receive() for _ in ids]
        assert {answer["id"] for answer in answers} == ids
        assert all("result" in answer for answer in answers)
        await client.returned.wait()
    assert client.events == ["opened", "closed"]


async def test_a_last_line_without_its_end_is_a_line() -> None:
    async with greeted() as client:
        await client.write(b'{"jsonrpc":"2.0","id":9,"method":"ping"}')
        client.hang_up()
        assert (await client.receive())["id"] == 9


async def test_a_running_call_does_not_keep_a_server_whose_stdin_ended() -> None:
    async with greeted() as client:
        await client.start("tools/call", {"name": "execute_command", "arguments": FOREVER})
        await client.until("began")
        client.hang_up()
        answer = await client.receive()
        assert answer["error"]["message"] == "Connection closed"
        await client.returned.wait()
    assert client.events == ["opened", "began", "interrupted", "closed"]


@pytest.mark.parametrize(("count", "size"), [(100, 100_000), (30, 262_145)], ids=["many", "large ones"])
async def test_a_full_pipe_makes_calls_wait_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, count: int, size: int
) -> None:
    monkeypatch.setattr(wire, "MAX_READ_AHEAD_BYTES", 10_000)
    async with greeted() as client:
        arguments = {"window_id": "@1", "command": "x" * size}  # and twice that in each answer
        asked = anyio.Event()

        async def ask() -> None:
            for _ in range(count):
                await client.start("tools/call", {"name": "execute_command", "arguments": arguments})
            asked.set()

        async with anyio.create_task_group() as asking:
            asking.start_soon(ask)
            await client.until("opened")
            for _ in range(5000):  # the loop runs on, though nobody reads
                await anyio.lowlevel.checkpoint()
            assert len(client.opener.library.only.asked) < count / 2  # no new calls,
            assert not asked.is_set()  # no reading ahead without end
            answers = [await client.receive() for _ in range(count)]
        assert {answer["id"] for answer in answers} == set(range(2, count + 2))
        assert (await client.request("ping"))["result"] == {}


async def test_a_client_that_never_reads_cannot_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wire, "EOF_GRACE_SECONDS", 0.05)
    async with greeted() as client:
        await client.start("tools/call", {"name": "execute_command", "arguments": FOREVER})
        await client.until("began")
        for _ in range(30):
            arguments = {"window_id": "@1", "command": "big 20000"}
            await client.start("tools/call", {"name": "execute_command", "arguments": arguments})
        client.hang_up()
        await client.returned.wait()
    assert client.events == ["opened", "began", "interrupted", "closed"]
    assert caplog.text == ""  # the SDK says so when it had to wait for a write in vain


async def test_cancelling_interrupts_the_command_and_is_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "EOF_GRACE_SECONDS", 3600)
    async with greeted() as client:
        cancelled = await client.start("tools/call", {"name": "execute_command", "arguments": FOREVER})
        await client.until("began")
        await client.notify("notifications/cancelled", {"requestId": cancelled, "reason": "enough"})
        await client.until("interrupted")
        assert (await client.request("ping"))["result"] == {}
        client.hang_up()
        await client.returned.wait()  # a cancelled request is not waited for
    assert client.events == ["opened", "began", "interrupted", "closed"]


@pytest.mark.parametrize("modern", [False, True])
async def test_progress_goes_to_those_who_asked(monkeypatch: pytest.MonkeyPatch, modern: bool) -> None:
    monkeypatch.setattr(muxwire.mcp.registry, "INTERVAL_SECONDS", 0.01)
    async with serving() as client:
        meta: dict[str, Any] = {"progressToken": "tok"}
        if modern:
            meta |= envelope()
        else:
            await client.initialize()
        await client.start("tools/call", {"name": "execute_command", "arguments": FOREVER, "_meta": meta})
        messages = [json.loads(await client.line()) for _ in range(3)]
        assert {message["method"] for message in messages} == {"notifications/progress"}
        assert {message["params"]["progressToken"] for message in messages} == {"tok"}
        assert messages == sorted(messages, key=lambda message: message["params"]["progress"])
        assert messages[-1]["params"]["message"].endswith("12 bytes: compiling x.c")


FOREVER = {"window_id": "@1", "command": "forever"}


async def test_hanging_up_does_not_wait_for_a_stream_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "EOF_GRACE_SECONDS", 3600.0)
    async with serving() as client:
        wanted = {"resourceSubscriptions": ["muxwire://tabs/@1/log"]}
        await client.start("subscriptions/listen", {"notifications": wanted, "_meta": envelope()})
        said = json.loads(await client.line())
        assert said["method"] == "notifications/subscriptions/acknowledged"
        assert said["params"]["notifications"] == wanted
        client.hang_up()
        await client.returned.wait()
