"""What a tab says of itself, and what a command finds in each odd state."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import anyio
import pytest

from muxwire import Tab, TabUnavailable, Terminals
from tests.library.opened import tab_for

SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")
DEADLINE = 20.0
a_tab = partial(tab_for, DEADLINE)


async def silent(tab: Tab) -> None:
    """Wait until the pane has written nothing for a moment."""
    heard = True
    while heard:
        with anyio.move_on_after(0.2) as still:
            await tab.pane.stream.changed()
        heard = not still.cancelled_caught


async def test_a_list_says_of_a_builtin_that_reads_what_a_result_does(terminals: Terminals) -> None:
    async with a_tab(terminals) as tab:
        await tab.execute("read x", async_=True)
        await silent(tab)
        listed = {row.window_id: row.state for row in (await terminals.list_tabs()).tabs}
        assert listed[tab.key] == (await tab.command_result()).state == "interactive"


async def test_a_busy_tab_names_the_command_and_how_long_it_runs(terminals: Terminals) -> None:
    async with a_tab(terminals) as tab:
        first = await tab.execute("sleep 30", timeout=1.0, on_timeout="leave")
        assert (first.state, first.running, first.timed_out) == ("running", True, True)
        before = tab.next_byte
        with pytest.raises(TabUnavailable) as refused:
            await tab.execute("echo no", timeout=0.3)
        assert refused.value.state == "running"
        assert "sleep 30" in str(refused.value)
        assert first.command_id in str(refused.value)
        assert " s" in str(refused.value)
        assert tab.next_byte == before
        await tab.stop_process()


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_password_is_asked_for_within_a_second_and_nowhere_written(
    terminals: Terminals, folder: Path, shell: str
) -> None:
    secret = "hunter2-" + shell
    async with a_tab(terminals, shell) as tab:
        await tab.execute("true")
        begun = time.monotonic()
        command = """python3 -c 'import getpass; print(len(getpass.getpass("Password: ")))'"""
        asked = await tab.execute(command, timeout=10)
        assert asked.state == "interactive", asked
        assert asked.output == "Password: "
        assert "password" in asked.note
        took = time.monotonic() - begun
        assert took < 1.0 or took < 2.0 + 20 * await tab_startup(terminals)
        await tab.send_keys([secret, "Enter"])
        done = await terminals.command_result(asked.command_id, wait=DEADLINE / 2)
        assert (done.output, done.exit_code) == (f"\n{len(secret)}\n", 0)
        assert secret.encode() not in tab.pane.stream.ring.read(0)
        happened = await terminals.watch_events(since=0, timeout=0.0, max_events=1000)
        assert "getpass" in str(happened)  # it does tell of commands
        assert secret not in str(happened)
    for path in folder.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


READS_SECRET = {
    "bash": "read -s x; echo ${#x}",
    "zsh": "read -s x; echo ${#x}",
    "fish": "read -s x; string length -- $x",
    "busybox": "read -s x; echo ${#x}",
    "dash": "stty -echo; read x; stty echo; echo ${#x}",
}


@pytest.mark.parametrize("shell", READS_SECRET)
async def test_a_secret_that_the_shell_reads_is_nowhere_written(terminals: Terminals, folder: Path, shell: str) -> None:
    secret = "hunter3-" + shell
    async with a_tab(terminals, shell) as tab:
        asked = await tab.execute(READS_SECRET[shell], timeout=10)
        assert (asked.state, asked.running) == ("interactive", True), asked
        await tab.send_keys([secret, "Enter"])
        done = await terminals.command_result(asked.command_id, wait=DEADLINE / 2)
        assert done.exit_code == 0
        assert done.output.strip().endswith(str(len(secret))), done
    for path in folder.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


async def tab_startup(terminals: Terminals) -> float:
    """How long the machine takes to start an interpreter now: what the second is to be measured against."""
    async with a_tab(terminals) as tab:
        return (await tab.execute("python3 -c 'import getpass'")).duration_ms / 1000


# Each leaves its tty raw: the last waits for a key in another thread than its first one.
RAW = {
    "computes": ("import time; end = time.time() + 1\nwhile time.time() < end: pass", False),
    "sleeps": ("import time; time.sleep(1)", False),
    "reads": ("import os; os.read(0, 1)", True),
    "polls": ("import select; select.select([0], [], [])", True),
    "reads in a thread": ("import os, threading; threading.Thread(target=lambda: os.read(0, 1)).start()", True),
}


@pytest.mark.parametrize("shell", ["bash", "dash"])
@pytest.mark.parametrize("kind", RAW)
async def test_a_raw_tty_alone_is_no_wait_for_a_key(terminals: Terminals, shell: str, kind: str) -> None:
    code, waits = RAW[kind]
    async with a_tab(terminals, shell) as tab:
        await tab.execute("true")
        result = await tab.execute(f'python3 -c "import tty; tty.setraw(0); {code}"', timeout=20)
        if waits:
            assert (result.state, result.running) == ("interactive", True), result
            await tab.send_keys(["x"])
            result = await terminals.command_result(result.command_id, wait=10)
        else:
            assert result.note == ""
        assert (result.running, result.exit_code) == (False, 0), result
        assert (await tab.execute("echo ok")).output == "ok\n"


@pytest.mark.parametrize(("shell", "status"), [("bash", None), ("ksh", 129)])  # ksh says how its program ended
async def test_what_runs_in_a_tab_that_another_call_closes_is_told_of_that(
    terminals: Terminals, shell: str, status: int | None
) -> None:
    async with a_tab(terminals, shell) as tab, anyio.create_task_group() as tasks:

        async def run() -> None:
            ran = await tab.execute("sleep 60", timeout=DEADLINE)
            assert (ran.exit_code, ran.note, ran.running) == (status, "the tab was closed", False), ran

        tasks.start_soon(run)
        while tab.pane.session.running is None or not tab.pane.session.running.started:
            await anyio.lowlevel.checkpoint()
        await tab.close(force=True)
