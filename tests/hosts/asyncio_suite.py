"""A suite of somebody who tests with pytest-asyncio; `host.py` runs it.

A fixture is set up in one task and torn down in another, and the tests run in others again.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

import muxwire
from tests.hosts.scenario import environ, use_instance, use_tabs

FOLDER = Path(os.environ["HOST_FOLDER"])


@pytest_asyncio.fixture
async def terminals() -> AsyncIterator[muxwire.Terminals]:
    async with muxwire.open_terminals(state_dir=FOLDER / "state", environ=environ(FOLDER)) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[muxwire.Terminals]:
    async with muxwire.open_terminals(state_dir=FOLDER / "state", environ=environ(FOLDER)) as opened:
        yield opened


@pytest.mark.asyncio
async def test_an_instance_in_a_test() -> None:
    await use_instance(FOLDER)


@pytest.mark.asyncio
async def test_an_instance_for_a_test(terminals: muxwire.Terminals) -> None:
    await use_tabs(terminals)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("time", ["first", "second"])
async def test_an_instance_for_several_tests(shared: muxwire.Terminals, time: str) -> None:
    assert (await (await shared.create_tab(name=time)).execute(f"echo {time}")).output == f"{time}\n"
