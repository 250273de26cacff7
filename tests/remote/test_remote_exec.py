"""The acceptance cases of exact execution on another machine; all of them with MUXWIRE_TEST_ALL=1, else some."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from tests.library.shells.rows import as_bytes
from tests.library.test_exec_cases import DEADLINE, SHELLS, cases, check, prepare, run

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire import Tab, Terminals

pytestmark = pytest.mark.anyio

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
    clean = not any(key in row for key in ("setup", "env", "status"))
    tab = shared.pop(name, None) if clean else None
    if tab is None:
        env = dict(pair.split("=") for pair in row.get("env", "").split())
        tab = await terminals.create_tab(shell=name, env=env, cwd=str(folder), host="box")
    try:
        with anyio.fail_after(DEADLINE):
            await prepare(tab, row)
            command = as_bytes(row["input"])
            result, raw, text = await run(terminals, tab, command, row.get("keys", []))
            check(row, result, raw, None)
            assert text == raw.decode("utf-8", "replace")
            if result.state != "dead":
                for step in row.get("cleanup", ()):
                    await tab.execute(step)
                again = await tab.execute("echo ok")
                if "set-" not in row["name"]:  # they leave a shell that traces itself
                    assert (again.output, again.exit_code) == ("ok\n", 0), again
    except BaseException:
        await tab.close(force=True)
        raise
    if clean and b"set " not in command and not tab.pane.session.dead:
        shared[name] = tab
    elif not tab.pane.session.dead:
        await tab.close(force=True)


def test_every_shell_has_cases() -> None:
    assert {case.values[0] for case in CHOSEN} == set(SHELLS)
