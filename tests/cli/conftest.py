"""What the tests of the command line share: a user, whose tmux servers are ended behind him."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.user import Place

RC_FILES = {
    ".bashrc": "PS1='b$ '\n",
    ".zshrc": "PROMPT='z%% '\n",
    ".config/fish/config.fish": "set -g fish_greeting\nfunction fish_prompt; echo -n 'f> '; end\n",
}


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A user; every tmux server that is left in the runtime folder is ended."""
    home = Path(tempfile.mkdtemp(prefix="mwcli", dir="/tmp"))
    try:
        (home / "run").mkdir(mode=0o700)
        for name, text in RC_FILES.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        yield Place(home)
    finally:
        for path in home.rglob("*.sock"):
            subprocess.run(["tmux", "-N", "-S", path, "kill-server"], capture_output=True, check=False)
        shutil.rmtree(home, ignore_errors=True)
