"""Asks who would read a line that is typed into a pane now; `shell/listener.py` judges by the answers.

Each question names what it waits for, and for how long: tmux's answers, the silence of the pane, the kernel.
"""

from __future__ import annotations

import math
import signal
import time
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import TabUnavailable, TmuxSilent
from muxwire.host.environment import COLUMNS_MIN
from muxwire.host.host import answer_seconds
from muxwire.pane.state import PROMPT_REACH
from muxwire.shell.driver import LOOK_SECONDS
from muxwire.shell.execution import INTERRUPTED, shell_status
from muxwire.shell.listener import (
    DRAWN,
    DRAWN_REMOTE,
    PROMPT_GRACE,
    ForegroundShell,
    InFront,
    find_listener,
    prompt_expected,
    ready_deadline,
    shows_prompt,
    unanswered,
)
from muxwire.shell.look import descends, strangers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from muxwire.client.client import ControlClient
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.state import PaneState
    from muxwire.shell.look import Process

# Answers of tmux after which it has sent on what a pane wrote before: it may answer once before it reads the pane.
CATCH_UP = 2


@final
class Questions:
    """What is asked about one pane, of tmux and of its machine."""

    def __init__(self, pane: PaneState, client: ControlClient) -> None:
        self._pane = pane
        self._client = client

    async def ask_soon(self, *words: str) -> tuple[bytes, ...]:
        """Tmux's answer to a command that only looks, for a call whose time may be over.

        Raises: TmuxSilent, ConnectionClosed.
        """
        (answer,) = self._client.submit(words)
        return await answer.wait_within(answer_seconds(self._pane.host))

    async def caught_up(self) -> bool:
        """Whether the stream has all that the pane wrote before: the kernel is ahead of it. ConnectionClosed.

        Another machine's answer came after one of tmux's, but may have come before what a pane that writes much wrote.
        """
        pane = self._pane
        end = pane.stream.end
        for _ in range(CATCH_UP - pane.answered_whole):
            await self.ask_soon("display-message", "-p", "")
        return pane.stream.end == end and not pane.stream.rejoining

    async def reads_on(self) -> bool:
        """Whether the tab's own shell sleeps until more keys come: it has all of ours, we all it wrote.

        On a machine that has no time for it, or with a tmux that has none, it looks nearly the same for long.
        Raises: ConnectionClosed.
        """
        pane = self._pane
        await pane.refresh()
        return bool(pane.shell_sleeps()) and await self.caught_up() and bool(pane.shell_sleeps())

    async def stranger(self, listener: ForegroundShell) -> Process | None:
        """A process of another session that reads the terminal, and would get what is typed for that shell."""
        await self._pane.look(wide=True)
        look = self._pane.seen()
        found = (one for one in strangers(look) if listener.level < 3 or not descends(look, one, listener.pgrp))
        return next(found, None)

    async def reached(self, deadline: float, ready: Callable[[], Awaitable[ForegroundShell]]) -> ForegroundShell:
        """What `ready` returns; a tmux that does not answer, or a lost connection, is waited for until the deadline."""
        pane = self._pane
        while True:
            try:
                if pane.host.is_local:  # all that it does has limits of its own, and one more is felt at every command
                    return await ready()
                left = ready_deadline(pane.session, time.monotonic(), deadline) - time.monotonic()
                with anyio.move_on_after(left + PROMPT_GRACE):
                    while pane.stream.rejoining:
                        await pane.stream.changed()
                    return await ready()
            except TmuxSilent:  # it may answer the next time
                if pane.host.is_local and time.monotonic() >= deadline:
                    raise
            if time.monotonic() >= deadline:
                raise unanswered(pane.host.prefix[:-1], pane.tab_state())

    async def prompt_begun(self, listener: ForegroundShell, at_most: float = PROMPT_GRACE) -> bool:
        """Wait until something stands where a nested shell shows its prompt; False if it did, or none is expected.

        `at_most`, in seconds, is for one that may be empty; a prompt that was there before is waited for longer.
        """
        pane, expected = self._pane, prompt_expected(self._pane.session, listener)
        if expected is None or shows_prompt(pane.last_line()):
            return False
        await pane.stream.until(lambda: shows_prompt(pane.last_line()), max(at_most, expected))
        return True

    async def prompt_drawn(self, listener: ForegroundShell) -> bytes:
        """The prompt of a nested shell, whole; only its last line where nothing of ours has ended just before it."""
        pane = self._pane
        await self.prompt_begun(listener)
        await pane.stream.silence(DRAWN if listener.level < 3 else DRAWN_REMOTE)
        before = pane.session.current
        ours = before is not None and not before.running and before.level > 1 and before.shell_pgrp == listener.pgrp
        if not ours and listener.level < 3:  # over a relay it was a probe
            return pane.last_line()
        return pane.stream.written(max(pane.session.ended_at, pane.stream.end - PROMPT_REACH))

    async def interrupt_taken(self, keyboard: Keyboard) -> None:
        """Let the shell deal with a C-c of ours first: with its line it throws away keys that come before it does.

        A prompt with another status than C-c's may be older, and come late: then the kernel is asked. ConnectionClosed.
        """
        pane, pressed, session = self._pane, keyboard.interrupted_at, self._pane.session
        if (left := pressed + PROMPT_GRACE - time.monotonic()) > 0:
            with anyio.move_on_after(left):
                await pane.stream.until(lambda: session.dead or session.prompt_time > pressed, left)
                while not (session.dead or shell_status(session.prompt_status) == INTERRUPTED or await self.reads_on()):
                    await pane.stream.changed_within(LOOK_SECONDS)
            if keyboard.interrupted_at == pressed:  # no other was typed meanwhile
                keyboard.interrupted_at = -math.inf


