"""Steps whose answer came late: the rollback undoes them, or says that it does not; list_tabs tells how things are."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

import muxwire
from muxwire.verbs.catalogue import RunTmuxOperations
from muxwire.verbs.read import Misfit, read_json
from tests.library.operations.test_step_timeouts import (
    SHORT,
    Ask,
    lose_connection,
    pid,
    statuses,
    terminals,
)
from tests.processes import stopped

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
__all__ = ("pid", "terminals")


async def names(terminals: muxwire.Terminals) -> dict[str, str]:
    return {tab.window_id: tab.name for tab in (await terminals.list_tabs()).tabs if not tab.closed}


async def active(terminals: muxwire.Terminals) -> list[str]:
    return [tab.window_id for tab in (await terminals.list_tabs()).tabs if tab.active]


async def test_a_rename_that_came_late_is_undone(
    terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int, ask: Ask
) -> None:
    await terminals.run_operations([{"kind": "rename_window", "target": tab.pane_id, "name": "before"}])
    steps: list[Json] = [{"kind": "rename_window", "target": tab.pane_id, "name": "late"}]
    result = []

    async def run() -> None:
        result.append(await terminals.run_operations(steps, dispatch_timeout=1.0, rollback_on_error=True))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            with stopped(pid):
                tasks.start_soon(run)
                await anyio.sleep(1.2)  # the step is given up, and the rollback has begun
        assert statuses(result[0]) == ["unknown"]
        assert result[0].rollback_errors == ()
        assert await ask("display-message", "-p", "-t", tab.pane_id, "#{window_name}") == ["before"]
        assert await names(terminals) == {tab.window_id: "before"}


async def test_what_never_came_in_time_is_an_error_of_the_rollback(
    terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int, ask: Ask
) -> None:
    await terminals.run_operations([{"kind": "rename_window", "target": tab.pane_id, "name": "before"}])
    steps: list[Json] = [
        {"kind": "rename_window", "target": tab.pane_id, "name": "late"},
        {"kind": "set_option", "option": "@late", "value": "1", "global": True},
    ]
    with anyio.fail_after(20):
        with stopped(pid):
            result = await terminals.run_operations(steps, dispatch_timeout=SHORT, rollback_on_error=True)
        assert statuses(result) == ["unknown", "unknown"]
        assert any("set_option" in error and "no answer" in error for error in result.rollback_errors)
        assert any(tab.window_id in error for error in result.rollback_errors)
        assert await ask("display-message", "-p", "-t", tab.pane_id, "#{window_name}") == ["before"]
        assert await names(terminals) == {tab.window_id: "before"}


async def test_list_tabs_tells_the_name_that_came_late(
    terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int, ask: Ask
) -> None:
    made = await terminals.run_operations([{"kind": "split_pane", "target": tab.pane_id, "ref": "c"}])
    steps: list[Json] = [
        {"kind": "swap_pane", "target": tab.pane_id, "with": made.created_panes["c"]},
        {"kind": "rename_window", "target": tab.pane_id, "name": "late"},
    ]
    with anyio.fail_after(20):
        with stopped(pid):
            result = await terminals.run_operations(steps, dispatch_timeout=SHORT, on_error="continue")
        assert statuses(result) == ["unknown", "unknown"]
        (shown,) = await ask("display-message", "-p", "-t", tab.pane_id, "#{window_name}")
        assert shown == "late"
        while set((await names(terminals)).values()) != {"late"}:
            await anyio.lowlevel.checkpoint()


async def test_the_tab_used_before_is_active_after_a_rollback(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    await tab.execute("true")
    before = await active(terminals)
    assert before == [tab.window_id]
    steps: list[Json] = [
        {"kind": "new_window", "ref": "w"},
        {"kind": "execute", "target": {"ref": "w"}, "command": "false"},
    ]
    result = await terminals.run_operations(steps, rollback_on_error=True)
    assert not result.succeeded
    assert result.rolled_back_panes
    assert await active(terminals) == before


@pytest.mark.parametrize("on_error", ["stop", "continue"])
async def test_the_time_for_the_whole_list_ends_a_command_as_its_own_would(
    terminals: muxwire.Terminals, tab: muxwire.Tab, on_error: Any
) -> None:
    steps: list[Json] = [
        {"kind": "execute", "target": tab.pane_id, "command": "echo on; sleep 60", "timeout_ms": 30000},
        {"kind": "set_option", "option": "@never", "value": "1", "global": True},
    ]
    with anyio.fail_after(20):
        result = await terminals.run_operations(steps, timeout=1.0, on_error=on_error)
    assert statuses(result) == ["failed", "skipped"]
    assert (result.steps[0].output or "").startswith("on\n")
    assert "interrupted" in result.steps[0].error
    assert "whole list" in result.steps[0].error
    assert (await tab.execute("echo free")).output == "free\n"


async def test_a_wait_too(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    await tab.execute("echo shown")
    with anyio.fail_after(20):
        result = await terminals.run_operations(
            [{"kind": "wait_for", "target": tab.pane_id, "until": "never", "timeout_ms": 30000}], timeout=0.5
        )
    assert statuses(result) == ["failed"]
    assert "whole list" in result.steps[0].error


def test_no_time_for_an_answer_is_refused() -> None:
    with pytest.raises(Misfit, match="dispatch_timeout_ms: must be 1 or more"):
        read_json(RunTmuxOperations, {"operations": [], "dispatch_timeout_ms": 0})


@pytest.mark.parametrize("on_error", ["stop", "continue"])
async def test_what_was_done_as_the_connection_was_lost_is_undone_or_is_an_error(
    terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask, monkeypatch: pytest.MonkeyPatch, on_error: Any
) -> None:
    await terminals.run_operations([{"kind": "rename_window", "target": tab.pane_id, "name": "before"}])
    steps: list[Json] = [
        {"kind": "rename_window", "target": tab.pane_id, "name": "late"},
        {"kind": "set_option", "option": "@late", "value": "1", "global": True},
    ]
    with anyio.fail_after(20):
        lose_connection(await terminals.server(), monkeypatch, b"rename-window")
        result = await terminals.run_operations(steps, rollback_on_error=True, on_error=on_error)
        assert statuses(result) == ["unknown", "unknown"]
        (error,) = result.rollback_errors
        assert "set_option" in error
        assert "no answer" in error
        assert await ask("display-message", "-p", "-t", tab.pane_id, "#{window_name}") == ["before"]
        assert await names(terminals) == {tab.window_id: "before"}
        await ask("rename-window", "-t", tab.pane_id, "theirs")  # as a person does: we still hear of it
        while await names(terminals) != {tab.window_id: "theirs"}:
            await anyio.lowlevel.checkpoint()
