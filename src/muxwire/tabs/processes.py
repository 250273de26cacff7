"""Long-running programs in a tab: when they are ready, and how they are stopped.

What a person started at their own tmux server is never stopped.
"""

from __future__ import annotations

import math
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import InvalidArgument, NotPermitted
from muxwire.pane.interrupt import DEAF
from muxwire.results import ProcessLeft, ProcessStart, ProcessStop
from muxwire.shell.keys import CTRL_C
from muxwire.shell.listener import DRAWN_REMOTE, PROMPT_GRACE, START_TIMEOUT
from muxwire.shell.look import RELAYS
from muxwire.shell.port import LOOK_SECONDS, line_taken
from muxwire.shell.stop import FORKS_WITHIN
from muxwire.shell.tab_state import keys_ran_from, last_ran_from, prompt_due, ran_last
from muxwire.tabs.attached import attached
from muxwire.tabs.closing import end_strangers, reading_strangers
from muxwire.tabs.waits import Watch, left_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muxwire.pane.runner import Runner
    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution
    from muxwire.tabs.tab import Tab
    from muxwire.tabs.waits import Wanted

# What cannot start has said so by then: no such command, a port in use.
_FAILS_WITHIN = 0.15
# A program that writes a line in pieces has written all of it by then; whether it waits for input is seen so often.
_LINE_WITHIN, _LINE_LOOK = 0.2, 0.01
# What is returned of the output of a process that has started: a banner, or why it failed.
OUTPUT_CHARACTERS = 2000
# A shell takes a line that was typed at its prompt within a few ms. No event shows that in every shell.
_TAKEN_WITHIN = 0.15
# A nested shell has forked what was entered by then, on a busy machine too. A prompt that changes is not recognised
# when it is shown again: then all of this time is waited.
_ENTERED_WITHIN = 1.0
# A shell whose program has ended shows its prompt by then, also where the prompt runs git, on a busy machine.
_PROMPT_WITHIN = 3.0

# A command of an earlier call is typed by then, unless it waits for more than the prompt. fish takes some ms to draw
# its prompt.
_TYPED_WITHIN = 2.0

# What a shell starts for its prompt, and what a signal was sent to, has ended by then.
_GONE_WITHIN = 0.5

# How many of them a note names: a build may leave hundreds.
_NAMED = 5

STOPPING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL")


async def started_process(
    tab: Tab, execution: Execution | None, from_byte: int, ready: Wanted | None, timeout: float
) -> ProcessStart:
    """What became of `execution`, or of a text that was only typed: when it is `ready`, else when it has begun."""
    is_ready = None if ready is None else False
    if ready is not None:
        try:
            with anyio.move_on_after(timeout):
                found = await Watch(tab, ready, from_byte, command=execution).run()
                is_ready = found.outcome == "met"
            if is_ready:
                await _line_ended(tab.pane, found.next_byte)
            elif execution is not None:
                await note_left(tab.pane, execution)
        except InvalidArgument as error:
            done = "the text was typed" if execution is None else f"it was started, as command {execution.command_id}"
            raise InvalidArgument(f"{done}, and {error}", remedy=error.remedy) from None
    elif execution is not None:
        await _begun(tab.runner, execution)
    if execution is None:
        state, note = await left_at(tab)
        return ProcessStart(
            started=True, from_byte=from_byte, ready=is_ready, state=state, note=note, **await tab.screen()
        )
    result = await tab.result(execution, strip_ansi=True, max_chars=OUTPUT_CHARACTERS)
    return ProcessStart(
        started=execution.ran,
        from_byte=from_byte,
        ready=is_ready,
        state=result.state,
        command_id=result.command_id,
        output=result.output,
        exit_code=result.exit_code,
        ended=not result.running,
        note=f"not ready after {timeout:g} s; it still runs: wait with `command_result.wait`, or stop it with "
        "`stop_process`"
        if is_ready is False and result.running and not result.note
        else result.note,
        screen=result.screen,
        cursor=result.cursor,
    )


async def _line_ended(pane: PaneState, met: int) -> None:
    """Wait for the end of the line in which a match ends, unless its program does anything but run on."""

    def ended() -> bool:
        return b"\n" in pane.stream.ring.read(met - 1, pane.stream.end) or pane.known_state() != "running"

    await pane.stream.until(ended, _LINE_WITHIN, look=_LINE_LOOK)


async def _begun(runner: Runner, execution: Execution) -> None:
    """Wait until a command has begun, and for a moment longer, in which one that fails at once has failed."""
    deadline = time.monotonic() + START_TIMEOUT
    await runner.wait(execution, _FAILS_WITHIN)
    while not execution.started and time.monotonic() < deadline:
        await runner.wait(execution, _FAILS_WITHIN)


