"""Tabs that nobody uses are closed where somebody wants that: what counts as use, who hears why, what it costs."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.library.opening import own_terminals
from tests.deadline import DEADLINE

# Longer than a shell takes to start here.
IDLE = 1.5
REASON = "it was not used for 1.5 s"


async def closed(terminals: muxwire.Terminals, count: int) -> list[tuple[str, object]]:
    """The first tabs that were closed, and why, as soon as there are so many."""
    found: list[tuple[str, object]] = []
    cursor = 0
    while len(found) < count:
        batch = await terminals.watch_events(kinds=["tab_closed"], since=cursor, timeout=DEADLINE)
        cursor = batch.next
        found += [(event.window_id, event.details["reason"]) for event in batch.events]
    return found


async def test_a_tab_that_nobody_uses_is_closed_and_says_why(tmp_path: Path, environ: dict[str, str]) -> None:
    async with muxwire.open_terminals(state_dir=tmp_path, environ=environ) as terminals:
        kept = await terminals.create_tab()
        tab = await terminals.create_tab(idle_timeout=IDLE)
        await tab.execute("echo there")
        assert await closed(terminals, 1) == [(tab.key, REASON)]
        assert {(one.window_id, one.closed, one.reason) for one in (await terminals.list_tabs()).tabs} == {
            (kept.key, False, ""),
            (tab.key, True, REASON),
        }
        with pytest.raises(muxwire.NoSuchTarget, match=REASON):
            await terminals.tab(tab.key)
        assert "there" in (await terminals.read_logs(tab.key)).content


async def test_what_keeps_a_tab_open(tmp_path: Path, environ: dict[str, str]) -> None:
    async with muxwire.open_terminals(state_dir=tmp_path, environ=environ, close_idle=IDLE) as terminals:
        busy, written, waited = [await terminals.create_tab() for _ in range(3)]
        left = await busy.execute("read x", async_=True)
        await written.execute("while sleep 0.2; do printf .; done &")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(terminals.wait_for, [waited.key], until="never shown", timeout=math.inf))
            for number in (1, 2):  # when these are closed, the other three were due before
                unused = await terminals.create_tab()
                assert (await closed(terminals, number))[-1] == (unused.key, REASON)
            tasks.cancel_scope.cancel()
        assert (await closed(terminals, 3))[-1] == (waited.key, REASON)
        await written.execute("kill %1")
        assert (await closed(terminals, 4))[-1] == (written.key, REASON)
        await busy.send_keys(["Enter"])
        assert (await terminals.command_result(left.command_id, wait=DEADLINE)).exit_code == 0
        assert (await closed(terminals, 5))[-1] == (busy.key, REASON)


async def test_the_next_process_knows_how_long_a_tab_may_be_unused(tmp_path: Path, environ: dict[str, str]) -> None:
    async with own_terminals("idle", state_dir=tmp_path, environ=environ) as first:
        tab = await first.create_tab(idle_timeout=IDLE)
    async with own_terminals("idle", state_dir=tmp_path, environ=environ) as second:
        assert await closed(second, 1) == [(tab.key, REASON)]
