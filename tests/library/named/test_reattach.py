"""A named instance outlives the process that made it: tabs, names, offsets, shells and commands are found again."""

from __future__ import annotations

import json
import os
import signal
import time
from types import SimpleNamespace

import anyio
import pytest

import muxwire
from muxwire.host.locks import InstanceLock, named_server
from muxwire.tabs import tab as tabs_tab
from tests.deadline import DEADLINE, until
from tests.library.opened import begun

from .conftest import Instance

# Seconds in which the times of the journal are given.
ROUNDED = 0.001


async def test_tabs_are_found_again(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    async with instance.open() as first:
        tab = await first.create_tab(name="a name; with 'quotes' #{x}", size=(90, 20), cwd="/usr")
        await tab.execute("cd /usr/bin; WORD=kept; f() { echo called; }")
        done = await tab.execute("echo before; (exit 5)")
        window, log = tab.window_id, tab.log_path
    monkeypatch.setattr(tabs_tab, "time", SimpleNamespace(time=lambda: time.time() + 99, monotonic=time.monotonic))
    async with instance.open() as second:
        (row,) = (await second.list_tabs()).tabs
        assert row.created is not None
        assert row.used is not None
        assert row.created > row.used + 90
        assert (row.name, row.window_id, row.cwd, row.state) == (
            "a name; with 'quotes' #{x}",
            window,
            "/usr/bin",
            "prompt",
        )
        tab = await second.tab(window)
        tab.created += 999  # the clock was set back
        assert (tab.row("").created, tab.log_path, tab.columns, tab.sized) == (0, log, 90, True)
        result = await tab.execute("echo $WORD; f; pwd")
        assert result.output == "kept\ncalled\n/usr/bin\n"
        assert result.from_byte > done.next_byte
        old = await second.command_result(done.command_id)
        assert (old.output, old.exit_code, old.running) == ("before\n", 5, False)
        assert (await second.stream_logs(window, from_byte=done.from_byte, max_bytes=8)).chunk.startswith("before")
        await second.close_tab(window)
    async with instance.open() as third:
        assert ((await third.list_tabs()).tabs, "called" in (await third.read_logs(window)).content) == ((), True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
async def test_running_commands_end_with_their_own_status(instance: Instance, number: signal.Signals) -> None:
    gate = instance.state.parent / "gate"
    left_alone = instance.state.parent / "left"
    waits, leaves = (f"until [ -e {path} ]; do sleep 0.05; done" for path in (gate, left_alone))
    owner, commands = await instance.owner(
        f"echo first; {waits}; echo second; (exit 9)",  # ends when the next process is there
        f"{leaves}; echo meanwhile; (exit 6)",  # while nobody is
        f"{leaves}; printf x; exit 4",  # and its shell with it
    )
    typed_by = time.time()
    owner.send_signal(number)
    owner.wait()
    left_alone.touch()
    ends = {commands[1][0]: "b$", commands[2][0]: "xexit"}  # bash says `exit`
    shown = ("capture-pane", "-p", "-t")
    await until(lambda: all(instance.tmux(*shown, window).endswith(end) for window, end in ends.items()))
    async with instance.open() as terminals:
        running = await terminals.command_result(commands[0][1])
        assert (running.output, running.running, running.state) == ("first\n", True, "running")
        with pytest.raises(muxwire.TabUnavailable, match="has been running"):
            await (await terminals.tab(commands[0][0])).execute("echo x", timeout=0.1)
        gate.touch()
        ended = await terminals.command_result(commands[0][1], wait=DEADLINE)
        assert (ended.output, ended.exit_code, ended.running) == ("second\n", 9, False)
        meanwhile = await terminals.command_result(commands[1][1], wait=DEADLINE)
        assert (meanwhile.output, meanwhile.exit_code) == ("meanwhile\n", 6)
        left = await terminals.command_result(commands[2][1], wait=DEADLINE)
        assert (left.output, left.exit_code) == ("xexit\n", 4)
        assert (await terminals.stream_logs(commands[2][0], from_byte=0)).closed
        assert [record.time for record in await terminals.history() if record.time > typed_by + ROUNDED] == []


async def test_a_command_whose_end_nobody_saw_holds_nobody_up(instance: Instance) -> None:
    """It ended between two processes, and a later command has been run since."""
    async with instance.open() as first:
        tab = await first.create_tab()
        left = await tab.execute("sleep 1000", async_=True)
        await begun(tab)
    instance.tmux("send-keys", "-t", tab.window_id, "C-c")
    commands = tab.runner.folder / "commands"
    for word in ("a", "b", "c"):
        async with instance.open() as later:
            tab = await later.tab(tab.window_id)
            assert (await tab.execute(f"echo {word}")).output == f"{word}\n"
            ended = await later.command_result(left.command_id)
            assert (ended.output, ended.exit_code) == ("^C\n", 130)
        # As if this process had been killed before it could write that down.
        rows = commands.read_text().splitlines()
        rows = [row for row in rows if left.command_id not in row or "typed" in row]
        commands.write_text("\n".join(rows) + "\n")


async def test_the_death_of_tmux(instance: Instance) -> None:
    """Nobody was there when it died: the logs are whole, closed, and never written again."""
    owner, ((window, _),) = await instance.owner("echo from the first server")
    owner.kill()
    owner.wait()
    instance.tmux("send-keys", "-t", window, "echo unattended", "Enter")
    unattended = instance.home / "1" / "spool" / f"pane-{window}" / "0"
    await until(lambda: unattended.exists() and "unattended" in unattended.read_text())
    os.kill(int(instance.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    assert instance.socket.exists()  # a stale one
    async with instance.open() as terminals:
        assert (await terminals.list_tabs()).tabs == ()
        old = await terminals.stream_logs(window, from_byte=0)
        assert "from the first server" in old.chunk
        assert "unattended" in old.chunk
        assert old.closed
        tab = await terminals.create_tab()
        assert (tab.window_id, tab.generation) == (window, 2)
        assert (await tab.execute("echo from the second")).output == "from the second\n"
        again = await terminals.stream_logs(f"1/{window}", from_byte=0)
        assert (again.chunk, again.next_byte) == (old.chunk, old.next_byte)


async def test_everything_is_private(instance: Instance) -> None:
    owner, _ = await instance.owner("echo secret")
    owner.kill()
    owner.wait()
    lock = InstanceLock(instance.home / "lock")
    assert await lock.take_soon()  # its watchdog has ended
    lock.release()
    seen = 0
    for path in (instance.home, *instance.home.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
        seen += path.is_file()
    assert seen >= 4


async def test_a_lock_that_is_a_link_is_refused(instance: Instance) -> None:
    instance.home.mkdir(parents=True)
    target = instance.state.parent / "target"
    (instance.home / "lock").symlink_to(target)
    async with instance.open() as terminals:
        with pytest.raises(muxwire.InstanceUnavailable, match="cannot use the lock"):
            await terminals.create_tab()
    assert not target.exists()


async def test_a_stale_lock_is_taken(instance: Instance) -> None:
    """What a dead owner wrote into it counts for nothing, whatever its number is now."""
    instance.home.mkdir(parents=True, mode=0o700)
    path = instance.home / "lock"
    path.write_text(json.dumps({"pid": os.getpid(), "started": "another time"}))
    assert named_server(path)[0] == 0
    path.write_text("no JSON")
    assert named_server(path)[0] == 0
    async with instance.open() as terminals:
        await terminals.create_tab()
        assert (terminals.role, named_server(path)[0]) == ("owner", os.getpid())


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", "-x", "x" * 33, "a\n"])
async def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(muxwire.InvalidArgument):
        async with muxwire.open_terminals(name):
            pass


async def test_a_pane_whose_pipe_or_log_is_gone_is_a_tab_again(instance: Instance) -> None:
    async with instance.open() as first:
        tab = await first.create_tab()
    instance.tmux("pipe-pane", "-t", tab.pane_id)
    await anyio.run_process(["ln", "-sf", "/nowhere", tab.log_path])  # a link is not followed
    (tab.runner.folder / "log").write_bytes(b"\xff")
    instance.tmux("send-keys", "-t", tab.pane_id, "echo betw''een", "Enter")
    async with instance.open() as second:
        assert (await (await second.tab(tab.window_id)).execute("echo after")).output == "after\n"
