"""The home and the environment of every contender, so that nobody's prompt or start-up file is measured."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.processes import WORD

if TYPE_CHECKING:
    from collections.abc import Iterator


def clean_environment(home: Path) -> dict[str, str]:
    """An environment in which every contender finds the same shell and no rc file.

    The folders of a version manager's shims are left out: those are scripts that take 100 ms to find the program, and
    a server that asks for the version of Python at each call is not to blame for them.
    """
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR", WORD) if name in os.environ}
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(":") if Path(folder).name != "shims"]
    kept["PATH"] = ":".join(folders)
    own = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "MUXWIRE_STATE_DIR": str(home / "state")}
    return kept | own | {"SHELL": shutil.which("bash") or "/bin/sh", "TERM": "xterm-256color"}


@contextmanager
def temporary_home() -> Iterator[Path]:
    """A home without rc files, on a path short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mwb", ignore_cleanup_errors=True) as name:
        yield Path(name)
