"""Commands in shells that our hooks do not reach: what is typed over a relay, and how a given-up command ends."""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, final

from muxwire.errors import ConnectionClosed, InvalidArgument, TabUnavailable
from muxwire.pane.state import shown_again
from muxwire.shell import foreign_end, foreign_wrap, probe
from muxwire.shell.listener import DRAWN_REMOTE, FIRST_PROMPT, ForegroundShell
from muxwire.shell.marks import ID_RANDOM, own_id
from muxwire.shell.tab_state import takes_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.pane.foreground_shell import Questions
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution
    from muxwire.shell.left_shell import LeftShell

# A shell on the other side of the world answers a probe within half a second; one that just starts, on a machine with
# much to do, took 2 s.
PROBE_TIMEOUT = 5.0
# A format, and its value where lines are shown and typed: top hides the cursor, vim and less switch.
_SCREEN, _LINES = "#{alternate_on}#{cursor_flag}", b"01"
# What a nested shell wrote before it ended has come by then, on a busy machine too.
GONE_QUIET = 1.0
# `exec` of a program and nothing after it; without a program it only redirects.
_EXEC = re.compile(rb"\s*exec\s+(?:-\S+\s+)*[^\s<>&|;()\d-][^<>&|;()\n]*")
# With something to clear: readline rings the bell on an empty line (`rl_unix_line_discard`).
_CLEAR_LINE = b" \x15"


def check_reach(env: Mapping[str, str], cwd: str | None) -> None:
    """Refuse, for a shell over a relay, what works on this side only: InvalidArgument."""
    if env or cwd is not None:
        raise InvalidArgument(
            "env and cwd do not reach a shell over ssh or in a container", remedy="set them in the command itself"
        )


def not_there(pane: PaneState, left: LeftShell) -> TabUnavailable:
    """What a command is refused with that was given for a nested shell which is gone."""
    machine = pane.host.prefix.removesuffix("/") or "this machine"
    return TabUnavailable(
        f"nothing was run: {left.note} on {machine}",
        state=pane.tab_state(),
        remedy="run it again if it is meant for there; else reach the other shell again first",
    )


def typed_lines(command: bytes, command_id: str, listener: ForegroundShell, before: bytes) -> bytes:
    """Everything to type for a command in a shell over a relay, which prints `before` as soon as it has it all."""
    lines = foreign_wrap(
        command, command_id, fish=listener.fish, before=before, status=listener.status, token=listener.token
    )
    return b"".join(lines)


