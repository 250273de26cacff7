"""Screens of the past: of a living tab, of one that has ended, of an earlier server's log, by offset or by command."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from muxwire import open_terminals
from muxwire.errors import InvalidArgument, NoSuchTarget
from muxwire.library.terminals import Terminals
from muxwire.logs.limits import LogLimits
from muxwire.logs.segments import gaps_path
from muxwire.logs.store import LogStore
from muxwire.logs.times import offset_at
from muxwire.shell.marks import ID_RANDOM, join_mark
from tests.deadline import DEADLINE
from tests.library.screens.agreeing import agree


async def test_a_screen_at_an_offset_and_at_the_end_of_a_command(terminals: Terminals) -> None:
    tab = await terminals.create_tab()
    first = await tab.execute("printf 'one\\n\\e[31mtwo\\e[m\\n'")
    was = await agree(terminals, tab)
    second = await tab.execute("clear; echo three")
    now = await tab.snapshot(at_byte=was.next_byte, cells=True)
    assert (now.lines, now.cursor, now.source, now.exact) == (was.lines, was.cursor, "replay", True)
    ended = await terminals.snapshot(command_id=first.command_id)
    assert (ended.lines[-2:], ended.next_byte) == (("one", "two"), first.next_byte)
    assert (await terminals.snapshot(tab.window_id, command_id=second.command_id)).lines == ("three",)
    running = await tab.execute("echo begun; cat", async_=True)
    await terminals.wait_for([tab.window_id], until="begun", timeout=DEADLINE)
    assert (await terminals.snapshot(command_id=running.command_id)).source == "tmux"
    with pytest.raises(InvalidArgument):
        await tab.snapshot(at_byte=tab.next_byte + 1)
    with pytest.raises(NoSuchTarget):
        await terminals.snapshot(command_id="none")


async def test_a_screen_by_time(terminals: Terminals) -> None:
    tab = await terminals.create_tab()
    await tab.execute("echo one")
    await tab.wait_for(idle=0.3)
    between = time.time()
    await tab.wait_for(idle=0.3)
    await tab.execute("echo two")
    was = await terminals.snapshot(tab.window_id, ago=time.time() - between)
    assert "one" in was.lines
    assert "two" not in was.lines
    assert "two" in (await tab.snapshot(at_byte=tab.next_byte)).lines
    # When a mark came, which a process writes that attaches, need not be known.
    begin = tab.next_byte
    tab.pane.stream.feed(join_mark(bytes(ID_RANDOM), tab.pane.stream.nonce))
    assert await tab.pane.stream.log.flushed()
    records = [(0.0, begin), (60.0, tab.next_byte)]
    assert offset_at(records, 30, 80.0, tab._shows) == begin
    with pytest.raises(InvalidArgument, match="was not running"):
        offset_at([(0.0, begin - 1), records[1]], 30, 80.0, tab._shows)
    await tab.close(force=True)
    assert (await terminals.snapshot(tab.window_id, ago=time.time() - between)).lines == was.lines
    with pytest.raises(InvalidArgument, match="recorded only since"):
        await tab.snapshot(ago=3600)
    with pytest.raises(InvalidArgument, match="an offset, a command and a time cannot be combined"):
        await terminals.snapshot(tab.window_id, at_byte=0, ago=1)


async def test_an_ended_tab_has_its_last_screen(terminals: Terminals) -> None:
    tab = await terminals.create_tab(command=["sh", "-c", "printf 'a\\nb\\033[1;40Hc\\n'; read -r line"], size=(50, 9))
    await terminals.wait_for([tab.window_id], until="c", timeout=DEADLINE)
    was = await tab.snapshot(scrollback=0, cells=True)
    await tab.close(force=True)
    for last in (
        await tab.snapshot(scrollback=0, cells=True),
        await terminals.snapshot(tab.key, scrollback=0, cells=True),
    ):
        assert (last.lines, last.scrollback, last.cols, last.rows) == (was.lines, was.scrollback, 50, 9)
        assert (last.pane, last.source, last.exact) == (tab.pane_id, "replay", True)
    assert (await terminals.snapshot(str(tab.log_path))).lines == was.lines


async def test_a_screen_of_an_earlier_run(environ: dict[str, str], tmp_path: Path) -> None:
    async with open_terminals(environ=environ, state_dir=tmp_path) as terminals:
        tab = await terminals.create_tab(size=(70, 12))
        await tab.execute("seq 20")
        was = await agree(terminals, tab)
        log = tab.log_path
    async with open_terminals(environ=environ, state_dir=tmp_path) as terminals:
        again = await terminals.snapshot(str(log), scrollback=0, at_byte=was.next_byte)
        assert (again.lines, again.cols, again.rows) == (was.lines, 70, 12)
        assert again.scrollback is not None
        assert again.scrollback[-1] == str(int(was.lines[0]) - 1)


async def test_sizes_are_written_once_and_survive_rotation_and_restart(tmp_path: Path) -> None:
    path = tmp_path / "pane-@1.log"
    limits = LogLimits(segment_bytes=1000)
    async with LogStore(limits=limits) as store:
        log = store.open(path)
        log.resized(120, 30)  # as every tab is: nothing to say
        log.append(b"x" * 1500)
        log.resized(80, 24)
        log.resized(80, 24)
        log.append(b"y" * 1500)
        assert await log.flushed()
        log.close()
    async with LogStore(limits=limits) as store:
        log = store.open(path)
        log.resized(80, 24)  # the next process sees it as it was
        log.append(b"z")
        log.resized(90, 30)
        assert await log.flushed()
        await store.written()
    records = [json.loads(line) for line in gaps_path(path).read_text().splitlines()]
    assert records == [{"at": 1500, "columns": 80, "rows": 24}, {"at": 3001, "columns": 90, "rows": 30}]
    assert len(list(tmp_path.glob("*.log"))) == 3
