"""How many round trips a call to another machine takes: what can be asked together is not asked one by one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, final

import pytest

import muxwire
from muxwire.shell import prompt_line
from muxwire.testing import Received, RecordingTransport, Sent
from tests.library.opened import known_prompt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from muxwire import Tab, Terminals
    from muxwire.client.transport import Transport
    from muxwire.testing.transcript import Record

pytestmark = pytest.mark.anyio

DEADLINE = 30.0
TABS = 4
# Of that many tries one must do: a machine with much to do answers while the shell has not come to its turn.
TRIES = 10
BEAT = b"@muxwire-beat"


@final
class Turns:
    """How often something was sent when something had come since the last time."""

    def __init__(self) -> None:
        self._heard, self._count = True, 0

    def wrap(self, transport: Transport) -> Transport:
        return RecordingTransport(transport, listen=self._take)

    def taken(self) -> int:
        """How many there were since this was called last."""
        taken, self._heard, self._count = self._count, True, 0
        return taken

    def _take(self, records: Sequence[Record]) -> None:
        for record in records:
            if isinstance(record, Received):
                self._heard = True
            elif isinstance(record, Sent) and BEAT not in record.line and self._heard:
                self._heard, self._count = False, self._count + 1


@pytest.fixture
def turns() -> Turns:
    return Turns()


@pytest.fixture
async def there(folder: Path, environ: dict[str, str], turns: Turns) -> AsyncIterator[Terminals]:
    async with muxwire.open_terminals(state_dir=folder / "turns", environ=environ, wrap=turns.wrap) as opened:
        yield opened


async def least(turns: Turns, tab: Tab, *commands: str) -> int:
    """The fewest turns that the last one of these commands took."""
    counts = []
    for _ in range(TRIES):
        for command in commands[:-1]:
            assert (await tab.execute(command)).exit_code == 0
        while not tab.pane.listens or time.monotonic() - tab.pane.session.prompt_time < prompt_line.REACTION:
            await tab.snapshot()  # until a person could have typed at that prompt
        turns.taken()
        assert (await tab.execute(commands[-1])).exit_code == 0
        counts.append(turns.taken())
    return min(counts)


@pytest.mark.parametrize(("shell", "most"), [("bash", 2), ("zsh", 2), ("fish", 3)])
async def test_a_prompt_that_was_never_seen_takes_one_question(
    there: Terminals, turns: Turns, folder: Path, shell: str, most: int
) -> None:
    tab = await there.create_tab(host="box", shell=shell, cwd="/")
    if shell != "fish":  # its own shows the directory
        await tab.execute({"bash": r"PS1='\w$ '", "zsh": "PS1='%~$ '"}[shell])
    make = f"mktemp -d {folder}/XXXXXX"
    go = f"cd ({make})" if shell == "fish" else f'cd "$({make})"'
    assert await least(turns, tab, go, "true") <= most


@pytest.mark.parametrize("shell", ["bash", "dash", "ksh"])
async def test_a_prompt_behind_an_output_without_a_line_end_takes_one_question(
    there: Terminals, turns: Turns, shell: str
) -> None:
    tab = await there.create_tab(host="box", shell=shell)
    await known_prompt(tab)
    assert await least(turns, tab, "printf x", "true") <= 2


@pytest.mark.parametrize(("shell", "most"), [("bash", 2), ("zsh", 2), ("fish", 3), ("dash", 3), ("ksh", 3)])
async def test_the_first_command_of_a_tab(there: Terminals, turns: Turns, shell: str, most: int) -> None:
    counts = []
    for _ in range(TRIES):
        tab = await there.create_tab(host="box", shell=shell)
        assert (await there.wait_for([tab.key], prompt=True, from_byte=0, timeout=DEADLINE)).outcome == "met"
        turns.taken()
        assert (await tab.execute("true")).exit_code == 0
        counts.append(turns.taken())
    assert min(counts) <= most, counts


async def test_listing_tabs(there: Terminals, turns: Turns) -> None:
    for _ in range(TABS):
        await there.create_tab(host="box", shell="bash")
    counts = []
    for _ in range(TRIES):  # a new tab is asked about once by itself
        turns.taken()
        assert len((await there.list_tabs()).tabs) == TABS
        counts.append(turns.taken())
    assert min(counts) <= 2, counts  # tmux; the helper, of all tabs


async def test_making_and_stopping(there: Terminals, turns: Turns) -> None:
    makes, stops = [], []
    for _ in range(TRIES):
        turns.taken()
        tab = await there.create_tab(host="box", shell="bash", cwd="/usr")
        makes.append(turns.taken())
        await tab.start_process("echo up; sleep 100", ready="up", ready_timeout=DEADLINE)
        turns.taken()
        assert (await tab.stop_process()).success
        stops.append(turns.taken())
    assert min(makes) <= 3, makes  # the directory and the shell; the window; that it is shown, for which nobody waits
    assert min(stops) <= 2, stops  # what runs; the signal


async def test_a_command_that_waits_for_input(there: Terminals, turns: Turns) -> None:
    tab = await there.create_tab(host="box", shell="bash")
    await known_prompt(tab)
    counts = []
    for _ in range(TRIES):
        turns.taken()
        assert (await tab.execute("read line")).state == "interactive"
        counts.append(turns.taken())
        assert (await tab.send_keys(["", "Enter"], wait=DEADLINE)).outcome == "ended"
    assert min(counts) <= 3, counts  # the line; what it does; that all of its output is here
