"""Which shell a program is, which one a user gets, and that the files for it are nobody else's."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from muxwire.host import shells


def test_integration_files__are_private(tmp_path: Path) -> None:
    shells.install(tmp_path / "made")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "made").iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o700


def test_shell_for__knows_a_shell_by_its_executable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was not found is none, whatever the working directory is called."""
    (tmp_path / "bash").mkdir()
    monkeypatch.chdir(tmp_path / "bash")
    known = {
        "/bin/bash": "bash",
        "-zsh": "zsh",
        "/usr/bin/busybox": "ash",
        "/bin/tcsh": None,
        "python3": None,
        "": None,
    }
    assert {path: getattr(shells.shell_for(path), "name", None) for path in known} == known


def test_default_shell__is_the_users_if_it_is_known(tmp_path: Path) -> None:
    path = os.environ["PATH"]
    assert shells.default_shell({"SHELL": "/bin/sh", "PATH": path}) in {"/bin/sh", shutil.which("bash")}
    assert shells.default_shell({"SHELL": str(tmp_path / "zsh"), "PATH": path}) == shutil.which("bash")
    assert shells.default_shell({"PATH": str(tmp_path)}) == "/bin/sh"
