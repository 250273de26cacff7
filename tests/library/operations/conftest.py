"""What the tests of operations share: a tab to work on, and tmux's own word on how things are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

import muxwire
from tests.library.operations.steps import Ask


@pytest.fixture
async def tab(terminals: muxwire.Terminals) -> AsyncIterator[muxwire.Tab]:
    """A fresh tab, closed afterwards with all panes that were split off."""
    made = await terminals.create_tab()
    yield made
    for one in (await terminals.list_tabs()).tabs:
        if not one.closed:
            await terminals.close_tab(one.pane_id, force=True)


@pytest.fixture
def ask(terminals: muxwire.Terminals) -> Ask:
    """Ask tmux, past the library."""

    async def asked(*arguments: str) -> list[str]:
        server = await terminals.server()
        return [line.decode() for line in await server.client.command(*arguments)]

    return asked
