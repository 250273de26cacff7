"""Runs commands in one pane: takes turns, types the line that runs the body, waits for the end mark.

Every wait is for the stream's next bytes or the command's end. When a command is looked at, whether its line has to be
typed once more, and how it is ended, `shell/driver.py` decides; here that is carried out. Before typing the kernel is
asked who listens, if no prompt was announced (foreground_shell.py), and for a moment whether the line editor has taken
the tty.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeVar, final

import anyio

from muxwire.errors import ConnectionClosed
from muxwire.host.environment import check_command
from muxwire.host.host import answer_seconds, round_trip
from muxwire.pane.foreground_shell import Questions, continue_shell, find_shell, read_by_another
from muxwire.pane.interrupt import Interrupter
from muxwire.pane.nesting import NestedShells, check_reach, not_there, typed_lines
from muxwire.pane.prompt_line import PromptEnd, PromptLine
from muxwire.pane.state import waited_words
from muxwire.shell import CLEAR_LINE
from muxwire.shell.driver import (
    AskReads,
    CatchUp,
    Ended,
    Examine,
    LookNear,
    Outcome,
    Press,
    Report,
    Retry,
    RetryView,
    Retype,
    TryAgain,
    Wait,
    Watch,
    WatchView,
)
from muxwire.shell.execution import Execution
from muxwire.shell.listener import (
    DRAWN,
    PROMPT_GRACE,
    QUIET,
    SILENT_SECONDS,
    ForegroundShell,
    may_be_read,
    ready_deadline,
)
from muxwire.shell.marks import ID_RANDOM, own_id
from muxwire.shell.redraw import redraw
from muxwire.shell.tab_state import line_lost, not_begun, starting

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.client.client import ControlClient, Pending
    from muxwire.pane.deadlines import Deadlines
    from muxwire.pane.keyboard import Keyboard, TypingLock
    from muxwire.pane.state import PaneState
    from muxwire.shell import Shell, Wrapped
    from muxwire.shell.left_shell import LeftShell

_Found = TypeVar("_Found")
Progress = Callable[[Execution], Awaitable[None]]

# Seconds in which a program of another session that reads may notice that what it asked for is gone.
STRANGER_GRACE = 1.0
# So many commands on end that had to be typed again: the integration's key is no more.
KEY_LOST = 2


@final
class _Bell:
    """An event for each wait in turn; the newest is set when it rings."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def next(self) -> anyio.Event:
        self._event = anyio.Event()
        return self._event

    def ring(self) -> None:
        self._event.set()


