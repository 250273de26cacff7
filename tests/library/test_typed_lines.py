"""The line that runs a command: typed for the call that waits for it, and once more if it provably got lost."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from muxwire import ConnectionClosed, TabUnavailable
from muxwire.host.command_files import LocalFiles
from muxwire.pane.keyboard import Keyboard
from muxwire.pane.runner import Runner
from muxwire.shell.keys import CTRL_C
from muxwire.shell.ready import Ready
from tests.library.opened import seen

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire import Tab
    from muxwire.shell.execution import Execution
    from muxwire.shell.listener import ForegroundShell


@pytest.fixture
async def tab(tab: Tab) -> Tab:
    await tab.execute("true")
    return tab


FAILURES = {
    "full disk": (LocalFiles, "write", OSError(errno.ENOSPC, "No space left on device")),
    "no connection": (Keyboard, "press", ConnectionClosed("it is reconnected in a moment")),
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


async def leave_quote_open(tab: Tab) -> None:
    """What is typed next becomes a part of the quote, for want of an editor, and of a PS2 that says so."""
    await tab.execute("set +o emacs")
    await tab.execute("PS2='> '")
    since = tab.next_byte
    await tab.send_keys(["echo 'open", "Enter"])
    await seen(tab, b"> ", since)


async def test_a_line_in_an_open_quote_is_typed_again_when_the_connection_is_back(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await leave_quote_open(tab)
    type_keys = Keyboard.type

    async def refused_once(*_: object) -> None:
        monkeypatch.undo()
        raise ConnectionClosed("it is reconnected in a moment")

    monkeypatch.setattr(Keyboard, "type", refused_once)
    result = await tab.execute("echo again")
    assert Keyboard.type is type_keys
    assert (result.output, result.exit_code) == ("again\n", 0)


async def test_a_line_in_an_open_quote_is_typed_again_by_one_call_of_two(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await leave_quote_open(tab)
    unstick, type_keys = Ready.unstick, Keyboard.type
    keys: list[bytes] = []
    first, second = anyio.Event(), anyio.Event()
    outputs: dict[str, str] = {}

    async def looked(ready: Ready, execution: Execution) -> None:
        if keys:
            second.set()
        await unstick(ready, execution)

    async def typed(keyboard: Keyboard, data: bytes) -> None:
        keys.append(data)
        first.set()
        await second.wait()  # until the other call has looked at the line, too
        await type_keys(keyboard, data)

    async def run(word: str) -> None:
        outputs[word] = (await tab.execute(f"echo {word}")).output

    monkeypatch.setattr(Ready, "unstick", looked)
    monkeypatch.setattr(Keyboard, "type", typed)
    async with anyio.create_task_group() as group:
        group.start_soon(run, "one")
        await first.wait()
        group.start_soon(run, "two")
    assert outputs == {"one": "one\n", "two": "two\n"}
    assert keys == [CTRL_C]


async def test_a_tab_that_ends_just_before_the_line_is_typed_refuses_it(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = Runner._reached

    async def ends_meanwhile(*args: Any) -> tuple[ForegroundShell, bytes]:
        found = await reached(*args)
        monkeypatch.undo()
        await tab.send_keys(["exit", "Enter"])
        while not tab.pane.session.dead:
            await tab.pane.stream.changed()
        return found

    monkeypatch.setattr(Runner, "_reached", ends_meanwhile)
    with pytest.raises(TabUnavailable, match="has ended"):
        await tab.execute("echo never", timeout=0.5)
