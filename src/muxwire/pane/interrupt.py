"""Ending what runs in the foreground of a pane: carries out what a `Stop` decides (`shell/driver.py`)."""

from __future__ import annotations

import functools
import math
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import ConnectionClosed, MuxwireError, TmuxSilent
from muxwire.shell.driver import STEPS, Stop, StopState, StopView, stopped
from muxwire.shell.keys import CTRL_C
from muxwire.shell.listener import DRAWN_REMOTE
from muxwire.shell.request import Wait, ask

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.client.client import ControlClient
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.loop import Loop
    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution
    from muxwire.shell.nesting import NestedShells
    from muxwire.shell.ready import Ready
    from muxwire.shell.request import Request


@final
class Interrupter:
    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        loop: Loop,
        nested: NestedShells,
        ready: Ready,
        spawn: Callable[[Callable[[], Awaitable[object]]], None],
    ) -> None:
        """`spawn` starts a task of its own."""
        self._pane = pane
        self._keyboard = keyboard
        self._client = client
        self._loop = loop
        self._nested = nested
        self._ready = ready
        self._spawn = spawn
        self._later: Execution | None = None  # what is ended as soon as tmux answers

    async def end(self, execution: Execution, *, first: signal.Signals, grace: float | None) -> bool:
        """End a command that muxwire typed, or make sure that it never begins; `execution.signal_sent` says how.

        False if tmux does not answer: then the command is ended when tmux does, however long that takes.
        """

        def view() -> StopView:
            return StopView(
                over=not execution.running,
                reachable=self._pane.reachable,
                begun=execution.started,
                begin_time=execution.begin_time,
            )

        answered = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._while_answered, tasks.cancel_scope)
            tasks.start_soon(self._loop.run, self._watch(execution))
            stop = self._stop(
                first, grace, spared=execution.shell_pgrp, throws_away=execution.level == 1, since=execution.typed_time,
                asks=execution.level > 1,
            )  # fmt: skip
            ask_end = functools.partial(self._nested.asked, execution)
            await self.carry_out(stop, view, execution.signalled, ask_end)
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
            execution.resisted(
                "could not be interrupted: its shell ignores SIGINT, waits for an earlier job (zsh), or hangs",
                "close the tab with `close_tab.force`",
            )
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
        state = StopState.SENDING if begun is None else StopState.FORKING
        stop = self._stop(first, grace, spared=spared, state=state, since=since)

        def left() -> bool:
            if not leaves or stop.group is None:
                return False
            return self._pane.host.foreground_pgrp(self._pane.leader_pid) != stop.group

        def view() -> StopView:
            return StopView(over=over() or left(), reachable=self._pane.reachable, begin_time=begun or 0.0)

        await self.carry_out(stop, view, lambda _: None)
        return stop.sent, left()

    def _stop(
        self,
        first: signal.Signals,
        grace: float | None,
        *,
        spared: int,
        state: StopState = StopState.BEGINNING,
        throws_away: bool = True,
        since: float,
        asks: bool = False,
    ) -> Stop:
        pane = self._pane
        pane.apart = pane.host.begun_apart(pane.leader_pid, pane.tty, since)
        return Stop(
            pane.stop_target(spared), time.monotonic(),
            first=first.name, grace=grace, state=state, throws_away=throws_away, round_trip=pane.round_trip,
            since=since, asks=asks,
        )  # fmt: skip

    def carry_out(
        self,
        stop: Stop,
        view: Callable[[], StopView],
        sent: Callable[[str], None],
        ask_end: Callable[[], Request[bool]] | None = None,
    ) -> Awaitable[None]:
        """Do what `stop` decides, until it has ended; `sent` is called with the newest signal after each action."""
        return self._loop.run(stopped(self._pane, stop, view, sent, ask_end))

    async def _while_answered(self, scope: anyio.CancelScope) -> None:
        """Cancel that scope once tmux does not answer."""
        link = self._pane.host.link
        while link is None or link.up:
            try:
                await self._loop.run(ask(self._pane, "display-message", "-p", ""))
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
            (asked,) = self._client.submit(("display-message", "-p", ""))
            await asked.settled()
        while stream.rejoining and not self._pane.session.closed:
            await stream.changed()
        execution.resisted("", "")
        self._later = None
        if not await stream.until(lambda: not execution.running, STEPS[0][1]):
            await self.end(execution, first=first, grace=grace)

    def _watch(self, execution: Execution) -> Request[None]:
        """Find out what no mark says: that a typed line never ran, or that a nested shell gave a command up."""
        with suppress(MuxwireError):  # the pane or the connection is gone, which ends the command elsewhere
            while execution.running and (execution.level > 1 or not execution.started):
                yield from self._nested.settle_end(execution)
                if execution.level == 1:
                    yield from self._ready.unstick(execution)
                yield Wait(DRAWN_REMOTE)
