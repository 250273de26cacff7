"""Runs commands in one pane: takes turns, types the line that runs the body, waits for the end mark.

Nothing here polls: every wait is for the stream's next bytes or the command's end. While a command runs, the kernel is
asked a few times, at growing intervals, whether it waits for input (`LOOKS`).
"""

from __future__ import annotations

import functools
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, final

import anyio

from muxwire.errors import InvalidArgument, TabUnavailable
from muxwire.terminals.execution import Execution
from muxwire.terminals.folders import write_private
from muxwire.terminals.foreground import foreground, restore_line_modes
from muxwire.terminals.interrupt import CTRL_C, Interrupter
from muxwire.terminals.redraw import PromptColumns, redraw
from muxwire.terminals.shells import Shell, Wrapped, shell_for

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.client.client import ControlClient
    from muxwire.terminals.keyboard import Keyboard
    from muxwire.terminals.pane_state import PaneState

Outcome = Literal["ended", "timed_out", "interactive"]
Progress = Callable[[Execution], Awaitable[None]]

# A command's text is typed by nobody, but a shell must parse it: beyond this it is data and belongs in a file.
COMMAND_LIMIT = 16 << 20
# Seconds after typing at which a silent command is looked at; then every LOOK_EVERY. A password prompt shows by 0.15.
LOOKS = (0.15, 0.2, 0.4, 0.8, 1.5, 3.0)
LOOK_EVERY = 5.0
# A program that has printed nothing for this long may be waiting for us; a compiler's pause is not shorter.
QUIET = 0.15
# Seconds from a prompt without a start mark to typing again: the mark would have come before the prompt.
RETYPE_AFTER = 0.4
# Seconds that a shell's first prompt may take: a heavy rc file with network mounts takes 5.
START_TIMEOUT = 15.0
# After the end mark the prompt comes within a ms; a shell without our hook shows by then that it edits a line.
PROMPT_GRACE = 0.3
# A program that is not ours gets this long to end before the call is refused: a person's `ls` is gone by then.
BUSY_GRACE = 0.3


