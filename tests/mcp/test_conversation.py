"""What is answered without the SDK: the same bytes as the SDK's, in both eras; and without importing it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.mcp.raw_client import HELLO, LEGACY, envelope
from tests.mcp.test_wire import serving
from tests.users import environ_of

pytestmark = pytest.mark.anyio

DEADLINE = 60
# Seconds in which a notification would have been answered, if it was.
SETTLED = 0.05
INITIALIZED = "notifications/initialized"


def hello(version: str = LEGACY, **more: Any) -> dict[str, Any]:
    return HELLO | {"protocolVersion": version} | more


def client(**more: Any) -> dict[str, Any]:
    return {"clientInfo": {"name": "raw", "version": "1"} | more}


def modern(**more: Any) -> dict[str, Any]:
    return {"_meta": envelope()} | more


ECHO = {"name": "execute_command", "arguments": {"window_id": "@1", "command": "echo"}}
BUSY = {"name": "execute_command", "arguments": {"window_id": "@1", "command": "busy"}}
TASKS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}

# Each step is a method and its parameters, or a whole line. Calls in a handshake's era are in test_direct_calls.
CONVERSATIONS: dict[str, list[Any]] = {
    **{
        f"revision {version}": [
            ("initialize", hello(version)),
            (INITIALIZED,),
            ("ping",),
            ("ping", {}),
            ("ping", {"_meta": {"progressToken": "x"}}),
            ("tools/list",),
            ("tools/list", {"cursor": "x"}),
            ("prompts/list", {}),
            ("resources/templates/list", {}),
            ("resources/list", {}),
            ("tools/list", {"_meta": {"a": 1}}),
            ("initialize", hello()),
            ("server/discover", modern()),
            ("tools/list", modern()),
        ]
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2099-01-01")
    },
    "before initialize": [
        ("ping",),
        ("tools/list",),
        ("no/such",),
        ("initialize", hello()),
        ("tools/list",),
    ],
    "initialized first": [(INITIALIZED,), ("tools/list",), ("initialize", hello()), ("ping",)],
    "an era that the SDK has to see": [(INITIALIZED,), ("ping", {}), ("tools/list", modern()), ("ping",)],
    "without initialized": [("initialize", hello()), ("resources/list",), ("prompts/get", {"name": "x"})],
    "a wrong initialize": [
        ("initialize",),
        ("initialize", {}),
        ("initialize", hello(protocolVersion=1)),
        ("initialize", hello(capabilities={"roots": {"listChanged": "x"}})),
        ("initialize", hello(capabilities={"roots": 5})),
        ("initialize", hello(clientInfo={"name": "a"})),
        ("tools/list",),
        ("initialize", hello()),
        ("tools/list",),
    ],
    "capabilities": [
        (
            "initialize",
            hello(
                capabilities={
                    "roots": {"listChanged": True},
                    "sampling": {},
                    "elicitation": {"form": {}},
                    "experimental": {"a": {"b": 1}},
                },
                **client(title="T", websiteUrl="http://x", description="d"),
            ),
        ),
        ("prompts/list",),
        ("initialize", hello(capabilities={"unknown": {"a": 1}})),
        ("initialize", hello(**client(icons=[{"src": "data:x"}]))),
        ("initialize", hello(**client(more=[1]))),
        ("initialize", hello(_meta={"a": 1})),
        ("initialize", hello(extra=1)),
    ],
    "an envelope with initialize": [
        ("initialize", hello() | modern()),
        ("tools/list",),
        ("tools/list", modern()),
    ],
    "the SDK's methods": [
        ("initialize", hello()),
        (INITIALIZED,),
        ("no/such", {}),
        ("logging/setLevel", {"level": "info"}),
        ("prompts/get", {"name": "run_and_wait", "arguments": {"command": "make"}}),
        ("prompts/get", {"name": "no_such"}),
        ("resources/read", {"uri": "muxwire://tabs"}),
        ("resources/read", {"uri": "no such"}),
        ("resources/subscribe", {"uri": "muxwire://tabs/@1/log"}),
        ("resources/unsubscribe", {"uri": "muxwire://tabs/@1/log"}),
        ("tools/list", {}),
        ("ping",),
    ],
    "modern": [
        ("server/discover", modern()),
        ("server/discover", {"_meta": envelope("2031-01-01")}),
        ("tools/list", modern()),
        ("tools/call", ECHO | modern()),
        ("tools/call", BUSY | modern()),
        ("tools/call", {"name": "list_tabs"} | modern()),
        ("tools/call", {"name": "list_tabs", "arguments": {"colour": 1}} | modern()),
        ("prompts/list", modern()),
        ("resources/list", modern()),
        ("resources/templates/list", modern()),
        ("notifications/cancelled", {"requestId": 1}),
        ("tools/call", {"name": "no_such"} | modern()),
        ("ping", modern()),
        ("ping",),
        ("tools/list",),
        ("initialize", hello()),
        ("resources/read", {"uri": "muxwire://tabs"} | modern()),
        ("tools/list", {"_meta": envelope("2031-01-01")}),
        ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
        ("tools/list", {"_meta": envelope() | {"io.modelcontextprotocol/clientInfo": 5}}),
        ("tools/list", {"_meta": envelope() | {"io.modelcontextprotocol/clientCapabilities": {"roots": 5}}}),
        ("tools/call", ECHO | {"_meta": envelope() | {"io.modelcontextprotocol/clientCapabilities": TASKS}}),
        ("server/discover", {}),
    ],
    "modern, a call first": [("tools/call", ECHO | modern()), ("initialize", hello()), ("tools/list", {})],
    "lines": [
        ("initialize", hello()),
        "{nonsense",
        "[]",
        '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        '{"id":7,"method":"ping"}',
        '{"jsonrpc":"1.0","id":"a","method":"ping"}',
        '{"jsonrpc":"2.0","id":null,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1.0,"method":"ping"}',
        '{"jsonrpc":"2.0","id":true,"method":"ping"}',
        '{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}',
        '{"jsonrpc":"2.0","id":4,"method":"ping","params":null}',
        '{"jsonrpc":"2.0","id":5,"method":"ping","extra":1}',
        '{"jsonrpc":"2.0","id":6,"method":5}',
        '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        '{"jsonrpc":"2.0","id":"\\ud83d\\ude00","method":"ping"}',
        '{"jsonrpc":"2.0","id":8,"method":"ping","params":{"a":NaN}}',
        '{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":' + "[" * 180 + "]" * 180 + "}}",
        '{"jsonrpc":"2.0","id":10,"method":"ping","params":{"a":' + "[" * 300 + "]" * 300 + "}}",
        '{"jsonrpc":"2.0","id":11,"method":"ping","params":{"a":"' + "[" * 300 + '"}}',
        '{"jsonrpc":"2.0","id":12,"method":"ping","params":{"a":' + "1" * 5_000 + "}}",
        '\ufeff{"jsonrpc":"2.0","id":13,"method":"ping"}',
        '{"jsonrpc":"2.0","id":14,"id":15,"method":"ping"}',
        '{"jsonrpc":"2.0","id":16,"method":"ping","params":{"_meta":null}}',
        '{"jsonrpc":"2.0","id":17,"method":"ping","params":{"_meta":{"progressToken":[1]}}}',
        '{"jsonrpc":"2.0","id":18,"method":"tools/list","params":{"_meta":5}}',
        '{"jsonrpc":"2.0","id":19,"method":"tools/list","params":{"cursor":5}}',
        ("notifications/roots/list_changed",),
        ("notifications/cancelled", {}),
        ("notifications/progress", {"progressToken": 1, "progress": 1}),
        ("ping",),
    ],
}


async def answers(steps: list[Any], *, direct: bool, profile: str = "") -> list[bytes]:
    """Every line that a server writes, each request sent when the one before it is answered."""
    async with serving(direct=direct, profile=profile) as raw:
        found: list[bytes] = []
        for number, step in enumerate(steps, 100):
            if isinstance(step, str):
                await raw.write(step.encode() + b"\n")
            else:
                method, *params = step
                message = {"jsonrpc": "2.0", "method": method} | ({"params": params[0]} if params else {})
                if method.startswith("notifications/"):
                    await raw.send(message)
                    continue
                await raw.send({"id": number} | message)
            found.append(await raw.line())
        with anyio.move_on_after(SETTLED):
            found.append(await raw.line())
    return found


@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_the_bytes_are_those_of_the_sdk(name: str) -> None:
    steps = CONVERSATIONS[name]
    asked = [step for step in steps if isinstance(step, str) or not step[0].startswith("notifications/")]
    ours, sdk = await answers(steps, direct=True), await answers(steps, direct=False)
    for step, *both in zip(asked, ours, sdk, strict=True):
        assert both[0] == both[1], step


async def test_the_bytes_of_a_profile_are_those_of_the_sdk() -> None:
    """Without instructions, output schemas and prompts; and a text as the whole result."""
    for steps in (
        [("initialize", hello()), ("tools/list",), ("prompts/list",)],
        [("server/discover", modern()), ("tools/list", modern()), ("tools/call", {"name": "KillShell"} | modern())],
        [("tools/call", {"name": "KillShell", "arguments": {"shell_id": "1"}} | modern())],
    ):
        ours = await answers(steps, direct=True, profile="claude")
        assert ours == await answers(steps, direct=False, profile="claude")


async def test_news_of_the_list_of_resources_are_those_of_the_sdk() -> None:
    told = []
    for direct in (True, False):
        async with serving(direct=direct) as raw:
            await raw.initialize()
            await raw.request("resources/list")
            await raw.call("list_tabs")
            assert raw.opener.terminals is not None
            await anyio.wait_all_tasks_blocked()
            raw.opener.terminals.events.record("tab_opened", "@1")
            told.append(await raw.line())
    assert told[0] == told[1]


async def test_all_is_answered_although_stdin_ended_before_the_sdk_was_there() -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": {"name": "run_and_wait"}},
        {"jsonrpc": "2.0", "id": 3, "method": "ping"},
        "no message",
        "no message",
    ]
    async with serving() as raw:
        for line in lines:
            await raw.send(line)
        raw.hang_up()
        said = [json.loads(await raw.line()) for _ in lines]
    assert {one["id"] for one in said} == {1, 2, 3, None}


DIRECTLY = [
    {"id": 1, "method": "initialize", "params": HELLO},
    {"method": INITIALIZED},
    {"id": 2, "method": "ping"},
    {"id": 3, "method": "tools/list"},
    {"id": 4, "method": "prompts/list"},
    {"id": 5, "method": "resources/list"},
    {"id": 6, "method": "resources/templates/list"},
    {"id": 7, "method": "tools/call", "params": ECHO},
    {"id": 8, "method": "tools/call", "params": {"name": "list_tabs", "arguments": {"colour": 1}}},
]
MODERN_DIRECTLY = [
    {"id": 1, "method": "server/discover", "params": modern()},
    {"id": 2, "method": "tools/list", "params": modern()},
    {"id": 3, "method": "tools/call", "params": ECHO | modern()},
]


@pytest.mark.parametrize("lines", [DIRECTLY, MODERN_DIRECTLY], ids=["handshake", "modern"])
def test_what_clients_say_first_imports_no_sdk(folder: Path, tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    said = subprocess.run(
        (sys.executable, "-X", "importtime", "-m", "tests.mcp.fake_server", tmp_path / "events"),
        input=b"".join(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in lines),
        capture_output=True,
        timeout=DEADLINE,
        env=environ_of(folder / "home", runtime=folder) | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    assert len(said.stdout.splitlines()) == len([line for line in lines if "id" in line])
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in said.stderr.decode().splitlines()}
    assert "muxwire" in imported
    assert not imported & {"mcp", "mcp_types", "pydantic", "pydantic_core", "httpx2", "pyte"}