async def stop_process(tab: Tab, name: str, grace: float) -> ProcessStop:
    first, terminal = _stopping_signal(name), tab.pane.terminal
    # A shell drops the rest of its start-up files at a C-c, and our hooks with them: its first prompt is to come.
    await tab.pane.stream.until(
        lambda: tab.state != "starting" or terminal.waits_for_input() != "", START_TIMEOUT, look=_LINE_LOOK
    )
    # What waits for input may be the shell's own editor, whose prompt the stream has not shown yet.
    await tab.pane.stream.until(lambda: tab.state != "starting", PROMPT_GRACE)
    await tab.runner.typed_first(_TYPED_WITHIN)
    if tab.is_adopted and tab.pane.session.running is None:
        if (state := tab.state) != "prompt":
            raise NotPermitted(
                f"what runs in {tab.key} was not started by muxwire, and the tmux server is a person's",
                remedy='leave it, or type what ends it: `send_keys` ["C-c"]',
            )
        return ProcessStop(success=True, signal_sent="", exit_code=None, state=state)
    async with attached(tab):
        # Programs of other sessions that read the terminal for what is stopped (pinentry) are to end with it.
        ends_readers = not tab.is_adopted and tab.pane.host.is_local
        running = tab.pane.session.running
        asked = ends_readers and running is not None and running.asked_at >= 0
        readers = await reading_strangers(tab.pane) if asked else {}
        stopped, since = await _stop(tab.pane, tab.runner, first, grace)
        if stopped.success:
            ended = time.monotonic()
            if ends_readers:
                await _without_strangers(tab, readers)
            left = await _left(tab.pane, since, ended)
            stopped = replace(stopped, left=left, success=not left)
    tab.pane.session.told_of()  # no later note on a nested shell that ended: the caller wanted it
    return stopped


async def _without_strangers(tab: Tab, seen: Mapping[int, str]) -> None:
    """End what reads the terminal from another session, and have the shell begin its prompt anew.

    The program may have put back the terminal's modes after the shell had set its own, for the line it reads now.
    """
    if await end_strangers(tab.pane, seen):
        shell = tab.pane.shell
        tab.runner.keyboard.press(shell.anew_keys if shell is not None else CTRL_C)
        await tab.runner.settled()


async def note_left(pane: PaneState, execution: Execution) -> None:
    """Have the note of a command that has ended, but hardly as it should, say what it began and still runs."""
    if execution.ending and (left := await _left(pane, execution.typed_time, execution.end_time)):
        names = ", ".join(f"{one.name} (pid {one.pid})" for one in left[:_NAMED])
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        execution.explain(f"what it began still runs: {names}{more}")


async def _left(pane: PaneState, since: float, ended: float) -> tuple[ProcessLeft, ...]:
    """The processes of the job that still run a moment later, begun at `since` or later.

    What began after the first key that was typed after `ended` does not count: another call may have its command typed
    as soon as the prompt is there.
    """
    began, until = time.monotonic(), math.inf
    own = (pane.leader_pid, pane.session.shell_pid)
    apart, pane.apart = pane.apart, {}
    while True:
        # What runs for a prompt (git, pyenv) is no part of the job: it has ended when the shell waits for keys.
        drawing = pane.session.at_prompt and not pane.terminal.shell_sleeps()
        if pane.pressed_at > ended:
            until = min(until, pane.pressed_at)
        since_then = pane.host.session_since(pane.leader_pid, since, until)
        alive = ((pid, pane.host.program_of(pid)) for pid, at in apart.items() if pane.host.started(pid) == at)
        left = tuple(ProcessLeft(name, pid) for pid, name in (*since_then, *alive) if pid not in own)
        if not left or time.monotonic() - began > (_PROMPT_WITHIN if drawing else _GONE_WITHIN):
            return left
        await pane.stream.changed_within(LOOK_SECONDS)


def _stopping_signal(name: str) -> signal.Signals:
    full = name.upper() if name.upper().startswith("SIG") else f"SIG{name.upper()}"
    if full not in STOPPING:
        raise InvalidArgument(f"{name!r} does not stop a process", remedy=f"use one of {', '.join(STOPPING)}")
    return signal.Signals[full]


async def _stop(pane: PaneState, runner: Runner, first: signal.Signals, grace: float) -> tuple[ProcessStop, float]:
    """Stop what runs in the foreground; success if nothing runs afterwards. Return also since when it can have run."""
    await pane.terminal.refresh()
    execution, newest = pane.session.running, pane.session.current
    # A nested shell in which a command of muxwire has ended is no part of what keys have started in it since.
    since = keys_ran_from(pane.session, pane.first_pressed_at)
    if newest is not None and newest.level > 1 and not newest.running:
        relayed = newest.shell_inner or pane.host.program_of(newest.shell_pgrp) in RELAYS
        if relayed and _in_front(pane, newest) and _line_under_way(pane, newest):
            return await _stop_over(pane, runner, newest, first, grace), since
        if not relayed and await _busy_within(pane, newest):
            execution = None  # the nested shell itself is to stay
    if execution is not None:
        await runner.interrupt(execution, first=first, grace=grace)
        await runner.settled()
        ended, sent, status = not execution.running, execution.signal_sent, execution.exit_code
        return _stopped(pane, ended, sent, status, execution, execution.resists), execution.typed_time
    sent = ""
    if newest is not None and _back_from(pane, newest):
        await runner.settled()  # it has ended, and its shell is on its way to the prompt
        return _stopped(pane, True, "", newest.exit_code, newest), last_ran_from(pane.session, pane.first_pressed_at)
    await line_taken(runner.port, pane.pressed_at + _TAKEN_WITHIN - pane.now)
    # Until the program in place of a shell is there, nothing can get a signal.
    await _while(pane, START_TIMEOUT, lambda: pane.runs_program and not pane.host.child_name(pane.leader_pid))
    since = keys_ran_from(pane.session, pane.first_pressed_at)
    if pane.is_back:
        since = last_ran_from(pane.session, pane.first_pressed_at)
    else:
        began = pane.session.preexec_time or 0.0
        sent, gone = await runner.interrupter.end_other(
            lambda: pane.is_back, first=first, grace=grace, begun=began, leaves=True, since=since
        )
        await runner.settled(_PROMPT_WITHIN if gone else PROMPT_GRACE)
    status = pane.session.exit_status
    if not sent and newest is not None and ran_last(pane.session, newest):
        status = newest.exit_code  # it ended before the call, and nothing has run since
    success = pane.is_back or (newest is not None and _back_from(pane, newest))
    return _stopped(pane, success, sent, status, None), since


