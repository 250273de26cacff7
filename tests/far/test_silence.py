"""A connection that says nothing and is not known to be lost: each call ends at its time, commands are ended later."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from muxwire import ExecutionResult, Tab, Terminals, TmuxSilent
from muxwire.far import connection as remote, host as questions
from tests.beside import beside
from tests.deadline import DEADLINE
from tests.far.proxied import Proxied, proxied
from tests.library.opened import known_prompt

Call = Callable[[Proxied, Tab], Awaitable[object]]

# Whoever waits for an answer without a limit of his own waits for longer than a test may take.
NEVER = 10 * DEADLINE
# The time of a call.
SHORT = 0.5


@pytest.fixture
async def box(folder: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Proxied]:
    with anyio.fail_after(DEADLINE):
        async with proxied(folder, environ) as opened:
            # In place of the times of the connection.
            monkeypatch.setattr(remote, "SILENT_SECONDS", NEVER)
            monkeypatch.setattr(remote, "ANSWER_SECONDS", NEVER)
            monkeypatch.setattr(questions, "_ANSWER_SECONDS", NEVER)
            yield opened
            monkeypatch.undo()


async def running(box: Proxied, command: str) -> tuple[Tab, str]:
    """A tab whose shell is known, and a command that runs in it and has said `begun`."""
    tab = await box.opened.create_tab(host="box", shell="bash")
    await known_prompt(tab)
    started = await tab.execute(f"echo begun; {command}", async_=True)
    await box.opened.wait_for([tab.key], regex="^begun", timeout=DEADLINE)
    return tab, started.command_id


@pytest.mark.parametrize("command", ["sleep 1000", "read -r line"])
async def test_who_waits_for_a_command_waits_until_his_time_is_over(box: Proxied, command: str) -> None:
    _, command_id = await running(box, command)
    box.lose("stall")
    asked = await box.opened.command_result(command_id, wait=SHORT)
    assert (asked.running, asked.exit_code) == (True, None), asked
    box.go_on()


async def silent(call: Awaitable[object]) -> None:
    with pytest.raises(TmuxSilent, match="the connection to box does not answer"):
        await call


async def failed(opened: Terminals, operations: list[dict[str, Any]]) -> None:
    (step,) = (await opened.run_operations(operations)).steps
    assert step.status == "failed", step
    assert step.error.startswith("the connection to box does not answer"), step


def steps(tab: Tab, step: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"target": tab.key, **step}]


@pytest.mark.parametrize("call", [
    lambda box, tab: box.opened.wait_for([tab.key], until="never", timeout=SHORT),
    lambda box, tab: box.opened.stream_logs(tab.key, from_byte=tab.next_byte, wait=SHORT),
    lambda box, tab: silent(box.opened.wait_for(["box/work:far"], until="never", timeout=SHORT)),
    lambda box, tab: tab.start_process("sleep 1000", ready="never", ready_timeout=SHORT),
    lambda box, tab: silent(tab.send_keys("x", wait=SHORT)),
    lambda box, tab: silent(tab.send_keys("C-c", wait=SHORT)),
    lambda box, tab: box.opened.run_operations(steps(tab, {"kind": "split_pane"}), timeout=SHORT),
    lambda box, tab: box.opened.run_operations(steps(tab, {"kind": "send_keys", "keys": "x"}), timeout=SHORT),
    lambda box, tab: failed(box.opened, steps(tab, {"kind": "execute", "command": "true", "timeout_ms": 99})),
], ids=[
    "wait_for", "stream_logs", "name", "start_process", "keys", "C-c", "split", "keys_step", "execute_step",
])  # fmt: skip
async def test_each_call_ends_at_its_time(box: Proxied, call: Call) -> None:
    tab = await box.opened.create_tab(host="box", shell="bash")
    await known_prompt(tab)
    box.lose("stall")
    await call(box, tab)
    box.go_on()


async def overdue(box: Proxied, command: str) -> tuple[Tab, ExecutionResult]:
    """A command that runs when the connection falls silent, and what the call has to say at its time."""
    tab = await box.opened.create_tab(host="box", shell="bash")
    await known_prompt(tab)
    async with beside(tab.execute, f"echo begun; {command}", timeout=10 * SHORT) as results:
        await box.opened.wait_for([tab.key], regex="^begun", timeout=DEADLINE)
        box.lose("stall")
    (result,) = results
    assert (result.output, result.running, result.timed_out, result.exit_code) == ("begun\n", True, True, None), result
    assert result.note.startswith("the connection to box does not answer"), result
    return tab, result


@pytest.mark.parametrize(("command", "status", "lost"), [
    ("sleep 1000", 130, False),
    ("sleep 1000", 130, True),
    ("sh -c \"trap '' INT; while :; do sleep 0.1; done\"", 143, True),
])  # fmt: skip
async def test_a_command_is_interrupted_once_the_connection_answers(
    box: Proxied, command: str, status: int, lost: bool
) -> None:
    tab, result = await overdue(box, command)
    if lost:
        box.lose("kill")
    else:
        box.go_on()
    ended = await box.opened.command_result(result.command_id, wait=DEADLINE)
    assert (ended.running, ended.exit_code, ended.timed_out) == (False, status, True), ended
    assert "does not answer" not in ended.note
    assert (await tab.execute("echo again")).output == "again\n"
