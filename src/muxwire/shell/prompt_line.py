"""The line after a prompt of ours: from when on the shell reads it.

A prompt's mark is not its end. Programs may run for it, before it and in it (PROMPT_COMMAND, precmd, `$(git ...)`), for
as long as they like, and may read what is typed meanwhile. So a shell says when it reads (the mark A). Only where it
does not, as with a hook that a person has taken away, does the kernel's word count: that it sleeps until keys come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.shell.keys import CTRL_C
from muxwire.shell.listener import DRAWN, START_TIMEOUT, ForegroundShell, opens_shell
from muxwire.shell.port import caught_up, silence, until
from muxwire.shell.redraw import SCREEN_BACK
from muxwire.shell.tab_state import idle_since
from muxwire.vt.text import strip_ansi

if TYPE_CHECKING:
    from muxwire.shell.port import Pane, Port

# Seconds from one check of a shell that is on its way to its prompt to the next: it takes a ms or, with a program in
# the prompt, as long as that; then a twentieth of the time more is not felt, and a check takes 0.1 ms.
LOOK_MIN = 0.001
LOOK_MAX = 0.02
_LOOK_SHARE = 20
# A program that is not ours gets this long to end before the call is refused: a person's `ls` is gone by then.
BUSY_GRACE = 0.3
# At its prompt the shell itself may be late: the machine is busy, or others write to the terminal (measured: over 0.3).
LATE_GRACE = 2.0
# A shell that sleeps until keys come has drawn its prompt, and tmux has read that by then, whoever else writes on.
SLEEPS_LONG = 0.05
# The same for a shell that has said at its last prompt when it reads; so long after a prompt it is not asked at all.
# What sleeps before it says so is a hook of the prompt, which reads the terminal, or a person's line took ours away.
SAID_BEFORE = 0.5
# Keys wait so long at most for a prompt that is on its way: most have come by then, on a busy machine too. More would
# be felt.
EDITOR_GRACE = 0.3
# How far before a prompt its line is read: the marks that end a command and begin a prompt, each with a directory.
_LINE_REACH = 4096
# From the end of a command to the moment that its shell reads: 0.1 ms, or as long as a person's prompt takes.
PROMPT_SOON = 0.02
# DSR 6, "where is the cursor?" (ECMA-48).
_CURSOR_QUERY = b"\x1b[6n"


async def soon(port: Port) -> None:
    """After a command of ours: wait for the moment that a prompt takes to come and to be drawn.

    To ask the kernel who listens would take far longer.
    """
    pane, session = port.pane, port.pane.session

    def reads() -> bool:
        said = session.at_prompt and session.reads != ""
        return said or session.dead or (not session.says_reads and pane.is_back)

    if not reads():
        await port.poll(reads)
        await until(port, reads, PROMPT_SOON)


async def in_vain(port: Port, waited: float) -> bool:
    """Whether more waiting for the shell is no use, as what runs is not ours. ConnectionClosed."""
    pane = port.pane
    late = pane.session.at_prompt and pane.terminal.shell_in_front()
    since = pane.session.prompt_time if late else idle_since(pane.session)
    busy = min(waited, pane.now - since) >= (LATE_GRACE if late else BUSY_GRACE)
    # A shell without a first prompt will come to it, as long as its start-up files do not ask for something.
    asks = waited >= START_TIMEOUT and pane.terminal.waits_for_input() != ""
    front = pane.terminal.front() if pane.shell is None else None
    opens = front is not None and opens_shell(pane.session, front.program, pane.terminal.waits_for_input())
    sure = pane.session.integrated or asks or (pane.shell is None and not opens)
    # After a command of ours the prompt's mark is still to come; and what was written must be here.
    return busy and sure and not pane.on_its_way() and await caught_up(port)


def look_again(pane: Pane) -> float:
    """Seconds to the next check of a shell that is on its way."""
    return min(max((pane.now - pane.session.prompt_time) / _LOOK_SHARE, LOOK_MIN), LOOK_MAX)


async def reader(port: Port) -> str:
    """What reads after the prompt: `editor`, `line` (the editor is off), or "" for nothing yet.

    Raises: TmuxSilent, ConnectionClosed.
    """
    pane, session, shell = port.pane, port.pane.session, port.pane.session.shell
    assert shell is not None
    if session.reads:
        # What was written since may be a program that the editor has begun for a person: fzf, or an editor by C-x C-e.
        if pane.stream.last_output - session.prompt_time < SLEEPS_LONG or not pane.terminal.sees_waits:
            return session.reads
        await port.refresh()
        return session.reads if pane.terminal.shell_sleeps() else ""
    if session.says_reads and pane.now - session.prompt_time < SAID_BEFORE:
        return ""
    await port.refresh()
    if session.drawn_at >= 0 and (modes := pane.terminal.tty_modes()) is not None and not modes.icanon:
        return "editor"  # while the kernel echoes, no editor has the terminal
    if not pane.terminal.shell_sleeps():
        session.seen_asleep(False, pane.now)
        return ""
    slept = pane.now - session.seen_asleep(True, pane.now)
    if session.says_reads and slept < SAID_BEFORE:
        return ""
    seq = session.prompt_seq
    if not pane.terminal.sees_waits:
        await silence(port, DRAWN, lambda: session.reads != "")
    elif not await caught_up(port) and slept < SLEEPS_LONG:
        return ""
    return pane.terminal.shell_sleeps() if session.at_prompt and session.prompt_seq == seq else ""


async def listener(port: Port) -> ForegroundShell | None:
    """The tab's own shell, if it reads after its prompt now; raises as `kind`."""
    shell = port.pane.session.shell
    assert shell is not None
    kind = await reader(port)
    if not kind:
        return None
    if shell.settle_after_prompt:
        await _cursor_asked(port, shell.settle_after_prompt)
    return ForegroundShell(shell, 1, edits=kind == "editor")


