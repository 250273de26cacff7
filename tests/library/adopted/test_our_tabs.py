"""Tabs that muxwire makes at a person's tmux server: they can be closed, they end with us, and nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

import muxwire
from muxwire.client.watchdog import process_table
from tests.deadline import until
from tests.library.adopted.person import Person, differences
from tests.library.opened import closed
from tests.processes import gone, line_of

# Starts what a hang-up does not end, and prints its number.
BACKGROUND = "sh -c 'nohup sleep 1000 >/dev/null 2>&1 & echo $!'"
# A process that opens a tab and runs a command in it and one in the person's window, says so, and stays to be killed.
VICTIM = """
import sys, anyio, muxwire
async def main(socket, state):
    async with muxwire.open_terminals(socket=socket, state_dir=state) as adopted:
        for session in ("work", "other"):
            tab = await adopted.create_tab(name=f"ours in {session}", session=session)
            said = await tab.execute("sh -c 'nohup sleep 1000 >/dev/null 2>&1 & echo $!'; echo $$")
            print(*said.output.split(), flush=True)
            await tab.execute("sleep 1000; echo went on > " + state + "/ran", async_=True)
        theirs = await adopted.tab("one")
        await theirs.execute("sleep 3", async_=True)
        print("ready", flush=True)
        await anyio.sleep_forever()
anyio.run(main, *sys.argv[1:])
"""

Open = Callable[[], AbstractAsyncContextManager[muxwire.Terminals]]


@pytest.fixture
def opened(person: Person, environ: dict[str, str], folder: Path) -> Open:
    return lambda: muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state")


@asynccontextmanager
async def unchanged(person: Person) -> AsyncIterator[None]:
    """What is done in the block leaves nothing at the server, and changes nothing of it."""
    used = {person.pane("work:one")}
    before = await person.settled(used)
    yield
    assert differences(before, person.everything(used)) == []


def windows(person: Person, session: str) -> int:
    return len(person.tmux("list-windows", "-t", session).splitlines())


async def test_what_we_made_ends_with_us_with_all_that_runs_in_it(person: Person, opened: Open) -> None:
    async with unchanged(person):
        pids: list[int] = []
        async with opened() as adopted:
            for session in ("", "other"):
                tab = await adopted.create_tab(session=session)
                pids += map(int, (await tab.execute(f"trap '' HUP TERM; {BACKGROUND}; echo $$")).output.split())
                assert await adopted.tab() is tab  # the one that a call without a name uses
            assert process_table().keys() >= set(pids)
        assert process_table().keys().isdisjoint(pids)


async def test_a_tab_that_is_closed_takes_nothing_with_it(person: Person, opened: Open) -> None:
    async with unchanged(person), opened() as adopted:
        tab = await adopted.create_tab(name="ours")
        pid = int((await tab.execute(BACKGROUND)).output)
        await adopted.close_tab("ours")
        await gone([pid])
        # One whose program ends goes by itself.
        tab = await adopted.create_tab(name="ours")
        assert (await tab.execute("echo ${TMUX%%,*}")).output == f"{person.socket}\n"
        assert (await tab.execute("exit 3")).state == "dead"
        await closed(tab)


async def test_a_pane_of_the_person_in_a_window_of_ours_stays(person: Person, opened: Open) -> None:
    async with opened() as adopted:
        tab = await adopted.create_tab(name="ours")
        person.tmux("split-window", "-d", "-t", tab.window_id)
        panes = person.tmux("list-panes", "-t", tab.window_id, "-F", "#{pane_id}").split()
        await adopted.close_tab("ours")
        assert person.tmux("list-panes", "-t", tab.window_id, "-F", "#{pane_id}").split() == panes[1:]
        kept = {row.pane_id for row in (await adopted.list_tabs()).tabs if not row.closed}
        assert panes[1] in kept
        with pytest.raises(muxwire.NotPermitted):
            await adopted.close_tab(panes[1], force=True)


async def test_the_last_window_of_a_session_stays(person: Person, opened: Open) -> None:
    """The person closed all others: the session, and perhaps the server, would end with ours."""
    async with opened() as adopted:
        tab = await adopted.create_tab(name="ours", session="other")
        person.tmux("kill-window", "-t", "other:three")
        for force in (False, True):
            with pytest.raises(muxwire.NotPermitted, match="only window"):
                await adopted.close_tab("ours", force=force)
        assert (await tab.execute("echo on")).output == "on\n"
        # Its program ends: the window goes as soon as the session has another one.
        await tab.execute("exit")
        await adopted.list_tabs()
        assert windows(person, "other") == 1
        person.tmux("new-window", "-d", "-t", "other:")
        while windows(person, "other") > 1:
            await adopted.list_tabs()
        await closed(tab)  # tmux has ended the window before we hear of it
        last = await adopted.create_tab(name="last", session="other")
        person.tmux("kill-window", "-a", "-t", last.window_id)
    # Also at our end.
    assert person.tmux("list-windows", "-t", "other", "-F", "#{window_name}").split() == ["last"]

    # The other one is left to the end.


async def test_nothing_stays_after_sigkill(person: Person, environ: dict[str, str], folder: Path) -> None:
    async with unchanged(person):
        argv = [sys.executable, "-c", VICTIM, str(person.socket), str(folder / "state")]
        with subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, text=True) as victim:
            try:
                pids: list[int] = []
                while (line := await line_of(victim)) != "ready\n":
                    assert line, "it has died"
                    pids += map(int, line.split())
                assert process_table().keys() >= set(pids)
                assert len(person.ids("list-windows", "window_id")) == 5
            finally:
                victim.kill()
        await gone(pids)
        await person.alone()
        await until(lambda: len(person.ids("list-windows", "window_id")) <= 3)
        # The command in the person's own shell runs on, as all that is typed there.
        runs = ("display-message", "-p", "-t", "work:one", "#{pane_current_command}")
        await until(lambda: person.tmux(*runs) != "sleep\n")
        assert not (folder / "state" / "ran").exists()
        homes = (Path(environ["XDG_RUNTIME_DIR"], "muxwire"), Path(f"/dev/shm/muxwire-{os.getuid()}"))
        await until(lambda: not any(list(home.glob(f"a{victim.pid}-*")) for home in homes))


async def test_a_window_that_would_crash_a_persons_tmux_is_not_made(person: Person, opened: Open) -> None:
    await person.settled()
    person.tmux("set-option", "-gw", "window-size", "manual")
    async with opened() as adopted:
        if (await adopted.server()).version >= (3, 7):
            pytest.skip("this tmux does not crash")
        with pytest.raises(muxwire.NotPermitted, match="crashes when a window is made"):
            await adopted.create_tab()
    assert "manual" in person.tmux("show-options", "-gw", "window-size")
