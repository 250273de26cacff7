"""What the tests of the library share: a tab for each test."""

from __future__ import annotations

import getpass
import itertools
import os
import shutil
import signal
from collections.abc import AsyncIterator, Iterator

import pytest

from muxwire import Tab, Terminals
from tests.library.opened import SHELLS, processes, tab_for
from tests.sshd import ssh_server

_SECONDS = itertools.count(86_400 + os.getpid() * 1000)


@pytest.fixture
def shell() -> str:
    """The shell of `tab`, unless the test is repeated with others: their parameter has this name."""
    return "bash"


@pytest.fixture
async def tab(terminals: Terminals, shell: str) -> AsyncIterator[Tab]:
    async with tab_for(terminals, shell) as made:
        yield made


@pytest.fixture(scope="module", params=SHELLS)
async def any_tab(request: pytest.FixtureRequest, terminals: Terminals) -> AsyncIterator[Tab]:
    """A tab of each shell, for all tests of a file."""
    made = await terminals.create_tab(shell=shutil.which(request.param), cwd="/")
    await made.execute("true")
    yield made
    await made.close(force=True)


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The command that logs in to this very machine, by a server and keys of the test's own."""
    with ssh_server(tmp_path_factory.mktemp("ssh")) as options:
        yield f"ssh -q -t {' '.join(options)} {getpass.getuser()}@127.0.0.1"


@pytest.fixture
def program() -> Iterator[str]:
    """A program that runs for longer than any test, and that no other test runs, by which it is found."""
    command = f"/bin/sleep {next(_SECONDS)}"
    yield command
    for pid in processes(command):
        os.kill(pid, signal.SIGKILL)
