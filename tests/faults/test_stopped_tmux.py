"""A tmux that is stopped (SIGSTOP) says nothing and closes nothing: each call ends all the same, nothing is lost."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import anyio
import pytest

import muxwire
from muxwire.client import client as patience
from muxwire.errors import TabUnavailable, TmuxSilent
from muxwire.shell import stop
from tests.beside import beside
from tests.deadline import until
from tests.library.opened import closed, known_prompt
from tests.processes import server_pid, stopped

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

# In place of ten seconds; longer than a busy machine takes to answer.
SOON = 1.5
# Whoever waits without a limit of his own waits for longer than a test may take.
NEVER = 600.0
# Each call has to end in this, on a busy machine too. Calls that never ended were there before.
ENDS = 60


@pytest.fixture
def terminals(alone: muxwire.Terminals) -> muxwire.Terminals:
    return alone


@pytest.fixture
async def tab(terminals: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch) -> muxwire.Tab:
    tab = await terminals.create_tab(shell=shutil.which("bash"), cwd="/tmp")
    with anyio.fail_after(ENDS):
        await known_prompt(tab)
    monkeypatch.setattr(patience, "ANSWER_SECONDS", SOON)
    return tab


async def refused(call: Awaitable[object], pid: int) -> None:
    with pytest.raises(TmuxSilent) as silent:
        await call
    assert f"process {pid}) is stopped" in str(silent.value)
    assert f"kill -CONT {pid}" in silent.value.remedy


async def test_every_call_ends_and_what_it_asked_for_is_done_once(
    terminals: muxwire.Terminals, tab: muxwire.Tab, tmp_path: Path
) -> None:
    pid = await server_pid(terminals)
    other = await terminals.create_tab(shell=shutil.which("bash"))
    third = await terminals.create_tab(shell=shutil.which("bash"))
    await third.execute("true")
    calls: list[Awaitable[object]] = [
        terminals.list_tabs(),
        terminals.create_tab(name="late", shell=shutil.which("bash")),
        tab.snapshot(),
        tab.snapshot(),  # whoever waits for the first one ends with it
        other.send_keys([f"echo once >> {tmp_path}/typed", "Enter"]),
        third.close(force=True),
        terminals.set_history_limit(5000),
    ]
    with stopped(pid):
        async with anyio.create_task_group() as tasks:
            for call in calls:
                tasks.start_soon(refused, call, pid)
        steps: list[dict[str, Any]] = [{"kind": "set_option", "option": "@o", "value": "1", "global": True}]
        result = await terminals.run_operations(steps)
        assert [step.status for step in result.steps] == ["unknown"]
        await refused(terminals.list_tabs(), pid)
    while [one.name for one in (await terminals.list_tabs()).tabs if not one.closed].count("late") != 1:
        await anyio.lowlevel.checkpoint()
    assert (await (await terminals.tab("late")).execute("echo here")).output == "here\n"
    await closed(third)
    assert (await other.execute("echo on")).output == "on\n"
    assert text_of(tmp_path / "typed") in ("", "once\n")
    assert (await tab.execute("echo on")).output == "on\n"


@pytest.mark.parametrize("on_timeout", ["interrupt", "leave"])
async def test_a_command_typed_into_it_ends_at_its_time_and_runs_once_at_most(
    terminals: muxwire.Terminals, tab: muxwire.Tab, tmp_path: Path, on_timeout: Any
) -> None:
    pid = await server_pid(terminals)
    with stopped(pid):
        result = await tab.execute(f"echo once >> {tmp_path}/ran", timeout=1.0, on_timeout=on_timeout)
        assert result.timed_out
        assert result.exit_code is None
        if on_timeout == "interrupt":
            assert f"process {pid}) is stopped" in result.note
            assert "kill -CONT" in result.note
    try:
        after = await terminals.command_result(result.command_id, wait=20.0)
    except TabUnavailable:  # the shell did not run the typed line
        assert (on_timeout, text_of(tmp_path / "ran")) == ("interrupt", "")
    else:
        assert (after.exit_code, text_of(tmp_path / "ran")) in ((0, "once\n"), (130, ""))
    assert (await tab.execute("echo on")).output == "on\n"
    assert text_of(tmp_path / "ran") in ("", "once\n")


@pytest.mark.parametrize(("command", "status"), [
    ("sleep 1000", 130),
    ("sh -c \"trap '' INT; while :; do sleep 0.1; done\"", 143),
])  # fmt: skip
async def test_a_command_that_runs_when_it_is_stopped_is_ended_when_it_continues(
    terminals: muxwire.Terminals, tab: muxwire.Tab, command: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = await server_pid(terminals)
    steps = stop.STEPS
    monkeypatch.setattr(stop, "STEPS", (("SIGINT", NEVER),))
    async with beside(tab.execute, f"echo begun; {command}", timeout=3 * SOON) as results:
        await terminals.wait_for([tab.key], regex="^begun", timeout=ENDS)
        with stopped(pid):
            await until(lambda: results)
            monkeypatch.setattr(stop, "STEPS", steps)
    assert (results[0].running, results[0].timed_out) == (True, True), results
    assert f"process {pid}) is stopped" in results[0].note
    ended = await terminals.command_result(results[0].command_id, wait=ENDS)
    assert (ended.running, ended.exit_code, ended.note) == (False, status, ""), ended
    assert (await tab.execute("echo on")).output == "on\n"


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""
