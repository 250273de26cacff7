"""Waiting for the end of a command, which is looked at meanwhile: it may wait for input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from muxwire.shell import examine
from muxwire.shell.listener import PROMPT_GRACE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.shell.execution import Execution
    from muxwire.shell.port import Port
    from muxwire.shell.ready import Ready

# Seconds after typing, or after its newest output, at which a silent command is examined; then every LOOK_EVERY. A
# password prompt shows by 0.15. On a busy machine a program may begin to read seconds after it has written its
# question: so the first intervals are at most the 2 s within which a question is to be noticed. What polls is known
# to rest a second after a look (`STILL_SECONDS`): where the first was too early, soon after the next second.
LOOKS = (0.15, 0.2, 0.4, 0.8, 1.05, 1.5, 2.0, 2.0, 2.0)
LOOK_EVERY = 5.0
# A question is to be noticed within 2 s, also one for which nothing is written: so often it is seen whether the leader
# of the foreground group reads. That takes 0.1 ms.
TICK_SECONDS = 1.0

# How a wait for a command ended. `silent`: what runs may wait for input, where that cannot be seen.
Outcome = Literal["ended", "timed_out", "interactive", "silent"]


async def watched(
    port: Port,
    execution: Execution,
    timeout: float,
    ready: Ready,
    report: Callable[[Execution], Awaitable[None]] | None = None,
) -> Outcome:
    """Wait for a command's end, and have it looked at while that does not come; `report` is called from time to time.

    A line that has not begun is typed again, if it has to be (`Ready.unstick`).
    """
    pane = port.pane
    deadline = pane.now + timeout
    looks, reports = iter(LOOKS), iter(LOOKS)
    look_at = pane.now + pane.round_trip + next(looks)
    report_at = pane.now + pane.round_trip + next(reports)
    examined = -1  # the end of what was written, at the newest look

    def over() -> bool:
        return not execution.running or pane.now >= deadline

    def limit() -> float:
        """A limit for a question to a machine, or a tmux, that may not answer."""
        return deadline + PROMPT_GRACE - pane.now

    while not over():
        seconds = min(deadline - pane.now, max(look_at - pane.now, 0.0), TICK_SECONDS)
        if pane.stream.shown_end == examined:
            await port.wait(seconds)
        else:  # a question that is written now is to be looked at when it has stood there for the first interval
            await port.ended(execution, seconds)
        if not over() and report is not None and report_at <= pane.now:
            report_at = pane.now + next(reports, LOOK_EVERY)
            await report(execution)
        if over():
            break
        written = pane.stream.shown_end != examined
        early = pane.now < look_at and not written
        if early and not (execution.started and examine.begins_to_wait(pane, execution)):
            continue
        if written:  # what asks has written something
            looks = iter(LOOKS)
        look_at = pane.now + next(looks, LOOK_EVERY) + (pane.round_trip if written else 0.0)
        if not execution.started:
            await port.within(limit(), ready.unstick(execution))
        elif pane.terminal.quiet():
            examined = pane.stream.shown_end
            if found := await port.within(limit(), examine.examined(port, execution)):
                return found
    return "timed_out" if execution.running else "ended"
