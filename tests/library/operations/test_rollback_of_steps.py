"""What a failed list made goes; every other step that changed something is named."""

from __future__ import annotations

from typing import Any

import pytest

import muxwire
from tests.library.operations.steps import NOWHERE, Ask, Json

STAYS: list[tuple[Json, str]] = [
    ({"kind": "set_option", "option": "@new", "value": "1", "global": True}, "it is not undone"),
    ({"kind": "rename_window", "target": "A", "name": "one"}, "it is not undone"),
    ({"kind": "resize_pane", "target": "A", "height": 5}, "it is not undone"),
    ({"kind": "resize_pane", "target": "B", "zoom": True}, "it is not undone"),
    ({"kind": "select_layout", "target": "A", "layout": "even-horizontal"}, "it is not undone"),
    ({"kind": "select_pane", "target": "B"}, "it is not undone"),
    ({"kind": "swap_pane", "target": "A", "with": "B"}, "it is not undone"),
    ({"kind": "break_pane", "target": "B", "name": "out"}, "it is not undone"),
    ({"kind": "join_pane", "target": "B", "into": "C"}, "it is not undone"),
    ({"kind": "execute", "target": "A", "command": "true"}, "a command that was run cannot be taken back"),
    ({"kind": "send_keys", "target": "A", "keys": "x", "enter": False}, "what was typed cannot be taken back"),
    ({"kind": "kill_pane", "target": "B"}, "a pane that was killed does not come back"),
]
LEAVES_NOTHING: list[Json] = [
    {"kind": "new_window", "ref": "w"},
    {"kind": "new_window", "session": "elsewhere"},
    {"kind": "split_pane", "target": {"ref": "w"}, "size": "30%"},
    {"kind": "split_evenly", "target": "B", "count": 3},
    {"kind": "make_grid", "target": "A", "rows": 2, "cols": 2},
    {"kind": "show_option", "option": "status", "global": True},
    {"kind": "display_message", "format": "x"},
    {"kind": "capture_pane", "target": "A"},
]


async def three_panes(terminals: muxwire.Terminals, tab: muxwire.Tab) -> dict[str, str]:
    """A and B in one window, C in another."""
    made = await terminals.run_operations(
        [{"kind": "split_pane", "target": tab.pane_id, "ref": "B"}, {"kind": "new_window", "ref": "C"}]
    )
    return {"A": tab.pane_id, **made.created_panes}


def at(panes: dict[str, str], step: Json) -> Json:
    return {name: panes.get(value, value) if isinstance(value, str) else value for name, value in step.items()}


@pytest.mark.parametrize(
    ("step", "why"), STAYS, ids=[f"{step['kind']}-{number}" for number, (step, _) in enumerate(STAYS)]
)
async def test_a_step_that_is_not_undone_is_named(
    terminals: muxwire.Terminals, tab: muxwire.Tab, step: Json, why: str
) -> None:
    panes = await three_panes(terminals, tab)
    result = await terminals.run_operations([at(panes, step), NOWHERE], rollback_on_error=True)
    assert [one.status for one in result.steps] == ["succeeded", "failed"], result.steps
    assert (result.rollback_errors, result.rolled_back_panes) == ((f"operations[0] ({step['kind']}): {why}",), ())


async def test_a_command_that_failed_is_named_and_one_that_was_refused_is_not(
    terminals: muxwire.Terminals, tab: muxwire.Tab
) -> None:
    steps: list[Json] = [
        {"kind": "execute", "target": tab.pane_id, "command": "false"},
        {"kind": "execute", "target": "%999999", "command": "true"},
        {"kind": "rename_window", "target": "%999999", "name": "x"},
    ]
    result = await terminals.run_operations(steps, rollback_on_error=True, on_error="continue")
    assert [one.status for one in result.steps] == ["failed"] * 3
    assert result.rollback_errors == ("operations[0] (execute): a command that was run cannot be taken back",)


@pytest.mark.parametrize("mode", ["stop", "continue"])
async def test_all_that_was_made_goes(terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask, mode: Any) -> None:
    panes = await three_panes(terminals, tab)
    before = sorted(await ask("list-panes", "-a", "-F", "#{window_id} #{pane_id}"))
    steps = [at(panes, step) for step in LEAVES_NOTHING]
    result = await terminals.run_operations([*steps, NOWHERE], rollback_on_error=True, on_error=mode)
    assert [step.status for step in result.steps] == ["succeeded"] * len(steps) + ["failed"], result.steps
    assert (result.rollback_errors, len(result.rolled_back_panes)) == ((), 8)
    assert sorted(await ask("list-panes", "-a", "-F", "#{window_id} #{pane_id}")) == before
