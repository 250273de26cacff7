"""Whom `muxwire run` interrupts when it is signalled."""

from __future__ import annotations

import signal
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from muxwire.cli.run import _Signals


@pytest.mark.parametrize(("running", "pressed", "ended"), [("ours", ["C-c"], False), ("another", [], True)])
async def test_an_interrupt_is_for_our_command_alone(running: str, pressed: list[str], ended: bool) -> None:
    """Ours may have ended while its output is still read, and another's run in the tab by now: then it is for us."""
    keys: list[str] = []

    async def send_keys(given: list[str]) -> None:
        keys.extend(given)

    session = SimpleNamespace(running=SimpleNamespace(command_id=running))
    tab: Any = SimpleNamespace(pane=SimpleNamespace(session=session), send_keys=send_keys)
    async with anyio.create_task_group() as tasks:
        signals = _Signals(tab, tasks)
        signals.started("ours")
        signals.take(signal.SIGINT)
        cancelled = tasks.cancel_scope.cancel_called
    assert (keys, cancelled) == (pressed, ended)
