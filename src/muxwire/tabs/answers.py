"""The answer to keys: what a program shows until a text comes, it waits for more, its command ends, or time is up."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import anyio

from muxwire.pane.foreground_shell import quiet
from muxwire.pane.output import cut_middle, shown_text
from muxwire.pane.runner import LOOK_EVERY, LOOKS
from muxwire.shell.session_table import ShellState
from muxwire.tabs.waits import Watch

if TYPE_CHECKING:
    from muxwire.results import KeysSent
    from muxwire.shell.execution import Execution
    from muxwire.tabs.live_tab import LiveTab
    from muxwire.tabs.waits import Wanted

Outcome = Literal["met", "ended", "timed_out", "closed"]

# What comes back of an answer: a screen or two; the log has the rest.
ANSWER_CHARACTERS = 4000
# A program that answers at all has begun within that time; then its silence counts.
_BEGINS_WITHIN = 0.3
# A shell that reports an accepted line has done so by then, on a busy machine too.
_ACCEPTED_WITHIN = 0.6
# So often the kernel is asked whether more input is waited for, which nothing reports.
_LOOK_SECONDS = 0.05


async def answered(
    tab: LiveTab, sent: KeysSent, command: Execution | None, wanted: Wanted | None, timeout: float
) -> KeysSent:
    """`sent` with the answer of the program; `command` is what ran when the keys were sent.

    Met: `wanted` came, or without it the program waits for input again. Ended: the command did, or the line that was
    typed; what is wanted did not come before.
    """
    outcome = await _outcome(tab, sent, command, wanted, timeout)
    end = tab.pane.stream.end
    seen = await shown_text(tab.pane.stream, sent.next_byte, end, tab.columns)
    marked = tab.pane.session.at_prompt and tab.pane.session.has_preexec_mark  # the marks alone give the state
    if not marked and (outcome != "met" or wanted is not None):  # else the state was just asked for
        await tab.pane.refresh_soon()
    status = None
    if outcome == "ended":
        status = tab.pane.session.prompt_status if command is None else command.exit_code
    return replace(
        sent,
        output=cut_middle(seen.text, ANSWER_CHARACTERS, sent.next_byte, end),
        outcome=outcome,
        state=tab.state,
        exit_code=status,
        next_byte=end,
        note="; ".join(filter(None, (sent.note, seen.note))),
    )


async def _outcome(
    tab: LiveTab, sent: KeysSent, command: Execution | None, wanted: Wanted | None, timeout: float
) -> Outcome:
    stream, begun = tab.pane.stream, time.monotonic()
    watch = Watch(tab, wanted, sent.next_byte) if wanted is not None else None
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
            if _ended(tab, sent, command):
                return "ended"
            idle = watch.until_idle() if watch is not None else float("inf")
            if idle <= 0 or (watch is None and await _waits(tab, sent, begun)):
                return "ended" if _ended(tab, sent, command) else "met"
            if stream.end != examined:
                looks, examined = iter(LOOKS), stream.end
            # Another machine is asked at growing intervals, as while a command runs there.
            pause = _LOOK_SECONDS if tab.pane.host.is_local else next(looks, LOOK_EVERY)
            await stream.changed_within(min(idle, pause))
    return "timed_out"


def _ended(tab: LiveTab, sent: KeysSent, command: Execution | None) -> bool:
    """Whether the command, or the line that was typed, is over and its shell at the prompt again."""
    pane = tab.pane
    if command is not None:
        return not command.running and (pane.listens or time.monotonic() - command.end_time > _BEGINS_WITHIN)
    return pane.session.at_prompt and pane.session.prompt_end > sent.next_byte


async def _waits(tab: LiveTab, sent: KeysSent, begun: float) -> bool:
    """Whether the program has answered, as far as can be seen, and waits for more."""
    if not quiet(tab.pane) or (time.monotonic() - begun < _ACCEPTED_WITHIN and _on_its_way(tab)):
        return False
    answered = tab.pane.stream.end > sent.next_byte
    late = time.monotonic() - begun > _BEGINS_WITHIN
    if not (answered or late):
        return False
    await tab.pane.refresh()
    return tab.state in ("prompt", "interactive", "incomplete")


def _on_its_way(tab: LiveTab) -> bool:
    """Whether the shell has neither accepted the line that was entered at its prompt nor asked for more of it."""
    session = tab.pane.session
    return session.state is ShellState.SUBMITTED and session.has_preexec_mark and not tab.pane.continues()
