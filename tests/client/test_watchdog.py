"""Whatever kills us, nothing that must end with us lives on, and nothing that must live on freezes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from muxwire.client.client import ControlClient
from muxwire.client.watchdog import (
    Process,
    ask_tmux,
    family,
    process_table,
    remove_folder,
    same_sessions,
)
from muxwire.ids import pane_id
from tests.doubles.private import Observer, open_private_tmux, start_tmux
from tests.processes import WATCHDOG, children_of, gone, line_of, server_pid
from tests.users import program

# Runs in a process of its own, to be killed: a server with a window for each line of standard input.
DRIVER = '''
import array, fcntl, os, sys, termios, time, anyio
from muxwire.client.client import ControlClient
from tests.doubles.private import start_tmux

def stop_reading(process):
    """Wait, without reading, until tmux has filled the pipe and stands still."""
    before, waiting = -1, array.array("i", [0])
    while not waiting[0] or waiting[0] != before:
        before = waiting[0]
        time.sleep(0.05)
        fcntl.ioctl(process._reader, termios.FIONREAD, waiting)

async def main(socket, kind):
    process = start_tmux(socket, ephemeral=kind == "ephemeral")
    async with ControlClient(process) as client:
        for line in sys.stdin.read().splitlines():
            await client.command("new-window", "-d", line)
        (pid,) = await client.command("display-message", "-p", "#{pid}")
        if kind == "stalled":
            stop_reading(process)
        if kind == "ephemeral" and not os.fork():  # a worker of multiprocessing, which outlives us
            while os.path.exists(f"/proc/{int(pid)}"):
                time.sleep(0.05)
            os._exit(0)
        print(int(pid), flush=True)
        await anyio.sleep_forever()

anyio.run(main, *sys.argv[1:])
'''

FLOOD = "exec yes 'all work and no play'"


@asynccontextmanager
async def driver(socket: Path, kind: str, *windows: str) -> AsyncIterator[tuple[subprocess.Popen[str], int]]:
    """Yield a running driver and the process id of its server."""
    argv = [sys.executable, "-c", DRIVER, str(socket), kind]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        server = 0
        try:
            assert process.stdin is not None
            process.stdin.write("\n".join(windows))
            process.stdin.close()
            server = int(await line_of(process))
            yield process, server
        finally:
            process.kill()
            if server in process_table():  # a test that failed; its flood would slow down all others
                os.kill(server, signal.SIGKILL)


async def numbers(folder: Path, count: int) -> set[int]:
    """Return the process ids that the windows wrote into files, once all are there."""
    while True:
        texts = [path.read_text() for path in folder.glob("*.pid")]
        if len(texts) == count and all(text.endswith("\n") for text in texts):
            return {int(text) for text in texts}
        await anyio.sleep(0.01)


async def test_sigkill_leaves_no_process_of_an_ephemeral_instance(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    windows = (
        f"echo $$ > {tmp_path}/pane.pid; exec tail -f /dev/null",
        f"nohup sleep 1000 > /dev/null 2>&1 & echo $! > {tmp_path}/nohup.pid; exec tail -f /dev/null",
        # Its shell has ended, so that init is its parent; the session is all that ties it to the pane.
        f"(trap '' HUP; sleep 1001 & echo $! > {tmp_path}/orphan.pid); exec tail -f /dev/null",
        # A session of its own; the parent is what ties it to the pane.
        f"setsid sleep 1002 & setsid sh -c 'echo $$ > {tmp_path}/setsid.pid; exec sleep 1003' & exec tail -f /dev/null",
        FLOOD,
    )
    async with driver(socket, "ephemeral", *windows) as (process, server):
        doomed = {server} | await numbers(tmp_path, 4)
        children = {pid for pid, row in process_table().items() if row.parent in {process.pid, server}}
        assert doomed | children <= process_table().keys()
        process.send_signal(signal.SIGKILL)
        await gone(doomed | children, socket)


async def test_sigkill_leaves_a_named_server_running_and_no_pane_frozen(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    # With output held up: a client that goes without having read it is what freezes the panes.
    async with driver(socket, "stalled", FLOOD) as (process, server):
        children = children_of(process.pid)
        process.send_signal(signal.SIGKILL)
        await gone(children)
        observer = Observer()
        async with ControlClient(start_tmux(str(socket))) as client:
            client.taps.append(observer.wake)
            assert await server_pid(client) == server
            (row,) = await client.command("list-panes", "-t", ":1", "-F", "#{pane_id}")
            written = observer.outputs[pane_id(row.decode())] = bytearray()
            client.attach_pane(pane_id(row.decode()), written.extend)
            await observer.until(lambda: len(written) > 1_000_000)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_the_end_of_the_watchdog_is_no_reason_to_fail_nor_is_one_that_reads_nothing(number: int) -> None:
    async with open_private_tmux() as tmux:
        server = await server_pid(tmux.client)
        for pid in children_of(os.getpid(), WATCHDOG):
            os.kill(pid, number)
        for _ in range(1000):  # more than its socket has room for
            tmux.process.watchdog.watch_server(server)
        await tmux.client.command("kill-server")
        await gone({server})


def test_a_family_is_all_descendants_and_their_sessions() -> None:
    table = {
        10: Process(1, "10", "a"),
        11: Process(10, "11", "b"),
        12: Process(11, "11", "c"),
        13: Process(1, "11", "d"),
        14: Process(13, "14", "e"),
        20: Process(1, "20", "f"),
        21: Process(20, "20", "g"),
    }
    known = {10: "a", 11: "b", 12: "c", 13: "d", 14: "e"}
    assert (family({10: "a"}, table), family({99: "a"}, table)) == (known, {})
    assert family({10: "z"}, table) == {}, "of a later process that has the number"
    assert same_sessions(known, {15: Process(1, "11", "h"), 21: table[21]}) == {15: "h"}
    reused = {
        11: Process(1, "11", "z"),
        16: Process(11, "11", "y"),
        12: Process(1, "30", "x"),
        17: Process(1, "30", "w"),
    }
    assert same_sessions(known, reused) == {}, "a later process that has a number of the family"


def test_a_tmux_that_prints_without_end_is_not_heard_to_its_end(tmp_path: Path) -> None:
    assert ask_tmux(str(program(tmp_path / "tmux", "#!/bin/sh\nexec yes\n")), "").startswith("y\n")


def test_a_folder_goes_and_what_its_links_point_to_stays(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("")
    doomed = tmp_path / "doomed"
    (doomed / "a" / "b").mkdir(parents=True)
    (doomed / "a" / "file").write_text("")
    (doomed / "link").symlink_to(tmp_path / "kept")
    remove_folder(os.fsencode(doomed))
    assert (doomed.exists(), (tmp_path / "kept" / "file").exists()) == (False, True)
