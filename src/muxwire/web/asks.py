"""The tabs in which a program waits for a line or a password, and the command that is run when one begins to.

That it waits is known from the kernel: a text that looks like a question is none. What it asks is its own output.
"""

from __future__ import annotations

import subprocess
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import anyio

from muxwire.errors import MuxwireError
from muxwire.shell.examine import waited_words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping

    from muxwire.library.terminals import Terminals
    from muxwire.results import TabInfo
    from muxwire.tabs.tab import Tab

# How often the tabs are looked at: a person is called within about this time.
_LOOK_EVERY: Final = 1.0
# Characters of a question that are passed on.
_QUESTION_MAX: Final = 200
# Seconds that a hook may take.
_HOOK_SECONDS: Final = 20.0


def asked_of(tab: Tab) -> str:
    """What a program in the tab waits for, a line or a password, in words; "" for neither.

    A program that reads keys is an editor or a pager, and no question; nor is the shell at its prompt.
    """
    waiting = tab.pane.terminal.waits_for_input() or tab.pane.terminal.hidden_waiting()
    return waited_words(waiting) if tab.state == "interactive" and waiting in ("line", "password") else ""


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


async def follow(terminals: Terminals, told: Callable[[list[Asking]], None]) -> None:
    """Look at the open tabs again and again, and pass them on; for ever."""
    while True:
        with suppress(MuxwireError, OSError):
            told(await asking_tabs(terminals))
        await anyio.sleep(_LOOK_EVERY)


@asynccontextmanager
async def hooked(
    terminals: Terminals,
    command: str,
    environ: Mapping[str, str],
    said: Callable[[bytes], object],
    targets: Collection[str] = (),
) -> AsyncIterator[None]:
    """Run a command of `sh` each time when a tab begins to ask for something, as long as the block lasts.

    It has 20 s, and that environment, with what is asked; `said` gets what it has written. `targets` are the tabs that
    are meant, all if there are none. "" is no command.
    """
    asked: dict[str, tuple[str, str]] = {}

    async def run(one: Asking) -> None:
        try:
            with anyio.move_on_after(_HOOK_SECONDS):
                done = await anyio.run_process(
                    command,
                    env={
                        **environ,
                        "MUXWIRE_TAB": one.tab.window_id,
                        "MUXWIRE_TAB_NAME": one.tab.name,
                        "MUXWIRE_ASKS": one.asks,
                        "MUXWIRE_QUESTION": one.question,
                    },
                    cwd=terminals.host.own_folder() or "/",
                    stderr=subprocess.STDOUT,
                    check=False,
                )
                said(done.stdout)
        except OSError as error:  # as when there are too many processes: the next one may run
            said(f"the command of --on-ask did not run: {error}\n".encode())

    def told(tabs: list[Asking]) -> None:
        nonlocal asked
        asking = [one for one in tabs if one.asks and (not targets or one.tab.window_id in targets)]
        before, asked = asked, {one.tab.window_id: (one.asks, one.question) for one in asking}
        for one in asking:
            if before.get(one.tab.window_id) != (one.asks, one.question):
                tasks.start_soon(run, one)

    async with anyio.create_task_group() as tasks:
        if command:
            tasks.start_soon(follow, terminals, told)
        yield
        tasks.cancel_scope.cancel()