@final
class NestedShells:
    """What is typed into shells of one pane that our hooks do not reach, and how their commands end."""

    def __init__(self, pane: PaneState, keyboard: Keyboard, questions: Questions) -> None:
        self._pane = pane
        self._keyboard = keyboard
        self._questions = questions

    async def reach(self, found: ForegroundShell) -> ForegroundShell:
        """Return the shell that answered over the relay; TabUnavailable if nothing that understood did."""
        pane = self._pane
        (screen,) = await self._questions.ask_soon("display-message", "-p", "-t", pane.pane_id, _SCREEN)
        if screen != _LINES:
            raise TabUnavailable(
                "a program reached through the one in the foreground has the whole screen",
                state="interactive",
                remedy="see it with `snapshot`, and use `send_keys` and `wait_for`",
            )
        if await self._questions.prompt_begun(found, FIRST_PROMPT):
            await pane.stream.silence(DRAWN_REMOTE)
        await self._forget_typed(found)
        probe_id = own_id(os.urandom(ID_RANDOM), pane.session.nonce)
        pane.hidden.hide(probe_id, pane.stream.end)
        await pane.host.done()
        self._keyboard.press(_CLEAR_LINE + probe(probe_id))
        session = pane.session
        await pane.stream.until(lambda: session.reply is not None and session.reply.probe_id == probe_id, PROBE_TIMEOUT)
        if (reply := session.reply) is not None and reply.probe_id == probe_id:
            return replace(found, fish=reply.fish, status=reply.status, token=reply.token)
        raise TabUnavailable(
            "no shell answered through the program in the foreground: a test line was typed into it",
            state=pane.tab_state(),
            remedy="see it with `snapshot` or `read_logs_from_tab`, and use `send_keys` and `wait_for`",
        )

    async def prompt(self, listener: ForegroundShell) -> bytes:
        """The prompt of a nested shell, whole, and nothing typed after it."""
        prompt = await self._questions.prompt_drawn(listener)
        typed_at = await self._forget_typed(listener) if listener.level < 3 else b""  # else the probe's prompt
        return typed_at or prompt

    async def _forget_typed(self, listener: ForegroundShell) -> bytes:
        """Clear what a person has half typed after a prompt that is known; return that prompt, b"" if nothing was."""
        pane = self._pane
        before = pane.session.current
        if before is None or before.running or before.shell_pgrp != listener.pgrp:
            return b""
        prompt, drawn = before.shell_prompt, pane.stream.written(pane.session.ended_at)
        if not prompt or not drawn.startswith(prompt) or drawn == prompt:
            return b""
        self._keyboard.press(_CLEAR_LINE)
        await pane.stream.silence(DRAWN_REMOTE)
        return prompt

    def hide_line(self, execution: Execution, shown: bytes) -> bytes:
        """What is typed from here on for `execution` is ours; a person sees `shown` in its place.

        Return what the shell has to print as soon as it has it all.
        """
        pane = self._pane
        command_id = execution.command_id
        execution.ends_with(partial(pane.hidden.ended, command_id))
        return shown_again(command_id) if pane.hidden.hide(command_id, pane.stream.end, shown) else b""

    def settle_end(self, execution: Execution) -> None:
        """End a command whose end no mark announced: a nested shell is at its prompt, or another after `exec`."""
        self._settle_replaced(execution)
        if execution.running:
            self._settle_gone(execution)
        if execution.running:
            self._settle_aborted(execution)

    def _settle_replaced(self, execution: Execution) -> None:
        """If the command was `exec` of a shell, and that is at its prompt, the command has ended: nothing says so."""
        pane = self._pane
        front = pane.front()
        if front is None or front.pgrp != pane.session.shell_pid or execution.level > 1 or not execution.started:
            return
        shell = None if pane.host.runs_script(front.pgrp) else pane.host.shell_for(front.program)
        if shell is None or not _EXEC.fullmatch(execution.command) or not takes_line(shell, pane.waits_for_input()):
            return
        prompt = len(pane.last_line())
        pane.session.shell_replaced(
            execution, shell, time.monotonic(), end=max(execution.begin, pane.stream.end - prompt)
        )

    def _settle_gone(self, execution: Execution) -> None:
        """End a command whose nested shell, or the relay to it, is no more, where no mark will say so.

        Its process group has ended, and the shell in front now is one of which no mark comes.
        """
        pane = self._pane
        session, host, group = pane.session, pane.host, execution.shell_pgrp
        front = host.foreground_pgrp(pane.leader_pid)
        if (
            execution.level == 1
            or group in (0, session.shell_pid)
            or front in (None, group)
            or session.tells_end(front)
        ):
            return
        if pane.quiet(GONE_QUIET) and pane.waits_for_input() and not host.group_exists(group):
            end = max(execution.begin, pane.stream.end - len(pane.last_line()))
            session.nested_gone(execution, time.monotonic(), end=end)

    def _settle_aborted(self, execution: Execution) -> None:
        """If a nested shell is back at its prompt without having said how `execution` ended, have it say so."""
        pane = self._pane
        # A C-c throws away what is typed: another one, and it is asked again.
        if execution.cut >= 0 and pane.stream.ring.find(b"^C", execution.cut) < 0:
            return
        prompt = pane.prompt_again(execution)
        if prompt < 0:
            return
        command_id = execution.command_id
        # The prompt that the line is typed at is drawn once more when it has run.
        rows = pane.stream.ring.read(prompt, pane.stream.end).count(b"\n")
        again = b"\r" + (b"\x1b[%dA" % rows if rows else b"") + b"\x1b[J"
        before = shown_again(command_id) + again if pane.hidden.hide(command_id, pane.stream.end) else b""
        try:
            fish = execution.shell_name == "fish"
            self._keyboard.press(_CLEAR_LINE + foreign_end(command_id, before, fish=fish, token=execution.shell_token))
            pane.session.prompt_seen_again(execution, prompt)
        except ConnectionClosed:  # between two connections: whoever looks again asks
            pane.hidden.give_up()
