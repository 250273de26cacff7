"""Steps whose answer came late: the rollback names them; list_tabs tells how things are."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

import muxwire
from tests.library.operations.steps import Ask, Json, statuses
from tests.library.operations.test_step_timeouts import SHORT, pid, terminals
from tests.processes import stopped

__all__ = ("pid", "terminals")


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
