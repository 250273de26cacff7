"""What the tests of named instances share: a name of their own, and processes that own it and can be killed."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

import muxwire
from muxwire.host.locks import named_server
from muxwire.library.opening import own_terminals
from tests.processes import line_of

OWNER = Path(__file__).with_name("owner.py")
NAMES = itertools.count(1)

Open = Callable[..., AbstractAsyncContextManager[muxwire.Terminals]]


class Instance:
    """A name, and the folders that belong to it."""

    def __init__(self, name: str, folder: Path, environ: dict[str, str]) -> None:
        self.name = name
        self.environ = environ
        self.state = folder / "state"
        self.home = self.state / name
        self.socket = folder / "run" / "muxwire" / f"{name}.sock"
        self.processes: list[subprocess.Popen[str]] = []

    def open(self, **given: Any) -> AbstractAsyncContextManager[muxwire.Terminals]:
        """Open it in this process."""
        return own_terminals(self.name, environ=self.environ, state_dir=self.state, **given)

    def tmux(self, *command: str) -> str:
        """Ask its server, as a person would."""
        argv = ["tmux", "-N", "-S", str(self.socket), *command]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()

    async def owner(self, *commands: str) -> tuple[subprocess.Popen[str], list[tuple[str, str]]]:
        """Start a process that owns it, with a tab that runs each command; return it, and (window, command id) each."""
        argv = [sys.executable, str(OWNER), self.name, str(self.state), *commands]
        process = subprocess.Popen(argv, env=self.environ, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        started: list[tuple[str, str]] = []
        while True:
            words = (await line_of(process)).split()
            assert words, "the owner has died"
            if words[0] == "ready":
                return process, started
            started.append((words[0], words[1]))

    def end(self) -> None:
        """Nothing of it may stay."""
        for process in self.processes:
            with process:
                process.kill()
        if pid := named_server(self.home / "server")[0]:  # also where a test has removed the socket
            os.kill(pid, signal.SIGKILL)
        for entry in Path("/dev/shm").glob(f"muxwire-*/{self.name}"):
            shutil.rmtree(entry, ignore_errors=True)


@pytest.fixture
def instance(environ: dict[str, str], home: Path) -> Iterator[Instance]:
    (home / "run").mkdir(mode=0o700)
    made = Instance(f"n{os.getpid()}-{next(NAMES)}", home, environ | {"XDG_RUNTIME_DIR": str(home / "run")})
    yield made
    made.end()
