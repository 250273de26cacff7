"""What the tests of faults share: an instance with a clean home of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

import muxwire
from tests.users import environ_of, short_folder

Open = Callable[..., AbstractAsyncContextManager[muxwire.Terminals]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """One for each test, since a fault may spoil it."""
    with short_folder() as made:
        yield made


@pytest.fixture
def environ(folder: Path) -> dict[str, str]:
    (folder / ".bashrc").write_text("PS1='b$ '\n")
    return environ_of(folder, runtime=folder / "run") | {"MUXWIRE_STATE_DIR": str(folder / "state")}


@pytest.fixture
def open_alone(environ: dict[str, str]) -> Open:
    def open_one(**given: Any) -> AbstractAsyncContextManager[muxwire.Terminals]:
        return muxwire.open_terminals(**{"environ": environ} | given)

    return open_one


@pytest.fixture
async def alone(open_alone: Open) -> AsyncIterator[muxwire.Terminals]:
    async with open_alone() as opened:
        yield opened
