"""Runs commands in one pane: takes turns, types the line that runs the body, waits for the end mark.

Every wait is for the stream's next bytes or the command's end. What is decided, over the port of the pane
(`shell/port.py`), is which program reads the line, when a command is examined, whether its line has to be typed once
more, and how it is ended.
"""

from __future__ import annotations

import functools
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, final

import anyio

from muxwire.errors import InstanceUnavailable
from muxwire.host.environment import check_command
from muxwire.pane.interrupt import Interrupter
from muxwire.pane.port import PanePort
from muxwire.shell.execution import Execution
from muxwire.shell.foreign import foreign_command
from muxwire.shell.listener import PROMPT_GRACE, ForegroundShell
from muxwire.shell.nesting import not_there, prompt_of
from muxwire.shell.prompt_line import begins_line
from muxwire.shell.ready import Ready
from muxwire.shell.redraw import redraw, shown_again
from muxwire.shell.shell import CLEAR_LINE
from muxwire.shell.tab_state import starting
from muxwire.shell.watch import watched

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.client.client import ControlClient, Pending
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.state import PaneState
    from muxwire.protocol.commands import Command
    from muxwire.shell import Wrapped
    from muxwire.shell.left_shell import LeftShell
    from muxwire.shell.watch import Outcome

Progress = Callable[[Execution], Awaitable[None]]

# After so many commands in a row that had to be typed again, the key that the integration binds counts as lost.
KEY_LOST = 2


