"""What the tests of the REPL share: a home, and a REPL with its input piped in."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forked import run_muxwire
from tests.users import environ_of

# A REPL starts in half a second; a machine that is busy needs more.
SECONDS = 45

Script = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(home: Path) -> Path:
    (home / ".bashrc").write_text("PS1='b$ '\n")
    return home


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    """A user with a clean home."""
    return environ_of(home, runtime=home / "run") | {
        "MUXWIRE_STATE_DIR": str(home / "state"),
        "LOGNAME": os.environ.get("LOGNAME", "root"),
    }


@pytest.fixture
def script(environ: dict[str, str], home: Path) -> Script:
    """Run `muxwire repl ARGUMENTS` with these lines as its input, in a fork of this process."""

    def run(*lines: str, arguments: tuple[str, ...] = ("--ephemeral",)) -> subprocess.CompletedProcess[str]:
        given = "".join(f"{line}\n" for line in lines)
        return run_muxwire(["repl", *arguments], environ, SECONDS, given, cwd=home)

    return run
