"""Shells that do not work, and that the doctor says so of the right ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from muxwire.library.doctor import examine, shells as trials
from tests.doctor.person import only
from tests.users import with_tmux

BASH = shutil.which("bash") or "/bin/bash"


@pytest.mark.parametrize(
    ("rc", "level", "message"),
    [
        ("sleep 1", "warning", " s to its prompt"),
        ("echo waiting for a key; read -r key", "broken", "its last line: 'waiting for a key'"),
        ("exit 3", "broken", "ended"),
    ],
)
async def test_start_up_files_that_hold_a_shell_up(
    environ: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch, rc: str, level: str, message: str
) -> None:
    (home / ".bashrc").write_text(f"{rc}\n")
    monkeypatch.setattr(trials, "SHELLS", ("bash",))
    monkeypatch.setattr(trials, "SLOW_S", 0.9)
    if level == "broken":
        monkeypatch.setattr(trials, "PATIENCE_S", 3.0)
    found = only(await trials.every_shell(environ))
    assert (found.level, message in found.message, "HOME=$(mktemp -d)" in found.remedy) == (level, True, True), found


@pytest.mark.parametrize("shell", ["/bin/cat", "/no/such/bash"])
def test_a_shell_that_tabs_cannot_have(environ: dict[str, str], shell: str) -> None:
    found = only(trials.unknown(environ | {"SHELL": shell}, BASH))
    assert (found.level, f"SHELL={shell} is not known" in found.message) == ("warning", True)


async def test_an_instance_that_cannot_be_opened_is_broken(
    environ: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = with_tmux(home / "bin", '[ "$1" = -V ] && echo tmux 3.4 && exit; echo no server today >&2; exit 1')
    monkeypatch.setattr(trials, "SHELLS", ())
    found = (await examine(environ | fake))[-1]
    assert (found.check, found.level, "no server today" in found.message) == ("trial", "broken", True), found
