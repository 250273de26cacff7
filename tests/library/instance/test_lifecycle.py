"""An instance starts when it is needed, ends with everything in it, and says what happened when something dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.client.watchdog import process_table, starting
from muxwire.errors import InstanceUnavailable, MuxwireError, NoSuchTarget, TabUnavailable, TmuxUnavailable
from muxwire.tabs.seat import Seat
from tests.deadline import DEADLINE
from tests.library.opened import begun, seen
from tests.processes import children_of, gone, line_of, server_pid
from tests.users import with_tmux

Open = Callable[..., AbstractAsyncContextManager[muxwire.Terminals]]


# Everything that a shell can leave behind.
LEFTOVERS = """
nohup sleep 1000 > /dev/null 2>&1 & echo $!
sleep 1001 & disown; echo $!
(trap '' HUP TERM; exec sleep 1002) & echo $!
"""


async def start_leftovers(tab: muxwire.Tab) -> set[int]:
    result = await tab.execute(LEFTOVERS)
    return {tab.pane.leader_pid, tab.pane.session.shell_pid} | {
        int(word) for word in result.output.split() if word.isdigit()
    }


async def test_nothing_starts_before_it_is_needed(alone: muxwire.Terminals) -> None:
    before = process_table().keys()
    assert await alone.list_tabs() == muxwire.TabList((), ())
    for call in (alone.tab, alone.read_logs, alone.close_tab):
        with pytest.raises(NoSuchTarget):
            await call("@1")
    await alone.set_history_limit(5)
    with pytest.raises(muxwire.InvalidArgument):
        await alone.create_tab(shell="no-such-shell")
    assert not children_of(os.getpid()) - before
    made = (alone.folders.socket_path, alone.folders.state / alone.folders.instance)
    assert not any(place.exists() for place in made)


async def test_closing_leaves_no_process_no_socket_and_no_folder(open_alone: Open, tmp_path: Path) -> None:
    async with open_alone() as terminals:
        tab = await terminals.create_tab(shell="bash")
        pids = await start_leftovers(tab) | {await server_pid(terminals)}
        assert (len(pids), pids - process_table().keys()) == (6, set())
        await tab.execute(f"sleep 1003; echo went on > {tmp_path}/ran", async_=True)
        await begun(tab)
        places = [terminals.folders.socket_path, *terminals.folders.transient]
        assert all(place.exists() for place in places)
    assert not process_table().keys() & pids
    assert not any(place.exists() for place in (*places, tmp_path / "ran"))
    assert b"sleep" in tab.log_path.read_bytes()
    with pytest.raises(muxwire.ConnectionClosed):
        await terminals.create_tab()


# Runs in a process of its own, to be killed.
VICTIM = f"""
import sys, anyio, muxwire

async def main(state):
    async with muxwire.open_terminals(state_dir=state) as terminals:
        tab = await terminals.create_tab(shell="bash")
        result = await tab.execute({LEFTOVERS!r})
        pids = [word for word in result.output.split() if word.isdigit()]
        await terminals.read_logs(tab.window_id)  # what came so far is on the disk: a SIGKILL may cost the last 10 ms
        await tab.execute("yes; echo went on > " + state + "/ran", async_=True)
        print(terminals.folders.socket_path, *terminals.folders.transient, sep=":", end=" ")
        print(tab.log_path, tab.pane.leader_pid, tab.pane.session.shell_pid, *pids, flush=True)
        await anyio.sleep_forever()

