"""Starting what stays in a tab, and stopping what runs there, unless a person started it at their own tmux server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from muxwire.errors import NotPermitted
from muxwire.pane import process
from muxwire.results import ProcessStart, ProcessStop
from muxwire.tabs.attached import attached
from muxwire.tabs.waits import TextSearch

if TYPE_CHECKING:
    import re

    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution
    from muxwire.tabs.live_tab import LiveTab


async def started_process(
    tab: LiveTab, execution: Execution | None, from_byte: int, pattern: re.Pattern[str] | None, timeout: float
) -> ProcessStart:
    """What became of `execution`, or of a text that was only typed: when it shows `pattern`, else when it has begun."""
    is_ready = None
    if pattern is not None:
        search = TextSearch(tab.pane, pattern, from_byte, awaited=execution)
        is_ready = False
        with anyio.move_on_after(timeout):
            is_ready = await is_found(tab.pane, search, execution)
    elif execution is not None:
        await process.begun(tab.runner, execution)
    if execution is None:
        return ProcessStart(started=True, from_byte=from_byte, ready=is_ready, state=tab.state)
    result = await tab.result(execution, strip_ansi=True, max_chars=process.OUTPUT_CHARACTERS)
    return process.started(execution, result, from_byte, is_ready)


async def is_found(pane: PaneState, search: TextSearch, execution: Execution | None) -> bool:
    """Wait until a text is in the output of `execution`, if there is one; False if that ends without it."""
    while True:
        over = pane.session.dead or (execution is not None and not execution.running)
        if (found := await search.advance(final=over)) is not None:
            return execution is None or execution.running or found.end <= execution.end
        if over:
            return False
        if execution is None or execution.running:  # else it has ended while its output was examined
            await pane.stream.changed()


async def stop_process(tab: LiveTab, name: str, grace: float) -> ProcessStop:
    first = process.stopping_signal(name)
    if tab.theirs and tab.pane.session.running is None:
        if (state := tab.state) != "prompt":
            raise NotPermitted(
                f"what runs in {tab.key} was not started by muxwire, and the tmux server is a person's",
                remedy='leave it, or type what ends it: send_keys ["C-c"]',
            )
        return ProcessStop(success=True, signal_sent="", exit_code=None, state=state)
    async with attached(tab):
        return await process.stop(tab.pane, tab.runner, first, grace)
