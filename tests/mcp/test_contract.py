"""Every tool of the list, called by the SDK's own client over stdio, with every parameter that the list names.

Each result is the same object as text and as structure.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from tests.mcp.child_client import served_in
from tests.mcp.in_memory import text_of
from tests.users import short_folder

DEADLINE = 120
WAIT_MS = 30_000
# Stands for the command_id of the last result that has one.
LAST = object()
TAB = {"window_id": "main"}
COMMAND: dict[str, Any] = {
    "timeout_ms": WAIT_MS, "strip_ansi": True, "env": {"A": "1"}, "cwd": "/", "async": False, "on_timeout": "leave",
    "idle_ms": WAIT_MS, "max_chars": 100,
}  # fmt: skip
STEPS = [{"kind": "split_pane", "target": "main", "ref": "b"}, {"kind": "kill_pane", "target": "ref:b"}]

# In this order. An empty host is what clients send for none.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("create_tab", {
        "name": "main", "cwd": "/tmp", "env": {"A": "1"}, "login": False, "shell": "/bin/bash", "size": [80, 24],
        "strip_ansi": False, "idle_timeout_ms": 3_600_000, "session": "work", "host": "",
    }),
    ("create_tab", {"command": ["cat"]}),
    ("list_tabs", {"closed": True, "session": "work"}),
    ("execute_command", {**TAB, **COMMAND, "command": "printf 'one\\ntwo\\n'"}),
    ("read_logs_from_tab", {
        **TAB, "command_id": LAST, "lines": 5, "strip_ansi": True, "grep": "two", "before": 1, "after": 1,
    }),
    ("snapshot", {**TAB, "command_id": LAST, "scrollback": 0, "cells": True, "unwrap": True, "image": False}),
    ("snapshot", {**TAB, "at_byte": 0}),
    ("snapshot", {**TAB, "ago_ms": 1}),
    ("execute_script", {**TAB, **COMMAND, "language": "shell", "code": "echo $1", "args": ["x"]}),
    ("execute_command", {**TAB, "command": "read x; echo got $x", "async": True}),
    ("send_keys", {**TAB, "keys": ["it"], "literal": True, "paste": True, "stable_ms": 20, "wait_ms": WAIT_MS}),
    ("send_keys", {**TAB, "keys": ["Enter"], "until": "got it"}),
    ("command_result", {
        "command_id": LAST, "wait_ms": WAIT_MS, "idle_ms": WAIT_MS, "strip_ansi": True, "max_chars": 100,
    }),
    ("wait_for", {"window_ids": ["main"], "regex": "nowhere", "gone": True, "stable_ms": 20}),
    ("start_process", {
        **TAB, "command": "echo up; cat", "append_newline": True, "ready": "^u", "ready_regex": True,
        "ready_timeout_ms": WAIT_MS,
    }),
    ("send_keys", {**TAB, "answers": ["a", "b"], "wait_ms": WAIT_MS}),
    ("send_keys", {**TAB, "keys": ["c", "Enter"], "regex": "c", "idle_ms": WAIT_MS}),
    ("send_keys", {**TAB, "keys": ["d"], "until": "nowhere", "gone": True}),
    ("stop_process", {**TAB, "signal": "SIGINT", "grace_ms": 2_000}),
    ("stream_logs_from_tab", {**TAB, "from_byte": 0, "max_bytes": 10, "strip_ansi": True, "wait_ms": 10}),
    ("wait_for", {"window_ids": ["main"], "until": "up", "from_byte": 0, "timeout_ms": WAIT_MS}),
    ("wait_for", {"window_ids": ["main"], "exit": True, "prompt": True, "bell": True, "idle_ms": 20}),
    ("watch_events", {
        "window_ids": ["main"], "kinds": ["command_started"], "since": 0, "max_events": 3, "timeout_ms": WAIT_MS,
    }),
    ("show_terminal", {**TAB, "why": "look"}),
    ("run_tmux_operations", {
        "operations": STEPS, "on_error": "stop", "dry_run": False, "rollback_on_error": True,
        "dispatch_timeout_ms": WAIT_MS, "timeout_ms": WAIT_MS,
    }),
    ("close_tab", {**TAB, "force": True}),
    ("create_tab", {"name": "last", "session": "work"}),
    ("close_tab", {"session": "work", "force": True}),
    ("set_history_limit", {"limit": 3_000}),
]  # fmt: skip


async def test_every_tool_with_every_parameter() -> None:
    given: defaultdict[str, set[str]] = defaultdict(set)
    last = ""
    with short_folder() as folder, anyio.fail_after(DEADLINE):
        async with Client(served_in(Path(folder))) as client:
            listed = {tool.name: set(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}
            for name, arguments in CALLS:
                words = {key: last if value is LAST else value for key, value in arguments.items()}
                result = await client.call_tool(name, words)
                assert not result.is_error, (name, result.content)
                assert text_of(result) == json.dumps(
                    result.structured_content, ensure_ascii=False, separators=(",", ":")
                )
                last = (result.structured_content or {}).get("command_id", last)
                given[name] |= arguments.keys()
    assert given == listed
