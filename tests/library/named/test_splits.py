"""Panes that were split off outlive the process that made them, and are known to processes beside it."""

from __future__ import annotations

import os
import termios
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire.operations import Ref, RenameWindow, SplitPane

if TYPE_CHECKING:
    from tests.library.named.conftest import Instance

pytestmark = pytest.mark.anyio


async def test_a_followers_split_is_the_owners_pane_too(instance: Instance) -> None:
    with anyio.fail_after(50):
        async with instance.open() as owner:
            tab = await owner.create_tab(name="shared")
            await tab.execute("true")
            async with instance.open() as follower:
                made = await follower.run_operations([SplitPane(target="shared", ref="side")])
                assert made.succeeded, made.steps
                pane = made.created_panes["side"]
                told = await (await follower.tab(pane)).execute("echo by the follower")
                assert told.output == "by the follower\n"
                while pane not in {row.pane_id for row in (await owner.list_tabs()).tabs}:
                    await anyio.sleep(0)
                side = await owner.tab(pane)
                assert (side.window_id, side.name, side.is_split) == (tab.window_id, "shared", True)
                assert (await side.execute("echo by the owner")).output == "by the owner\n"
            log = (await owner.read_logs(pane)).content
            assert "by the follower" in log
            assert "by the owner" in log


async def test_a_split_outlives_its_process(instance: Instance) -> None:
    with anyio.fail_after(50):
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
    with anyio.fail_after(50):
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
