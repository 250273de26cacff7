"""Our connection to one session of a person's tmux server: there while a call needs it, gone in between.

A control client hears the panes of the session that it is attached to, and while it is attached tmux reads these panes
whatever other control clients do (iTerm2 relies on the opposite); and to attach clears the alert of the session's
current window. So a link rests until a tab of its session is used, and stays no longer than that call, or what it has
left running: a command, or the program of a line that was typed. It is attached with `ignore-size` and `-E`: no size,
no variable and no option changes, and a session's current window stays.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client import patience
from muxwire.client.client import ControlClient
from muxwire.client.process import TmuxProcess, clean_environment
from muxwire.errors import ConnectionClosed, TmuxUnavailable
from muxwire.ids import pane_id
from muxwire.pane.state import end_of
from muxwire.tabs.maker import listen_again

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from muxwire.instance.connect import Wrap
    from muxwire.logs.store import LogStore
    from muxwire.pane.state import PaneState
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

# Calls come in quick succession: so long one waits for the next before it lets go.
LINGER_SECONDS = 0.2
_GONE = "its session is gone"
_AWAY = "muxwire is attached to a person's server only while a call needs it"


@final
class Link:
    """The connection to one session; made by `open_link`."""

    def __init__(self, process: TmuxProcess, argv: tuple[str, ...], session: str, book: TabBook) -> None:
        self.session = session
        self.client: ControlClient
        self.server: TmuxServer  # the session, as a server with a hub of its own; set by who opened the link
        self.process = process
        self._argv = argv
        self._book = book
        self._calls = 0
        self._resting = True  # until it is used for the first time
        self._gone = False
        self._heard: set[str] = set()  # the panes that were there when it was last attached
        self._wanted = anyio.Event()
        self._back = anyio.Event()

    @property
    def up(self) -> bool:
        """Whether it is attached now, and is going to stay."""
        return not self._resting and not self.client.closed

    async def end(self) -> None:
        self._gone = True
        self._wanted.set()
        await self.client.wait_closed()

    @asynccontextmanager
    async def used(self) -> AsyncIterator[None]:
        """Be attached for as long as the block lasts; ConnectionClosed if the session is gone, TmuxSilent."""
        self._calls += 1
        try:
            if self._resting:
                self._wanted.set()
                with anyio.move_on_after(patience.ANSWER_SECONDS):  # a tmux that is stopped has not let go of us yet
                    await self._back.wait()
                if not self._back.is_set():
                    raise self.client.patience.explain()
            if self.client.closed:
                raise ConnectionClosed(self.client.close_reason)
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._book.spawn(self._rest)

    async def _rest(self) -> None:
        """Let go of the server, unless another call comes or a command of ours still runs."""
        await anyio.sleep(LINGER_SECONDS)
        # All tabs anew after each: another command may have been left running while this one ended.
        while not self._calls and (tab := self._left_running()) is not None:
            running = tab.pane.session.running
            await (end_of(running).wait() if running is not None else _typed_line(tab.pane))
        if self._calls or self._resting or self.client.closed:
            return
        self._resting, self._wanted, self._back = True, anyio.Event(), anyio.Event()
        with suppress(ConnectionClosed):
            self.client.submit(("detach-client",))

    def _tabs(self) -> list[Tab]:
        return [tab for tab in self._book.open.values() if tab.session_id == self.session]

    def _left_running(self) -> Tab | None:
        return next((tab for tab in self._tabs() if tab.pane.session.running is not None or tab.pane.entered), None)

    async def reconnect(self, reason: str) -> str:
        """There is no connection: not before somebody wants it, or for good."""
        if not self._resting:
            self._back.set()
            return reason
        await self._wanted.wait()
        if self._gone:
            self._back.set()
            return _GONE
        try:
            await self.process.restart(self._argv)
        except TmuxUnavailable as error:
            self._back.set()
            return str(error)
        return ""

    def on_reconnected(self) -> None:
        for tab in self._tabs():
            if tab.next_byte or tab.pane_id in self._heard:
                expect_gap(tab)
        self._heard = {tab.pane_id for tab in self._tabs()}
        self._resting = False
        self._back.set()
        if not self._calls:  # who wanted it was cancelled meanwhile
            self._book.spawn(self._rest)


async def _typed_line(pane: PaneState) -> None:
    """Wait for more of a line that a call typed at the shell; what a person starts after it is none of it.

    A program that ends is followed by a prompt. One that writes much is not examined all the time.
    """
    if pane.program_in_front():
        await pane.stream.changed()
        await anyio.sleep(LINGER_SECONDS)
    else:  # what it wrote last may be on its way; and a shell that computes may not have begun it
        await anyio.sleep(LINGER_SECONDS)
        pane.entered = pane.program_in_front() or not pane.host.sleeps_for_keys(pane.session.shell_pid, polls=True)


def expect_gap(tab: Tab) -> None:
    """Put a gap before what the pane writes next; a pane that stays silent gets none."""

    def feed(data: bytes) -> None:
        listen_again(tab, reason=_AWAY)
        tab.pane.stream.feed(data)

    tab.client.attach_pane(pane_id(tab.pane_id), feed)


@asynccontextmanager
async def open_link(
    tmux: str,
    socket: str,
    session: str,
    environ: Mapping[str, str],
    *,
    store: LogStore,
    book: TabBook,
    on_notification: Callable[[Event], None],
    away: Callable[..., Awaitable[tuple[bytes, ...]]],
    wrap: Wrap | None = None,
) -> AsyncIterator[Link]:
    """A link to a session of a server that runs; `away` asks that server while the link rests. TmuxUnavailable."""
    # -N: starts no server. -E: the session's environment stays as it is.
    argv = (tmux, "-u", "-N", "-S", socket, "-C", "attach-session", "-E", "-f", "ignore-size", "-t", session)
    process = TmuxProcess(argv, socket=socket, env=clean_environment(environ), ephemeral=False, cwd="/", starts=False)
    link = Link(process, argv, session, book)
    link.client = ControlClient(
        wrap(process) if wrap else process,
        on_notification=on_notification,
        on_chunk=store.flush_soon,
        reconnect=link.reconnect,
        on_reconnected=link.on_reconnected,
        attaches=True,
        away=away,
    )
    async with link.client, anyio.create_task_group() as tasks:
        tasks.start_soon(process.watchdog.keep)
        yield link
        tasks.cancel_scope.cancel()
