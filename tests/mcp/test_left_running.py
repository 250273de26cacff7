"""The end of a command that was left running wakes the agent: as a task (SEP-2663), and by `serve --channel`."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
import pytest

from muxwire.mcp.channel import Channel
from tests.mcp.child_client import closing
from tests.mcp.raw_client import envelope
from tests.mcp.test_serve import Served

TASKS = "io.modelcontextprotocol/tasks"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z\Z")


def declared(*extensions: str) -> dict[str, Any]:
    return envelope() | {CAPABILITIES: {"extensions": {name: {} for name in extensions}}}


class Modern(Served):
    """A client of 2026-07-28: every request says who it is."""

    async def ask(self, method: str, *extensions: str, **params: Any) -> dict[str, Any]:
        return await self.request(method, {**params, "_meta": declared(*extensions)})

    async def run(self, *extensions: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.ask("tools/call", *extensions, name="execute_command", arguments=arguments)
        return dict(answer["result"])

    async def task(self, task_id: str) -> dict[str, Any]:
        return dict((await self.ask("tasks/get", TASKS, taskId=task_id))["result"])

    async def task_ended(self, task_id: str) -> dict[str, Any]:
        while (task := await self.task(task_id))["status"] == "working":
            await anyio.sleep(0.05)  # a client of tasks polls
        return task


async def test_a_command_left_running_is_a_task(folder: Path) -> None:
    gate = folder / "gate"
    command = f"echo begun; until [ -e {gate} ]; do sleep 0.05; done; echo over; (exit 3)"
    async with closing(Modern(folder)) as client:
        found = await client.ask("server/discover", TASKS)
        assert found["result"]["capabilities"]["extensions"][TASKS] == {}
        # What ends in its call, and what is interrupted, is a result; so is all to a client that knows no tasks.
        assert (await client.run(TASKS, command="echo hi", timeout_ms=30_000))["structuredContent"]["output"] == "hi\n"
        assert (await client.run(TASKS, command="sleep 100", timeout_ms=300))["structuredContent"]["timed_out"]
        other = await client.run(command="sleep 1000", timeout_ms=200, on_timeout="leave")
        assert (other["resultType"], other["structuredContent"]["running"]) == ("complete", True)

        made = await client.run(TASKS, command=command, timeout_ms=2_000, on_timeout="leave")
        assert made.keys() >= {"taskId", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"}, made
        assert (made["resultType"], made["status"], made["ttlMs"]) == ("task", "working", None)
        assert ISO.match(made["createdAt"])
        assert "content" not in made
        working = {"resultType": "complete", "status": "working", "statusMessage": "6 bytes of output"}
        assert working.items() <= (await client.task(made["taskId"])).items()

        # The news of its end come by a stream too, with all that tasks/get gives.
        await client.start("subscriptions/listen", {"notifications": {"taskIds": [made["taskId"], "none"]},
                                                    "_meta": declared(TASKS)})  # fmt: skip
        agreed = json.loads(await client.line())
        assert agreed["params"]["notifications"] == {"taskIds": [made["taskId"]]}
        gate.touch()
        news = json.loads(await client.line())
        assert (news["method"], news["params"]["status"]) == ("notifications/tasks", "completed")
        done = await client.task(made["taskId"])
        assert (done["status"], done["result"]) == ("completed", news["params"]["result"])
        told = done["result"]["structuredContent"]
        assert (told["output"], told["exit_code"]) == ("begun\nover\n", 3)
        assert json.loads(done["result"]["content"][0]["text"]) == told

        # Of long output, and of what was drawn on the alternate screen, as much as any result has.
        draws = "seq 100000; printf '\\033[?1049h%s\\033[?1049l' drawn"
        made = await client.run(TASKS, **{"command": draws, "async": True, "timeout_ms": 30_000})
        done = await client.task_ended(made["taskId"])
        told = done["result"]["structuredContent"]
        assert (told["truncated"], "drawn" in told["output"]) == (True, False)
        assert len(told["output"]) < 10_000

        await client.ask("tools/call", TASKS, name="close_tab", arguments={"window_id": "@1", "force": True})
        closed = await client.task(other["structuredContent"]["command_id"])
        assert (closed["status"], closed["statusMessage"]) == ("completed", "the tab was closed")


async def test_a_task_is_cancelled_and_refusals_are_the_specifications(folder: Path) -> None:
    async with closing(Modern(folder)) as client:
        made = await client.run(TASKS, **{"command": "sleep 1000", "async": True, "timeout_ms": 30_000})
        task_id = made["taskId"]
        assert (await client.ask("tasks/update", TASKS, taskId=task_id, inputResponses={}))["result"].keys() <= {
            "resultType", "_meta",
        }  # fmt: skip
        cancelled = await client.ask("tasks/cancel", TASKS, taskId=task_id)
        assert cancelled["result"]["resultType"] == "complete"
        assert (await client.task_ended(task_id))["status"] == "cancelled"
        for method in ("tasks/get", "tasks/cancel"):
            unknown = await client.ask(method, TASKS, taskId="nothing")
            assert unknown["error"]["code"] == -32602
            refused = await client.ask(method, taskId=task_id)
            needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
            assert (refused["error"]["code"], refused["error"]["data"]) == (-32021, needed)
        listen = await client.ask("subscriptions/listen", notifications={"taskIds": [task_id]})
        assert listen["error"]["code"] == -32021


async def test_a_task_outlives_its_server(folder: Path) -> None:
    gate = folder / "gate"
    code = f"echo one; until [ -e {gate} ]; do sleep 0.05; done; echo two"
    async with closing(Modern(folder, "--name", "kept")) as client:
        arguments = {"language": "shell", "code": code, "async": True, "timeout_ms": 30_000}
        made = (await client.ask("tools/call", TASKS, name="execute_script", arguments=arguments))["result"]
    async with closing(Modern(folder, "--name", "kept")) as client:
        assert (await client.task(made["taskId"]))["status"] == "working"
        gate.touch()
        told = (await client.task_ended(made["taskId"]))["result"]["structuredContent"]
        assert told["output"] == "one\ntwo\n"
        assert Path(told["script_path"]).read_text() == code


async def test_a_channel_that_cannot_read_a_log_leaves_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    gone = mock.AsyncMock(**{"read_logs.side_effect": OSError(errno.EIO, "gone")})
    gone.command_info.return_value = mock.Mock(window_id="@1", ended=1.0)
    async with anyio.create_task_group() as tasks:
        Channel(mock.Mock(), tasks).note({"command_id": "id", "running": True}, gone)
    assert "the end of id is not sent: OSError" in caplog.text


async def test_a_channel_says_how_it_ended(folder: Path) -> None:
    gate = folder / "gate"
    async with closing(Modern(folder, "--channel")) as client:
        assert (await client.initialize())["capabilities"]["experimental"] == {"claude/channel": {}}
        left = await client.done(
            "execute_command", command=f"until [ -e {gate} ]; do sleep 0.05; done; echo it is built; (exit 2)",
            on_timeout="leave", timeout_ms=1_000,
        )  # fmt: skip
        other = (await client.done("create_tab", name="other"))["window_id"]
        assert "running" not in await client.done("execute_command", command="true", window_id=other)
        gate.touch()
        news = json.loads(await client.line())
        assert news["method"] == "notifications/claude/channel"
        assert "has ended with exit code 2" in news["params"]["content"]
        assert news["params"]["content"].endswith("it is built\n")
        assert news["params"]["meta"] == {"command_id": left["command_id"], "window_id": "@1", "exit_code": "2"}
