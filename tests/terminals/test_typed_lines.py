"""The line that runs a command: typed for the call that waits for it, and once more if it provably got lost."""

from __future__ import annotations

import errno
import shutil
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire import ConnectionClosed, TabUnavailable
from muxwire.terminals.execution.keyboard import Keyboard
from muxwire.terminals.execution.wrapper_file import WrapperFile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from muxwire import Tab, Terminals

pytestmark = pytest.mark.anyio

DEADLINE = 20.0


@pytest.fixture
async def tab(terminals: Terminals) -> AsyncIterator[Tab]:
    made = await terminals.create_tab(shell=shutil.which("bash"), cwd="/")
    with anyio.fail_after(DEADLINE):
        await made.execute("true")
        yield made
    await made.close(force=True)


FAILURES = {
    "full disk": (WrapperFile, "write", OSError(errno.ENOSPC, "No space left on device")),
    "no connection": (Keyboard, "press", ConnectionClosed("it is taken up again in a moment")),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_what_could_not_be_typed_is_not_run_by_a_later_call(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    owner, name, error = FAILURES[failure]

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(owner, name, fails)
    with pytest.raises(type(error)):
        await tab.execute(f"touch {tmp_path}/ran")
    monkeypatch.undo()
    assert (tab.pane.running, tab.state) == (None, "prompt")
    assert (await tab.execute("echo next")).output == "next\n"
    assert not (tmp_path / "ran").exists()


async def test_what_was_interrupted_before_it_began_is_not_run_by_a_later_call(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keyboard, "press", lambda *_, **__: [])  # the line is lost, and the C-c
    cut = await tab.execute(f"touch {tmp_path}/ran", timeout=0.0)
    monkeypatch.undo()
    assert (cut.timed_out, cut.running) == (True, True)
    assert (await tab.execute("echo next")).output == "next\n"
    assert not (tmp_path / "ran").exists()
    with pytest.raises(TabUnavailable, match="did not run"):
        await tab.result(tab._book.command(cut.command_id)[1])
