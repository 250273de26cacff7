"""The acceptance cases of exact execution on another machine; all of them with MUXWIRE_TEST_ALL=1, else some."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from muxwire import Tab, Terminals
from muxwire.far.host import RemoteHost
from tests.library.opened import SHELLS
from tests.library.test_exec_cases import cases, run_row

# What differs where files, signals and the kernel's answers come from another machine.
SOME = {
    "all-256-bytes", "20k-lines", "100kB-multiline", "control-bytes-in-command", "unclosed-dquote", "exit-3", "vim",
    "shell-kills-itself", "read-builtin", "password-prompt", "nested-dash", "ctrl-c", "ctrl-c-in-loop", "ctrl-z",
    "human-half-typed-line", "set-e-then-false", "stty-raw-left-behind",
}  # fmt: skip
ALL = bool(os.environ.get("MUXWIRE_TEST_ALL"))
CHOSEN = [case for case in cases() if ALL or case.values[1]["name"] in SOME]


@pytest.fixture(scope="module")
def shared() -> dict[str, Tab]:
    """One tab a shell, for the cases that leave it as it was."""
    return {}


@pytest.mark.parametrize(("name", "row"), CHOSEN)
async def test_case(terminals: Terminals, shared: dict[str, Tab], folder: Path, name: str, row: dict[str, Any]) -> None:
    if "special" in row["input"] or shutil.which(name) is None:
        pytest.skip("not here")
    await run_row(terminals, shared, folder, name, row, shell=name, host="box")


def test_every_shell_has_cases() -> None:
    assert {case.values[0] for case in CHOSEN} == set(SHELLS)


async def test_a_line_that_is_typed_again_leaves_nothing_in_the_output(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would hide it reaches the terminal there after the shell has read the line."""
    tab = await terminals.create_tab(host="box", shell="dash")
    await tab.execute("true")
    write, press, pressed = RemoteHost.write_tty, tab.runner._press, list[bytes]()

    def late(self: RemoteHost, tty: str, data: bytes, leader: int) -> bool:
        if not pressed:
            return write(self, tty, data, leader)
        asyncio.get_running_loop().call_later(0.03, write, self, tty, data, leader)
        return True

    def lost(files: Any, typed: bytes) -> None:
        press(files, typed if pressed else b" ")
        pressed.append(typed)

    monkeypatch.setattr(RemoteHost, "write_tty", late)
    monkeypatch.setattr(tab.runner, "_press", lost)
    assert (await tab.execute("sleep 0.2; echo hi", timeout=20)).output == "hi\n"
    assert len(pressed) == 2
