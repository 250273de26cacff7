"""Machines that a program gives: their words, and tabs over an argv, over several programs, and over a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import final

import anyio
import pytest

import muxwire
from muxwire import Carrier, HostUnavailable, NoSuchTarget, Terminals
from tests.deadline import DEADLINE
from tests.far.hosts import words_there
from tests.users import program

# What joins its words for a login shell, as ssh does.
SSH = '#!/bin/sh\nshift\nexec sh -c "$*"\n'


@pytest.fixture(scope="module")
def there(folder: Path, environ: dict[str, str]) -> list[str]:
    """The words that reach a machine which is this one, with other temporary files."""
    (folder / "given").mkdir(mode=0o700)
    return words_there(environ, folder / "given")


@pytest.fixture(scope="module")
async def opened(folder: Path, environ: dict[str, str], there: list[str]) -> AsyncIterator[Terminals]:
    hosts = {"mine": Carrier(there, env={"WORD": "it's a\nword"}, cwd="/usr/lib")}
    async with muxwire.open_terminals(state_dir=folder / "state", environ=environ, hosts=hosts) as terminals:
        yield terminals


@final
class OverPipes:
    """A stream of the caller's own: what a client of a sandbox has."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process

    async def send(self, data: bytes, /) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send(data)

    async def receive(self) -> bytes:
        assert self.process.stdout is not None
        return await self.process.stdout.receive()

    async def aclose(self) -> None:
        await self.process.aclose()


async def test_a_machine_given_at_the_start_has_its_variables_and_its_directory(opened: Terminals) -> None:
    tab = await opened.create_tab(host="mine")
    told = await tab.execute('printf "%s\\n" "$PWD" "$WORD"')
    assert (tab.key, told.output) == ("mine/@1", "/usr/lib\nit's a\nword\n")
    with pytest.raises(HostUnavailable, match="is not in"):
        await opened.create_tab(host="not-given")


async def test_a_machine_is_opened_and_closed_while_running(opened: Terminals, there: list[str], folder: Path) -> None:
    carrier = Carrier([[str(program(folder / "ssh", SSH)), "box"], [*there, "NAME=it's one"]])
    tab = await opened.create_tab(host=carrier)
    again = await opened.create_tab(host=carrier)  # by the same connection
    assert tab.client is again.client
    assert tab.key.split("/")[0] == again.key.split("/")[0] == "carrier-1"
    assert (await tab.execute("echo $NAME")).output == "it's one\n"
    client = tab.client
    await opened.close_host(carrier)
    assert client.closed
    rows = {row.window_id: row for row in (await opened.list_tabs(closed=True)).tabs}
    assert [(rows[one.key].closed, rows[one.key].link) for one in (tab, again)] == [(True, "closed")] * 2
    assert (await opened.read_logs(tab.key)).content.endswith("it's one\n") or tab.pane.session.dead
    with pytest.raises(NoSuchTarget):
        await opened.tab(tab.key)
    new = await opened.create_tab(host=carrier)
    assert (await new.execute("echo $NAME")).output == "it's one\n"
    await opened.close_host("carrier-1")


async def test_a_stream_of_ones_own_is_opened_anew_when_it_is_lost(opened: Terminals, there: list[str]) -> None:
    streams: list[OverPipes] = []

    async def connect(argv: tuple[str, ...]) -> OverPipes:
        streams.append(OverPipes(await anyio.open_process([*there, *argv], stderr=None)))
        return streams[-1]

    carrier = Carrier(connect=connect)
    tab = await opened.create_tab(host=carrier)
    assert (await tab.execute("seq 1 20000", max_chars=None)).output.endswith("\n19999\n20000\n")
    await streams[0].aclose()
    assert (await tab.execute("echo again", timeout=DEADLINE)).output == "again\n"
    assert len(streams) == 2
    await opened.close_host(carrier)
    assert streams[1].process.returncode is not None
