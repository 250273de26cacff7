"""Tabs of a named instance on another machine: they outlive the process, and the next one continues where it ended."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from muxwire import Tab, Terminals
from muxwire.far.links import links
from muxwire.library.opening import own_terminals
from tests.deadline import DEADLINE
from tests.far.hosts import user_of
from tests.forked import muxwire_beside, run_muxwire
from tests.processes import end_owner
from tests.sshd import ssh_server

NAME = "dev"
# Numbered lines, which a program goes on printing while nobody is connected.
LINES = 20_000
# A process that makes a tab, has it print, and is killed in the middle.
_KILLED = """
import os, signal, sys, anyio
from muxwire.library.opening import own_terminals
async def main():
    async with own_terminals({name!r}, state_dir={state!r}) as opened:
        tab = await opened.create_tab(host={host!r}, shell="bash")
        running = await tab.execute({command!r}, async_=True)
        await opened.wait_for([tab.key], regex="^100$", timeout=30)
        print(running.command_id, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main)
"""


@pytest.fixture(params=["prefix", "ssh"], scope="module")
def user(request: pytest.FixtureRequest, environ: dict[str, str], folder: Path) -> Iterator[dict[str, str]]:
    """A user whose `box` is this machine, behind `env -i` or a server for ssh."""
    if request.param == "prefix":
        yield environ
        return
    place = folder / "sshd"
    place.mkdir()
    with ssh_server(place) as options:
        yield user_of(environ, folder / "ssh-hosts.toml", box={"via": ["ssh", *options, "127.0.0.1"]})


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture(autouse=True)
async def clean(state: Path, user: dict[str, str]) -> AsyncIterator[None]:
    yield
    await no_owner(user)
    with anyio.move_on_after(DEADLINE):
        async with own_terminals(NAME, state_dir=state, environ=user) as opened:
            for row in (await opened.list_tabs(closed=False)).tabs:
                await opened.close_tab(row.window_id, force=True)
    assert links(state, NAME) == []
    run_muxwire(["kill", "--all", "-f", "--name", NAME], user, DEADLINE)


async def no_owner(user: dict[str, str]) -> None:
    """End the owner that a verb has started: it stays as long as a tab is open, here or on another machine."""
    await anyio.to_thread.run_sync(end_owner, Path(user["XDG_RUNTIME_DIR"]) / "muxwire", NAME)


async def muxwire_verb(
    user: dict[str, str], state: Path, *words: str, name: str = NAME
) -> subprocess.CompletedProcess[str]:
    return await muxwire_beside(words, user | {"MUXWIRE_STATE_DIR": str(state), "MUXWIRE_NAME": name}, DEADLINE)


async def written(opened: Terminals, tab: Tab) -> bytes:
    await tab.pane.stream.log.flushed()
    assert (await opened.stream_logs(tab.key, max_bytes=1 << 20)).dropped == 0
    return re.sub(rb"\x1b\]7770;R;[0-9a-f]{16}\x07", b"", tab.log_path.read_bytes())


async def test_a_tab_outlives_its_process_with_its_state(user: dict[str, str], state: Path, folder: Path) -> None:
    go = folder / f"go-{user['MUXWIRE_HOSTS'][-8:]}"
    async with own_terminals(NAME, state_dir=state, environ=user) as first:
        made = await first.create_tab(host="box", shell="bash", name="before")
        await first.run_operations([{"kind": "rename_window", "target": made.key, "name": "far"}])
        await made.execute("cd /usr; kept=yes")
        running = await made.execute(f"until [ -e {go} ]; do sleep 0.05; done; echo over; (exit 7)", async_=True)
    go.touch()
    async with own_terminals(NAME, state_dir=state, environ=user) as second:
        [row] = (await second.list_tabs(closed=False)).tabs
        assert (row.window_id, row.name, row.host, row.link) == (made.key, "far", "box", "up")
        ended = await second.command_result(running.command_id, wait=DEADLINE)
        assert (ended.output, ended.exit_code) == ("over\n", 7), ended
        tab = await second.tab(made.key)
        assert (await tab.execute("echo $kept; pwd")).output == "yes\n/usr\n"


async def test_a_killed_process_loses_and_doubles_nothing(user: dict[str, str], state: Path) -> None:
    command = f"for i in $(seq 1 {LINES}); do echo $i; done"
    script = _KILLED.format(name=NAME, state=str(state), host="box", command=command)
    done = await anyio.run_process([sys.executable, "-c", script], env=user, check=False)
    assert done.returncode == -signal.SIGKILL, done
    async with own_terminals(NAME, state_dir=state, environ=user) as second:
        ended = await second.command_result(done.stdout.decode().strip(), wait=DEADLINE, max_chars=1 << 20)
        assert ended.exit_code == 0, ended
        tab = await second.tab("box/@1")
        lines = [int(line) for line in re.findall(rb"(\d+)\r\n", await written(second, tab))]
        assert lines == list(range(1, LINES + 1))


async def test_verbs_use_a_tab_that_another_verb_opened(user: dict[str, str], state: Path) -> None:
    made = await muxwire_verb(user, state, "new", "--host", "box", "-n", "far", "--shell", "bash")
    assert (made.stdout, made.returncode) == ("box/@1\n", 0), made
    ran = await muxwire_verb(user, state, "run", "-t", "box/@1", "x=5; echo hi; (exit 4)")
    assert (ran.stdout, ran.returncode) == ("hi\n", 4), ran
    again = await muxwire_verb(user, state, "run", "-t", "box/@1", "echo $x")
    assert (again.stdout, again.returncode) == ("5\n", 0), again
    # In a tab of its own, which ends with the command.
    assert (await muxwire_verb(user, state, "run", "--host", "box", "echo own")).stdout == "own\n"
    listed = json.loads((await muxwire_verb(user, state, "ls", "--json")).stdout)["tabs"]
    assert [(row["window_id"], row["host"], row["state"]) for row in listed] == [("box/@1", "box", "prompt")]
    # Who names no instance means this one: it has nothing on this machine, but it is the only one.
    assert "hi" in (await muxwire_verb(user, state, "snapshot", "box/@1", name="")).stdout
    assert "hi" in (await muxwire_verb(user, state, "logs", "box/@1")).stdout
    closed = await muxwire_verb(user, state, "kill", "box/@1")
    assert closed.returncode == 0, closed
    with anyio.fail_after(DEADLINE):
        while links(state, NAME):  # without a tab the server there ends with the owner
            await anyio.sleep(0.05)
    assert "no tab on box" in (await muxwire_verb(user, state, "run", "-t", "box/far", "true")).stderr
