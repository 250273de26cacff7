"""What the steps of a failed list did is undone, last first; what cannot be undone is said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import muxwire

pytestmark = pytest.mark.anyio

Ask = Callable[..., Awaitable[list[str]]]
Json = dict[str, Any]
FAILS: Json = {"kind": "send_keys", "target": "%999999", "keys": "bad", "enter": False}


async def state(ask: Ask) -> list[str]:
    """All that a rollback should bring back: windows, names, layouts, sizes, zoom, active panes, options."""
    rows = await ask(
        "list-panes", "-a", "-F",
        "#{session_id} #{window_id} #{window_name} #{pane_id} #{pane_index} #{pane_width} #{pane_height} "
        "#{pane_active} #{window_layout} #{window_zoomed_flag}",
    )  # fmt: skip
    for scope in (("-g",), ("-s",), ("-gw",), ()):
        rows += await ask("show-options", *scope)
    return [row for row in rows if not row.startswith("@muxwire")]  # which tab is the active one


@pytest.mark.parametrize("enabled", [True, False])
async def test_panes_that_were_made_go(terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask, enabled: bool) -> None:
    before = await state(ask)
    result = await terminals.run_operations(
        [{"kind": "split_pane", "ref": "child", "target": tab.pane_id}, FAILS], rollback_on_error=enabled
    )
    assert not result.succeeded
    child = result.created_panes["child"]
    assert result.rollback_errors == ()
    assert result.rolled_back_panes == ((child,) if enabled else ())
    assert (await state(ask) == before) is enabled
    assert (child in await ask("list-panes", "-a", "-F", "#{pane_id}")) is not enabled


async def test_a_list_that_succeeds_is_kept(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    result = await terminals.run_operations(
        [{"kind": "split_pane", "ref": "child", "target": tab.pane_id}], rollback_on_error=True
    )
    assert result.succeeded
    assert result.rolled_back_panes == ()


UNDONE: dict[str, list[Json]] = {
    "options": [
        {"kind": "set_option", "option": "@new", "value": "1", "global": True},
        {"kind": "set_option", "option": "status-left", "value": "x;y", "global": True},
        {"kind": "set_option", "option": "status-left", "value": "here", "target": "A"},
        {"kind": "set_option", "option": "monitor-bell", "value": "off", "scope": "window", "target": "A"},
        {"kind": "set_option", "option": "@pane", "value": "a\nb", "scope": "pane", "target": "A"},
        {"kind": "set_option", "option": "@pane", "value": "c", "scope": "pane", "target": "A"},
        {"kind": "set_option", "option": "escape-time", "value": "7", "scope": "server"},
    ],
    "name": [
        {"kind": "rename_window", "target": "A", "name": "one"},
        {"kind": "rename_window", "target": "B", "name": "two"},
    ],
    "sizes": [
        {"kind": "resize_pane", "target": "A", "height": 5},
        {"kind": "resize_pane", "target": "B", "zoom": True},
    ],
    "layout": [
        {"kind": "select_layout", "target": "A", "layout": "even-horizontal"},
        {"kind": "select_pane", "target": "B"},
        {"kind": "select_layout", "target": "A", "layout": "main-vertical"},
    ],
    "more panes": [
        {"kind": "split_evenly", "target": "B", "count": 3},
        {"kind": "make_grid", "target": "A", "rows": 2, "cols": 2},
        {"kind": "new_window", "ref": "w"},
        {"kind": "new_window", "session": "elsewhere"},
        {"kind": "split_pane", "target": {"ref": "w"}, "size": "30%"},
    ],
    "order": [
        {"kind": "split_pane", "target": "B", "ref": "x"},
        {"kind": "swap_pane", "target": "A", "with": "B"},
        {"kind": "break_pane", "target": "B"},
    ],
    "places": [
        {"kind": "swap_pane", "target": "A", "with": "C"},
        {"kind": "swap_pane", "target": "A", "with": "B"},
        {"kind": "break_pane", "target": "B", "name": "out"},
        {"kind": "split_pane", "target": "B", "ref": "x"},
        {"kind": "join_pane", "target": "B", "into": "C"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("mode", ["stop", "continue"])
@pytest.mark.parametrize("name", UNDONE)
async def test_everything_is_as_it_was(
    terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask, name: str, mode: Any
) -> None:
    made = await terminals.run_operations(
        [
            {"kind": "split_pane", "target": tab.pane_id, "ref": "B"},
            {"kind": "new_window", "ref": "C"},
            {"kind": "split_pane", "target": {"ref": "C"}, "ref": "D"},
        ]
    )
    panes = {"A": tab.pane_id, **made.created_panes}
    steps = [
        {field: panes.get(value, value) if isinstance(value, str) else value for field, value in step.items()}
        for step in UNDONE[name]
    ]
    before = await state(ask)
    names = {one.pane_id: (one.window_id, one.name) for one in (await terminals.list_tabs()).tabs if not one.closed}
    result = await terminals.run_operations([*steps, FAILS], rollback_on_error=True, on_error=mode)
    assert [step.status for step in result.steps] == ["succeeded"] * len(steps) + ["failed"], result.steps
    assert result.rollback_errors == ()
    assert await state(ask) == before
    after = {one.pane_id: (one.window_id, one.name) for one in (await terminals.list_tabs()).tabs if not one.closed}
    assert after == names


async def test_what_cannot_be_undone_is_said(terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask) -> None:
    made = await terminals.run_operations(
        [{"kind": "split_pane", "target": tab.pane_id, "ref": "B"}, {"kind": "new_window", "ref": "C"}]
    )
    result = await terminals.run_operations(
        [
            {"kind": "execute", "target": tab.pane_id, "command": "true"},
            {"kind": "send_keys", "target": tab.pane_id, "keys": "true"},
            {"kind": "kill_pane", "target": made.created_panes["B"]},
            {"kind": "join_pane", "target": made.created_panes["C"], "into": tab.pane_id},
            FAILS,
        ],
        rollback_on_error=True,
    )
    assert not result.succeeded
    said = " / ".join(result.rollback_errors)
    for part in ("(execute)", "(send_keys)", "(kill_pane)", "ended when its last pane left"):
        assert part in said
    panes = await ask("list-panes", "-a", "-F", "#{window_id} #{pane_id}")
    moved = await terminals.tab(made.created_panes["C"])
    assert f"{moved.window_id} {moved.pane_id}" in panes
    assert moved.window_id != tab.window_id
