"""What the tests of faults share: an instance with a clean home of its own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

import muxwire
from tests.users import environ_of

Open = Callable[..., AbstractAsyncContextManager[muxwire.Terminals]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path, since a socket's has room for a hundred bytes; one for each test, since a fault may spoil it."""
    made = Path(tempfile.mkdtemp(prefix="mw"))
    (made / "run").mkdir(mode=0o700)
    yield made
    shutil.rmtree(made, ignore_errors=True)


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


@pytest.fixture(autouse=True)
def nothing_stays(folder: Path) -> Iterator[None]:
    """A server with a name outlives its process; here it ends with the test, and with it what runs in its panes."""
    yield
    for path in folder.glob("run/muxwire/*.sock"):
        subprocess.run(["tmux", "-N", "-S", path, "kill-server"], capture_output=True, check=False)