@final
class Runner:
    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        folder: Path,
        columns: Callable[[], int],
        alarm: Deadlines,
        spawn: Callable[[Callable[[], Awaitable[object]]], None],
        turn: TypingLock | None = None,
    ) -> None:
        """`spawn` starts a task that outlives a call; with `turn` other processes type into the pane too."""
        self.pane = pane
        self.keyboard = keyboard
        self.questions = Questions(pane, client)
        self.prompt_line = PromptLine(pane, client, self.questions)
        self._nested = NestedShells(pane, keyboard, self.questions)
        self.interrupter = Interrupter(
            pane, keyboard, client, self.questions, self._nested, unstick=self._unstick, spawn=spawn
        )
        self._client = client
        self._prompt_end = PromptEnd(pane, keyboard, client, self.prompt_line)
        self.folder = folder
        self._columns = columns
        self._alarm = alarm
        self._files = pane.host.command_files(folder)
        self.turn = turn or anyio.Semaphore(1)  # a lock would ask the event loop whose task this is
        self._again: tuple[Execution, Callable[[], None]] | None = None  # what types the newest line once more
        self._retyped = 0  # commands on end
        self._unsticking = False
        self._starting = 0  # calls that are about to type a command
        self._typed_on = 0  # by which of the client's connections the newest line went
        self._typed: list[Pending] = []  # its commands
        self._told: tuple[LeftShell, float] | None = None  # the newest shell whose end refused a command, and when
        self.on_refused: Callable[[], None] | None = None  # called then

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

        A person sees `shown` in its place, if that is given. `write` is called before, when the shell listens.
        InvalidArgument for a NUL or more than 16 MiB; TabUnavailable if the pane cannot take it in time.
        """
        check_command(command)
        given = time.monotonic()
        deadline = given + turn_timeout
        self._starting += 1
        try:
            return await self._start(command, given, deadline, turn_timeout, env=env, cwd=cwd, shown=shown, write=write)
        finally:
            self._starting -= 1
            self.pane.stream.wake()

    async def _start(
        self,
        command: bytes,
        given: float,
        deadline: float,
        turn_timeout: float,
        *,
        env: Mapping[str, str],
        cwd: str | None,
        shown: bytes | None,
        write: Callable[[], None] | None,
    ) -> Execution:
        try:
            self.turn.acquire_nowait()  # nearly always: a scope and its timer would cost more than all the rest here
        except anyio.WouldBlock:
            await self._wait_turn(turn_timeout)
        try:
            listener = await self.questions.reached(deadline, lambda: self._ready(deadline, env, cwd))
            prompt = await self._nested.prompt(listener) if listener.level > 1 else b""
            self._check_place(given)
            if write is not None:
                write()
            return await self._type(command, shown or command, listener, prompt, env=env, cwd=cwd)
        except BaseException:
            self.pane.hidden.give_up(seen=True)
            raise
        finally:
            self.turn.release()

    async def typed_first(self, seconds: float) -> None:
        """Let calls that came before type their command, if nothing but their own prompt keeps them; for so long."""
        pane, session = self.pane, self.pane.session

        def under_way() -> bool:
            if not self._starting or session.dead or session.running is not None:
                return False
            return session.at_prompt or starting(session) or pane.on_its_way()

        await pane.stream.until(lambda: not under_way(), seconds)

    async def _wait_turn(self, timeout: float) -> None:
        """Wait until nobody else types into this pane; TabUnavailable if that takes too long."""
        with anyio.move_on_after(timeout):
            await self.turn.acquire()
            return
        raise self.pane.refusal()

    async def wait(self, execution: Execution, timeout: float, *, progress: Progress | None = None) -> Outcome:
        """Wait for the command's end; `interactive` as soon as it waits for input of a person or a key.

        `silent` where that cannot be seen, after a question and some silence. Both are returned once for each output.
        """
        self._client.waiters += 1
        try:
            await self._client.poll(lambda: not execution.running)
            return await self._wait(execution, timeout, progress)
        finally:
            self._client.waiters -= 1

    async def _wait(self, execution: Execution, timeout: float, progress: Progress | None) -> Outcome:
        pane = self.pane
        watch = Watch(time.monotonic(), timeout, reports=progress is not None, delay=round_trip(pane.host))
        waiting = _Bell()
        execution.ends_with(waiting.ring)
        while not watch.outcome:
            view = WatchView(execution.running, execution.started, pane.stream.end, pane.quiet())
            match watch.next(view, time.monotonic()):
                case Wait(seconds):
                    await self._alarm.wait(waiting.next(), seconds)
                case Report():
                    assert progress is not None
                    await progress(execution)
                case LookNear():
                    watch.on_done(self._begins_to_wait(execution))
                case TryAgain():
                    with self._in_time(watch):
                        await self._unstick(execution)
                case Examine():
                    with self._in_time(watch):
                        watch.on_found(await self._examined(execution))
        return watch.outcome

    @staticmethod
    def _in_time(watch: Watch) -> anyio.CancelScope:
        """A limit for a question to a machine, or a tmux, that may not answer."""
        return anyio.move_on_after(watch.deadline + PROMPT_GRACE - time.monotonic())

    def _begins_to_wait(self, execution: Execution) -> bool:
        """Whether a command that has written nothing new waits all the same, by a look that costs little."""
        pane = self.pane
        end = pane.stream.written_end
        if not execution.started or execution.waits_at(end):
            return False
        if not execution.silent_since(end) and pane.quiet(SILENT_SECONDS):
            return pane.may_ask()
        return bool(pane.waits_near())

    async def examine(self, execution: Execution) -> None:
        """Find out whether a command waits for input, for a result of it."""
        end = self.pane.stream.written_end
        known = execution.waits_at(end) or execution.silent_since(end)
        if execution.running and execution.started and not known and self.pane.quiet():
            with anyio.move_on_after(answer_seconds(self.pane.host)):
                await self._examined(execution)

    async def _examined(self, execution: Execution) -> Literal["interactive", "silent", ""]:
        """What is new of a command that runs. A nested shell that gave it up is asked for its status instead."""
        pane = self.pane
        await pane.look()
        continue_shell(pane)
        self._nested.settle_end(execution)
        end = pane.stream.written_end
        if execution.cut >= 0 or not execution.running or execution.waits_at(end):
            return ""
        if waiting := await self._proved(lambda: pane.awaited(execution)):
            execution.asks(end, waited_words(waiting))
            return "interactive"
        if not execution.silent_since(end) and await self._proved(pane.falls_silent):
            execution.fell_silent(end)
            return "silent"
        return ""

    async def awaits_input(self) -> Literal["met", "silent", ""]:
        """Whether what runs in the pane waits for more input; `silent` where that cannot be seen."""
        pane = self.pane
        await pane.look()
        if await self._proved(lambda: pane.tab_state() in ("prompt", "interactive", "incomplete")):
            return "met"
        if await self._proved(pane.hidden_waiting):
            return "met"
        return "silent" if await self._proved(pane.falls_silent) else ""

    async def _surely_waits(self) -> bool:
        """Whether input is waited for: a shell may be back at a prompt whose mark tmux has not read yet."""
        return await self._proved(lambda: self.pane.tab_state() == "interactive")

    async def _proved(self, holds: Callable[[], _Found]) -> _Found | Literal[False]:
        """What `holds` returns, once it is proved: tmux, after that look, had nothing more of the pane to send.

        A tmux that is silent or stopped proves nothing: what the program wrote meanwhile may lie in the terminal.
        """
        if not (found := holds()):
            return found
        try:
            if not await self.questions.caught_up():
                return False
        except ConnectionClosed:
            return False
        return holds() if self.pane.reachable else False

    async def interrupt(
        self, execution: Execution, *, first: signal.Signals = signal.SIGINT, grace: float | None = None
    ) -> bool:
        """Escalate until the command has ended; `execution.signal_sent` says how far that was.

        A line that was typed is waited for until it runs, or provably never will: then the command has `never_ran`.
        False if tmux does not answer: it is done when that does.
        """
        if execution.ending:  # before we came: what is in front by now is somebody else's
            return True
        if execution is self.pane.session.current and not execution.started:
            self._again = None  # should C-c throw its line away, no later call may type it again
            if self._client.withdraw(self._typed):
                self._withdrawn(execution, str(self._client.patience.explain()))
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
            execution.resisted(f"{silent}: {silent.remedy}; `command_result` reports what became of it")

    async def settled(self, seconds: float = PROMPT_GRACE) -> None:
        await self.pane.stream.until(lambda: self.pane.is_back, seconds)

    def close(self, *, persistent: bool = False) -> None:
        """Nothing will be run from here any more; unless the tab lasts without us, its directory goes."""
        self._files.close(remove=not persistent)

    # -- whose turn, and is the shell listening?

    async def _ready(self, deadline: float, env: Mapping[str, str], cwd: str | None) -> ForegroundShell:
        """Wait until a shell listens, and return which; TabUnavailable if none will in time."""
        pane = self.pane
        begun = time.monotonic()
        deadline, looked_again = ready_deadline(pane.session, begun, deadline), False
        await self.questions.interrupt_taken(self.keyboard)
        before = pane.session.current
        if before is not None and before.ending == "completed" and before.level == 1:  # others show no prompt of ours
            await self.prompt_line.soon()
        while True:
            heard, waited = pane.stream.end, time.monotonic() - begun
            typed, at_prompt = pane.session.running, pane.takes_next
            found = await self.prompt_line.listener(begun) if at_prompt else await self._other_shell(waited)
            if (
                found is not None
                and may_be_read(pane.session)
                and (reader := await self.questions.stranger(found)) is not None
            ):
                if waited >= STRANGER_GRACE:
                    raise read_by_another(reader)
                await pane.stream.changed_within(QUIET)
                continue
            if found is not None and found.level == 3:
                check_reach(env, cwd)
                return await self._nested.reach(found)
            if found is not None:
                await self._prompt_end.find(found)
                return found
            # Another machine has said so only now. Or an earlier process typed it, and it never ran.
            if (not at_prompt and pane.takes_next) or (typed is not None and not typed.running):
                continue
            if pane.session.dead or waited >= deadline - begun or await self._in_vain(waited):
                if pane.session.dead or looked_again:
                    raise pane.refusal()
                looked_again = True  # this process may have been stopped: output that waits in the pipe counts
                self._client.take_received()
            elif pane.stream.end == heard:  # else what was waited for may have come meanwhile
                again = self.prompt_line.look_again() if at_prompt else QUIET if pane.quiet(DRAWN) else DRAWN
                await pane.stream.changed_within(min(again, deadline - begun - waited))

    async def _other_shell(self, waited: float) -> ForegroundShell | None:
        """Who listens while no prompt of ours says so."""
        pane = self.pane
        typed = not_begun(pane.session)
        if typed is not None:
            await self._unstick(typed)
            if not typed.running:
                return None
        await pane.look()
        if pane.takes_next:
            return None  # it came to its prompt meanwhile
        continue_shell(pane)
        if (running := pane.session.running) is not None:
            self._nested.settle_end(running)
        found = None if pane.session.dead else find_shell(pane, waited, self.folder)
        if found is not None and found.pgrp == pane.session.shell_pid and not await self.questions.caught_up():
            return None  # it may have said that it is at its prompt
        return found

    async def _in_vain(self, waited: float) -> bool:
        """Whether more waiting is no use: what runs is not ours, or waits for somebody's input itself."""
        pane = self.pane
        if pane.session.running is not None:
            no_use = waited >= QUIET and pane.quiet() and await self._surely_waits()
        else:
            no_use = await self.prompt_line.in_vain(waited)
        # Where the helper of another machine has not answered, what is known of the pane is old: the call waits.
        return no_use and pane.reachable

    def _check_place(self, given: float) -> None:
        """Refuse a command if the shell is gone that it was given for, at that time: TabUnavailable.

        That is one that nobody was told of, or was told of only after this command had been given.
        """
        session = self.pane.session
        if (left := session.left) is not None:
            self._told = left, time.monotonic()
            session.refused()
            if self.on_refused is not None:
                self.on_refused()
        elif self._told is None or given >= self._told[1]:
            return
        raise not_there(self.pane, self._told[0])

    # -- typing

    async def _type(
        self,
        command: bytes,
        shown: bytes,
        listener: ForegroundShell,
        prompt: bytes,
        *,
        env: Mapping[str, str],
        cwd: str | None,
    ) -> Execution:
        pane, session, shell = self.pane, self.pane.session, listener.shell
        command_id = own_id(os.urandom(ID_RANDOM), session.nonce)
        # Before the command counts as typed: it may refuse, or find out that it cannot be done.
        drawn, ours = b"", shell if listener.level == 1 else None
        if ours is not None:
            column, length = self._prompt_end.column, len(ours.typed_line) + ours.cursor_follows
            drawn = redraw(shown, command_id, column=column, columns=self._columns(), typed_length=length)
        if session.dead:  # since it listened: nobody would ever say how the command ended
            raise pane.refusal()
        execution = Execution(
            command_id=command_id,
            command=command,
            prompt_seq=session.prompt_seq,
            typed_at=pane.stream.end,
            typed_time=time.monotonic(),
            cwd=session.cwd,
            level=listener.level,
            shell_pgrp=listener.pgrp,
            shell_name=listener.name,
            shell_prompt=prompt,
            shell_token=listener.token,
        )
        if listener.level > 1:
            drawn = self._nested.hide_line(execution, shown)
            await pane.host.done()
        execution.ends_with(pane.stream.wake)
        if shell is None:
            self._typed = self.keyboard.press(typed_lines(command, command_id, listener, drawn))
            session.typed(execution)
            self._again = None
            return execution
        wrap = functools.partial(
            shell.wrap, command, command_id, self.folder, redraw=drawn, env=env, cwd=cwd, repair_tty=session.repair_tty
        )
        if self._again is not None and self._retyped < KEY_LOST:
            self._retyped = 0  # the last one took its line at the first try
        wrapped = wrap(nested=listener.level > 1, others=session.shells_behind(listener.pgrp))
        if self._prompt_end.aside and shell.back_key and listener.level == 1:
            wrapped = replace(wrapped, typed=shell.back_key)
        if not listener.edits or self._retyped >= KEY_LOST:  # a key would mean nothing
            wrapped = replace(wrapped, typed=CLEAR_LINE + shell.typed_line + b"\r")
        if ours is not None and self._prompt_end.cleared:  # two of these on end have ksh continue without an editor
            wrapped = replace(wrapped, typed=wrapped.typed.removeprefix(CLEAR_LINE))
        # It counts once it is typed: a full disk, or no connection, fails the call, and a later one must not run it.
        self._typed_on = self._client.connections
        self._press(wrapped, shell)
        session.typed(execution)
        # Should the key have been lost with the user's bindings, the second try names the file.
        self._again = execution, lambda status=session.prompt_status: self._press(wrap(again=status), shell)
        return execution

    def _press(self, wrapped: Wrapped, shell: Shell) -> None:
        self.pane.mend_line_modes(shell)
        lines = [line for name, content in wrapped.files for line in self._files.write(name, content)]
        self._typed = self.keyboard.press(wrapped.typed, before=lines)

    async def _unstick(self, execution: Execution) -> None:
        """The line was typed, and no start mark came: type it once more if its body provably never ran."""
        if self._unsticking:  # the call that typed it, or one that waits after: a second C-c would hit the new line
            return
        self._unsticking = True
        try:
            with contextlib.suppress(ConnectionClosed):  # between two connections: at the next look
                await self._look_and_retype(execution)
        finally:
            self._unsticking = False

    async def _look_and_retype(self, execution: Execution) -> None:
        pane = self.pane
        retry = Retry(remote=not self.pane.host.is_local)
        while not isinstance(action := retry.next(self._retry_view(execution), time.monotonic()), Ended):
            match action:
                case Wait():
                    await pane.stream.changed_within(action.seconds)
                case CatchUp():
                    await self.questions.caught_up()
                    retry.on_done(not pane.stream.rejoining, time.monotonic())
                case AskReads():
                    retry.on_done(await self.questions.reads_on(), time.monotonic())
                case Press():
                    await self.keyboard.type(action.keys)
                    retry.on_done(True, time.monotonic())
                case Retype():
                    self._retype(execution)

    def _retry_view(self, execution: Execution) -> RetryView:
        pane, session, now = self.pane, self.pane.session, time.monotonic()
        same = self._client.connections == self._typed_on
        same = same or (not pane.host.is_local and pane.heard_since(execution))
        return RetryView(
            begun=execution.started or not execution.running,
            lost=line_lost(session, execution),
            heard=same and not pane.stream.rejoining,
            at_prompt=session.at_prompt,
            silent=pane.quiet(),
            since_prompt=now - session.prompt_time,
            since_typed=now - execution.typed_time,
        )

    def _retype(self, execution: Execution) -> None:
        if not execution.running:  # its nested shell is gone: the one that is here now is another
            return
        if self._again is None or self._again[0] is not execution:
            self._discard(execution)
            return
        try:
            self._again[1]()
        except OSError:
            self._discard(execution)
            raise
        self._again = None
        self._retyped += 1
        self.pane.session.typed_again(execution)

    def _discard(self, execution: Execution) -> None:
        self.pane.session.line_discarded(execution, time.monotonic(), end=self.pane.stream.end)
