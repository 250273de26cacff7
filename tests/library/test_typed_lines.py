"""The line that runs a command: typed for the call that waits for it, and once more if it provably got lost."""

from __future__ import annotations

import errno
from pathlib import Path
from unittest.mock import Mock

import pytest

from muxwire import ConnectionClosed, Tab, TabUnavailable
from muxwire.host.local import LocalHost
from muxwire.pane.keyboard import Keyboard
from tests.deadline import DEADLINE


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
    assert (tab.pane.session.running, tab.state, (await tab.execute("echo next")).output) == (None, "prompt", "next\n")
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


async def test_an_interrupted_commands_start_is_not_told_again_by_a_persons_line(tab: Tab) -> None:
    """In bash PS0 prints the start, and would for the next line too, if what it prints were still there."""
    assert (await tab.execute("sleep 60", timeout=0.3)).timed_out
    since = tab.next_byte
    await tab.send_keys(["echo theirs", "Enter"], wait=DEADLINE)
    assert b"]7770;S;" not in tab.pane.stream.written(since)