def find_shell(pane: PaneState, waited: float, folder: Path) -> ForegroundShell | None:
    """The listener of a pane that is not at a prompt of ours; None if nobody is known to listen.

    `folder` is the tab's own: a shell that cannot read in it gets its commands typed.
    """
    front, found = pane.front(), pane.judgement()
    # What is judged must be what is in front: between the two a command may begin or end.
    if front is None or not (found.waiting or found.hidden) or pane.front() != front:
        return None
    host, now = pane.host, time.monotonic()
    own = pane.shell if front.pgrp == pane.session.shell_pid else None
    modes = host.tty_modes(pane.tty)
    seen = InFront(
        front,
        found,
        own or host.shell_for(front.program),
        raw=modes is not None and not modes.icanon,
        script=own is None and host.runs_script(front.pgrp),
        reads=host.shares_folder(front.pgrp, folder),
        secret=pane.asks_secret(),
        silent=pane.silent_for(now),
        waited=waited,
    )
    return find_listener(pane.session, seen, now)


def read_by_another(reader: Process) -> TabUnavailable:
    program = reader.program or "a program"
    return TabUnavailable(
        f"{program} (process {reader.pid}), of another session, reads the terminal: it would get what is typed",
        state="interactive",
        remedy=f"answer it with `send_keys`, or end it: kill {reader.pid}, from another tab",
    )


def check_width(pane: PaneState, columns: int) -> None:
    """Refuse to type into a pane that is so narrow that its shell could die of it: TabUnavailable."""
    if columns < COLUMNS_MIN:
        raise TabUnavailable(
            f"the pane is {columns} columns wide, and shells crash when a line is typed into fewer than {COLUMNS_MIN}",
            state=pane.tab_state(),
            remedy="make it wider: close a pane next to it, or resize_pane",
        )


def continue_shell(pane: PaneState) -> None:
    """Let the tab's shell continue if it is stopped: it has no shell above it to do so.

    ksh stops itself along with the job that a C-z stopped, and `suspend` does so in any shell.
    """
    if pane.session.shell_pid and pane.host.is_stopped(pane.session.shell_pid):
        pane.host.signal_process(pane.session.shell_pid, signal.SIGCONT)
