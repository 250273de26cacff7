"""The answer to keys: what a program shows until a text comes, it waits for more, its command ends, or time is up.

An answer to a question of the program is keys too, entered when it asks.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import anyio

from muxwire.errors import InvalidArgument
from muxwire.pane.output import cut_middle, shown_text
from muxwire.results import KeysSent
from muxwire.shell import examine
from muxwire.shell.tab_state import line_status
from muxwire.shell.watch import LOOK_EVERY, LOOKS
from muxwire.tabs.waits import Watch, current_start, left_at

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.errors import State
    from muxwire.shell.execution import Execution
    from muxwire.tabs.tab import Tab
    from muxwire.tabs.waits import Wanted
    from muxwire.vt.drawn import Picture

Outcome = Literal["met", "ended", "silent", "asks", "timed_out", "closed"]

_UNSEEN = "it could not be seen whether the shell has read all lines that were typed: a later one may still run"

# What comes back of an answer: a screen or two; the log has the rest.
ANSWER_CHARACTERS = 4000
# A program that answers at all has begun within that time; then its silence counts.
_BEGINS_WITHIN = 0.3
# So often the kernel is asked whether more input is waited for, which nothing reports.
_LOOK_SECONDS = 0.05


async def answered(
    tab: Tab, sent: KeysSent, command: Execution | None, wanted: Wanted | None, timeout: float,
    *, before: Picture | None = None, known: int = 0,
) -> KeysSent:  # fmt: skip
    """`sent` with the answer of the program; `command` is what ran, and `before` was seen, when the keys were sent.

    `known`: up to that offset an earlier result has given the output.

    Met: `wanted` came, or without it the program waits for input again. Silent: it may, where that cannot be seen.
    Ended: the command did, or the line that was typed; what is wanted did not come before.
    """
    try:
        reached = await _outcome(tab, sent, command, wanted, timeout, before)
    except InvalidArgument as error:
        raise InvalidArgument(f"the keys were sent, and {error}", remedy=error.remedy) from None
    outcome: Outcome = "ended" if reached == "unseen" else reached
    end, session = tab.pane.stream.end, tab.pane.session
    over = reached == "ended" and session.at_prompt and session.prompt_end > sent.next_byte  # the prompt follows
    begin = max(sent.next_byte, known)
    seen = await shown_text(tab.pane.stream, begin, session.prompt_end if over else end, tab.size)
    examined = outcome == "met" and wanted is None  # just now
    state, why = await left_at(tab, examined=examined)
    status = None
    if reached == "ended":
        status = line_status(tab.pane.session, sent.next_byte) if command is None else command.exit_code
    return replace(
        sent,
        output=cut_middle(seen.text, ANSWER_CHARACTERS, begin, end),
        outcome=outcome,
        state=state if wanted is not None else _state(state, outcome),
        exit_code=status,
        next_byte=end,
        note="; ".join(filter(None, (sent.note, why, seen.note, _UNSEEN if reached == "unseen" else ""))),
        **await tab.screen(left=tab.left_drawn(command)),
    )


async def answered_each(
    tab: Tab,
    send: Callable[[Sequence[str], float], Awaitable[KeysSent]],
    keys: Sequence[str],
    answers: Sequence[str],
    timeout: float,
) -> KeysSent:
    """Send `keys`, if there are any, and then each answer, a line, when the program waits for input again.

    It ends early where nothing more is asked: the program or the command has ended, or time is up. A shell's prompt
    is no question.
    """
    deadline, command = time.monotonic() + timeout, tab.pane.session.running
    told = (
        await send(keys, timeout)
        if keys
        else KeysSent(sent=0, pane=tab.pane.host.prefix + tab.pane.pane_id, next_byte=current_start(tab))
    )
    if keys or tab.state != "prompt":  # what stands before a prompt is an earlier command's
        told = await answered(tab, told, command, None, timeout, known=command.read_up_to if command is not None else 0)
    asked: list[str] = []
    unseen = 0  # answers that were typed though whether the program waited could not be seen
    count, typed = told.sent, keys[0] if keys else ""
    for line in answers:
        left = deadline - time.monotonic()
        if left <= 0 or told.outcome not in ("met", "silent") or told.state in ("prompt", "dead"):
            break
        asked.append(told.screen or told.output.removeprefix(f"{typed}\n"))
        unseen += told.outcome == "silent"
        told = await answered(tab, await send([line, "Enter"] if line else ["Enter"], left), command, None, left)
        count, typed = count + told.sent, line
    missing = len(answers) - len(asked)
    is_late = told.outcome in ("met", "silent", "timed_out") and told.state not in ("prompt", "dead")
    why = "the time was up" if is_late else "nothing more was asked"
    notes = (
        f"{missing} of {len(answers)} answers were not typed: {why}" if missing else "",
        f"{unseen} of {len(answers)} answers were typed at an unfinished line: whether its program waited"
        " cannot be seen here" if unseen else "",
        told.note,
    )  # fmt: skip
    return replace(told, sent=count, asked=tuple(asked), note="; ".join(filter(None, notes)))


def _state(state: State, outcome: Outcome) -> State:
    """The state after an answer. Whether the program waits for input is taken from the wait, which examined it."""
    if outcome == "met" and state not in ("prompt", "incomplete", "dead"):
        return "interactive"
    return "running" if state == "interactive" and outcome in ("silent", "timed_out") else state


async def _outcome(
    tab: Tab, sent: KeysSent, command: Execution | None, wanted: Wanted | None, timeout: float,
    before: Picture | None,
) -> Outcome | Literal["unseen"]:  # fmt: skip
    stream, begun = tab.pane.stream, time.monotonic()
    watch = Watch(tab, wanted, sent.next_byte, before=before, typed=True) if wanted is not None else None
    looks, examined = iter(LOOKS), stream.end
    with anyio.move_on_after(timeout):
        while True:
            end = stream.end
            found = await watch.check(at_entry=False) if watch is not None else None
            if found is not None:
                return found.outcome
            if stream.end != end:
                continue  # what came meanwhile is examined before the end of the command counts
            if tab.pane.session.dead:
                return "closed"
            if over := await _over(tab, sent, command):
                return over
            due = watch.until_due() if watch is not None else math.inf
            idle = watch.until_idle() if watch is not None else math.inf
            if idle <= 0:
                return await _over(tab, sent, command) or "met"
            # What is seen to wait may be the shell, at a prompt before a line that was typed ahead.
            # Where the shell is in front at a prompt that is not the end, lines that were typed ahead are still to run.
            is_between = _ended(tab, sent, command) and tab.pane.terminal.shell_in_front()
            if not is_between:
                seq = tab.pane.session.prompt_seq
                found_out = await (_waits(tab, sent, begun) if watch is None else watch.asks())
                if found_out and (over := await _over(tab, sent, command)):  # as that look shows of another machine
                    return over
                if found_out and tab.pane.session.prompt_seq == seq:
                    return found_out
                if found_out:
                    continue
            if stream.end != examined:
                looks, examined = iter(LOOKS), stream.end
            # Another machine is asked at growing intervals, as while a command runs there.
            pause = _LOOK_SECONDS if tab.pane.host.is_local else next(looks, LOOK_EVERY)
            await stream.changed_within(min(due, pause))
    return "timed_out"


def _ended(tab: Tab, sent: KeysSent, command: Execution | None) -> bool:
    """Whether the command, or the line that was typed, is over and its shell at the prompt again."""
    pane = tab.pane
    if command is not None:
        return not command.running and (pane.listens or time.monotonic() - command.end_time > _BEGINS_WITHIN)
    return pane.session.at_prompt and pane.session.prompt_end > sent.next_byte


async def _over(tab: Tab, sent: KeysSent, command: Execution | None) -> Literal["ended", "unseen", ""]:
    """Whether that is so of all lines that were typed; `unseen` if the shell may not have read them all."""
    if not _ended(tab, sent, command):
        return ""
    typed = tab.pane.session.last_input
    if command is not None or typed.offset < sent.next_byte or not typed.ahead:
        return "ended"
    read = await tab.runner.ready.lines_read()
    return "ended" if read == "read" else read


async def _waits(tab: Tab, sent: KeysSent, begun: float) -> Literal["met", "silent", ""]:
    """Whether the program has answered, as far as can be seen, and waits for more; `silent` if that cannot be seen."""
    if not tab.pane.terminal.quiet():
        return ""
    answered = tab.pane.stream.end > sent.next_byte
    late = time.monotonic() - begun > _BEGINS_WITHIN
    return await examine.awaits_input(tab.runner.port) if answered or late else ""
