"""Long-running programs in a tab: when they are ready, and how they are stopped."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import InvalidArgument
from muxwire.pane.text import strip_ansi, undo_onlcr
from muxwire.terminals.execution.foreground import foreground_pgrp
from muxwire.terminals.results import ProcessStop

if TYPE_CHECKING:
    from muxwire.terminals.execution.runner import Runner
    from muxwire.terminals.tabs.pane_state import PaneState

# A line that says "ready" may have begun this long before the bytes that complete it.
_OVERLAP = 4096

STOPPING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL")


def ready_pattern(ready: str, *, regex: bool) -> re.Pattern[str] | None:
    """Compile what readiness looks like, None if nothing is waited for; InvalidArgument for a bad regex."""
    if not ready:
        return None
    try:
        return re.compile(ready if regex else re.escape(ready), re.MULTILINE)
    except re.error as error:
        raise InvalidArgument(
            f"ready is not a regular expression: {error}", remedy="mend it, or give it as plain text"
        ) from error


async def wait_ready(pane: PaneState, pattern: re.Pattern[str], from_byte: int, timeout: float) -> bool:
    """Wait until the output of the command that was just typed matches; False if it ended or the time did."""
    stream, execution = pane.stream, pane.running
    seen = from_byte
    with anyio.move_on_after(timeout):
        while True:
            # Until its start mark the bytes are the echo of the command, which would match itself.
            if execution is None or execution.started:
                begin = max(seen - _OVERLAP, from_byte if execution is None else execution.begin, stream.ring.start)
                text = strip_ansi(undo_onlcr(stream.ring.read(begin, stream.end)).decode("utf-8", "replace"))
                if pattern.search(text):
                    return True
                seen = stream.end
            if pane.dead or (execution is not None and not execution.running):
                return False
            await stream.changed()
    return False


def stopping_signal(name: str) -> signal.Signals:
    """The signal of that name; InvalidArgument if it is not one that ends programs."""
    full = name.upper() if name.upper().startswith("SIG") else f"SIG{name.upper()}"
    if full not in STOPPING:
        raise InvalidArgument(f"{name!r} does not stop a process", remedy=f"use one of {', '.join(STOPPING)}")
    return signal.Signals[full]


async def stop(pane: PaneState, runner: Runner, first: signal.Signals, grace: float) -> ProcessStop:
    """Stop what runs in the foreground; success if nothing runs afterwards."""
    execution = pane.running
    if execution is not None:
        await runner.interrupt(execution, first=first, grace=grace)
        await runner.settled()
        return ProcessStop(
            success=not execution.running,
            signal_sent=execution.signal_sent,
            exit_code=execution.exit_code,
            state=pane.look(),
        )
    sent = ""
    if not pane.listens and not pane.dead:
        busy = foreground_pgrp(pane.leader_pid)

        async def ended(seconds: float) -> bool:
            with anyio.move_on_after(seconds):
                while not (pane.dead or pane.listens) and foreground_pgrp(pane.leader_pid) == busy:
                    await pane.stream.changed()
            return pane.dead or pane.listens or foreground_pgrp(pane.leader_pid) != busy

        sent = await runner.interrupter.stop(ended, first=first, grace=grace)
        await runner.settled()
    return ProcessStop(
        success=pane.dead or pane.listens, signal_sent=sent, exit_code=pane.exit_status, state=pane.look()
    )
