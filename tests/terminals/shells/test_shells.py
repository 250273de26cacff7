"""Every shell on a real pty: exact output and status, whatever the command."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muxwire.terminals import shells

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.terminals.shells.pty_shell import PtyShell

if TYPE_CHECKING:
    from collections.abc import Iterator

EXECUTABLES = ("bash", "zsh", "fish", "dash", "ksh", "busybox")


@pytest.fixture(params=EXECUTABLES)
def shell(request: pytest.FixtureRequest) -> Iterator[PtyShell]:
    executable = shutil.which(request.param)
    if executable is None:
        pytest.skip(f"{request.param} is not installed")
    with tempfile.TemporaryDirectory(prefix="mw") as name:
        folder = Path(name)
        shells.install(folder / "integration")
        (folder / "tab").mkdir()
        (folder / "home").mkdir()
        env = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], "TERM": "screen", "LANG": "C.UTF-8"}
        session = PtyShell(executable, folder / "integration", folder / "tab", env)
        session.prompt()
        yield session
        session.close()


def test_output_and_status_are_exact(shell: PtyShell) -> None:
    first = shell.execute(b"echo hello")
    second = shell.execute(b"sh -c 'printf abc; exit 3'")

    assert (first.status, first.output, first.exit_code) == ("completed", b"hello\n", 0)
    assert (second.status, second.output, second.exit_code) == ("completed", b"abc", 3)