async def leave_unfinished(port: Port) -> None:
    """Have an unfinished command thrown away, for more of which the shell asks, where the key does not do so."""
    session, shell = port.pane.session, port.pane.session.shell
    if session.continues and session.running is None and shell is not None and not shell.replaces_all:
        await port.press(CTRL_C)
        await until(port, lambda: session.dead or not session.continues, LATE_GRACE)


async def editor_up(port: Port) -> None:
    """Let the shell draw its prompt and take the tty first, for as long as that takes: until then the kernel echoes
    keys. The same in a tab that was just opened, whose shell has shown no prompt yet.
    """
    pane = port.pane
    while not pane.session.dead:
        if pane.session.at_prompt:
            if await reader(port):
                return
            await port.wait(LOOK_MIN)
        elif pane.tab_state() == "starting":
            await port.wait(LOOK_MAX)
        else:
            return


async def _cursor_asked(port: Port, at_most: float) -> None:
    """Wait until busybox has asked the terminal for its cursor: what is typed before that may be eaten.

    tmux's answer goes down the same queue as our keys, so it stands before them.
    """
    pane = port.pane
    left = at_most - (pane.now - pane.session.prompt_time)
    await until(port, lambda: pane.stream.ring.find(_CURSOR_QUERY, pane.session.prompt_end) >= 0, left)


def begins_line(pane: Pane) -> bool:
    """Whether the prompt begins in the first column, as far as that is in memory: no unfinished output is before it.

    What is not seen does not count: at Enter bash says that it takes no paste any more, and a DEBUG trap sets a title.
    Nor does what vim and less show on the alternate screen, at the end of which the cursor is where it was before.
    """
    end = pane.session.prompt_end
    before = pane.stream.ring.read(end - _LINE_REACH, end).rpartition(SCREEN_BACK)[2].rpartition(b"\n")[2]
    return strip_ansi(before)[-1:] in b"\r"  # as b"" is
