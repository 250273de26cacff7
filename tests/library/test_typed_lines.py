"""The line that runs a command: typed for the call that waits for it, and once more if it provably got lost."""

from __future__ import annotations

import errno
from pathlib import Path
from unittest.mock import Mock

import pytest

from muxwire import ConnectionClosed, Tab, TabUnavailable
from muxwire.host.local import LocalHost
from muxwire.pane.keyboard import Keyboard


@pytest.fixture
async def tab(tab: Tab) -> Tab:
    await tab.execute("true")
    return tab


FAILURES = {
    "full disk": (LocalHost, "write_command", OSError(errno.ENOSPC, "No space left on device")),
    "no connection": (Keyboard, "press", ConnectionClosed("it is reconnected in a moment")),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_what_could_not_be_typed_is_not_run_by_a_later_call(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    owner, name, error = FAILURES[failure]
    monkeypatch.setattr(owner, name, Mock(side_effect=error))
    with pytest.raises(type(error)):
        await tab.execute(f"touch {tmp_path}/ran")
    monkeypatch.undo()
    assert (tab.pane.session.running, tab.state) == (None, "prompt")
    assert (await tab.execute("echo next")).output == "next\n"
    assert not (tmp_path / "ran").exists()


async def test_what_was_interrupted_before_it_began_is_not_run_by_a_later_call(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keyboard, "press", lambda *_, **__: [])  # the line is lost, and the C-c
    with pytest.raises(TabUnavailable, match="did not run"):
        await tab.execute(f"touch {tmp_path}/ran", timeout=0.001)
    monkeypatch.undo()
    assert (await tab.execute("echo next")).output == "next\n"
    assert not (tmp_path / "ran").exists()
