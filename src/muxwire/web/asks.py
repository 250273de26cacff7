"""The tabs in which a program waits for a line or a password, and the command that is run when one begins to.

That it waits is known from the kernel: a text that looks like a question is none. What it asks is its own output.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import anyio

from muxwire.errors import MuxwireError
from muxwire.shell.examine import waited_words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from anyio.abc import TaskGroup

    from muxwire.library.terminals import Terminals
    from muxwire.results import TabInfo
    from muxwire.tabs.tab import Tab

# How often the tabs are looked at: a person is called within about this time.
LOOK_EVERY: Final = 1.0
# Characters of a question that are passed on.
_QUESTION_MAX: Final = 200
# Seconds that a hook may take.
_HOOK_SECONDS: Final = 20.0


def asked_of(tab: Tab) -> str:
    """What a program in the tab waits for, a line or a password, in words; "" for neither.

    A program that reads keys is an editor or a pager, and no question; nor is the shell at its prompt.
    """
    if tab.pane.session.dead or tab.state != "interactive":
        return ""
    waiting = tab.pane.waits_for_input() or tab.pane.hidden_waiting()
    return waited_words(waiting) if waiting in ("line", "password") else ""


@final
@dataclass(frozen=True, slots=True)
class Asking:
    """One open tab: what is waited for, "" for nothing, and the row of the screen that asks for it."""

    tab: TabInfo
    asks: str
    question: str


async def asking_tabs(terminals: Terminals) -> list[Asking]:
    """The open tabs, those first in which something is asked."""
    found = []
    for one in (await terminals.list_tabs(closed=False)).tabs:
        asks = question = ""
        if one.state == "interactive":
            with suppress(MuxwireError):  # it ends in this moment
                tab = await terminals.known_tab(one.window_id)
                if asks := asked_of(tab):
                    shown = await tab.snapshot()
                    question = "".join(shown.lines[shown.cursor.y : shown.cursor.y + 1]).strip()[-_QUESTION_MAX:]
        found.append(Asking(one, asks, question))
    return sorted(found, key=lambda one: not one.asks)


@final
class Hook:
    """Runs a command of `sh` each time when a tab begins to ask for something."""

    def __init__(self, command: str, tasks: TaskGroup) -> None:
        """`tasks` is where it runs. Its output goes to stderr; after 20 s it is ended."""
        self._command, self._tasks = command, tasks
        self._asked: dict[str, tuple[str, str]] = {}

    def told(self, tabs: Sequence[Asking]) -> None:
        """Run it for each of these tabs that asks for something else than when they were looked at last."""
        before, self._asked = self._asked, {one.tab.window_id: (one.asks, one.question) for one in tabs if one.asks}
        for one in tabs:
            if one.asks and before.get(one.tab.window_id) != self._asked[one.tab.window_id]:
                self._tasks.start_soon(self._run, one)

    async def _run(self, one: Asking) -> None:
        told = {
            "MUXWIRE_TAB": one.tab.window_id,
            "MUXWIRE_TAB_NAME": one.tab.name,
            "MUXWIRE_ASKS": one.asks,
            "MUXWIRE_QUESTION": one.question,
        }
        with anyio.move_on_after(_HOOK_SECONDS):
            await anyio.run_process(self._command, env=os.environ | told, stdin=None, stdout=2, stderr=2, check=False)


@asynccontextmanager
async def hooked(terminals: Terminals, command: str, targets: Collection[str] = ()) -> AsyncIterator[None]:
    """Run a command for each of `targets`, else of all tabs, that begins to ask while the block lasts; as `Hook`."""
    async with anyio.create_task_group() as tasks:
        hook = Hook(command, tasks)

        async def look() -> None:
            while True:
                with suppress(MuxwireError, OSError):
                    tabs = await asking_tabs(terminals)
                    hook.told([one for one in tabs if not targets or one.tab.window_id in targets])
                await anyio.sleep(LOOK_EVERY)

        tasks.start_soon(look)
        yield
        tasks.cancel_scope.cancel()
