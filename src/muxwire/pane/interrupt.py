"""Ending what runs in the foreground of a pane: steps from C-c to SIGKILL, each only if the last one failed.

C-c first, as a person would; SIGTERM for programs that trap SIGINT; SIGHUP for nested interactive shells, which ignore
both; SIGKILL last. The pane's own shell never gets more than SIGINT, which is also what ends a command that it runs
itself, without a program. A line that is typed and does not run yet is waited for: a signal would hit its shell, which
may swallow it and run the line afterwards.
"""

from __future__ import annotations

import math
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import ConnectionClosed, MuxwireError, TmuxSilent
from muxwire.host.host import answer_seconds, round_trip
from muxwire.pane.foreground_shell import DRAWN_REMOTE, PROMPT_GRACE, ask_soon, reads_on
from muxwire.pane.keys import CTRL_C
from muxwire.pane.nesting import settle_end
from muxwire.pane.state import LOOK_SECONDS
from muxwire.shell.execution import INTERRUPTED, shell_status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.client.client import ControlClient
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution

# Seconds each step gets before the next: sleep, pipelines and loops end within 10 ms of the first C-c; a program that
# cleans up on SIGTERM gets a second. One C-c in about 60 is lost when it hits zsh between two forks: hence two.
STEPS: tuple[tuple[signal.Signals, float], ...] = (
    (signal.SIGINT, 0.6),
    (signal.SIGINT, 0.6),
    (signal.SIGTERM, 1.0),
    (signal.SIGHUP, 1.0),
    (signal.SIGKILL, 1.0),
)
# Seconds after which C-c throws a typed line away that its shell has not begun, because a program for its prompt runs,
# or because it reads no more. A shell that has time begins within a few ms.
BEGINS_WITHIN = 1.0
# Seconds from the beginning of a command to its first program: without one by then, the shell itself runs it. A signal
# before that is lost, and of C-c zsh loses some.
FORKS_WITHIN = 0.1
# A C-c that comes as a program ends is lost: bash takes it for one that the program has handled. The shell's loop has
# begun its next program by now, and a program that C-c ended has left its shell time to say so.
_LOST_AFTER = 0.1
# All of it, for a command that nothing but the last step ends.
ESCALATION_SECONDS = BEGINS_WITHIN + FORKS_WITHIN + sum(seconds for _, seconds in STEPS)


def continue_shell(pane: PaneState) -> None:
    """Let the tab's shell continue if it is stopped: it has no shell above it to do so.

    ksh stops itself along with the job that a C-z stopped, and `suspend` does so in any shell.
    """
    if pane.session.shell_pid and pane.host.is_stopped(pane.session.shell_pid):
        pane.host.signal_process(pane.session.shell_pid, signal.SIGCONT)


async def interrupt_taken(pane: PaneState, keyboard: Keyboard, client: ControlClient) -> None:
    """Let the shell deal with a C-c of ours first: with its line it throws away keys that come before it does.

    A prompt with another status than C-c's may be older, and come late: then the kernel is asked. ConnectionClosed.
    """
    pressed, session = keyboard.interrupted_at, pane.session
    if (left := pressed + PROMPT_GRACE - time.monotonic()) > 0:
        with anyio.move_on_after(left):
            await pane.stream.until(lambda: session.dead or session.prompt_time > pressed, left)
            while not (
                session.dead or shell_status(session.prompt_status) == INTERRUPTED or await reads_on(pane, client)
            ):
                await pane.stream.changed_within(LOOK_SECONDS)
        if keyboard.interrupted_at == pressed:  # no other was typed meanwhile
            keyboard.interrupted_at = -math.inf


