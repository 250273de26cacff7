"""A tab that a test opens for itself."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from muxwire import Tab, Terminals
from muxwire.client.watchdog import process_table
from muxwire.vt.text import strip_ansi
from tests.deadline import DEADLINE
from tests.processes import command_line
from tests.users import needs

SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")
# busybox 1.35 takes SIGINT by a jump out of its handler. After each builtin it calls fflush and clearerr, which lock
# stdout; a jump between the lock and the note of its owner leaves stdout locked, and the shell waits for itself for
# ever, also without us: after 1 to 3 in 100 C-c. So its loop is one without builtins.
_BUSY_LOOPS = {"fish": "while true; end", "busybox": "while case x in x) ;; esac; do case x in x) ;; esac; done"}


def busy_loop(shell: str) -> str:
    """An endless loop that runs in no process but the shell's."""
    return _BUSY_LOOPS.get(shell, "while :; do :; done")


async def closed(tab: Tab) -> None:
    """Return when a tab is closed, and all that it wrote is known."""
    while not tab.pane.session.closed:
        await tab.pane.stream.changed()


async def seen(tab: Tab, text: bytes, since: int = 0) -> None:
    """Return when a tab has written that, from an offset on."""
    while tab.pane.stream.ring.find(text, since) < 0:
        await tab.pane.stream.changed()


async def begun(tab: Tab) -> None:
    """Return when the command that was typed has begun to run."""
    while (running := tab.pane.session.running) is None or not running.started:
        await tab.pane.stream.changed()


async def drawn(tab: Tab) -> None:
    """Return when the shell has said that it reads after its newest prompt, and some of that prompt is drawn.

    Its mark, which comes first, is not enough: the rest may still be on its way.
    """
    session, stream = tab.pane.session, tab.pane.stream
    while not session.at_prompt or session.drawn_at < 0 or not strip_ansi(stream.written(session.prompt_end)).strip():
        await stream.changed()


async def known_prompt(tab: Tab) -> None:
    """Return at a prompt that is drawn, behind a command."""
    await tab.execute("true")
    await drawn(tab)


@asynccontextmanager
async def tab_for(terminals: Terminals, shell: str = "bash", *, login: bool = False, **env: str) -> AsyncIterator[Tab]:
    """A tab of one's own, which is closed in any case."""
    needs(shell)
    made = await terminals.create_tab(shell=shutil.which(shell), login=login, cwd="/", env=env)
    try:
        with anyio.fail_after(DEADLINE):
            yield made
    finally:
        await made.close(force=True)


def processes(command: str) -> list[int]:
    """Those that run exactly that, in whatever session."""
    wanted = command.replace(" ", "\0").encode() + b"\0"
    return [pid for pid in process_table() if command_line(pid) == wanted]