def _stopped(
    pane: PaneState,
    success: bool,
    sent: str,
    status: int | None,
    ended: Execution | None,
    resists: tuple[str, str] = ("", ""),
) -> ProcessStop:
    return ProcessStop(
        success=success,
        signal_sent=sent,
        exit_code=status,
        state=pane.tab_state() if ended is None else pane.state_after(ended),
        note="" if success else "; ".join(filter(None, resists)),
    )


def _back_from(pane: PaneState, ended: Execution) -> bool:
    """Whether nothing runs since that command, whose shell has printed no prompt mark yet.

    A nested shell prints no marks: nothing runs in it when the shell itself is in the foreground.
    """
    return prompt_due(pane.session) and (ended.level == 1 or _in_front(pane, ended))


def _in_front(pane: PaneState, ran: Execution) -> bool:
    """Whether the nested shell that a command ran in, or the relay to it, is in the foreground."""
    return pane.host.foreground_pgrp(pane.leader_pid) == ran.shell_pgrp


async def _busy_within(pane: PaneState, newest: Execution) -> bool:
    """Whether keys have started something in the nested shell of our newest command, which is there still."""
    await _while(pane, _ENTERED_WITHIN, lambda: _in_front(pane, newest) and _line_under_way(pane, newest))
    return not _in_front(pane, newest) and bool(pane.host.program_of(newest.shell_pgrp))


def _entered_at(pane: PaneState, newest: Execution) -> int:
    """The offset at which muxwire entered a line since its newest command; -1 if it entered none."""
    typed = pane.session.last_input
    return typed.offset if typed.offset >= newest.end and "\n" in typed.text else -1


def _line_under_way(pane: PaneState, newest: Execution) -> bool:
    """Whether a line was entered since our newest command in a nested shell, whose prompt is not there again.

    What was entered always shows a line feed: a prompt before that was already on its way when the keys were sent.
    """
    entered = _entered_at(pane, newest)
    drawn = pane.stream.written(max(entered, newest.end))
    before, prompt, after = drawn.rpartition(newest.shell_prompt or drawn)
    if not newest.shell_prompt or not prompt:
        return entered >= 0
    return b"\n" in after or (entered >= 0 and b"\n" not in before)


async def _stop_over(
    pane: PaneState, runner: Runner, newest: Execution, first: signal.Signals, grace: float
) -> ProcessStop:
    """Stop what keys have started behind a relay: only C-c reaches it, and the prompt says that it has ended.

    The relay itself gets no signal: that would end the connection.
    """
    begin = max(_entered_at(pane, newest), newest.end)

    def over() -> bool:
        # Only when it is silent: a C-c that the shell has not handled yet would discard the next line.
        prompt = pane.prompt_after(newest, begin) if pane.terminal.quiet(DRAWN_REMOTE) else -1
        return pane.session.dead or b"\n" in pane.stream.ring.read(begin, prompt)

    # If C-c comes after bash has forked and before the program has a process group of its own, bash loses the terminal
    # to that program, and ends.
    left = _ENTERED_WITHIN - (time.monotonic() - pane.pressed_at)
    if await pane.stream.until(lambda: b"\n" in pane.stream.ring.read(begin, pane.stream.end), left):
        await pane.stream.until(over, FORKS_WITHIN, look=DRAWN_REMOTE)
    sent, _ = await runner.interrupter.end_other(over, first=first, grace=grace, spared=newest.shell_pgrp)
    success = over()
    return _stopped(pane, success, sent, None, newest if success else None, DEAF if sent else ("", ""))


async def _while(pane: PaneState, seconds: float, holds: Callable[[], bool]) -> None:
    """Wait as long as that is so of the processes of a pane that lives, and for so many seconds at most."""
    with anyio.move_on_after(seconds):
        while not pane.session.dead and holds():
            await pane.stream.changed_within(LOOK_SECONDS)
            await pane.terminal.refresh()
