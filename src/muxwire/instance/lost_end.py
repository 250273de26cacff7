"""The end of a program or of a command that fell into a gap of the stream: its mark is lost; the shell is asked."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import CommandError, ConnectionClosed
from muxwire.pane.prompt_line import LOOK_MIN
from muxwire.shell.tab_state import UNDER_WAY
from muxwire.vt.text import strip_ansi

if TYPE_CHECKING:
    from muxwire.tabs.tab import Tab


async def notice_lost_end(tab: Tab, reason: str, before: int) -> None:
    """End what has ended unheard: the pane's program, or a command whose end mark was lost before that offset.

    The marks of a prompt may be lost while the prompt itself is still being drawn. So the shell is examined again,
    after an interval that doubles each time, until a mark of it arrives. A command that still runs ends by such a mark.
    """
    pane, session = tab.pane, tab.pane.session
    await pane.refresh()
    if pane.host.supervisor_waits(pane.leader_pid):
        tab.end_reason = f"its program ended while the connection was lost ({reason}); its status is not known"
        await tab.close(force=True)
        return
    wait = LOOK_MIN
    while session.integrated and _unheard(tab, before):
        if await _is_at_prompt(tab):
            await anyio.sleep(UNDER_WAY)  # a mark that was not lost may be on its way
            if _unheard(tab, before) and await _is_at_prompt(tab):
                pane.prompt_found(f"the connection was lost while it ran ({reason}); its end was not seen", before)
                return
        await anyio.sleep(wait)
        wait *= 2
        await pane.refresh()


def _unheard(tab: Tab, before: int) -> bool:
    """Whether a line that was typed before that offset may have ended unheard."""
    session = tab.pane.session
    if session.dead or tab.client.closed:
        return False
    if session.running is not None:
        return session.running.typed_at < before
    return not session.at_prompt and session.prompt_end < before


async def _is_at_prompt(tab: Tab) -> bool:
    """Whether the shell waits for a line: in its editor, or, if it has none, where one of its prompts ends.

    A shell without an editor waits for its `read` in the same way: after a command that has begun the row must hold
    that prompt, too.
    """
    pane = tab.pane
    waits, running = pane.waits_for_input(), pane.session.running
    if waits != "line" or running is None or not pane.shell_in_front():
        return waits == "editor"
    with suppress(ConnectionClosed, CommandError):
        taken = await tab.snapshot()
        ending = pane.prompts.that_end_at(taken.cursor.x)
        if not running.started:
            return bool(ending)
        row = taken.lines[taken.cursor.y] if taken.cursor.y < len(taken.lines) else ""
        return any(_shown(prompt) == row.rstrip() for prompt in ending)
    return False


def _shown(prompt: bytes) -> str:
    """The last row of a prompt, as a snapshot has it."""
    return strip_ansi(prompt).decode("utf-8", "replace").rpartition("\n")[2].rstrip()
