"""A further pane of a window is a tab in all but name: it runs, waits, shows, logs and ends like one."""

from __future__ import annotations

from typing import Any

import pytest

import muxwire
from muxwire.errors import NoSuchTarget
from muxwire.operations import BreakPane, JoinPane, MakeGrid, SplitEvenly, SplitPane, SwapPane
from muxwire.tabs.maker import TabMaker
from tests.library.opened import closed
from tests.library.operations.steps import Ask, done


async def split(terminals: muxwire.Terminals, tab: muxwire.Tab, **given: Any) -> muxwire.Tab:
    result = await done(terminals, SplitPane(target=tab.pane_id, **given))
    return await terminals.tab(result.steps[0].created_pane_id)


async def test_a_further_pane_is_a_full_citizen(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    child = await split(terminals, tab, horizontal=True, env={"WHO": "child"})
    assert (child.window_id, child.is_split, child.key) == (tab.window_id, True, child.pane_id)
    assert (tab.columns, child.columns) == (60, 59)
    assert (await child.execute("echo $WHO; (exit 4)")).output == "child\n"
    assert (await tab.execute("echo ${WHO:-parent}")).output == "parent\n"
    await child.send_keys(["echo typed", "Enter"])
    met = await terminals.wait_for([tab.pane_id, child.pane_id], until="typed\n")
    assert (met.outcome, met.which) == ("met", child.pane_id)
    assert await terminals.tab(".") is child
    assert any("typed" in line for line in (await child.snapshot()).lines)
    assert child.log_path.name == f"pane-{tab.window_id}-{child.pane_id}.log"
    log = await terminals.read_logs(child.pane_id)
    assert "child" in log.content
    assert "parent" not in log.content
    rows = {one.pane_id: one for one in (await terminals.list_tabs()).tabs if not one.closed}
    assert [rows[one.pane_id].window_id for one in (tab, child)] == [tab.window_id, child.pane_id]
    assert [one.active for one in rows.values()].count(True) == 1


async def test_the_window_is_its_first_pane(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    child = await split(terminals, tab)
    assert await terminals.tab(tab.window_id) is tab
    assert await terminals.tab(tab.name) is tab
    window = (await terminals.list_tabs()).sessions[0].name
    index = await (await terminals.server()).sessions.panes()
    place = next(row.window_index for row in index if row.window == tab.window_id)
    assert await terminals.tab(f"{window}:{place}.1") is child
    assert await terminals.tab(f"{window}:{place}.0") is tab
    with pytest.raises(NoSuchTarget):
        await terminals.tab(f"{window}:{place}.2")


async def test_the_end_of_one_pane_leaves_the_others(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    child = await split(terminals, tab)
    await tab.execute("exit 3")
    await closed(tab)
    assert (await child.execute("echo alive")).output == "alive\n"
    with pytest.raises(NoSuchTarget, match="status 3"):
        await terminals.tab(tab.window_id)  # stays what it was: its log is that of its first pane
    assert "exit 3" in (await terminals.read_logs(tab.window_id)).content
    other = await terminals.create_tab()
    await done(terminals, JoinPane(target=other.window_id, into=child.pane_id))
    assert (other.window_id, other.key, child.key) == (tab.window_id, other.pane_id, child.pane_id)


async def test_closing_a_tab_closes_all_its_panes(terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask) -> None:
    child = await split(terminals, tab)
    lone = await split(terminals, tab)
    await terminals.close_tab(lone.pane_id, force=True)
    assert [one.pane.session.closed for one in (tab, child, lone)] == [False, False, True]
    await terminals.close_tab(tab.window_id, force=True)
    assert [one.pane.session.closed for one in (tab, child, lone)] == [True, True, True]
    assert tab.window_id not in await ask("list-windows", "-a", "-F", "#{window_id}")
    assert "the tab was closed" in child.end_reason
    assert (await terminals.read_logs(child.pane_id)).content is not None


async def test_an_even_split_is_even(terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask) -> None:
    result = await done(terminals, SplitEvenly(target=tab.pane_id, count=4, horizontal=True, refs=("b", "c", "d")))
    made = [result.created_panes[ref] for ref in ("b", "c", "d")]
    assert list(result.steps[0].created_pane_ids) == made
    rows = await ask("list-panes", "-t", tab.window_id, "-F", "#{pane_id} #{pane_left} #{pane_width}")
    panes = sorted((int(left), pane, int(width)) for pane, left, width in (row.split() for row in rows))
    assert [pane for _, pane, _ in panes] == [tab.pane_id, *made]
    assert max(width for *_, width in panes) - min(width for *_, width in panes) <= 1


async def test_a_grid_has_its_rows_and_columns(terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask) -> None:
    result = await done(terminals, MakeGrid(target=tab.pane_id, rows=2, cols=3))
    rows = await ask("list-panes", "-t", tab.window_id, "-F", "#{pane_top} #{pane_left} #{pane_id}")
    places = sorted((int(top), int(left), pane) for top, left, pane in map(str.split, rows))
    assert [pane for *_, pane in places] == [tab.pane_id, *result.steps[0].created_pane_ids]
    assert (len({top for top, *_ in places}), len({left for _, left, _ in places})) == (2, 3)


async def test_what_has_no_space_leaves_nothing(terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask) -> None:
    result = await terminals.run_operations([SplitEvenly(target=tab.pane_id, count=60)])
    assert result.steps[0].status == "failed"
    assert "no space" in result.steps[0].error
    assert len(await ask("list-panes", "-t", tab.window_id)) == 1


async def test_a_pane_keeps_its_name_wherever_it_is_moved(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    child = await split(terminals, tab)
    await child.execute("x=kept")
    begun = child.next_byte
    result = await done(terminals, BreakPane(target=child.pane_id, name="its own"))
    window = result.steps[0].created_window_id
    assert (child.key, child.name) == (window, "its own")
    assert await terminals.tab(window) is child
    assert await terminals.tab(child.pane_id) is child
    await terminals.run_operations([SwapPane(target=window, with_=tab.window_id)])
    assert child.window_id != window
    assert await terminals.tab(window) is tab
    result = await done(terminals, JoinPane(target=child.pane_id, into=window, horizontal=True))
    assert child.window_id == tab.window_id == window
    assert await terminals.tab(window) is tab
    assert (await child.execute("echo $x")).output == "kept\n"
    assert child.next_byte > begun  # one log, one count, through all of it
    assert not child.pane.session.closed
    assert not tab.pane.session.closed


async def test_a_pane_that_is_gone_has_left_its_output(terminals: muxwire.Terminals) -> None:
    steps: list[dict[str, Any]] = [
        {"kind": "new_window", "command": ["sh", "-c", "echo said; exec sleep 600"], "ref": "a"},
        {"kind": "wait_for", "until": "said"},
        {"kind": "kill_pane"},
        {"kind": "wait_for", "until": "said", "from_byte": 0},
        {"kind": "set_option", "option": "@never", "value": "1"},
    ]
    result = await terminals.run_operations([steps[0], *({**step, "target": {"ref": "a"}} for step in steps[1:])])
    assert [step.status for step in result.steps] == ["succeeded"] * 4 + ["failed"]
    assert "the tab was closed" in result.steps[4].error


async def test_a_pane_that_goes_in_this_moment_cannot_be_divided(
    terminals: muxwire.Terminals, tab: muxwire.Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = (await terminals.server()).client
    monkeypatch.setattr(TabMaker, "check_room", lambda *_: client.submit(("kill-pane", "-t", tab.pane_id)))
    result = await terminals.run_operations([SplitEvenly(target=tab.pane_id, count=2)])
    assert "can't find pane" in result.steps[0].error


async def test_zoom_is_said_not_turned_over(terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask) -> None:
    child = await split(terminals, tab)

    shown = "#{window_zoomed_flag}#{P:#{?pane_active,#{pane_id},}}"

    for pane, zoom, seen in (
        (tab, True, f"1{tab.pane_id}"),
        (tab, True, f"1{tab.pane_id}"),
        (child, True, f"1{child.pane_id}"),
        (tab, False, f"1{child.pane_id}"),
        (child, False, f"0{child.pane_id}"),
        (child, False, f"0{child.pane_id}"),
    ):
        await done(terminals, {"kind": "resize_pane", "target": pane.pane_id, "zoom": zoom})
        assert await ask("display-message", "-p", "-t", tab.pane_id, shown) == [seen]


@pytest.mark.parametrize(
    ("given", "typed"),
    [("ls", ["ls", "Enter"]), (["ls", "Enter"], ["ls", "Enter"]), (["C-c"], ["C-c", "Enter"])],
)
async def test_keys_get_one_enter(
    terminals: muxwire.Terminals, tab: muxwire.Tab, given: str | list[str], typed: list[str]
) -> None:
    step = {"kind": "send_keys", "target": tab.pane_id, "keys": given}
    planned = await terminals.run_operations([step], dry_run=True)
    assert planned.steps[0].commands[0].split(" -- ")[1].split() == typed, planned
