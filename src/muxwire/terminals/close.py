"""The end of a pane: every process of its session goes, then the window, and the log is complete."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import CommandError, ConnectionClosed
from muxwire.terminals.foreground import session_processes, signal_process

if TYPE_CHECKING:
    from muxwire.client.client import ControlClient
    from muxwire.terminals.pane_state import PaneState

# What a shell and its jobs get to write their history and end after SIGHUP; they take a few ms.
HANGUP_GRACE = 0.5


async def end_pane(pane: PaneState, client: ControlClient, window_id: str) -> None:
    """Hang up on the pane's session, kill what stays, and kill the window once its last bytes are here.

    `kill-window` alone would leave `command &` running, and drop what tmux has not sent yet.
    """
    if not pane.dead:
        for pid in session_processes(pane.leader_pid, pane.tty):
            if pid != pane.leader_pid:
                signal_process(pid, signal.SIGHUP)
                signal_process(pid, signal.SIGCONT)
        with anyio.move_on_after(HANGUP_GRACE):
            while not pane.dead:
                await pane.stream.changed()
    for pid in session_processes(pane.leader_pid, pane.tty):
        if pid != pane.leader_pid:
            signal_process(pid, signal.SIGKILL)
    with contextlib.suppress(CommandError, ConnectionClosed):
        await client.command("kill-window", "-t", window_id)
    signal_process(pane.leader_pid, signal.SIGKILL)
    pane.close("the tab was closed")
