"""Calls as a client sees them: arguments, results, errors, progress, cancellation, filters."""

from __future__ import annotations

import json
import logging
from base64 import b64decode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, ImageContent, TextContent

from muxwire.errors import InvalidArgument
from muxwire.library import pictures
from muxwire.mcp.registry import select
from muxwire.mcp.tools import TOOLS
from tests.mcp.fake_terminals import Opener
from tests.mcp.in_memory import build_server, text_of


@dataclass
class Session:
    """A client in this process, the events that the library saw, and what opens it."""

    client: Client
    opener: Opener
    events: list[str]

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)


@pytest.fixture(params=["auto", "legacy"])
async def session(request: pytest.FixtureRequest) -> AsyncIterator[Session]:
    events: list[str] = []
    opener = Opener(events.append)
    async with Client(build_server(opener), mode=request.param) as client:
        yield Session(client, opener, events)


async def test_a_picture_comes_after_the_text_and_without_a_structured_result(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "can_draw", lambda: False)
    refused = await session.call("snapshot", window_id="@1", image=True)
    assert refused.is_error
    assert text_of(refused).endswith("pip install 'pillow>=11'")
    monkeypatch.undo()
    pytest.importorskip("PIL")
    plain = (await session.call("snapshot", window_id="@1")).structured_content
    drawn = await session.call("snapshot", window_id="@1", image=True)
    text, image = drawn.content
    assert isinstance(text, TextContent)
    assert isinstance(image, ImageContent)
    assert (drawn.structured_content, json.loads(text.text)) == (None, plain)
    assert (image.type, image.mime_type) == ("image", "image/png")
    assert b64decode(image.data).startswith(b"\x89PNG")


async def test_defaults_and_units_at_the_edge(session: Session) -> None:
    await session.call("execute_command", window_id="@1", command="true")
    [asked] = session.opener.library.only.asked
    del asked["on_progress"]
    assert asked == {
        "command": "true",
        "timeout": 10.0,
        "strip_ansi": None,
        "env": {},
        "cwd": "",
        "on_timeout": "interrupt",
        "async_": False,
        "max_chars": 8000,
        "idle": 0.0,
        "drawing": False,
    }
    given = {"timeout_ms": 1500, "async": True, "env": {"A": "1"}, "cwd": "/", "on_timeout": "leave", "max_chars": 9}
    await session.call("execute_command", window_id="%1", command="true", strip_ansi=True, **given)
    asked = session.opener.library.only.asked[-1]
    assert (asked["timeout"], asked["async_"], asked["env"], asked["cwd"]) == (1.5, True, {"A": "1"}, "/")
    assert (asked["on_timeout"], asked["max_chars"], asked["strip_ansi"]) == ("leave", 9, True)


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("execute_command", {"window_id": "@1"}, "command is missing"),
        ("execute_command", {"window_id": "@1", "command": "x", "comand": "x"}, "comand is unknown"),
        (
            "execute_command",
            {"window_id": "@1", "command": "x", "timeout_ms": "soon"},
            "timeout_ms: must be an",
        ),
        ("execute_command", {"window_id": "@1", "command": "x", "timeout_ms": -1}, "timeout_ms: must be 1 or more"),
        ("execute_command", {"window_id": "@1", "command": "x", "timeout_ms": 0}, "timeout_ms: must be 1 or more"),
        (
            "execute_command",
            {"window_id": "@1", "command": "x", "on_timeout": "kill"},
            "on_timeout: must be one of",
        ),
        ("execute_command", {"window_id": "@1", "command": "x", "env": {"A": 1}}, "env.A: must be a string"),
        ("execute_command", {"window_id": "@1", "command": "x", "in_background": True}, "in_background is unknown"),
        ("execute_command", {"window_id": "@1", "command": "x", "more": None}, "more is unknown"),
        (
            "execute_command",
            {"window_id": "@1", "command": "x", "env": ["A"]},
            "env: must be a list of strings",
        ),
        ("execute_command", {"command": None}, "command is missing"),
        ("create_tab", {"size": [80]}, "size: must be columns and rows"),
        ("create_tab", {"size": [80, -24]}, "size: must be columns and rows of 1 or more"),
        ("list_tabs", {"all": True}, "all is unknown"),
    ],
)
async def test_bad_arguments_say_what_and_what_else(
    session: Session, tool: str, arguments: dict[str, Any], complaint: str
) -> None:
    result = await session.call(tool, **arguments)
    assert result.is_error
    what, usage = text_of(result).split("\n")
    assert what.startswith(f"invalid_argument: {complaint}")
    assert "pydantic" not in what
    assert usage.startswith(f"{tool} takes ")
    assert ("command (required)" in usage) == (tool == "execute_command")
    assert session.events == []  # nothing was opened for a call that could not be made


