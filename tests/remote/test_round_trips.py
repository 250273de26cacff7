"""How many round trips a call to another machine takes: what can be asked together is not asked one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import pytest

import muxwire
from muxwire.repl.recording import RecordingTransport
from muxwire.repl.transcript import Received, Sent
from tests.library.opened import known_prompt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from muxwire import Terminals
    from muxwire.client.transport import Transport
    from muxwire.repl.transcript import Record

DEADLINE = 30.0
TABS = 4
# One of that many tries must do, and is the last: a machine with much to do answers while the shell has not come to its
# turn.
TRIES = 10
BEAT = b"@muxwire-beat"


@final
class Turns:
    """How often something was sent when something had come since the last time."""

    def __init__(self) -> None:
        self._heard, self._count = True, 0

    def wrap(self, transport: Transport) -> Transport:
        return RecordingTransport(transport, self._take)

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


async def takes(most: int, once: Callable[[], Awaitable[int]]) -> None:
    """A try of something takes so many turns at most."""
    counts: list[int] = []
    while len(counts) < TRIES:
        counts.append(await once())
        if counts[-1] <= most:
            return
    pytest.fail(f"{counts} turns, all of them more than {most}")


@pytest.mark.parametrize(("shell", "most"), [("bash", 2), ("zsh", 2), ("fish", 3), ("dash", 3), ("ksh", 3)])
async def test_the_first_command_of_a_tab(there: Terminals, turns: Turns, shell: str, most: int) -> None:
    async def once() -> int:
        tab = await there.create_tab(host="box", shell=shell)
        assert (await there.wait_for([tab.key], prompt=True, from_byte=0, timeout=DEADLINE)).outcome == "met"
        turns.taken()
        assert (await tab.execute("true")).exit_code == 0
        return turns.taken()

    await takes(most, once)


async def test_listing_tabs(there: Terminals, turns: Turns) -> None:
    for _ in range(TABS):
        await there.create_tab(host="box", shell="bash")

    async def once() -> int:
        turns.taken()
        assert len((await there.list_tabs()).tabs) == TABS
        return turns.taken()

    await takes(2, once)  # tmux; the helper, of all tabs: a new tab is asked about once by itself


async def test_a_command_that_waits_for_input(there: Terminals, turns: Turns) -> None:
    tab = await there.create_tab(host="box", shell="bash")
    await known_prompt(tab)

    async def once() -> int:
        assert (await tab.execute("true")).exit_code == 0  # after keys that were sent one more question is asked
        turns.taken()
        assert (await tab.execute("read line")).state == "interactive"
        taken = turns.taken()
        assert (await tab.send_keys(["", "Enter"], wait=DEADLINE)).outcome == "ended"
        return taken

    await takes(3, once)  # the line; what it does; that all of its output is here
