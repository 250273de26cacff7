"""A program or a command may end in a gap of the stream: its end mark is lost, so the shell is examined instead."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from muxwire.errors import CommandError, ConnectionClosed
from muxwire.logs import read as log_read
from muxwire.shell.listener import PROMPT_REACH
from muxwire.shell.marks import INTRODUCER
from muxwire.shell.prompt_line import LOOK_MIN
from muxwire.shell.tab_state import UNDER_WAY
from muxwire.vt.readable import before_cursor
from muxwire.vt.text import strip_ansi
from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.tabs.tab import Tab


async def notice_lost_end(tab: Tab, reason: str, before: int) -> None:
    """End what has ended unheard: the pane's program, or a command whose end mark was lost before that offset.

    The marks of a prompt may be lost while the prompt itself is still being drawn. So the shell is examined again,
    after an interval that doubles each time, until a mark of it arrives. A command that still runs ends by such a mark.
    """
    pane, session = tab.pane, tab.pane.session
    await pane.terminal.refresh()
    if pane.host.supervisor_waits(pane.leader_pid):
        tab.end_reason = f"its program ended while its output was lost ({reason}); its status is not known"
        await tab.close(force=True)
        return
    wait = LOOK_MIN
    while session.integrated and _unheard(tab, before):
        if await _is_at_prompt(tab):
            await anyio.sleep(UNDER_WAY)  # a mark that was not lost may be on its way
            if _unheard(tab, before) and await _is_at_prompt(tab):
                lost = f"output was lost while the command ran ({reason}), and with it the mark of its end"
                pane.prompt_found(lost, before)
                return
        await anyio.sleep(wait)
        wait *= 2
        await pane.terminal.refresh()


def _unheard(tab: Tab, before: int) -> bool:
    """Whether a line that was typed before that offset may have ended unheard."""
    session = tab.pane.session
    if session.dead or tab.client.closed:
        return False
    if session.running is not None:
        return session.running.typed_at < before
    return not session.at_prompt and session.prompt_end < before


async def _is_at_prompt(tab: Tab) -> bool:
    """Whether the shell waits for a line where one of its prompts ends, in its editor or without one.

    The kernel cannot tell a prompt from a `read` of the shell, nor from `read -e` or `vared` if the shell has an
    editor. So the cursor's row must hold a prompt of that shell too: the one in the log at which the last command was
    typed.
    """
    pane = tab.pane
    waits, newest, running = pane.terminal.waits_for_input(), pane.session.current, pane.session.running
    if newest is None or waits not in ("editor", "line"):
        return waits == "editor"
    if not pane.terminal.shell_in_front():
        return False
    with suppress(ConnectionClosed, CommandError):
        taken = await tab.snapshot()
        row = taken.lines[taken.cursor.y] if taken.cursor.y < len(taken.lines) else ""
        logged = await anyio.to_thread.run_sync(_logged_prompt, tab, newest.typed_at)
        if waits == "editor":
            reads = running is not None and (not running.command or _READS.search(running.command) is not None)
            drawn = before_cursor(logged.decode("utf-8", "replace"), (taken.cols, PROMPT_ROWS))
            return holds_prompt(row, taken.cursor.x, [drawn], alike=not reads)
        row = row.rstrip()
        return row == _shown(logged) != "" and taken.cursor.x >= len(row)
    return False


def holds_prompt(row: str, column: int, drawn: Sequence[str], *, alike: bool) -> bool:
    """Whether a row holds one of these prompts up to the cursor, which is in that column.

    With `alike` it is enough that it ends like one: the next prompt may show another directory, branch or time. What
    comes after the cursor, a prompt on the right, does not count. Output that was not ended may stand before it.
    """
    before, at = "", 0
    for character in row:
        if at >= column:
            break
        before, at = before + character, at + guessed_width(character)
    before += " " * (column - at)

    def ends(prompt: str) -> str:
        return prompt[len(prompt.rstrip()) - 1 :]

    known = [prompt for prompt in drawn if prompt.strip()]
    return any(before.endswith(one) or (alike and before.strip() and ends(before) == ends(one)) for one in known)


def _logged_prompt(tab: Tab, typed_at: int) -> bytes:
    """What the log has from the last prompt's mark before that offset on: its prompt, if a command was typed there."""
    before = log_read.read_raw(tab.log_path, max(0, typed_at - PROMPT_REACH), typed_at)
    mark = max(before.rfind(INTRODUCER + kind) for kind in (b"P;", b"Q;"))
    return before[before.find(b"\x07", mark) + 1 :]


def _shown(prompt: bytes) -> str:
    """The last row of a prompt, as a snapshot has it."""
    return strip_ansi(prompt).decode("utf-8", "replace").rpartition("\n")[2].rstrip()


# Words of a command by which the tab's own shell may read a line with its editor while the command runs. Then the row
# must hold a known prompt exactly. A function may hide these words; then it is enough that the row ends like a prompt.
_READS = re.compile(rb"\b(?:read|readline|vared|select|zle)\b")
# A prompt has no more rows than that.
PROMPT_ROWS = 24
