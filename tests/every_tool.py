"""What each MCP tool does with a shell's tab, wherever that is: at a person's server, on another machine."""

from __future__ import annotations

from tests.tools import Tools, named_after_tools


async def execute_command(tools: Tools, tab: str) -> None:
    result = await tools("execute_command", window_id=tab, command="echo 'it works'; (exit 3)")
    assert (result["output"], result["exit_code"]) == ("it works\n", 3)
    late = await tools("execute_command", window_id=tab, command="sleep 60", timeout_ms=2000)
    assert (late["timed_out"], late["exit_code"]) == (True, 130)


async def command_result(tools: Tools, tab: str) -> None:
    begun = await tools("execute_command", window_id=tab, command="sleep 0.5; echo done", **{"async": True})
    result = await tools("command_result", command_id=begun["command_id"], wait_ms=20_000)
    assert (result["output"], result["exit_code"]) == ("done\n", 0)


async def execute_script(tools: Tools, tab: str) -> None:
    result = await tools("execute_script", window_id=tab, language="shell", code="echo from a script; exit 4")
    assert (result["output"], result["exit_code"]) == ("from a script\n", 4)


async def start_process(tools: Tools, tab: str) -> None:
    assert (await tools("start_process", window_id=tab, command="echo up; sleep 60", ready="up"))["ready"]
    await tools("wait_for", window_ids=[tab], idle_ms=300, timeout_ms=20_000)
    await tools("stop_process", window_id=tab)


async def stop_process(tools: Tools, tab: str) -> None:
    await tools("start_process", window_id=tab, command="echo up; sleep 60", ready="up")
    stopped = await tools("stop_process", window_id=tab)
    assert (stopped["success"], stopped["signal_sent"], stopped["exit_code"]) == (True, "SIGINT", 130)


async def read_logs_from_tab(tools: Tools, tab: str) -> None:
    await tools("execute_command", window_id=tab, command="echo one; echo two")
    assert (await tools("read_logs_from_tab", window_id=tab, strip_ansi=True, grep="^two"))["content"] == "two\n"


async def stream_logs_from_tab(tools: Tools, tab: str) -> None:
    await tools("execute_command", window_id=tab, command="echo streamed")
    assert "streamed" in (await tools("stream_logs_from_tab", window_id=tab))["chunk"]


async def snapshot(tools: Tools, tab: str) -> None:
    await tools("execute_command", window_id=tab, command="echo shown")
    for options in ({}, {"scrollback": 0, "cells": True}, {"unwrap": True}):
        screen = await tools("snapshot", window_id=tab, **options)
        assert "shown" in screen["lines"]
    assert (await tools("snapshot", window_id=tab, at_byte=0))["pane"] == screen["pane"]


async def send_keys(tools: Tools, tab: str) -> None:
    sent = await tools("send_keys", window_id=tab, keys=["echo typed", "Enter"], regex="^typed", wait_ms=20_000)
    assert sent["outcome"] == "met", sent


async def wait_for(tools: Tools, tab: str) -> None:
    await tools("execute_command", window_id=tab, command="sleep 0.2; echo now", **{"async": True})
    met = await tools("wait_for", window_ids=[tab], regex="^now", timeout_ms=20_000)
    assert (met["outcome"], met["which"]) == ("met", tab)


async def watch_events(tools: Tools, tab: str) -> None:
    since = (await tools("watch_events", timeout_ms=1))["next"]
    await tools("execute_command", window_id=tab, command="true")
    told = await tools("watch_events", window_ids=[tab], since=since, kinds=["command_finished"], timeout_ms=20_000)
    assert told["events"], told


EVERY_TOOL = named_after_tools(globals())
