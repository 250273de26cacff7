"""Commands in foreign shells, which our hooks do not reach: how one is known, and how a given-up command ends."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from muxwire.errors import ConnectionClosed, TabUnavailable
from muxwire.shell.foreign import foreign_end, probe
from muxwire.shell.listener import (
    DRAWN,
    DRAWN_REMOTE,
    FIRST_PROMPT,
    PROMPT_GRACE,
    PROMPT_REACH,
    ForegroundShell,
    looks,
    prompt_expected,
    shows_prompt,
)
from muxwire.shell.port import ask, caught_up, silence, until
from muxwire.shell.redraw import shown_again
from muxwire.shell.shell import clear_typed
from muxwire.shell.tab_state import takes_line

if TYPE_CHECKING:
    from muxwire.shell.execution import Execution
    from muxwire.shell.left_shell import LeftShell
    from muxwire.shell.port import Pane, Port

# A shell on the other side of the world answers a probe within half a second; one that just starts, on a machine with
# much to do, took 2 s.
PROBE_TIMEOUT = 5.0
# A format, and its value where no program has the whole screen: top hides the cursor, vim and less switch screens.
_SCREEN, _LINES = "#{alternate_on}#{cursor_flag}", b"01"
# DECTCEM and the switches to the alternate screen (xterm's control sequences).
_TAKES_SCREEN = re.compile(rb"\x1b\[\?(?:\d+;)*(?:25l|(?:1049|1047|47)h)")
# What a nested shell wrote before it ended has come by then, on a busy machine too.
GONE_QUIET = 1.0
# In how many pieces tmux may send on a prompt that is whole: its answers come between them.
_PIECES = 3
# For where it cannot be seen whether a shell is a new one: `exec` of a program and nothing after it; without a program
# it only redirects. Before it only commands that never read the terminal are allowed: while another one reads, the old
# shell would be taken for the new one at its prompt.
_BEFORE_EXEC = rb"(?:\s*(?:(?:cd|export|umask|unset)\b|\w+=)[^<>&|;()`\n]*(?:&&|;|\n))*"
_EXEC = re.compile(_BEFORE_EXEC + rb"\s*exec\s+(?:-\S+\s+)*[^\s<>&|;()\d-][^<>&|;()\n]*")


def not_there(pane: Pane, left: LeftShell) -> TabUnavailable:
    """What a command is refused with that was given for a nested shell which is gone."""
    return TabUnavailable(
        f"nothing was run: {left.note} on {pane.machine or 'this machine'}",
        state=pane.tab_state(),
        remedy="if the command is meant for that place, run it again; else start the other shell again first",
    )


async def reach(port: Port, found: ForegroundShell) -> ForegroundShell | None:
    """Return the foreign shell, once it is known; TabUnavailable if nothing that understood a probe answered.

    None if the tab's own shell came to its prompt instead: what read was a question of its start-up files.

    One whose last command was muxwire's, and has shown the same prompt after it, is known: what is typed for it
    does nothing in a shell of another token.
    """
    pane, before = port.pane, port.pane.session.current
    (screen,) = await ask(port, "display-message", "-p", "-t", pane.pane_id, _SCREEN)
    # What was written before the tab's own last prompt may have left it so: that is no reason to refuse.
    own = pane.session.prompt_end
    taken = screen != _LINES and (not pane.stream.holds(own) or bool(_TAKES_SCREEN.search(pane.stream.written(own))))
    begun = await _prompt_begun(port, found, PROMPT_GRACE if taken else FIRST_PROMPT)
    known = _is_known(pane, found, before)
    if taken and not known:
        raise TabUnavailable(
            "a full-screen program runs inside the program in the foreground (ssh, sudo, docker exec), or ended there "
            "without giving the screen back",
            state="interactive",
            remedy="see it with `snapshot`, and use `send_keys` and `wait_for`; if a shell's prompt is there, type "
            r"`printf '\e[?25h\e[?1049l'` and Enter",
        )
    if begun and not known:
        await silence(port, DRAWN_REMOTE)
    await _forget_typed(port, found)
    if before is not None and _is_known(pane, found, before):
        name, status = before.shell_name, before.exit_code or 0
        return replace(found, fish=name == "fish", status=status, token=before.shell_token)
    if pane.session.dead:  # it ended meanwhile
        raise pane.refusal()
    probe_id = pane.new_id()
    await port.hide(probe_id)
    await port.settle()
    await port.press(clear_typed(found.name) + probe(probe_id))
    session, seq = pane.session, pane.session.prompt_seq

    def answered() -> bool:
        return session.reply is not None and session.reply.probe_id == probe_id

    await until(port, lambda: answered() or session.prompt_seq != seq, PROBE_TIMEOUT)
    if (reply := session.reply) is not None and answered():
        return replace(found, fish=reply.fish, status=reply.status, token=reply.token)
    if session.prompt_seq != seq:
        await port.unhide()
        return None
    raise TabUnavailable(
        "no shell answered through the program in the foreground: a test line was typed into it",
        state=pane.tab_state(),
        remedy="see it with `snapshot` or `read_logs_from_tab`, and use `send_keys` and `wait_for`",
    )


def _is_known(pane: Pane, found: ForegroundShell, before: Execution | None) -> bool:
    """Whether the shell that is in front has run `before`, and nothing since: its prompt is there again."""
    if before is None:
        return False
    session = pane.session
    same = (before.shell_pgrp, before.shell_inner) == (found.pgrp, found.inner) and before.shell_token != ""
    if not same or before.ending != "completed" or session.last_input.offset >= before.typed_at:
        return False
    prompt, drawn = looks(before.shell_prompt), looks(pane.stream.written(session.ended_at))
    return prompt != "" and drawn == prompt


async def prompt_of(port: Port, listener: ForegroundShell) -> bytes:
    """The prompt of a foreign shell, whole: it was drawn after the probe, or after the last command there."""
    pane = port.pane
    if not _is_known(pane, listener, pane.session.current):
        await _prompt_begun(port, listener)
        await silence(port, DRAWN_REMOTE)
    return pane.stream.written(max(pane.session.ended_at, pane.stream.end - PROMPT_REACH))


async def _prompt_begun(port: Port, listener: ForegroundShell, at_most: float = PROMPT_GRACE) -> bool:
    """Wait until something stands where a nested shell shows its prompt; False if it did, or none is expected.

    `at_most`, in seconds, is for one that may be empty; a prompt that was there before is waited for longer.
    """
    pane, expected = port.pane, prompt_expected(port.pane.session, listener)
    if expected is None or shows_prompt(pane.terminal.last_line()):
        return False
    await until(port, lambda: shows_prompt(pane.terminal.last_line()), max(at_most, expected))
    return True


async def _forget_typed(port: Port, listener: ForegroundShell) -> None:
    """Clear what a person has half typed after a prompt that is known."""
    before = port.pane.session.current
    if before is None or before.running or before.shell_pgrp != listener.pgrp:
        return
    prompt, drawn = before.shell_prompt, port.pane.stream.written(port.pane.session.ended_at)
    if prompt and drawn.startswith(prompt) and drawn != prompt:
        await port.press(clear_typed(listener.name))
        await silence(port, DRAWN_REMOTE)


async def settle_end(port: Port, execution: Execution) -> None:
    """End a command whose end no mark announced: its nested shell is at the prompt, gone, or replaced by `exec`."""
    _settle_replaced(port.pane, execution)
    if execution.running:
        _settle_gone(port.pane, execution)
    if execution.running:
        await _settle_aborted(port, execution)


async def asked(port: Port, execution: Execution) -> bool:
    """Whether a nested shell that is at its prompt again was asked how the command ended, and is to answer.

    On a busy machine its prompt may have been there for seconds before this process, or tmux, comes to it.
    """
    with suppress(ConnectionClosed):
        for _ in range(_PIECES):
            if await caught_up(port):
                break
        await silence(port, DRAWN)
        await port.look()
        await settle_end(port, execution)
    return execution.running and _answers(port.pane, execution)


def _answers(pane: Pane, execution: Execution) -> bool:
    """Whether its shell was asked how the command ended, and no C-c has thrown the question away since."""
    return execution.cut >= 0 and pane.stream.ring.find(b"^C", execution.cut) < 0


def _settle_replaced(pane: Pane, execution: Execution) -> None:
    """If the command was `exec` of a shell, and that is at its prompt, the command has ended: nothing says so."""
    if not pane.terminal.shell_in_front() or execution.level > 1 or not execution.started:
        return
    shell, replaced = pane.terminal.replacing_shell(), pane.terminal.is_replaced()
    if replaced is None:
        replaced = _EXEC.fullmatch(execution.command) is not None
    if shell is None or not replaced or not takes_line(shell, pane.terminal.waits_for_input()):
        return
    prompt = len(pane.terminal.last_line())
    pane.session.shell_replaced(execution, shell, pane.now, end=max(execution.begin, pane.stream.end - prompt))


def _settle_gone(pane: Pane, execution: Execution) -> None:
    """End a command whose nested shell, or the relay to it, is no more, where no mark will say so.

    Its process group has ended, and the shell in front now is one of which no mark comes.
    """
    session, group = pane.session, execution.shell_pgrp
    front = pane.terminal.foreground_group()
    if group in (0, session.shell_pid) or front in (None, group) or session.tells_end(front):
        return
    if pane.terminal.quiet(GONE_QUIET) and pane.terminal.waits_for_input() and not pane.terminal.group_exists(group):
        end = max(execution.begin, pane.stream.end - len(pane.terminal.last_line()))
        session.nested_gone(execution, pane.now, end=end)


async def _settle_aborted(port: Port, execution: Execution) -> None:
    """If a nested shell is back at its prompt without having said how `execution` ended, have it say so."""
    pane = port.pane
    if _answers(pane, execution):
        return
    prompt = pane.prompt_again(execution)
    if prompt < 0:
        return
    command_id = execution.command_id
    # The prompt that the line is typed at is drawn once more when it has run.
    rows = pane.stream.ring.read(prompt, pane.stream.end).count(b"\n")
    again = b"\r" + (b"\x1b[%dA" % rows if rows else b"") + b"\x1b[J"
    before = shown_again(command_id) + again if (await port.hide(command_id)) else b""
    try:
        fish = execution.shell_name == "fish"
        end = foreign_end(command_id, before, fish=fish, token=execution.shell_token)
        await port.press(clear_typed(execution.shell_name) + end)
        execution.cut = prompt
    except ConnectionClosed:  # between two connections: the next look asks
        await port.unhide()
