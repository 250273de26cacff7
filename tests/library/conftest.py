"""What the tests of terminals share: an instance with a clean home, and a quick way to see its bytes."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import muxwire
from tests.users import environ_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

RC_FILES = {
    ".bashrc": "PS1='b$ '\n",
    ".zshrc": "PROMPT='z%% '\nunsetopt beep\n",
    ".config/fish/config.fish": "set -g fish_greeting\nfunction fish_prompt; echo -n 'f> '; end\n",
    ".profile": "export FROM_PROFILE=yes\n",
}


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """A short path, since a socket's has room for a hundred bytes."""
    made = Path(tempfile.mkdtemp(prefix="mw"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="session")
def environ(folder: Path) -> dict[str, str]:
    """A user with small start-up files, and the python of the tests first on the path."""
    home = folder / "home"
    for name, text in RC_FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "run").mkdir(mode=0o700)
    return environ_of(home, runtime=folder / "run") | {"LOGNAME": os.environ.get("LOGNAME", "root")}


@pytest.fixture(scope="module")
async def terminals(folder: Path, environ: dict[str, str]) -> AsyncIterator[muxwire.Terminals]:
    async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as opened:
        yield opened
