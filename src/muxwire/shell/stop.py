"""Ending what runs in the foreground.

C-c first, as a person would; SIGTERM for programs that trap SIGINT; SIGHUP for nested interactive shells, which ignore
both; SIGKILL last; each only if the step before has failed. The pane's own shell never gets more than SIGINT, which is
also what ends a command that it runs itself, without a program; its jobs get the later signals. A line that is typed
and does not run yet is waited for: a signal would hit its shell, which may swallow it and run the line afterwards. C-d
would end a REPL, too, but the tab's own shell as well, where the program is gone when it comes.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, final

from muxwire.errors import ConnectionClosed
from muxwire.shell.keys import CTRL_C
from muxwire.shell.port import LOOK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.shell.execution import Execution
    from muxwire.shell.look import Front
    from muxwire.shell.port import Port

# Seconds each step gets before the next: sleep, pipelines and loops end within 10 ms of the first C-c; a program that
# cleans up on SIGTERM gets a second. One C-c in about 60 is lost when it hits zsh between two forks: hence two.
STEPS: tuple[tuple[str, float], ...] = (
    ("SIGINT", 0.6),
    ("SIGINT", 0.6),
    ("SIGTERM", 1.0),
    ("SIGHUP", 1.0),
    ("SIGKILL", 1.0),
)
# The time of a first step that is none of those.
_OTHER_STEP = 1.0
# What ends a `wait` of zsh for jobs of earlier commands, by a trap of `shell/zsh.py`. Other shells ignore it.
WAIT_SIGNAL = "SIGURG"
# Seconds after which C-c throws a typed line away that its shell has not begun, because a program for its prompt runs,
# or because it reads no more. A shell that has time begins within a few ms.
BEGINS_WITHIN = 1.0
# How many C-c: the first may hit a program that the shell runs for its prompt.
_LINES_THROWN_AWAY = 2
# Seconds from the beginning of a command to its first program: without one by then, the shell itself runs it. A signal
# that is sent before the program is there does not end it, and zsh loses some C-c.
FORKS_WITHIN = 0.1
# A C-c that comes as a program ends is lost: bash takes it for one that the program has handled. So many seconds after
# a C-c the next program of a loop has begun, if it was lost; else the shell has said that the command has ended.
LOST_AFTER = 0.1
# Seconds that a nested shell has to say how its command ended, once it was asked: as for a probe. Nothing is sent
# meanwhile, for C-c would throw the question away. At a load of 20 on two processors an answer took more than 0.6 s.
ANSWERS_WITHIN = 5.0
# Between two looks at a command that has been sent a signal: most of its end is reported by marks.
WATCH_SECONDS = 0.05


class _Over(Exception):
    """What was to end has ended."""


@final
class Stop:
    """Ends what runs in the foreground of a pane, once.

    `sent`: the last signal that was sent, "" if none could be. `group`: what was in front when the first step was about
    to be sent.
    """

    def __init__(
        self,
        port: Port,
        over: Callable[[], bool],
        *,
        first: str = "SIGINT",
        grace: float | None = None,
        spared: int = 0,
        since: float = math.inf,
        line: Execution | None = None,
        begun: float | None = None,
        ask_end: Callable[[Execution], Awaitable[bool]] | None = None,
    ) -> None:
        """`over`: whether it has ended. `first` is the step to begin with; `grace` replaces its time. `spared`: as in
        `StopTarget`. `since`: where the shell itself runs it, its jobs that began then or later get the later signals.

        `line`: the command of muxwire that it is, whose line may not have begun yet; else `begun` is when it began,
        None if that was long ago. `ask_end` has a nested shell that is at its prompt again say how the command ended,
        and returns whether it is to answer.
        """
        self.sent = ""
        self.group: int | None = None
        self._port, self._pane, self._over = port, port.pane, over
        self._steps, self._grace, self._since = escalation(first), grace, since
        self._line, self._begun_at, self._ask_end = line, begun, ask_end
        self._target = port.pane.stop_target(spared)
        self._at = 0  # the step, by its number
        self._keys = 0  # how many of the signals sent were SIGINT
        self._urged = False  # whether the shell got `WAIT_SIGNAL`

    async def run(self) -> None:
        """Do it. What is over is left alone, at whatever moment that comes."""
        with suppress(_Over):
            if self._line is not None:
                await self._line_begun(self._line)
            if self._line is not None or self._begun_at is not None:
                await self._forked()
            # What is sent to a tmux or a machine that does not answer would all come at once, later.
            while self._at < len(self._steps) and self._pane.reachable:
                name, seconds = self._steps[self._at]
                front = await self._look()
                if self.group is None:
                    self.group = front.group
                sent = await self._send(name, front)
                self._at += 1
                if sent:
                    self._keys += sent == "SIGINT"
                    self._note(sent)
                    self._pane.session.signalled()
                    await self._watch(seconds if self._grace is None else self._grace, front.group)
                    self._grace = None

    def _check(self) -> None:
        if self._over():
            raise _Over

    async def _look(self) -> Front:
        """Who is in front now."""
        name, _ = self._steps[min(self._at, len(self._steps) - 1)]
        await self._port.refresh()
        front = self._pane.terminal.front_for(name, self._target.spared)
        self._check()
        return front

    async def _press(self) -> bool:
        try:
            await self._port.press(CTRL_C)
        except ConnectionClosed:  # between two connections: a signal needs only the kernel
            return False
        return True

    def _note(self, name: str) -> None:
        self.sent = name
        if self._line is not None:
            self._line.signalled(name)

    async def _line_begun(self, line: Execution) -> None:
        """Wait until the typed line runs, or provably never will; C-c throws away one that does not begin.

        Of a nested shell it is not known whether it would.
        """
        pane, left = self._pane, _LINES_THROWN_AWAY if line.level == 1 else 0
        deadline = pane.now + BEGINS_WITHIN
        while not line.started:  # which is so of one that has ended, too
            if pane.now < deadline:
                await self._port.wait(deadline - pane.now)
            elif not left:
                return
            elif await self._press():
                left -= 1
                deadline = pane.now + (BEGINS_WITHIN if left else 0.0)  # after the last one the steps follow
                self._note("SIGINT")
            else:
                return

    async def _forked(self) -> None:
        """Wait until what began has a program in the foreground that takes the signal, if it is to have one."""

        def late() -> bool:
            begun = self._line.begin_time if self._line is not None else self._begun_at
            return begun is not None and self._pane.now - begun >= FORKS_WITHIN

        while not late():
            front = await self._look()
            if late() or front.group is None or (self._target.is_program(front.group) and front.takes):
                return
            await self._port.wait(LOOK_SECONDS)

    async def _send(self, name: str, front: Front) -> str:
        """Send a step's signal the best way; return which one was sent, "" if nothing may get it."""
        target, group = self._target, front.group
        if front.stopped:
            await self._port.resume()
        if group is not None and group == target.spared:
            return name if name == "SIGINT" and await self._press() else ""
        if group == target.shell:
            if name != "SIGINT" and self._keys:
                if await self._port.signal_jobs(name, self._since):
                    return name
                if not self._urged:  # zsh's `wait` ends only with its jobs, or by this
                    self._urged = True
                    return await self._signal(WAIT_SIGNAL, group)
            name = "SIGINT"  # only this ends what a shell runs itself; the shell may lose one
        if name == "SIGINT":
            if front.modes is None:
                return ""
            # After a second C-c the signal itself too: a tty left raw for a moment may have eaten the keys.
            if front.modes.isig and await self._press() and not self._keys:
                return name
        return await self._signal(name, group)

    async def _signal(self, name: str, group: int | None) -> str:
        # A program in place of a shell is in the group of its supervisor, which has to tell its status.
        own = group == self._target.leader
        if group is None or (own and not self._target.runs_program):
            return ""
        return name if await self._port.signal(name, group, spare_leader=own) else ""

    async def _watch(self, seconds: float, hit: int | None) -> None:
        """Wait for the end; press C-c again while the shell itself goes from one program to the next.

        What stands at a prompt after a C-c, as a REPL does, has outlived it: another one would change nothing.
        In a nested shell each time after twice as long: those may be programs for its prompt, which it draws anew after
        a C-c. `hit` is the group that the newest C-c was meant for.
        """
        pane, after, asked = self._pane, LOST_AFTER, False
        deadline, lost_at = pane.now + seconds, pane.now + after + pane.round_trip
        while True:
            self._check()
            if (now := pane.now) >= deadline:
                if asked or self._line is None or self._ask_end is None:
                    return
                asked = True  # on a busy machine its prompt may have been there for long
                if await self._ask_end(self._line):
                    deadline = lost_at = pane.now + ANSWERS_WITHIN
                continue
            if now < lost_at:
                await self._port.wait(min(deadline - now, lost_at - now, WATCH_SECONDS))
                continue
            front = await self._look()
            if (now := pane.now) >= deadline:
                continue
            if front.prompts and self._at == self._keys:
                self._at = [name for name, _ in self._steps].count("SIGINT")
                return
            pressed = front.group != hit and self._target.is_program(front.group)
            if pressed:
                hit, after = front.group, (2 if self._target.spared else 1) * after
            lost_at = now + after + pane.round_trip
            if pressed:
                await self._press()
            else:
                await self._port.wait(min(deadline - now, WATCH_SECONDS))


def escalation(first: str) -> tuple[tuple[str, float], ...]:
    """The steps that begin with that signal."""
    order = [name for name, _ in STEPS]
    if first not in order:
        steps = ((first, _OTHER_STEP), *STEPS[order.index("SIGTERM") :])
    else:
        steps = STEPS[order.index(first) :]
    if first != "SIGINT":  # nothing else ends what a shell runs itself, a loop for one
        steps += STEPS[: order.index("SIGTERM")]
    return steps
