"""A call that is given up while it connects leaves nothing running there for long, and ends nothing that ran before."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

import muxwire
from muxwire.far import connection as remote
from muxwire.far.links import links
from muxwire.library import lifetime
from muxwire.library.opening import own_terminals
from tests.deadline import DEADLINE
from tests.far.hosts import user_of, words_there
from tests.forked import muxwire_beside
from tests.processes import server_pid


@pytest.fixture
def there(folder: Path) -> Path:
    """The other machine's temporary files: each of its tmux servers has a directory two levels below."""
    place = folder / f"there{len(list(folder.glob('there*')))}"
    place.mkdir(mode=0o700)
    return place


@pytest.fixture
def user(environ: dict[str, str], there: Path) -> dict[str, str]:
    return user_of(environ, there.with_suffix(".toml"), box={"via": words_there(environ, there)})


def servers(place: Path) -> list[Path]:
    return [path.parent for path in place.glob("*/*/s")]


def there_is_one(place: Path) -> bool:
    try:
        return any(place.glob("*/*"))
    except FileNotFoundError:  # one is just being removed
        return True


async def ended(place: Path) -> None:
    """Nothing tells of another machine's processes: their directory is looked for."""
    with anyio.fail_after(DEADLINE):
        while there_is_one(place):
            await anyio.sleep(0.05)


async def test_a_call_that_is_cancelled_before_tmux_has_greeted(
    folder: Path, user: dict[str, str], there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server there ends by itself, since nobody has ever used it."""
    greet = remote._greet
    seen: list[Path] = []

    async def give_up(*words: Any) -> Any:
        if not seen:
            seen.extend(servers(there))
            call.cancel()
        return await greet(*words)

    monkeypatch.setattr(remote, "_greet", give_up)
    async with muxwire.open_terminals(state_dir=folder / "state", environ=user) as opened:
        with anyio.CancelScope() as call:
            await opened.create_tab(host="box")
        assert (call.cancelled_caught, len(seen)) == (True, 1)
        await ended(there)
        tab = await opened.create_tab(host="box")
        assert (await tab.execute("echo there")).output == "there\n"
    await ended(there)


@pytest.mark.parametrize("step", ["greet", "reattach"])
async def test_what_an_earlier_process_left_there_goes_on(
    folder: Path, user: dict[str, str], there: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    called: list[str] = []

    def given_up(module: Any, name: str) -> None:
        whole = getattr(module, name)

        async def give_up(*words: Any) -> Any:
            if not called:
                called.append(name)
                call.cancel()
            return await whole(*words)

        monkeypatch.setattr(module, name, give_up)

    async with own_terminals("left", state_dir=folder / "state", environ=user) as first:
        tab = await first.create_tab(host="box", shell="bash")
        await tab.execute("kept=yes")
    async with own_terminals("left", state_dir=folder / "state", environ=user) as second:
        given_up(*{"greet": (remote, "_greet"), "reattach": (lifetime, "reattach")}[step])
        with anyio.CancelScope() as call:
            await second.create_tab(host="box", shell="bash")
        assert called
        await second.create_tab(host="box", shell="bash")
        again = await second.tab(tab.key)
        assert (await again.execute("echo $kept")).output == "yes\n"
        await second.close_host("box")
    await ended(there)


async def test_a_search_that_finds_nothing_takes_no_machine_from_a_call(
    folder: Path, user: dict[str, str], there: Path
) -> None:
    """The server there has ended, which a list of tabs learns while another call waits to start the next."""
    async with own_terminals("gone", state_dir=folder / "state", environ=user) as first:
        pid = await server_pid((await first.create_tab(host="box")).client)
    os.kill(pid, signal.SIGKILL)
    async with own_terminals("gone", state_dir=folder / "state", environ=user) as second:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(second.list_tabs)
            await anyio.sleep(0.05)
            made = await second.create_tab(host="box")
        assert await second.tab(made.key) is made
        await second.close_host("box")
    await ended(there)


async def test_a_machine_that_is_gone_for_good_is_forgotten_by_force(folder: Path, user: dict[str, str]) -> None:
    async with own_terminals("lost", state_dir=folder / "state", environ=user) as first:
        os.kill(await server_pid((await first.create_tab(host="box")).client), signal.SIGKILL)
    lost = user_of(user, folder / "lost.toml", box={"via": ["false"]}) | {"MUXWIRE_STATE_DIR": str(folder / "state")}
    for words, said, left in (((), "left out", 1), (("-f",), "given up", 0)):
        done = await muxwire_beside(["kill", "--all", "--name", "lost", *words], lost, DEADLINE)
        assert (done.returncode, said in done.stderr, len(links(folder / "state", "lost"))) == (0, True, left), done
