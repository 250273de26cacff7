"""What the tests of other machines share: a machine that is this one, behind a program that leaves no environment."""

from __future__ import annotations

import json
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
}


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """A short path, since a socket's has room for a hundred bytes."""
    made = Path(tempfile.mkdtemp(prefix="mw"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="session")
def environ(folder: Path) -> dict[str, str]:
    """A user of this machine and of `box`: the same home, other temporary files. `brief` keeps programs for 4 s."""
    home = folder / "home"
    for name, text in RC_FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "run").mkdir(mode=0o700)
    (folder / "there").mkdir(mode=0o700)
    user = environ_of(home, runtime=folder / "run") | {"LOGNAME": os.environ.get("LOGNAME", "root")}
    there = {name: user[name] for name in ("HOME", "PATH", "SHELL")} | {"TMPDIR": str(folder / "there")}
    words = ["env", "-i", *(f"{name}={value}" for name, value in there.items())]
    hosts = folder / "hosts.toml"
    via = f"via = {json.dumps(words)}"
    hosts.write_text(f'[hosts.box]\n{via}\n[hosts.brief]\n{via}\nkeep = "4s"\n')
    return user | {"MUXWIRE_HOSTS": str(hosts)}


@pytest.fixture(scope="module")
async def terminals(folder: Path, environ: dict[str, str]) -> AsyncIterator[muxwire.Terminals]:
    async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as opened:
        yield opened
