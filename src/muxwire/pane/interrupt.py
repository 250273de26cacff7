"""Ending what runs in the foreground of a pane (`shell/stop.py`), and what a tmux that does not answer changes."""

from __future__ import annotations

import math
import signal
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import ConnectionClosed, MuxwireError, TmuxSilent, ungrouped
from muxwire.shell import nesting
from muxwire.shell.keys import CTRL_C
from muxwire.shell.listener import DRAWN_REMOTE
from muxwire.shell.look import RELAYS
from muxwire.shell.port import ask
from muxwire.shell.stop import STEPS, Stop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.client.client import ControlClient
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.port import PanePort
    from muxwire.shell.execution import Execution
    from muxwire.shell.ready import Ready

# Why a command still runs after all of that, and what is left to do; then the same of what runs behind a relay.
_STUCK = (
    "could not be interrupted: its shell ignores SIGINT, waits for an earlier job (zsh), or hangs",
    "close the tab with `close_tab.force`",
)
DEAF = (
    "C-c did not end it, and behind ssh, sudo, or in a container no other signal can be sent",
    "try the keys C-d and C-\\ with `send_keys`, or end it there over another connection",
)


@final
class Interrupter:
    def __init__(
        self,
        port: PanePort,
        keyboard: Keyboard,
        client: ControlClient,
        ready: Ready,
        spawn: Callable[[Callable[[], Awaitable[object]]], None],
    ) -> None:
        """`spawn` starts a task of its own."""
        self._port, self._pane = port, port.pane
        self._keyboard = keyboard
        self._client = client
        self._ready = ready
        self._spawn = spawn
        self._later: Execution | None = None  # what is ended as soon as tmux answers

    async def end(self, execution: Execution, *, first: signal.Signals, grace: float | None) -> bool:
        """End a command that muxwire typed, or make sure that it never begins; `execution.signal_sent` says how.

        False if tmux does not answer: then the command is ended when tmux does, however long that takes.
        """
        answered = False
        with ungrouped():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._while_answered, tasks.cancel_scope)
                tasks.start_soon(self._watch, execution)
                self._note_apart(execution.typed_time)
                await Stop(
                    self._port,
                    lambda: not execution.running,
                    first=first.name,
                    grace=grace,
                    spared=execution.shell_pgrp,
                    since=execution.typed_time,
                    line=execution,
                    ask_end=partial(nesting.asked, self._port) if execution.level > 1 else None,
                ).run()
                answered = not execution.running or self._pane.reachable
                tasks.cancel_scope.cancel()
        if not answered:
            if self._later is not execution:
                self._later = execution
                with suppress(ConnectionClosed):  # between two connections
                    self._keyboard.press(CTRL_C)
                    execution.signalled(signal.SIGINT.name)
                self._spawn(lambda: self._end_later(execution, first, grace))
        elif execution.running and execution.level > 1 and not execution.started:
            self._pane.session.line_interrupted(execution, time.monotonic(), end=self._pane.stream.end)
        elif execution.running:
            relayed = execution.shell_inner or self._pane.host.program_of(execution.shell_pgrp) in RELAYS
            execution.resisted(*(DEAF if relayed else _STUCK))
        return answered

    async def end_other(
        self,
        over: Callable[[], bool],
        *,
        first: signal.Signals,
        grace: float,
        spared: int = 0,
        begun: float | None = None,
        leaves: bool = False,
        since: float = math.inf,
    ) -> tuple[str, bool]:
        """End what runs and is no command of muxwire's. Return the name of the last signal that was sent, "" if none
        could be; and, with `leaves`, whether another group is in front by now than the one that was to get the first
        signal: then it counts as ended, too.

        `begun` is when it began, on the monotonic clock: its first program may still be started. If the shell itself
        runs it, processes of the shell that began at `since` or later get the signals that the shell must not get.
        """

        def left() -> bool:
            return leaves and stop.group not in (None, self._pane.host.foreground_pgrp(self._pane.leader_pid))

        self._note_apart(since)
        stop = Stop(
            self._port,
            lambda: over() or left(),
            first=first.name,
            grace=grace,
            spared=spared,
            since=since,
            begun=begun,
        )
        await stop.run()
        return stop.sent, left()

    def _note_apart(self, since: float) -> None:
        """Note what has a session of its own of what is to be ended: a caller is told if it goes on."""
        pane = self._pane
        pane.apart = pane.host.begun_apart(pane.leader_pid, pane.tty, since)

    async def _while_answered(self, scope: anyio.CancelScope) -> None:
        """Cancel that scope once tmux does not answer."""
        link = self._pane.host.link
        while link is None or link.up:
            try:
                await ask(self._port, "display-message", "-p", "")
            except TmuxSilent:
                if link is not None:
                    link.answers = False  # what is known of the pane is older than what was typed
                break
            except ConnectionClosed:  # between two connections to this machine's tmux a signal needs only the kernel
                pass
            await anyio.sleep(self._pane.answer_seconds)
        scope.cancel()

    async def _end_later(self, execution: Execution, first: signal.Signals, grace: float | None) -> None:
        """End the command when tmux answers again and the output of that time has arrived, unless it has ended by then.

        It is escalated once more: the C-c that tmux got late may have come before the program that it was for.
        """
        stream = self._pane.stream
        with suppress(ConnectionClosed):
            await self._client.wait_reconnected()
            await self._client.submit(("display-message", "-p", ""))[0].settled()
        while stream.rejoining and not self._pane.session.closed:
            await stream.changed()
        execution.resisted("", "")
        self._later = None
        if not await stream.until(lambda: not execution.running, STEPS[0][1]):
            await self.end(execution, first=first, grace=grace)

    async def _watch(self, execution: Execution) -> None:
        """Find out what no mark says: that a typed line never ran, or that a nested shell gave a command up."""
        with suppress(MuxwireError):  # the pane or the connection is gone, which ends the command elsewhere
            while execution.running and (execution.level > 1 or not execution.started):
                await nesting.settle_end(self._port, execution)
                if execution.level == 1:
                    await self._ready.unstick(execution)
                await self._port.wait(DRAWN_REMOTE)
