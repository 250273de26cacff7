"""Directories and variables whose names a shell, tmux or a line editor would take for orders, if they were let."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import muxwire
from tests.users import environ_of, needs

# Substitutions, quotes, line ends, keys of line editors, bytes that zsh uses for itself (in the emoji), bytes that are
# no UTF-8, a date and a format of tmux.
HOSTILE = "$(>PWN)`>PWN`'\"\\\n\t\x1b[2m\U0001f600\udce9%x#{pid}*;"
# How to start each, and how to start it without our files.
SHELLS = {
    "bash": "bash --norc",
    "zsh": "zsh -f",
    "fish": "fish --no-config",
    "dash": "dash",
    "busybox": "busybox sh",
    "ksh": "ksh",
}


@pytest.mark.parametrize(
    ("shell", "login"), [*((shell, False) for shell in SHELLS), ("bash", True), ("zsh", True), ("dash", True)]
)
async def test_no_name_is_an_order(shell: str, login: bool, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    needs(shell)
    at = home / HOSTILE
    at.mkdir()
    for name, value in environ_of(at, runtime=at).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MUXWIRE_STATE_DIR", str(at / "s"))
    (at / ".zshrc").touch()
    monkeypatch.chdir(at)
    async with muxwire.open_terminals(name="n") as terminals:
        await _runs(terminals, at, shell, login=login)
    assert not list(home.rglob("PWN"))


async def _runs(terminals: muxwire.Terminals, at: Path, shell: str, *, login: bool) -> None:
    tab = await terminals.create_tab(shell=shutil.which(shell), login=login, cwd=at, env={"VALUE": HOSTILE})
    said = os.fsencode(HOSTILE).decode("utf-8", "replace")
    assert (await tab.execute('printf %s "$VALUE"')).output == said
    assert (await tab.execute('printf "%s\\n" "$(pwd)"' if shell != "fish" else "pwd")).output.endswith(f"{said}\n")
    apart = await tab.execute('printf %s "$OTHER"', env={"OTHER": HOSTILE}, cwd=at)
    assert (apart.output, apart.exit_code) == (said, 0)
    await tab.execute(SHELLS[shell], timeout=5)
    inside = await tab.execute('printf %s "$VALUE"')
    assert (inside.output, inside.exit_code) == (said, 0)
    await terminals.close_tab(tab, force=True)
