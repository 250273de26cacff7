"""What is waited for in a terminal, by a look at the leaders alone and by one at all processes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from muxwire.pane.terminal import Terminal
from muxwire.shell.look import PaneLook, Process, Shown, Sleep, TtyModes

LEADER, SHELL, PROGRAM, OTHER = 10, 11, 20, 30
LINES = TtyModes(icanon=True, echo=True, isig=True)
RUNS, READS = Sleep("R", "", "", tty=False), Sleep("S", "n_tty_read", "read", tty=True)


def seen(group: int, sleep: Sleep) -> PaneLook:
    """A program in front, and what it does."""
    return PaneLook(SHELL, LINES, group, (Process(group, SHELL, group, SHELL, program="cat", sleeps=(sleep,)),))


@pytest.mark.parametrize(
    ("near", "wide", "running", "waiting"),
    [
        pytest.param(seen(PROGRAM, READS), seen(PROGRAM, RUNS), True, "line", id="the leaders show it"),
        pytest.param(seen(PROGRAM, RUNS), seen(PROGRAM, READS), True, "line", id="only the wide look does"),
        pytest.param(seen(PROGRAM, RUNS), seen(OTHER, READS), True, "", id="the wide look is of another program"),
        pytest.param(seen(SHELL, RUNS), seen(SHELL, READS), False, "", id="the shell itself computes"),
    ],
)
def test_judgement__trusts_a_wide_look_at_what_is_in_front(
    near: PaneLook, wide: PaneLook, running: bool, waiting: str
) -> None:
    host = SimpleNamespace(is_local=True, look=lambda *_, **how: near if how else wide)
    command = SimpleNamespace(typed_time=0.0) if running else None
    session = SimpleNamespace(running=command, shell_pid=SHELL)
    pane = SimpleNamespace(host=host, leader_pid=LEADER, tty="", session=session, reachable=True, pressed_at=0.0)
    terminal = Terminal(cast("Any", pane))
    terminal.shown = lambda *_, **__: Shown(line=True)  # type: ignore[method-assign]
    assert terminal.judgement().waiting == waiting