@final
class Runner:
    """Executes commands in one pane, one at a time, in order of arrival."""

    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        pane_id: str,
        folder: Path,
        columns: Callable[[], int],
    ) -> None:
        self.pane = pane
        self.keyboard = keyboard
        self.interrupter = Interrupter(pane, keyboard)
        self._client = client
        self._pane_id = pane_id
        self.folder = folder
        self._columns = columns
        self._turn = anyio.Lock()
        self._prompts = PromptColumns()
        self._again: Callable[[], None] | None = None

    async def start(
        self,
        command: bytes,
        *,
        turn_timeout: float,
        env: Mapping[str, str],
        cwd: str | None,
        shown: bytes | None = None,
    ) -> Execution:
        """Type `command` as soon as it is its turn, and return without waiting for its end.

        A person sees `shown` in its place, if that is given.
        InvalidArgument for a NUL or more than 16 MiB; TabUnavailable if the pane cannot take it in time.
        """
        check_command(command)
        with anyio.move_on_after(turn_timeout) as turn:
            async with self._turn:
                shell, nested = await self._ready(anyio.current_time() + turn_timeout)
                with anyio.CancelScope(shield=True):  # half a typed line would be worse than a late answer
                    return await self._type(command, shown or command, shell, nested=nested, env=env, cwd=cwd)
        assert turn.cancelled_caught
        raise self._refusal()

    async def wait(self, execution: Execution, timeout: float, *, progress: Progress | None = None) -> Outcome:
        """Wait for the command's end; `interactive` as soon as it waits for input of a person or a key."""
        deadline = anyio.current_time() + timeout
        looks = iter(LOOKS)
        while execution.running:
            left = deadline - anyio.current_time()
            if left <= 0:
                return "timed_out"
            with anyio.move_on_after(min(left, next(looks, LOOK_EVERY))):
                await execution.done.wait()
                break
            if progress is not None:
                await progress(execution)
            if not execution.started:
                await self._unstick(execution)
            elif self._quiet() and self.pane.stream.end != execution.answered_at and self.pane.look() == "interactive":
                execution.answered_at = self.pane.stream.end
                return "interactive"
        return "ended"

    async def interrupt(
        self, execution: Execution, *, first: signal.Signals = signal.SIGINT, grace: float | None = None
    ) -> None:
        """Climb the ladder until the command has ended; `execution.signal_sent` says how far that was."""

        async def ended(seconds: float) -> bool:
            with anyio.move_on_after(seconds):
                await execution.done.wait()
            return not execution.running

        sent = await self.interrupter.stop(ended, first=first, grace=grace)
        execution.signal_sent = sent
        if execution.running:
            execution.note = "could not be interrupted: the shell itself ignores SIGINT; close the tab with force"

    async def settled(self) -> None:
        """Wait, for a moment at most, until the prompt is back."""
        with anyio.move_on_after(PROMPT_GRACE):
            while not (self.pane.at_prompt or self.pane.dead):
                await self.pane.stream.changed()

    def _quiet(self) -> bool:
        return time.monotonic() - self.pane.stream.last_output >= QUIET

    # -- whose turn, and is the shell listening?

    async def _ready(self, deadline: float) -> tuple[Shell, bool]:
        """Return the shell that listens now, and whether it is nested in the tab's own; TabUnavailable otherwise."""
        pane = self.pane
        begun = anyio.current_time()
        while not pane.at_prompt:
            if pane.dead:
                raise self._refusal()
            now = anyio.current_time()
            found = self._listening(now - begun)
            if found is not None:
                return found
            if pane.running is None and (pane.hooked or now - begun > START_TIMEOUT) and now - begun > BUSY_GRACE:
                raise self._refusal()
            if now >= deadline:
                raise self._refusal()
            with anyio.move_on_after(min(QUIET, deadline - now)):
                await pane.stream.changed()
        assert pane.shell is not None
        early = pane.shell.settle_after_prompt - (time.monotonic() - pane.prompt_time)
        if (
            early > 0
        ):  # busybox asks the terminal for its cursor at every prompt, and may eat what comes before the answer
            await anyio.sleep(early)
        return pane.shell, False

    def _listening(self, waited: float) -> tuple[Shell, bool] | None:
        """A shell without a prompt mark that waits for a line: ours without hooks, or one nested in it."""
        pane = self.pane
        if not self._quiet() or (not pane.hooked and pane.shell is not None and waited < START_TIMEOUT):
            return None
        front = foreground(pane.leader_pid)
        kind = pane.waits_for_input()
        if front is None or kind not in ("editor", "raw", "line"):
            return None
        if front.pgrp == pane.shell_pid and pane.shell is not None:
            running = pane.running
            return (pane.shell, True) if running is None and waited >= PROMPT_GRACE else None
        shell = shell_for(front.program)
        return (shell, True) if shell is not None else None

    def _refusal(self) -> TabUnavailable:
        pane = self.pane
        state = pane.look()
        running = pane.running
        if state == "dead":
            return TabUnavailable(
                "the tab's program has ended" + (f" with status {pane.exit_status}" if not pane.closed else ""),
                state=state,
                remedy="its log stays readable; create a new tab with create_tab",
            )
        if state == "starting":
            return TabUnavailable(
                "the shell has not shown its first prompt yet", state=state, remedy="read the tab's log; then try again"
            )
        front = foreground(pane.leader_pid)
        program = front.program if front is not None else "a program"
        if running is not None:
            what = f"{running.command[:80].decode('utf-8', 'replace')!r} (command_id {running.command_id})"
            what += f" has been running for {running.age:.1f} s"
            remedy = "wait with command_result, stop it with stop_process, or use another tab"
        else:
            what = f"{program} runs in the foreground, not started by execute_command"
            remedy = "wait for it, stop it with stop_process, or use another tab"
        if state == "interactive":
            what += " and waits for input"
            remedy = "answer it with send_keys, or stop it with stop_process"
        return TabUnavailable(what, state=state, remedy=remedy)

    # -- typing

    async def _type(
        self,
        command: bytes,
        shown: bytes,
        shell: Shell,
        *,
        nested: bool,
        env: Mapping[str, str],
        cwd: str | None,
    ) -> Execution:
        pane = self.pane
        command_id = secrets.token_hex(8)
        drawn = await self._redraw(shown, command_id, shell, nested=nested)
        wrap = functools.partial(
            shell.wrap, command, command_id, self.folder, redraw=drawn, env=env, cwd=cwd, repair_tty=pane.repair_tty
        )
        if pane.repair_tty and shell.name == "dash":  # it has no line editor that would set the modes it needs
            restore_line_modes(pane.tty)
        pane.repair_tty = False
        execution = Execution(
            command_id=command_id,
            command=command,
            prompt_seq=pane.prompt_seq,
            typed_at=pane.stream.end,
            cwd=pane.cwd,
        )
        execution.ends_with(pane.stream.wake)
        pane.open(execution)
        # Should the key have been lost with the user's bindings, the second try names the file.
        self._again = lambda: self._press(wrap(nested=True))
        self._press(wrap(nested=nested))
        return execution

    def _press(self, wrapped: Wrapped) -> None:
        for name, content in wrapped.files:
            write_private(self.folder / name, content)
        self.keyboard.press(wrapped.typed)

    async def _redraw(self, command: bytes, command_id: str, shell: Shell, *, nested: bool) -> bytes:
        """The bytes that turn the typed line into the readable command; none where nobody could see the difference."""
        pane = self.pane
        if nested or pane.prompt_end < pane.stream.ring.start:
            return redraw(command, command_id, column=None, columns=80, typed_length=0)
        drawn = pane.stream.ring.read(pane.prompt_end, pane.stream.end)
        column = self._prompts.column(drawn)
        if column is None and drawn:
            answer = await self._client.command("display-message", "-p", "-t", self._pane_id, "#{cursor_x}")
            column = int(answer[0]) if answer and answer[0].isdigit() else None
            if column is not None and pane.stream.ring.read(pane.prompt_end, pane.stream.end) == drawn:
                self._prompts.remember(drawn, column)
        length = len(shell.typed_line)
        return redraw(command, command_id, column=column, columns=self._columns(), typed_length=length)

    async def _unstick(self, execution: Execution) -> None:
        """The line was typed, and no start mark came: type it once more if its body provably never ran."""
        pane = self.pane
        since_prompt = time.monotonic() - pane.prompt_time
        if pane.prompt_seq > execution.prompt_seq and pane.at_prompt and since_prompt >= RETYPE_AFTER:
            self._retype(execution)
        elif pane.waits_for_input() == "editor" and self._quiet() and execution.age >= RETYPE_AFTER:
            # An open quote that a person left: our line became part of it. C-c throws it away, unrun.
            await self.keyboard.type(CTRL_C)
            with anyio.move_on_after(RETYPE_AFTER):
                while not pane.at_prompt:
                    await pane.stream.changed()
            if not execution.started:
                self._retype(execution)

    def _retype(self, execution: Execution) -> None:
        again, self._again = self._again, None
        if again is None:
            execution.note = "the shell did not run the typed line"
            execution.finish("lost", end=self.pane.stream.end, exit_code=None)
            return
        self.pane.at_prompt = False
        execution.prompt_seq = self.pane.prompt_seq
        again()


def check_command(command: bytes) -> None:
    """Refuse what no shell could be handed: InvalidArgument."""
    if b"\0" in command:
        raise InvalidArgument("the command contains a NUL byte", remedy="write it as \\0 inside printf, or use a file")
    if len(command) > COMMAND_LIMIT:
        raise InvalidArgument(
            f"the command has {len(command)} bytes, the limit is {COMMAND_LIMIT}",
            remedy="write the data to a file first",
        )
    if not command.strip():
        raise InvalidArgument(
            "the command is empty", remedy="give a command; read_logs_from_tab shows the screen's text"
        )