@pytest.mark.parametrize("nothing", [None, "", [], {}], ids=repr)
async def test_what_strict_clients_send_for_nothing_counts_as_not_given(session: Session, nothing: object) -> None:
    optional = dict.fromkeys(("window_id", "timeout_ms", "env", "cwd", "on_timeout", "strip_ansi"), nothing)
    result = await session.call("execute_command", command="x", **optional)
    assert not result.is_error, text_of(result)
    asked = session.opener.library.only.asked[-1]
    assert (asked["timeout"], asked["env"], asked["cwd"], asked["on_timeout"]) == (10.0, {}, "", "interrupt")
    made = await session.call("create_tab", **dict.fromkeys(("name", "size", "command", "login", "env"), nothing))
    assert not made.is_error, text_of(made)
    assert (session.opener.library.asked[-1]["size"], session.opener.library.asked[-1]["command"]) == (None, ())


async def test_text_is_never_reinterpreted(session: Session) -> None:
    for command in ("null", '{"a": 1}', "[1]", "1", " x ", "a\nb\x00\x1b"):
        result = await session.call("execute_command", window_id="@1", command=command)
        assert (result.structured_content or {})["output"] == command


@pytest.mark.parametrize(
    ("command", "what", "remedy"),
    [
        ("busy", "tab_unavailable: @1 is busy with make", "See read_logs_from_tab"),
        ("grouped", "no_such_target: no window @9", "look again"),
        ("disk", "os_error: /gone: No such file or directory", "The person who runs this server"),
        ("crash", "internal: execute_command failed with ZeroDivisionError", "This is a defect in muxwire"),
    ],
)
async def test_errors_are_two_lines(
    session: Session, caplog: pytest.LogCaptureFixture, command: str, what: str, remedy: str
) -> None:
    with caplog.at_level(logging.ERROR):
        result = await session.call("execute_command", window_id="@1", command=command)
    assert (result.is_error, result.structured_content) == (True, None)
    first, second = text_of(result).split("\n")
    assert first == what
    assert second.startswith(remedy)
    assert bool(caplog.records) == (command == "crash")  # with the traceback, which the model never sees
    assert "secret detail" not in first + second


def test_read_only_and_toolsets() -> None:
    def names(**filters: Any) -> set[str]:
        return {tool.name for tool in select(TOOLS, **filters)}

    assert names() == {tool.name for tool in TOOLS}
    assert names(toolsets=["scripts"]) == {"execute_script"}
    core = names(toolsets=["core"])
    assert "execute_script" not in core
    assert "send_keys" in core
    reading = {"list_tabs", "command_result", "read_logs_from_tab", "stream_logs_from_tab", "snapshot", "wait_for"}
    reading |= {"watch_events", "show_terminal"}
    assert (names(read_only=True), names(toolsets=[])) == (reading, set())
    with pytest.raises(InvalidArgument, match="unknown toolset: 'cor'") as caught:
        names(toolsets=["cor"])
    assert "core, screen, scripts, ops" in caught.value.remedy
