"""What the tests of the library share: a tab with bash for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from muxwire import Tab, Terminals
from tests.library.opened import tab_for

# Seconds that no test here needs.
DEADLINE = 50.0


@pytest.fixture
async def tab(terminals: Terminals) -> AsyncIterator[Tab]:
    async with tab_for(DEADLINE, terminals) as made:
        yield made
