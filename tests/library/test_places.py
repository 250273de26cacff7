"""A shell that was reached through a program (ssh, su, what relays a terminal) and is gone, in mid-command or between.

Nothing that was meant for it runs in the shell that is in front then.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from muxwire import Tab, TabUnavailable
from tests.beside import beside
from tests.deadline import DEADLINE
from tests.library.opened import seen

# As `docker exec -it` does it: the relay's terminal is raw, and the shell has another one.
RELAY = "script -q -e -c '{}' /dev/null"
THERE = "exec env -i TERM=screen PLACE=there bash --norc"
NESTED = "env PLACE=there bash --norc"
PLACES = {
    "relay": RELAY.format(THERE),
    "fish-behind-a-relay": RELAY.format("exec env PLACE=there fish --no-config"),
    "dash-behind-a-relay": RELAY.format("exec env PLACE=there dash"),
    "nested": NESTED,
    "su": "su -s /bin/bash nobody",
    "ssh": "",
}
COMMAND = "echo begun; sleep 60; echo never"


async def reach(tab: Tab, login: str, by: str = "execute") -> int:
    """Reach the other shell, have it run a command, and return what to kill so that it is gone."""
    if by == "keys":
        sent = await tab.send_keys([login, "Enter"])
        since = sent.next_byte + len(login)  # at least: it may be echoed more than once
        while not any(tab.pane.stream.ring.find(end, since) > 0 for end in (b"# ", b"$ ", b"> ")):
            await tab.pane.stream.changed()  # until its prompt is drawn
    else:
        reached = await tab.execute(login, timeout=DEADLINE)
        assert reached.state == "interactive", reached
    assert (await tab.execute("echo here", timeout=DEADLINE)).output == "here\n"
    current = tab.pane.session.current
    assert current is not None
    return current.shell_pgrp


async def is_back(tab: Tab, place: str) -> None:
    """The next command is refused once, then they run in the tab's own shell, and all is as it was there."""
    with pytest.raises(TabUnavailable, match="the tab is back in its own shell, in / on this machine") as for_there:
        await tab.execute(f"touch {place}", timeout=DEADLINE)
    assert for_there.value.state == "prompt"
    assert not os.path.lexists(place)
    here = await tab.execute("echo $PLACE; false", timeout=DEADLINE)
    assert (here.output, here.exit_code, here.state, here.note) == ("\n", 1, "prompt", ""), here


@pytest.mark.parametrize("by", ["execute", "keys"])
@pytest.mark.parametrize("kind", PLACES)
async def test_a_command_whose_shell_is_gone_has_no_exit_code(
    tab: Tab, tmp_path: Path, request: pytest.FixtureRequest, kind: str, by: str
) -> None:
    if kind == "su" and os.geteuid():
        pytest.skip("su asks everyone but root for a password")
    tmp_path.parent.chmod(0o755)
    tmp_path.chmod(0o777)
    login = PLACES[kind] or f"{request.getfixturevalue('ssh')} '{THERE}'"
    group = await reach(tab, login, by)
    async with beside(tab.execute, COMMAND, timeout=DEADLINE) as results:
        await seen(tab, b"\x07begun\r\n")
        os.killpg(group, signal.SIGKILL)
    (lost,) = results
    assert (lost.exit_code, lost.running, lost.state, lost.timed_out) == (None, False, "prompt", False), lost
    assert lost.output.startswith("begun\n"), lost
    assert "never" not in lost.output
    assert "the shell it ran in" in lost.note, lost
    assert "the tab is back in its own shell, in /" in lost.note, lost
    assert lost.cwd == "/"
    assert not [ours for ours in ("7770", "_mxw_", "\x1b[?1049") if ours in lost.output], lost
    await is_back(tab, str(tmp_path / "place"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash"])
@pytest.mark.parametrize("kind", ["relay", "nested", "fish-behind-a-relay"])
async def test_a_line_that_its_shell_did_not_read_any_more_runs_in_no_other(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The kernel keeps what was typed for whoever reads next."""
    group = await reach(tab, PLACES[kind])
    keyboard = tab.runner.keyboard
    press = keyboard.press

    def too_late(data: bytes, **options: Any) -> Any:
        """The shell ends after it was last looked at, and its line is typed."""
        if b"7770;S" not in data and b"/c-" not in data:
            return press(data, **options)
        monkeypatch.undo()
        os.killpg(group, signal.SIGKILL)
        while os.path.exists(f"/proc/{group}/fd/0"):  # noqa: PTH110 - of a zombie, `Path` may not ask
            pass
        return press(data, **options)

    monkeypatch.setattr(keyboard, "press", too_late)
    lost = await tab.execute(f"touch {tmp_path}/ran; echo ran", timeout=DEADLINE)
    assert (lost.exit_code, lost.running, lost.output) == (None, False, ""), lost
    assert "the tab is back in its own shell" in lost.note, lost
    await is_back(tab, f"{tmp_path}/place")
    assert not list(tmp_path.iterdir())  # by now the line was read