anyio.run(main, sys.argv[1])
"""


async def test_our_death_by_sigkill_leaves_nothing_but_the_log(folder: Path, environ: dict[str, str]) -> None:
    argv = [sys.executable, "-c", VICTIM, str(folder / "state")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environ, text=True) as victim:
        paths, log, *numbers = (await line_of(victim)).split()
        pids = {int(number) for number in numbers}
        assert pids <= process_table().keys()
        pids |= children_of(victim.pid)
        victim.kill()
        for path in paths.split(":"):
            await gone(pids, Path(path))
    assert Path(log).stat().st_size > 0
    assert not (folder / "state" / "ran").exists()


async def test_the_servers_death_is_told_at_once_and_the_next_call_starts_afresh(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab(shell="bash", name="first")
    pids = await start_leftovers(tab)
    outcomes: list[object] = []

    async def call(command: str) -> None:
        try:
            outcomes.append(await tab.execute(command, timeout=DEADLINE))
        except MuxwireError as error:
            outcomes.append(error)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, "echo begun; read -t 1000 < <(sleep 1000)")
        await seen(tab, b"begun\r\n")
        tasks.start_soon(call, "echo never")
        await anyio.lowlevel.checkpoint()
        os.kill(await server_pid(alone), signal.SIGKILL)
    running, waiting = outcomes if isinstance(outcomes[0], muxwire.ExecutionResult) else outcomes[::-1]
    assert isinstance(running, muxwire.ExecutionResult)
    assert (running.output, running.exit_code, running.state) == ("begun\n", None, "dead")
    assert "the tmux server ended: server exited unexpectedly" in running.note
    assert isinstance(waiting, MuxwireError)
    with pytest.raises(NoSuchTarget, match="tab @1 is closed: the tmux server ended: server exited unexpectedly"):
        await alone.tab("@1")
    old = await alone.read_logs("@1", lines=1000)
    assert "begun\n" in old.content
    with alone.seated(Seat(), "/", alone.host.environ) as other:
        second = await other.create_tab(shell="bash", name="second")
    assert (second.window_id, (await second.execute("echo afresh")).output) == ("@1", "afresh\n")
    await gone(pids)
    with pytest.raises(NoSuchTarget, match="that had your tab @1 has ended"):
        await alone.tab("@1")
    assert (await alone.tab("second"), await alone.tab("2/@1"), await alone.tab("@1")) == (second, second, second)
    # A window id that is used again means the newest tab; the older one is called by its server's number.
    rows = {row.window_id: row for row in (await alone.list_tabs()).tabs}
    assert {row.log_path for row in rows.values()} == {str(tab.log_path), str(second.log_path)}
    assert (rows["@1"].name, rows["1/@1"].name, rows["1/@1"].closed) == ("second", "first", True)
    assert await alone.read_logs("1/@1", lines=1000) == old
    assert ["afresh\n" in (await alone.read_logs(name)).content for name in ("@1", "2/@1")] == [True, True]
    assert (await alone.stream_logs("1/@1", max_bytes=1 << 20)).closed
    with pytest.raises(NoSuchTarget, match="closed: the tmux server ended"):
        await alone.tab("1/@1")
    with pytest.raises(NoSuchTarget):
        await alone.read_logs("3/@1")


async def test_closing_a_tab_ends_its_processes_and_asks_before_it_ends_a_command(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab(shell="bash")
    pids = await start_leftovers(tab)
    await tab.execute("sleep 1003", async_=True)
    with pytest.raises(TabUnavailable, match="something still runs") as caught:
        await alone.close_tab(tab.window_id)
    assert "force" in caught.value.remedy
    # Twice at once: one of them does it, both return when it is done.
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(lambda: tab.close(force=True))
    await gone(pids, tab.runner.folder)
    await alone.close_tab(tab.window_id)


async def test_a_cancelled_call_leaves_no_window_behind(alone: muxwire.Terminals) -> None:
    await alone.create_tab(shell="bash")
    for rounds in range(6):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: alone.create_tab(command=["sleep", "1000"], session="x"))
            for _ in range(rounds):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    listed = await alone.list_tabs()
    server = await alone.server()
    windows = {line.decode() for line in await server.client.command("list-windows", "-a", "-F", "#{window_id}")}
    assert windows == {row.window_id for row in listed.tabs if not row.closed} | {"@0"}


async def test_a_start_that_is_cancelled_leaves_nothing_behind(open_alone: Open) -> None:
    for moment in range(16):
        async with open_alone() as terminals:
            with anyio.move_on_after(moment / 500):
                await terminals.create_tab()
        socket = terminals.folders.socket_path
        assert (starting(str(socket), process_table()), [*socket.parent.glob(f"{socket.name}*")]) == ({}, []), moment


# -- what cannot work says so


OLD = r"""
printf '%%begin 1 0 0\n%%end 1 0 0\n'
while read -r line; do
  case $line in
    *display-message*) printf '%%begin 1 1 1\n%d $0 1 3.2a\n%%end 1 1 1\n' $$ ;;
    *) printf '%%begin 1 1 1\n%%end 1 1 1\n' ;;
  esac
done
"""


@pytest.mark.parametrize(
    ("script", "message", "remedy"),
    [
        (OLD, "tmux 3.2a is too old, 3.3 is needed", "tmux 3.3 or newer"),
        ("echo 'no room' >&2; exit 1", "tmux did not start: no room", "tmux -L try new"),
        (None, "tmux is not installed, or not on PATH", "tmux 3.3 or newer"),
    ],
    ids=["old", "broken", "missing"],
)
async def test_a_tmux_that_cannot_serve(
    open_alone: Open, environ: dict[str, str], tmp_path: Path, script: str | None, message: str, remedy: str
) -> None:
    path = with_tmux(tmp_path, script) if script else {"PATH": str(tmp_path)}
    async with open_alone(environ=environ | path) as terminals:
        for _ in range(2):  # a failed start is no obstacle to the next
            with pytest.raises(TmuxUnavailable) as caught:
                await terminals.create_tab(shell="/bin/sh")
            assert message in str(caught.value)
            assert remedy in caught.value.remedy


async def unavailable(open_alone: Open, **given: object) -> str:
    with anyio.fail_after(DEADLINE):
        async with open_alone(**given) as terminals:
            with pytest.raises(InstanceUnavailable) as caught:
                await terminals.create_tab(shell="/bin/sh")
    assert caught.value.remedy
    return f"{caught.value}\n{caught.value.remedy}"


async def test_folders_that_cannot_be_ours(
    open_alone: Open, environ: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert "Not a directory" in await unavailable(open_alone, state_dir=tmp_path / "file" / "state")
    text = await unavailable(open_alone, state_dir="/proc/no-such-place")
    assert "cannot use the directory" in text
    assert "remove it" not in text
    (tmp_path / "real").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert "is not a directory (a link is not followed)" in await unavailable(open_alone, state_dir=tmp_path / "link")
    linked = folder / "linked"  # a path that is too long for a socket is refused first
    linked.mkdir()
    (linked / "muxwire").symlink_to(tmp_path / "real")
    run = environ | {"XDG_RUNTIME_DIR": str(linked)}
    assert "a link is not followed" in await unavailable(open_alone, environ=run)
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    text = await unavailable(open_alone, environ=environ | {"XDG_RUNTIME_DIR": str(deep)})
    assert "the system allows 103" in text


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
async def test_a_folder_of_somebody_else_is_refused(open_alone: Open, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "muxwire").mkdir()
    os.chown(tmp_path / "muxwire", 12345, 12345)
    run = environ | {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert "belongs to user 12345" in await unavailable(open_alone, environ=run)
    assert "belongs to user 12345" in await unavailable(open_alone, state_dir=tmp_path / "muxwire")
