"""Panes that were split off outlive the process that made them."""

from __future__ import annotations

import muxwire
from muxwire.operations import BreakPane, Ref, RenameWindow, SplitPane
from tests.library.named.conftest import Instance
from tests.library.operations.steps import done


async def test_a_split_outlives_its_process(instance: Instance) -> None:
    async with instance.open() as first:
        tab = await first.create_tab(name="kept")
        made = await done(
            first, SplitPane(target="kept", ref="side", horizontal=True), RenameWindow(target=Ref("side"), name="both")
        )
        pane = made.created_panes["side"]
        side = await first.tab(pane)
        await side.execute("x=kept; echo before")
        begun, columns = side.next_byte, side.columns
    async with instance.open() as second:
        again = await second.tab(pane)
        assert (await second.tab("both")).window_id == again.window_id
        assert (again.window_id, again.is_split, again.columns) == (tab.window_id, True, columns)
        assert again.next_byte >= begun
        assert (await again.execute("echo $x")).output == "kept\n"
        assert (await second.tab(tab.window_id)).pane_id == tab.pane_id
        assert "before" in (await second.read_logs(pane)).content
        await second.close_tab(tab.window_id, force=True)
        assert again.pane.session.closed


async def _names(terminals: muxwire.Terminals) -> dict[str, tuple[str, str, str]]:
    """What each pane is called: its key, its window and its name."""
    rows = (await terminals.list_tabs(closed=False)).tabs
    tabs = [await terminals.known_tab(row.pane_id) for row in rows]
    return {tab.pane_id: (tab.key, tab.window_id, tab.name) for tab in tabs}


async def test_a_pane_that_was_moved_is_the_tab_of_its_window_in_every_process(instance: Instance) -> None:
    async with instance.open() as first:
        tab = await first.create_tab(name="a")
        await done(first, SplitPane(target="a", ref="s"), BreakPane(target=Ref("s"), name="b"))
        before, moved = await _names(first), await first.tab("b")
        assert moved.key == moved.window_id != tab.window_id
        await moved.execute("echo of b")
    async with instance.open() as second:
        assert await _names(second) == before
        again = await second.tab(moved.window_id)
        assert (await second.tab("b")) is again
        assert again.log_path == moved.log_path
        assert "of b" in (await second.read_logs(moved.window_id)).content
        assert "of b" not in (await second.read_logs(tab.window_id)).content
        await second.close_tab(moved.window_id, force=True)
        assert set(await _names(second)) == {tab.pane_id}