@final
class Interrupter:
    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        unstick: Callable[[Execution], Awaitable[None]],
        spawn: Callable[[Callable[[], Awaitable[object]]], None],
    ) -> None:
        """`unstick` finds out whether a line that was typed provably never ran; `spawn` starts a task of its own."""
        self._pane = pane
        self._keyboard = keyboard
        self._client = client
        self._unstick = unstick
        self._spawn = spawn
        self._later: Execution | None = None  # what is ended as soon as tmux answers

    async def end(self, execution: Execution, *, first: signal.Signals, grace: float | None) -> bool:
        """End a command of ours, or see to it that it never begins; `execution.signal_sent` says how far that went.

        False if tmux does not answer: then it is done when that does, however long that takes.
        """

        def over() -> bool:
            return not execution.running

        answered = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._while_answered, tasks.cancel_scope)
            tasks.start_soon(self._watch, execution)
            await self._begun(execution)
            spared = execution.shell_pgrp
            await self.forked(execution.begin_time, first, over, spared)
            since = execution.typed_time
            execution.signalled(await self.stop(over, first=first, grace=grace, spared=spared, since=since))
            answered = over() or self._pane.reachable
            tasks.cancel_scope.cancel()
        if not answered:
            if self._later is not execution:
                self._later = execution
                if self._press():
                    execution.signalled(signal.SIGINT.name)
                self._spawn(lambda: self._end_later(execution, first, grace))
        elif execution.running and execution.level > 1 and not execution.started:
            self._pane.session.line_interrupted(execution, time.monotonic(), end=self._pane.stream.end)
        elif execution.running:
            execution.resisted(
                "could not be interrupted: its shell ignores SIGINT, waits for an earlier job (zsh), or hangs; "
                "close the tab with `close_tab.force`"
            )
        return answered

    async def _while_answered(self, scope: anyio.CancelScope) -> None:
        """Cancel that scope once tmux does not answer."""
        link = self._pane.host.link
        while link is None or link.up:
            try:
                await ask_soon(self._pane, self._client, "display-message", "-p", "")
            except TmuxSilent:
                if link is not None:
                    link.answers = False  # what is known of the pane is older than what was typed
                break
            except ConnectionClosed:  # between two connections to this machine's tmux a signal needs only the kernel
                pass
            await anyio.sleep(answer_seconds(self._pane.host))
        scope.cancel()

    async def _end_later(self, execution: Execution, first: signal.Signals, grace: float | None) -> None:
        """End it when tmux answers, and all is here that was written meanwhile: it may have ended.

        A C-c that was typed meanwhile may have come before the program that it was for.
        """
        stream = self._pane.stream
        with suppress(ConnectionClosed):
            await self._client.wait_reconnected()
            (asked,) = self._client.submit(("display-message", "-p", ""))
            await asked.settled()
        while stream.rejoining and not self._pane.session.closed:
            await stream.changed()
        execution.resisted("")
        self._later = None
        if not await stream.until(lambda: not execution.running, STEPS[0][1]):
            await self.end(execution, first=first, grace=grace)

    async def _watch(self, execution: Execution) -> None:
        """Find out what no mark says: that a typed line never ran, or that a nested shell gave a command up."""
        with suppress(MuxwireError):  # the pane or the connection is gone, which others say
            while execution.running and (execution.level > 1 or not execution.started):
                settle_end(self._pane, self._keyboard, execution)
                if execution.level == 1:
                    await self._unstick(execution)
                await self._pane.stream.changed_within(DRAWN_REMOTE)

    async def _begun(self, execution: Execution) -> None:
        """Wait until the typed line runs, or provably never will; C-c throws away one that does not begin."""
        for _ in range(2):
            begun = await self._pane.stream.until(lambda: execution.started, BEGINS_WITHIN)
            if begun or execution.level > 1 or not self._press():
                break
            execution.signalled(signal.SIGINT.name)

    async def forked(self, begun: float, number: signal.Signals, over: Callable[[], bool], spared: int = 0) -> None:
        """Wait until what began then has a program in the foreground that takes the signal, if it is to have one."""
        pane = self._pane
        while not over() and time.monotonic() - begun < FORKS_WITHIN:
            await pane.refresh()
            group = pane.host.foreground_pgrp(pane.leader_pid)
            if group is None:
                return
            if pane.is_program(group, spared) and pane.host.takes(group, number, spared or pane.session.shell_pid):
                return
            await pane.stream.changed_within(LOOK_SECONDS)

    async def stop(
        self,
        over: Callable[[], bool],
        *,
        first: signal.Signals = signal.SIGINT,
        grace: float | None = None,
        spared: int = 0,
        since: float = math.inf,
    ) -> str:
        """Escalate from `first` until it is `over`.

        Return the name of the last signal that was sent, "" if none could be. `grace` replaces the first step's time.
        `spared` is the process group of a nested shell or a relay that runs the command: it gets C-c as a key only.
        Where C-c does not end what the shell runs itself, its jobs that began at `since` (monotonic) or later get what
        the shell is spared.
        """
        order = [number for number, _ in STEPS]
        escalation = (
            STEPS[order.index(first) :] if first in order else ((first, 1.0), *STEPS[order.index(signal.SIGTERM) :])
        )
        if first != signal.SIGINT:  # of what a shell runs itself, a loop for one, nothing else is the end
            escalation += STEPS[: order.index(signal.SIGTERM)]
        sent = ""
        typed = 0
        if over():
            return sent
        for number, seconds in escalation:
            await self._pane.refresh()
            if over() or not self._pane.reachable:  # what would be sent now would all come at once, later
                break
            if (taken := self._send(number, typed=typed, spared=spared, since=since)) is not None:
                typed += taken == signal.SIGINT
                sent = taken.name
                self._pane.session.signalled()
                if await self._wait(seconds if grace is None else grace, over, spared):
                    break
                grace = None
        return sent

    async def _wait(self, seconds: float, over: Callable[[], bool], spared: int) -> bool:
        """Wait for the end; press C-c again while the shell itself goes from one program to the next.

        Each time after twice as long: they may be those of a nested shell's prompt, which it begins anew after a C-c.
        """
        pane, lost_after = self._pane, _LOST_AFTER
        group, deadline = pane.host.foreground_pgrp(pane.leader_pid), time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if await pane.stream.until(over, min(left, lost_after + round_trip(pane.host)), look=DRAWN_REMOTE):
                return True
            await pane.refresh()
            now = pane.host.foreground_pgrp(pane.leader_pid)
            if now != group and pane.is_program(now, spared):
                group, lost_after = now, 2 * lost_after
                self._press()
        return over()

    def _send(self, number: signal.Signals, *, typed: int, spared: int, since: float) -> signal.Signals | None:
        """Send one signal the best way, and return which; None if nothing may get it."""
        pane = self._pane
        continue_shell(pane)
        group = pane.host.foreground_pgrp(pane.leader_pid)
        if group is not None and group == spared:
            return signal.SIGINT if number == signal.SIGINT and self._press() else None
        if group == pane.session.shell_pid:
            if number != signal.SIGINT and typed and self._signal_jobs(number, since):
                return number
            number = signal.SIGINT  # of what a shell runs itself nothing else is the end; it may lose one
        if number == signal.SIGINT:
            modes = pane.host.tty_modes(pane.tty)
            if modes is None:
                return None
            if modes.isig and self._press() and not typed:
                return number
            # A second C-c, and the signal itself: a tty left raw for a moment may have eaten the key.
        return number if group is not None and self._signal(group, number) else None

    def _signal_jobs(self, number: signal.Signals, since: float) -> bool:
        """Signal what the shell has started since then; False if nothing got it. zsh ends `wait` for nothing else."""
        pane = self._pane
        own = (pane.leader_pid, pane.session.shell_pid)
        jobs = [pid for pid, _ in pane.host.session_since(pane.leader_pid, since) if pid not in own]
        return True in [pane.host.signal_process(pid, number) for pid in jobs]

    def _signal(self, group: int, number: signal.Signals) -> bool:
        pane = self._pane
        if group != pane.leader_pid:
            return pane.host.signal_group(group, number)
        # A program in place of a shell is in the group of its supervisor, which has to tell its status.
        return pane.runs_program and pane.host.signal_group(group, number, spare=pane.leader_pid)

    def _press(self) -> bool:
        """Type C-c; False between two connections, when tmux cannot be asked to: a signal needs only the kernel."""
        try:
            self._keyboard.press(CTRL_C)
        except ConnectionClosed:
            return False
        return True
