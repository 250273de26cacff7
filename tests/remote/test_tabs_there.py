"""Tabs on another machine by the library: everything that a tab does here, and what it is called."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

import muxwire
from muxwire import InvalidArgument, NoSuchTarget
from muxwire.host.remote import RemoteHost
from tests.library.opened import known_prompt
from tests.remote.proxied import environ_there

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from muxwire import Tab, Terminals

DEADLINE = 30.0
SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")


@pytest.fixture
async def tab(terminals: Terminals) -> AsyncIterator[Tab]:
    with anyio.fail_after(DEADLINE):
        made = await terminals.create_tab(host="box", shell="bash")
        yield made
        await made.close(force=True)


@pytest.mark.parametrize("shell", SHELLS)
async def test_an_answer_that_ends_a_command_there_has_its_exit_code(terminals: Terminals, shell: str) -> None:
    made = await terminals.create_tab(host="box", shell=shell)
    assert (await made.execute("sh -c 'read line; exit 3'")).state == "interactive"
    sent = await made.send_keys(["hello", "Enter"], wait=DEADLINE)
    assert (sent.outcome, sent.state, sent.exit_code) == ("ended", "prompt", 3), sent
    await made.close()


async def test_a_reader_there_at_the_end_of_a_pipe_is_seen_to_wait(terminals: Terminals, tab: Tab) -> None:
    asked = await tab.execute("true | head -n 1 </dev/tty", timeout=DEADLINE / 4)
    assert (asked.timed_out, asked.state) == (False, "interactive"), asked
    await tab.send_keys(["hello", "Enter"])
    told = await terminals.command_result(asked.command_id, wait=DEADLINE)
    assert (told.output, told.exit_code) == ("hello\nhello\n", 0), told


async def test_a_nested_shell_there_reads_our_files_which_go_with_the_tab(terminals: Terminals) -> None:
    made = await terminals.create_tab(host="box", shell="bash")
    host = made.pane.host
    assert isinstance(host, RemoteHost)
    folder = Path(host.facts.memory) / Path(host.facts.folder).name / made.runner.folder.name
    assert (await made.execute("bash --norc", timeout=DEADLINE / 4)).state == "interactive"
    for _ in range(2):  # a shell that was just started may be asked first
        assert (await made.execute("echo in")).output == "in\n"
    assert made.pane.session.current is not None
    assert made.pane.session.current.level == 2
    assert list(folder.iterdir())
    await made.close(force=True)
    await host.done()
    assert not folder.exists()


async def test_our_client_there_leaves_the_size_to_a_persons_terminal(tab: Tab) -> None:
    rows = await tab.client.command("list-clients", "-F", "#{client_control_mode} #{client_flags}")
    assert len(rows) == 1
    assert b"ignore-size" in rows[0]
    assert (await tab.execute("stty size")).output == "30 120\n"  # nobody else is attached


async def test_who_has_a_shell_there_that_we_do_not_know_gets_one_that_we_do(terminals: Terminals) -> None:
    made = await terminals.create_tab(host="odd")
    assert (await made.execute("echo 'a  b'")).output == "a  b\n"
    await made.close()


async def test_a_tab_there_goes_by_its_host(terminals: Terminals, tab: Tab) -> None:
    assert tab.key.startswith("box/@")
    await tab.execute("true")
    here = await terminals.create_tab(name="here")
    assert "/" not in here.key
    assert await terminals.tab(tab.key) is tab
    assert await terminals.tab(".") is tab
    assert await terminals.tab(f"box/{tab.pane_id}") is tab
    assert await terminals.tab(here.key) is here
    assert await terminals.tab(".") is here
    rows = {row.window_id: row for row in (await terminals.list_tabs()).tabs}
    assert (rows[tab.key].host, rows[tab.key].link, rows[tab.key].state) == ("box", "up", "prompt")
    assert (rows[here.key].host, rows[here.key].link) == ("", "")
    await terminals.close_tab(here.key)
    with pytest.raises(NoSuchTarget):
        await terminals.tab("box/@999")


async def test_what_is_not_there_is_refused(terminals: Terminals, folder: Path) -> None:
    for wrong in ({"cwd": str(folder / "nothing")}, {"shell": "no-such-shell"}, {"command": ["no-such-program"]}):
        with pytest.raises(InvalidArgument, match="box"):
            await terminals.create_tab(host="box", **wrong)


async def test_a_program_in_place_of_a_shell_tells_its_status(terminals: Terminals) -> None:
    made = await terminals.create_tab(host="box", command=["sh", "-c", "echo said; exit 7"])
    ended = await terminals.wait_for([made.key], exit=True, timeout=DEADLINE)
    assert ended.outcome in ("met", "closed"), ended
    assert "said" in (await terminals.read_logs(made.key)).content


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The panes about which the helper is asked."""
    asked = []
    refresh = RemoteHost.refresh

    async def counted(
        host: RemoteHost, leader: int, tty: str, pane: str, begins: Callable[[], None], *, wide: bool = False
    ) -> None:
        asked.append(leader)
        await refresh(host, leader, tty, pane, begins, wide=wide)

    monkeypatch.setattr(RemoteHost, "refresh", counted)
    return asked


@pytest.fixture
async def in_pieces(folder: Path, environ: dict[str, str]) -> AsyncIterator[Terminals]:
    """A machine whose output comes line by line, with pauses."""
    words = [sys.executable, str(Path(__file__).with_name("disturbed.py")), "pieces", "env", "-i"]
    words += [f"{name}={value}" for name, value in environ_there(environ, folder / "there").items()]
    (folder / "pieces.toml").write_text(f"[hosts.box]\nvia = {json.dumps(words)}\n")
    user = environ | {"MUXWIRE_HOSTS": str(folder / "pieces.toml")}
    async with muxwire.open_terminals(state_dir=folder / "pieces", environ=user) as opened:
        yield opened


@pytest.fixture
async def pieces(in_pieces: Terminals, asked: list[int]) -> Tab:
    """A tab at a known prompt there."""
    tab = await in_pieces.create_tab(host="box", shell="bash")
    await known_prompt(tab)
    asked.clear()
    return tab
