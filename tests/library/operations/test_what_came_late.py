"""Steps whose answer came late: the rollback names them; list_tabs tells how things are."""

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

Json = dict[str, Any]
__all__ = ("pid", "terminals")


async def names(terminals: muxwire.Terminals) -> dict[str, str]:
    return {tab.window_id: tab.name for tab in (await terminals.list_tabs()).tabs if not tab.closed}


async def active(terminals: muxwire.Terminals) -> list[str]:
    return [tab.window_id for tab in (await terminals.list_tabs()).tabs if tab.active]


LATE: list[Json] = [
    {"kind": "rename_window", "target": "A", "name": "late"},
    {"kind": "split_pane", "target": "A"},
    {"kind": "new_window"},
    {"kind": "kill_pane", "target": "A"},
    {"kind": "split_evenly", "target": "A", "count": 2},
    {"kind": "set_option", "option": "@late", "value": "1", "global": True},
]


@pytest.mark.parametrize("step", LATE, ids=[step["kind"] for step in LATE])
async def test_a_rollback_names_the_step_that_was_never_answered(
    terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int, ask: Ask, step: Json
) -> None:
    with stopped(pid):
        given = {**step, "target": tab.pane_id} if "target" in step else step
        result = await terminals.run_operations([given], dispatch_timeout=SHORT, rollback_on_error=True)
    assert statuses(result) == ["unknown"]
    (error,) = result.rollback_errors
    what = "what it did, or may still do, is not undone"
    if step["kind"] in ("new_window", "split_pane", "split_evenly"):
        what = "if tmux still makes the pane, it is closed then"
    assert error == f"operations[0] ({step['kind']}): no answer came: {what}"
    left = 0 if step["kind"] == "kill_pane" else 1  # what tmux made all the same goes
    while len(terminals._book.open) != left or len(await ask("list-panes", "-a")) != left + 1:
        await anyio.lowlevel.checkpoint()


async def test_a_step_that_asks_leaves_nothing(terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int) -> None:
    with stopped(pid):
        asks: list[Json] = [{"kind": "capture_pane", "target": tab.pane_id}]
        result = await terminals.run_operations(asks, dispatch_timeout=SHORT, rollback_on_error=True)
    assert (statuses(result), result.rollback_errors) == (["unknown"], ())


async def test_list_tabs_tells_the_name_that_came_late(
    terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int, ask: Ask
) -> None:
    made = await terminals.run_operations([{"kind": "split_pane", "target": tab.pane_id, "ref": "c"}])
    steps: list[Json] = [
        {"kind": "swap_pane", "target": tab.pane_id, "with": made.created_panes["c"]},
        {"kind": "rename_window", "target": tab.pane_id, "name": "late"},
    ]
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
    result = await terminals.run_operations(steps, timeout=1.0, on_error=on_error)
    assert statuses(result) == ["failed", "skipped"]
    assert (result.steps[0].output or "").startswith("on\n")
    assert "interrupted" in result.steps[0].error
    assert "whole list" in result.steps[0].error
    assert (await tab.execute("echo free")).output == "free\n"


async def test_a_wait_too(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    await tab.execute("echo shown")
    result = await terminals.run_operations(
        [{"kind": "wait_for", "target": tab.pane_id, "until": "never", "timeout_ms": 30000}], timeout=0.5
    )
    assert statuses(result) == ["failed"]
    assert "whole list" in result.steps[0].error


def test_no_time_for_an_answer_is_refused() -> None:
    with pytest.raises(Misfit, match="dispatch_timeout_ms: must be 1 or more"):
        read_json(RunTmuxOperations, {"operations": [], "dispatch_timeout_ms": 0})


@pytest.mark.parametrize("on_error", ["stop", "continue"])
async def test_what_was_done_as_the_connection_was_lost_is_named(
    terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask, monkeypatch: pytest.MonkeyPatch, on_error: Any
) -> None:
    steps: list[Json] = [
        {"kind": "rename_window", "target": tab.pane_id, "name": "late"},
        {"kind": "set_option", "option": "@late", "value": "1", "global": True},
    ]
    lose_connection(await terminals.server(), monkeypatch, b"rename-window")
    result = await terminals.run_operations(steps, rollback_on_error=True, on_error=on_error)
    assert statuses(result) == ["unknown", "skipped" if on_error == "stop" else "succeeded"]
    assert result.rollback_errors[0].startswith("operations[0] (rename_window): no answer came")
    assert len(result.rollback_errors) == (1 if on_error == "stop" else 2)
    await ask("rename-window", "-t", tab.pane_id, "theirs")  # as a person does: we still hear of it
    while await names(terminals) != {tab.window_id: "theirs"}:
        await anyio.lowlevel.checkpoint()