@final
class Runner:
    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        folder: Path,
        spawn: Callable[[Callable[[], Awaitable[object]]], None],
    ) -> None:
        """`spawn` starts a task that outlives a call."""
        self.pane = pane
        self.keyboard = keyboard
        self.port = port = PanePort(pane, keyboard, client, self._type_again)
        find_shell = functools.partial(pane.find_shell, folder=folder)
        self.ready = Ready(port, find_shell, self._heard)
        self.interrupter = Interrupter(port, keyboard, client, self.ready, spawn=spawn)
        self._client = client
        self.folder = folder
        self.turn = anyio.Semaphore(1)  # a lock would ask the event loop whose task this is
        self._again: tuple[Execution, Callable[[], None]] | None = None  # what types the newest line once more
        self._retyped = 0  # commands in a row that were typed again
        self._starting = 0  # calls that are about to type a command
        self._typed_on = 0  # by which of the client's connections the newest line went
        self._typed: list[Pending] = []  # the tmux commands that typed it
        self._told: tuple[LeftShell, float] | None = None  # the newest shell whose end refused a command, and when

    async def start(
        self,
        command: bytes,
        *,
        turn_timeout: float,
        env: Mapping[str, str],
        cwd: str | None,
        shown: bytes | None = None,
        write: Callable[[], None] | None = None,
    ) -> Execution:
        """Type `command` as soon as it is its turn, and return without waiting for its end.

        A person sees `shown` in its place, if that is given. `write` is called before, when the shell listens. A nested
        shell may be in another place, so there nobody but its `cd` can say whether there is a directory `cwd`.
        InvalidArgument for a NUL, more than 16 MiB or no such directory; TabUnavailable if the pane cannot take it in
        time.
        """
        check_command(command)
        given = time.monotonic()
        self._starting += 1
        ours = False
        try:
            ours = self._turn_at_once() or await self._turn_within(turn_timeout)
            listener, prompt = await self._reached(given + turn_timeout)
            self._check_place(given)
            cwd = (
                str(self.pane.host.checked_folder(cwd, self.pane.session.cwd))
                if cwd is not None and (listener.level == 1 or "\0" in cwd)
                else cwd
            )
            if write is not None:
                write()
            execution = self._execution(command, listener, prompt)
            drawn = self._drawn(execution, shown or command, listener)
            if self.pane.session.hidden_id:
                await self.pane.host.done()
            self._type(execution, drawn, shown or command, listener, env=env, cwd=cwd)
            execution.command = shown or command  # what all that is said of it from here on names
        except BaseException:
            if ours:
                self.pane.hidden.give_up(seen=True)
            raise
        finally:
            if ours:
                self.turn.release()
            self._starting -= 1
            self.pane.stream.wake()
        return execution

    def _turn_at_once(self) -> bool:
        """Take the turn without waiting; False if another call has it. Usually it is free: to wait for it all the same,
        in a cancel scope, would take 18 % of `true`.
        """
        try:
            self.turn.acquire_nowait()
        except anyio.WouldBlock:
            return False
        return True

    async def _turn_within(self, seconds: float) -> Literal[True]:
        """Wait for the turn; TabUnavailable if others have it for so long."""
        with anyio.move_on_after(seconds):
            await self.turn.acquire()
            return True
        raise self.pane.refusal()

    async def _reached(self, deadline: float) -> tuple[ForegroundShell, bytes]:
        """The shell that listens, and of a nested one its prompt; raises as `Ready.reached`."""
        listener = await self.ready.reached(deadline)
        prompt = await prompt_of(self.port, listener) if listener.level > 1 else b""
        return listener, prompt

    def typed_first(self, seconds: float) -> Awaitable[bool]:
        """Wait, so long at most, until earlier calls have typed their commands, if they only wait for the prompt."""
        pane, session = self.pane, self.pane.session

        def under_way() -> bool:
            if not self._starting or session.dead or session.running is not None:
                return False
            return session.at_prompt or starting(session) or pane.on_its_way()

        return pane.stream.until(lambda: not under_way(), seconds)

    async def wait(self, execution: Execution, timeout: float, *, progress: Progress | None = None) -> Outcome:
        """Wait for the command's end; `interactive` as soon as it waits for input of a person or a key.

        `silent` where that cannot be seen, after a question and some silence. Both are returned once for each output.
        """
        self._client.waiters += 1
        try:
            await self._client.poll(lambda: execution.ending != "")
            if execution.ending:
                return "ended"
            return await watched(self.port, execution, timeout, self.ready, progress)
        finally:
            self._client.waiters -= 1

    async def interrupt(
        self, execution: Execution, *, first: signal.Signals = signal.SIGINT, grace: float | None = None
    ) -> bool:
        """Escalate until the command has ended; `execution.signal_sent` says how far that was.

        A line that was typed is waited for until it runs, or provably never will: then the command has `never_ran`.
        False if tmux does not answer: the command is ended when tmux does.
        """
        if execution.ending:  # it has ended already: what is in front by now is another command
            return True
        if execution is self.pane.session.current and not execution.started:
            self._again = None  # should C-c throw its line away, no later call may type it again
            if self._client.withdraw(self._typed):
                self._withdrawn(execution, self._client.patience.explain().reason)
                return True
        return await self.interrupter.end(execution, first=first, grace=grace)

    def _withdrawn(self, execution: Execution, reason: str) -> None:
        execution.explain(f"its line was never sent: {reason}")
        self.pane.session.line_withdrawn(execution, time.monotonic(), end=self.pane.stream.end)

    def never_connected(self, reason: str) -> None:
        """The pane is about to be lost, for that reason: a command whose line still waits to be sent never ran."""
        current = self.pane.session.current
        if current is not None and current.running and not current.started and self._client.never_sent(self._typed):
            self._withdrawn(current, reason)

    async def interrupt_overdue(self, execution: Execution) -> None:
        """Interrupt a command whose time is over, until the prompt is back; its note says so if tmux is to blame."""
        if await self.interrupt(execution):
            await self.settled()
        elif execution.running:
            silent = self._client.patience.explain()
            execution.resisted(str(silent), f"{silent.remedy}; `command_result` reports what became of it")

    def settled(self, seconds: float = PROMPT_GRACE) -> Awaitable[bool]:
        """Wait, for so long at most, until nothing that was typed into the shell runs; return whether that is so."""
        return self.pane.stream.until(lambda: self.pane.is_back, seconds)

    def close(self, *, persistent: bool = False) -> None:
        """Nothing will be run from here any more; unless the tab lasts without us, its directory goes."""
        if not persistent:
            self.pane.host.remove_folder(self.folder)

    def _check_place(self, given: float) -> None:
        """Refuse a command that was given, at that time, for a nested shell that has ended since: TabUnavailable.

        An end that no caller was told of refuses the next command, and each one that was given before that refusal.
        """
        session = self.pane.session
        if (left := session.left) is not None:
            self._told = left, time.monotonic()
            session.refused()
        elif self._told is None or given >= self._told[1]:
            return
        raise not_there(self.pane, self._told[0])

    # -- typing

    def _execution(self, command: bytes, listener: ForegroundShell, prompt: bytes) -> Execution:
        """The command that is about to be typed; its end wakes those that wait for the pane."""
        pane = self.pane
        execution = Execution(
            command_id=pane.new_id(),
            command=command,
            prompt_seq=pane.session.prompt_seq,
            typed_at=pane.stream.end,
            typed_time=time.monotonic(),
            cwd=pane.session.cwd,
            level=listener.level,
            shell_pgrp=listener.pgrp,
            shell_name=listener.name,
            shell_prompt=prompt,
            shell_token=listener.token,
            shell_inner=listener.inner,
        )
        execution.ends_with(pane.stream.wake)
        return execution

    def _has_key(self, listener: ForegroundShell) -> bool:
        """Whether the shell's line editor knows the integration's key."""
        return listener.edits and self._retyped < KEY_LOST

    def _drawn(self, execution: Execution, shown: bytes, listener: ForegroundShell) -> bytes:
        """What the shell prints to show a command in place of the line that is about to be typed.

        Where the terminal has not saved the prompt's end, that line is typed out of sight.
        """
        pane, shell = self.pane, listener.shell
        typed_at, command_id = execution.typed_at, execution.command_id
        if listener.level > 1:
            hidden = self._hide_line(execution, shown)
            return shown_again(command_id) if hidden else b""
        assert shell is not None
        saved = pane.session.end_saved and (self._has_key(listener) or not shell.replaces_all)
        if not saved and not self._hide_line(execution):
            return b""
        return redraw(shown, command_id, typed_at, saved=saved)

    def _type(
        self,
        execution: Execution,
        drawn: bytes,
        shown: bytes,
        listener: ForegroundShell,
        *,
        env: Mapping[str, str],
        cwd: str | None,
    ) -> None:
        pane, session, shell = self.pane, self.pane.session, listener.shell
        if session.dead:  # since it listened: nothing would ever say how the command ended
            raise pane.refusal()
        if self._again is not None and self._retyped < KEY_LOST:
            self._retyped = 0  # the last command ran at the first try
        self._again = None
        if shell is None or listener.level > 1:
            folder = self.folder if listener.reads else None
            wrapped = foreign_command(execution.command, execution.command_id, listener, drawn, folder, env, cwd)
            self._press(wrapped.files, wrapped.typed)
            session.typed(execution)
            return
        wrap = functools.partial(
            shell.wrap,
            execution.command,
            execution.command_id,
            self.folder,
            env=env,
            cwd=cwd,
            repair_tty=session.repair_tty,
        )
        wrapped = wrap(redraw=drawn)
        typed = wrapped.typed
        if shell.private_key:
            if not self._has_key(listener):
                typed = CLEAR_LINE + shell.typed_line + b"\r"
            elif shell.plain_key and not begins_line(pane):
                typed = shell.plain_key
        # It counts once it is typed: a full disk, or no connection, fails the call, and a later one must not run it.
        self._typed_on = self._client.connections
        pane.terminal.mend_line_modes(shell)
        self._press(wrapped.files, typed)
        session.typed(execution)
        # Should the key have been lost with the user's bindings, the second try names the file.
        again = functools.partial(wrap, again=session.prompt_status)
        self._again = execution, functools.partial(self._press_again, again, execution, shown, listener)

    def _press_again(
        self,
        wrap: Callable[..., Wrapped],
        execution: Execution,
        shown: bytes,
        listener: ForegroundShell,
    ) -> None:
        """Type the line that names the file, which is longer than the usual one, out of sight.

        Not on another machine: what hides it would be written there after the line was taken, into the output.
        """
        assert listener.shell is not None
        hidden = self.pane.host.is_local and self._hide_line(execution)
        drawn = redraw(shown, execution.command_id, execution.typed_at, saved=False) if hidden else b""
        wrapped = wrap(redraw=drawn)
        self.pane.terminal.mend_line_modes(listener.shell)
        self._press(wrapped.files, wrapped.typed)

    def _press(self, files: Iterable[tuple[str, bytes]], typed: bytes) -> None:
        lines: list[Command] = []
        for name, content in files:
            lines += self.pane.host.write_command(self.folder, name, content)
        self._typed = self.keyboard.press(typed, before=lines)

    def _hide_line(self, execution: Execution, shown: bytes = b"") -> bool:
        """What is typed from here on for `execution` is muxwire's; a person sees `shown` in its place."""
        hidden, command_id = self.pane.hidden, execution.command_id
        execution.ends_with(functools.partial(hidden.ended, command_id))
        return hidden.hide(command_id, self.pane.stream.end, shown)

    def _heard(self) -> bool:
        """Whether all is here that was written since the newest line was typed: a connection that was lost may have
        lost output too.
        """
        return self._client.connections == self._typed_on and not self.pane.stream.rejoining

    def _type_again(self, execution: Execution) -> None:
        if not execution.running:  # its nested shell is gone: the one that is here now is another
            return
        if self._again is None or self._again[0] is not execution:
            self._discard(execution)
            return
        try:
            self._again[1]()
        except InstanceUnavailable:  # a full disk: no later call may run it
            self._discard(execution)
            raise
        self._again = None
        self._retyped += 1
        self.pane.session.typed_again(execution)

    def _discard(self, execution: Execution) -> None:
        self.pane.session.line_discarded(execution, time.monotonic(), end=self.pane.stream.end)
