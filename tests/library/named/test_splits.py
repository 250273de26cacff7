"""Panes that were split off outlive the process that made them."""

from __future__ import annotations

import os
import termios
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire.errors import NoSuchTarget
from muxwire.operations import BreakPane, JoinPane, Ref, RenameWindow, SplitEvenly, SplitPane
from muxwire.tabs.pane_ids import pane_of_window

if TYPE_CHECKING:
    import muxwire
    from tests.library.named.conftest import Instance


async def test_a_split_outlives_its_process(instance: Instance) -> None:
    async with instance.open() as first:
        tab = await first.create_tab(name="kept")
        made = await first.run_operations(
            [SplitPane(target="kept", ref="side", horizontal=True), RenameWindow(target=Ref("side"), name="both")]
        )
        assert made.succeeded, made.steps
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


async def test_a_split_that_is_reattached_first_is_still_the_further_pane(instance: Instance) -> None:
    """As on a busy machine: the order in which tabs are reattached is that in which their output could be joined."""
    async with instance.open() as first:
        tab = await first.create_tab(name="kept")
        made = await first.run_operations([SplitPane(target="kept", ref="side")])
        pane, path = made.created_panes["side"], tab.pane.tty
    tty = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        termios.tcflow(tty, termios.TCOOFF)  # nothing can be joined here: it comes last
        async with instance.open() as second:
            rows = [(row.pane_id, row.name) for row in (await second.list_tabs()).tabs]
            assert rows == [(tab.pane_id, "kept"), (pane, "kept")]
            assert (await second.tab(pane)).is_split
    finally:
        termios.tcflow(tty, termios.TCOON)
        os.close(tty)


@pytest.mark.parametrize(
    ("inside", "first", "running", "named"),
    [
        (["%3", "%1"], "%3", ["%1", "%3"], "%3"),  # it is there still
        (["%10", "%9"], "%1", ["%1", "%9", "%10"], "%9"),  # it was moved away
        (["%2", "%3"], "%1", ["%2", "%3"], None),  # it has ended
        (["%2", "%3"], "", ["%2", "%3"], None),  # it had ended before
        (["%3", "%2"], None, ["%1", "%2", "%3"], "%2"),  # a window that a pane was moved into
        ([], "%1", ["%1"], None),
    ],
)
def test_which_pane_goes_by_the_id_of_its_window(
    inside: list[str], first: str | None, running: list[str], named: str | None
) -> None:
    assert pane_of_window(inside, first, running) == named


async def _names(terminals: muxwire.Terminals) -> dict[str, tuple[str, str, str]]:
    """What each pane is called: its key, its window and its name."""
    rows = (await terminals.list_tabs(closed=False)).tabs
    tabs = [await terminals.known_tab(row.pane_id) for row in rows]
    return {tab.pane_id: (tab.key, tab.window_id, tab.name) for tab in tabs}


async def test_a_pane_that_was_moved_is_the_tab_of_its_window_in_every_process(instance: Instance) -> None:
    async with instance.open() as first:
        tab = await first.create_tab(name="a")
        made = await first.run_operations([SplitPane(target="a", ref="s"), BreakPane(target=Ref("s"), name="b")])
        assert made.succeeded, made.steps
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


async def test_a_pane_that_others_moved_goes_by_the_name_of_its_new_window(instance: Instance) -> None:
    """Its name is reported before this process knows that the pane is there."""
    async with instance.open() as owner:
        tab = await owner.create_tab(name="a")
        made = await owner.run_operations([SplitPane(target="a", ref="s")])
        pane = made.created_panes["s"]
        moved = instance.tmux("break-pane", "-d", "-P", "-F", "#{window_id}", "-n", "b", "-s", pane)
        while await _names(owner) != {tab.pane_id: (tab.key, tab.key, "a"), pane: (moved, moved, "b")}:
            await anyio.sleep(0)
        assert await owner.tab("a") is tab


async def test_panes_that_outlive_the_first_of_their_window_keep_their_own_ids(instance: Instance) -> None:
    async with instance.open() as first:
        tab = await first.create_tab(name="a")
        made = await first.run_operations([SplitEvenly(target="a", count=3)])
        assert made.succeeded, made.steps
        await tab.execute("echo of the first")
        await tab.close(force=True)
        before = await _names(first)
        assert before == {pane: (pane, tab.window_id, "a") for pane in made.steps[0].created_pane_ids}
    async with instance.open() as second:
        assert await _names(second) == before
        with pytest.raises(NoSuchTarget):
            await second.tab(tab.window_id)
        assert "of the first" in (await second.read_logs(tab.window_id)).content
        other = await second.create_tab(name="other")
        joined = await second.run_operations(
            [JoinPane(target="other", into=made.steps[0].created_pane_ids[0], horizontal=True)]
        )
        assert joined.succeeded, joined.steps
        assert (other.window_id, other.key) == (tab.window_id, other.pane_id)


async def test_who_takes_the_id_of_a_pane_that_moved_away_has_it_in_every_process(instance: Instance) -> None:
    async with instance.open() as first:
        tab = await first.create_tab(name="a")
        window = tab.window_id
        made = await first.run_operations(
            [SplitEvenly(target="a", count=3), BreakPane(target=tab.pane_id, name="away")]
        )
        assert made.succeeded, made.steps
        left, last = sorted(made.steps[0].created_pane_ids)  # the one that was made first takes the id
        before = await _names(first)
        assert (before[left][0], before[last][0]) == (window, last)
        assert tab.key == tab.window_id != window
    async with instance.open() as second:
        assert await _names(second) == before
        await second.close_tab(tab.window_id, force=True)  # the id stays with the pane that has it now
        del before[tab.pane_id]
        assert await _names(second) == before
    async with instance.open() as third:
        assert await _names(third) == before
        await (await third.tab(left)).close(force=True)
        assert await _names(third) == {last: (last, window, "a")}
    async with instance.open() as fourth:
        assert await _names(fourth) == {last: (last, window, "a")}
