"""Ending what runs in a pane's foreground: the measured ladder from C-c to SIGKILL, one step only if the last failed.

C-c first, as a person would; SIGTERM for programs that trap SIGINT; SIGHUP for nested interactive shells, which ignore
both; SIGKILL last. The pane's own shell never gets more than SIGINT.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, final

from muxwire.errors import ConnectionClosed
from muxwire.terminals.execution.foreground import foreground_pgrp, is_stopped, signal_group, signal_process, tty_modes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.terminals.execution.keyboard import Keyboard
    from muxwire.terminals.tabs.pane_state import PaneState

# Seconds each step gets before the next: sleep, pipelines and loops end within 10 ms of the first C-c; a program that
# cleans up on SIGTERM gets a second. One C-c in about 60 is lost when it hits zsh between two forks: hence two.
STEPS: tuple[tuple[signal.Signals, float], ...] = (
    (signal.SIGINT, 0.6),
    (signal.SIGINT, 0.6),
    (signal.SIGTERM, 1.0),
    (signal.SIGHUP, 1.0),
    (signal.SIGKILL, 1.0),
)
# All of it, for a command that nothing but the last step ends.
LADDER_SECONDS = sum(seconds for _, seconds in STEPS)
CTRL_C = b"\x03"


def continue_shell(pane: PaneState) -> None:
    """Let the tab's shell go on if it is stopped: it has no shell above it to do so.

    ksh stops itself along with the job that a C-z stopped, and `suspend` does so in any shell.
    """
    if pane.shell_pid and is_stopped(pane.shell_pid):
        signal_process(pane.shell_pid, signal.SIGCONT)


@final
class Interrupter:
    """Stops the foreground of one pane."""

    def __init__(self, pane: PaneState, keyboard: Keyboard) -> None:
        self._pane = pane
        self._keyboard = keyboard

    async def stop(
        self,
        ended: Callable[[float], Awaitable[bool]],
        *,
        first: signal.Signals = signal.SIGINT,
        grace: float | None = None,
        last: signal.Signals = signal.SIGKILL,
        spared: int = 0,
    ) -> str:
        """Climb the ladder from `first` to `last` until `await ended(seconds)` is true.

        Return the name of the last signal that was sent, "" if none could be. `grace` replaces the first step's time.
        `spared` is the process group of a nested shell or a relay that runs the command: it gets C-c as a key only.
        """
        order = [number for number, _ in STEPS]
        ladder = (
            STEPS[order.index(first) :] if first in order else ((first, 1.0), *STEPS[order.index(signal.SIGTERM) :])
        )
        sent = ""
        typed = 0
        for number, seconds in ladder:
            if self._send(number, typed=typed, spared=spared):
                typed += number == signal.SIGINT
                sent = number.name
                self._pane.repair_tty = True
                if await ended(seconds if grace is None else grace):
                    return sent
                grace = None
            if number == last:
                break
        return sent

    def _send(self, number: signal.Signals, *, typed: int, spared: int) -> bool:
        """Send one signal the best way; False if nothing may get it."""
        pane = self._pane
        continue_shell(pane)
        group = foreground_pgrp(pane.leader_pid)
        if group is not None and group == spared:
            return number == signal.SIGINT and self._press()
        if number == signal.SIGINT:
            modes = tty_modes(pane.tty)
            if modes is None:
                return False
            if modes.isig and self._press() and not typed:
                return True
            # A second C-c, and the signal itself: a tty left raw for a moment may have eaten the key.
            return group is not None and group != pane.leader_pid and signal_group(group, number)
        if group is None or group in (pane.shell_pid, pane.leader_pid):
            return False
        return signal_group(group, number)

    def _press(self) -> bool:
        """Type C-c; False between two connections, when tmux cannot be told to: a signal needs only the kernel."""
        try:
            self._keyboard.press(CTRL_C)
        except ConnectionClosed:
            return False
        return True
