"""The acceptance cases of exact execution on another machine; all of them with MUXWIRE_TEST_ALL=1, else some."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.library.test_exec_cases import SHELLS, cases, run_row

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire import Tab, Terminals

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
