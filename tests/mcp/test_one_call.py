"""What an agent does first, in one call, and what the answers cost it: the real server behind a real client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Literal
from unittest import mock

import anyio
import pytest
from mcp import Client
from mcp.shared.dispatcher import ProgressFnT

import muxwire
from tests.beside import beside
from tests.deadline import DEADLINE
from tests.mcp.in_memory import build_server, text_of
from tests.users import environ_of, short_folder

# What a command that says nothing may cost, its output included (issue of the agent's hands).
MAX_CHARACTERS = 110


class Agent:
    """Calls, and what their answers cost."""

    on_progress: ProgressFnT | None = None  # with it each call has a progress token, in the era with sessions

    def __init__(self, client: Client) -> None:
        self.client = client
        self.characters = 0

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments, progress_callback=self.on_progress)
        assert not result.is_error, result.content
        text = text_of(result)
        self.characters = len(text)
        told: dict[str, Any] = json.loads(text)
        return told

    async def refused(self, command: str) -> str:
        result = await self.client.call_tool("execute_command", {"command": command})
        assert result.is_error, result.content
        return text_of(result)


@asynccontextmanager
async def agent_at_a_server(mode: Literal["auto", "legacy"] = "auto") -> AsyncIterator[Agent]:
    """The server is in this process: to start another takes longer than what most of these tests do."""
    with short_folder() as folder:
        environ = environ_of(folder / "home", runtime=folder)
        server = build_server(lambda: muxwire.open_terminals(state_dir=folder / "state", environ=environ))
        with anyio.fail_after(DEADLINE):
            async with Client(server, mode=mode) as client:
                yield Agent(client)


async def test_the_first_command_makes_its_tab_and_says_which() -> None:
    async with agent_at_a_server() as agent:
        first = await agent.call("execute_command", command="cd /; X=1", timeout_ms=20_000)
        assert (first["window_id"], first["cwd"]) == ("@1", "/")
        second = await agent.call("execute_command", command="echo $X; exit")
        assert (second["output"], "window_id" in second) == ("1\nexit\n", False)
        ended = await agent.call("execute_command", command="exit 6", timeout_ms=20_000)
        assert (ended["window_id"], ended["state"]) == ("@2", "dead")
        assert ended["note"].startswith("@1 has ended (")
        assert "; this is @2, a new shell without its variables, in /; " in ended["note"]


async def test_calls_that_come_at_once_run_in_their_order() -> None:
    """Also those that come while others wait for the server to be opened, and for the first tab."""
    async with agent_at_a_server() as agent:
        async with anyio.create_task_group() as calls:
            for number in range(45):
                add = {"command": f"ORDER+=' {number}'", "timeout_ms": 20_000}
                calls.start_soon(partial(agent.call, "execute_command", **add))
                await anyio.sleep(0.002 * (number > 15))  # the first at once
        told = await agent.call("execute_command", command="echo $ORDER")
        assert told["output"].split() == [str(number) for number in range(45)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("execute_script", {"language": "shell", "code": "echo hi"}),
        ("start_process", {"command": "sleep 60"}),
        ("send_keys", {"keys": ["echo hi", "Enter"]}),
    ],
    ids=["execute_script", "start_process", "send_keys"],
)
async def test_what_runs_something_makes_a_tab_where_there_is_none(tool: str, arguments: dict[str, Any]) -> None:
    async with agent_at_a_server() as agent:
        await agent.call(tool, **arguments)
        [tab] = (await agent.call("list_tabs"))["tabs"]
        assert tab["active"]
        await agent.call("read_logs_from_tab")
        await agent.call("snapshot")
        await agent.call("close_tab", force=True)
        assert (await agent.call("list_tabs"))["tabs"] == []


UNNAMED: list[tuple[str, dict[str, Any]]] = [
    ("execute_command", {"command": "pwd", "timeout_ms": 20_000}),
    ("execute_script", {"language": "shell", "code": "pwd", "timeout_ms": 20_000}),
    ("start_process", {"command": "true"}),
    ("stop_process", {}),
    ("send_keys", {"keys": "x"}),
    ("snapshot", {}),
    ("read_logs_from_tab", {}),
    ("stream_logs_from_tab", {}),
    ("close_tab", {"force": True}),
]


@pytest.mark.parametrize(("tool", "arguments"), UNNAMED, ids=[tool for tool, _ in UNNAMED])
async def test_a_tab_that_was_not_named_is_never_changed_in_silence(tool: str, arguments: dict[str, Any]) -> None:
    async with agent_at_a_server() as agent:
        other = (await agent.call("create_tab", cwd="/usr"))["window_id"]
        used = (await agent.call("create_tab", cwd="/"))["window_id"]
        first = await agent.call("execute_command", command="exit", timeout_ms=20_000)
        assert "window_id" not in first  # create_tab has said it
        told = await agent.call(tool, **arguments)
        assert told["window_id"] == other
        assert told["note"].startswith(f"{used} has ended (")
        assert f"; this is {other}, in /usr" in told["note"]
        if tool != "close_tab":
            assert "window_id" not in await agent.call("execute_command", command="true", timeout_ms=20_000)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_command_without_a_tab_goes_to_a_free_one(mode: Literal["auto", "legacy"]) -> None:
    """To the newest one in which nothing runs, else to a new one with the directory and the exported variables."""
    async with agent_at_a_server(mode) as agent:
        agent.on_progress = mock.AsyncMock()
        one = (await agent.call("create_tab", cwd="/"))["window_id"]
        await agent.call("execute_command", command="export X='a  b' Y=; Z=1", timeout_ms=20_000)
        await agent.call("start_process", command="cd /usr && sleep 1000")
        ran = await agent.call("execute_command", command='echo "$X<${Y-none}${Z-none}"; pwd', timeout_ms=20_000)
        assert (ran["output"], ran["window_id"]) == ("a  b<none\n/usr\n", "@2")
        assert ran["note"] == f"{one} is busy: this is @2, in /usr"
        note = f"nothing ran in @2; {one} runs cd /usr && sleep 1000"
        assert {"exit_code": None, "note": note}.items() <= (await agent.call("stop_process")).items()
        assert "window_id" not in await agent.call("execute_command", command="true", timeout_ms=20_000)
        # What waits for input is busy too. Nothing runs in the second, so no third is made.
        await agent.call("stop_process", window_id=one)
        await agent.call("execute_command", command="read x", window_id=one, timeout_ms=20_000)
        assert (await agent.call("start_process", command="sleep 1000"))["window_id"] == "@2"
        assert (await agent.call("execute_command", command="exit", timeout_ms=20_000))["window_id"] == "@3"


async def test_a_command_whose_turn_does_not_come_goes_to_another_tab() -> None:
    """Also if what keeps the tab busy is of a call that came at once with it."""
    async with agent_at_a_server() as agent:
        await agent.call("create_tab")
        run = partial(agent.call, "execute_command")
        async with beside(run, command="sleep 1"), beside(run, command="read x"):
            await anyio.sleep(0.3)
            assert (await run(command="true"))["note"].startswith("@1 is busy: this is @2")


async def test_a_nested_shell_is_not_left_for_another_tab() -> None:
    async with agent_at_a_server() as agent:
        await agent.call("execute_command", command="PROMPT_COMMAND='sleep${IFS}0.1' bash", timeout_ms=20_000)
        await agent.call("send_keys", keys=["cat", "Enter"], wait_ms=20_000)
        assert "is in a nested shell" in await agent.refused("true")
        await agent.call("send_keys", keys="C-d", wait_ms=20_000)
        for _ in range(2):  # at once: before the prompt is there again
            told = await agent.call("execute_command", command="echo $SHLVL", timeout_ms=20_000)
            assert (told["output"], "window_id" in told) == ("2\n", False)
        await agent.call("start_process", command="sleep 1000", window_id="@1")
        assert "is in a nested shell" in await agent.refused("true")
        await agent.call("stop_process")
        await agent.call("execute_command", command="kill -9 $$", timeout_ms=20_000)
        assert "nothing was run: the shell it ran in" in await agent.refused("true")
        told = await agent.call("execute_command", command="echo $SHLVL", timeout_ms=20_000)
        assert (told["output"], "window_id" in told, "note" in told) == ("1\n", False, False)


# Calls whose results say that what ran in a tab has ended.
SAY_AN_END: list[list[tuple[str, dict[str, Any]]]] = [
    [("send_keys", {"keys": "Enter", "wait_ms": 20_000})],
    [("send_keys", {"keys": "Enter"}), ("wait_for", {"window_ids": ["@1"], "prompt": True})],
    [("stop_process", {})],
    [("close_tab", {"force": True})],
]


@pytest.mark.parametrize("tab", ["@1", "@2"])
async def test_what_has_ended_is_said_once(tab: str) -> None:
    async with agent_at_a_server() as agent:
        left = await agent.call("execute_command", command="read x; (exit 4)", timeout_ms=20_000)
        await agent.call("create_tab")
        told = await agent.call("send_keys", keys="Enter", window_id="@1")
        while "ended" not in told:
            told = await agent.call("execute_command", command="true", window_id=tab, timeout_ms=20_000)
        assert told["ended"] == [{"command_id": left["command_id"], "window_id": "@1", "exit_code": 4}]
        for ends in SAY_AN_END:
            await agent.call("execute_command", command="sleep 1000 & read x", window_id="@1", timeout_ms=20_000)
            for tool, arguments in ends:
                await agent.call(tool, **{} if "window_ids" in arguments else {"window_id": "@1"}, **arguments)
            assert "ended" not in await agent.call("execute_command", command="true", window_id="@2")


async def test_what_an_answer_costs_is_limited() -> None:
    async with agent_at_a_server() as agent:
        await agent.call("create_tab")
        await agent.call("execute_command", command="true", timeout_ms=20_000)
        for command in ("true", "false"):
            await agent.call("execute_command", command=command)
            assert agent.characters <= MAX_CHARACTERS
        # No model can read a line of that length.
        ran = await agent.call("execute_command", command="printf %0300000d 1", timeout_ms=20_000)
        told = await agent.call("read_logs_from_tab", command_id=ran["command_id"])
        assert (told["content"], "first_byte" in told["note"]) == ("1".zfill(200_000), True)
