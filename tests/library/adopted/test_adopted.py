"""A tmux server that a person runs, with the person attached: its tabs can be used, and nothing of it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

import muxwire
from tests.deadline import DEADLINE
from tests.library.adopted.person import CLIENTS, Person
from tests.library.opened import closed


async def test_a_tab_of_ours_in_a_session_of_the_person(person: Person, environ: dict[str, str], folder: Path) -> None:
    await person.settled()
    before = person.tmux("list-windows", "-a", "-F", "#{session_name}:#{window_name}").split()
    async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
        for session in ("", "other"):
            tab = await adopted.create_tab(name="ours", session=session)
            assert (await tab.execute("echo here; (exit 5)")).exit_code == 5
        windows = person.tmux("list-windows", "-a", "-F", "#{session_name}:#{window_name}").split()
        assert sorted(windows) == sorted([*before, "work:ours", "other:ours"])  # each once
        await closed(await adopted.create_tab(idle_timeout=0.2))
    with pytest.raises(muxwire.InvalidArgument, match="close_idle closes nothing") as refused:
        async with muxwire.open_terminals(socket=person.socket, environ=environ, close_idle=60):
            pass
    assert refused.value.remedy == "leave out close_idle, or socket and socket_name"


async def test_attached_from_the_first_use_of_a_session_on(
    person: Person, environ: dict[str, str], folder: Path
) -> None:
    """From then on all that is written is in the log; until then it has to tell a person what it had to tell."""

    def sessions_of_us() -> list[str]:
        rows = person.tmux("list-clients", "-F", f"{CLIENTS} #{{client_session}}").splitlines()
        return sorted(row[2:] for row in rows if row.startswith("1 "))

    await person.settled()
    await person.ring("other:three")
    alerts = person.alerts("other")
    async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
        await adopted.list_tabs()
        await adopted.wait_for(["one", "two"], idle=0.1, timeout=DEADLINE)
        await adopted.read_logs("three")
        tab = await adopted.tab("three")
        assert (sessions_of_us(), person.alerts("other")) == (["work"], alerts)
        await tab.execute("true")
        assert (sessions_of_us(), person.alerts("other") == alerts) == (["other", "work"], False)
        person.tmux("send-keys", "-t", "other:three", "echo by the person", "Enter")
        assert (await tab.wait_for(until="by the person", from_byte=0)).outcome == "met"
        assert sessions_of_us() == ["other", "work"]
        assert '"offset"' not in tab.log_path.with_suffix(".gaps").read_text()
    assert sessions_of_us() == []


async def test_the_person_detaches_us_from_a_session(person: Person, environ: dict[str, str], folder: Path) -> None:
    """Its tabs are found anew by the next call, and their logs go on behind a gap; what runs in others is heard on."""
    await person.settled()
    async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
        before, work = await adopted.tab("three"), (await adopted.server()).client
        begun = await before.execute("read go; echo before", async_=True)
        person.detach_us("work")
        await work.wait_closed()
        await before.send_keys(["Enter"])
        assert (await before.command_result(begun.command_id, wait=DEADLINE)).output == "\nbefore\n"
        person.detach_us("other")
        await before.client.wait_closed()
        person.tmux("send-keys", "-t", "other:three", "echo unheard", "Enter")
        await closed(before)
        tab = await adopted.tab("three")
        assert (tab.pane_id, tab.log_path) == (before.pane_id, before.log_path)
        assert (await tab.execute("echo after; (exit 6)")).exit_code == 6
        content = (await adopted.read_logs("three")).content
        assert "\nbefore\n" in content
        assert "\nafter\n" in content
        assert '"exact": false' in tab.log_path.with_suffix(".gaps").read_text()
        begun = await tab.execute("sleep 60", async_=True)
        for session in ("work", "other"):
            person.detach_us(session)
        assert ", what runs in " in (await tab.command_result(begun.command_id, wait=DEADLINE)).note
        assert [row.pane_id for row in (await adopted.list_tabs()).tabs].count(tab.pane_id) == 1


@pytest.mark.parametrize(
    ("command", "respawn", "note"),
    [("exit 3", False, "its program ended"), ("sleep 60", True, "another program was started")],
)
async def test_a_pane_that_stays_without_its_program(
    person: Person, environ: dict[str, str], folder: Path, command: str, respawn: bool, note: str
) -> None:
    """`remain-on-exit` is on; a command in it ends as soon as tmux says that its shell did."""
    await person.settled()
    async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
        tab = await adopted.tab("one")
        result = await tab.execute(
            command,
            timeout=DEADLINE,
            on_start=lambda _: respawn and person.tmux("respawn-pane", "-k", "-t", "work:one"),
        )
        # 1 of 100 servers of tmux 3.3a ends itself at `respawn-pane -k`, without a signal.
        assert (result.state, result.timed_out, note in result.note or not person.tmux("ls")) == ("dead", False, True)


async def test_the_person_ends_the_server(person: Person, environ: dict[str, str], folder: Path) -> None:
    await person.settled()
    async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
        tab = await adopted.tab("one")
        started = await tab.execute("sleep 60", async_=True)
        person.tmux("kill-server")
        with pytest.raises(muxwire.MuxwireError):
            await adopted.command_result(started.command_id, wait=DEADLINE)
        person.tmux("new-session", "-d", "-n", "another")
        another = await adopted.tab("another")
        assert (another.window_id, another.next_byte) == (tab.window_id, 0), "its log is not that of the window before"
        assert "sleep 60" in (await adopted.read_logs(f"1/{tab.window_id}")).content


async def test_no_server_is_started(environ: dict[str, str], folder: Path) -> None:
    with pytest.raises(muxwire.InstanceUnavailable, match="no tmux server"):
        async with muxwire.open_terminals(socket=folder / "nobody", environ=environ, state_dir=folder / "state"):
            pass
    assert not (folder / "nobody").exists()
