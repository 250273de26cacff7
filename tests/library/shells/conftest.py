"""What the tests of shells share: a home that is nobody's, and shells that are ended with the test."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muxwire.host import shells
from tests.library.shells.pty_shell import Opener, PtyShell
from tests.users import keep_fish_quiet

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mw") as name:
        root = Path(name)
        shells.install(root / "integration")
        keep_fish_quiet(root / "home")
        (root / "home/.config/fish").mkdir(parents=True)
        yield root


@pytest.fixture
def start(folder: Path) -> Iterator[Opener]:
    opened: list[PtyShell] = []

    def open_shell(name: str, *, login: bool = False, first_prompt: bool = True, **extra: str) -> PtyShell:
        executable = shutil.which(name)
        if executable is None:
            pytest.skip(f"{name} is not installed")
        tab = folder / f"tab{len(opened)}"
        tab.mkdir()
        env = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], "TERM": "screen", "LANG": "C.UTF-8"}
        session = PtyShell(executable, folder / "integration", tab, env | extra, login=login)
        opened.append(session)
        if first_prompt:
            session.prompt()
        return session

    yield open_shell
    for session in opened:
        session.close()
