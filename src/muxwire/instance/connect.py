"""Connecting an instance to its tmux server, which is started if it does not run, and ending it with us.

`tmux -u -S SOCKET -f OUR.conf -C new-session -A -s hub`.
"""

from __future__ import annotations

import logging
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.client import ControlClient
from muxwire.client.transport import DRAINED_SECONDS, STALL_SECONDS
from muxwire.errors import CommandError, ConnectionClosed, TmuxUnavailable
from muxwire.host.locks import StartLock
from muxwire.ids import pane_id
from muxwire.instance.reattach import notice_lost_end
from muxwire.instance.spools import spool_hooks
from muxwire.logs.limits import LogLimits
from muxwire.logs.store import LogStore
from muxwire.tabs.maker import listen_again
from muxwire.tabs.windows import look_up
from muxwire.tmux.rows import PANE_FORMAT, panes_of
from muxwire.tmux.screens import capture_commands, captured
from muxwire.tmux.server import Sessions, TmuxServer
from muxwire.tmux.start import COLUMNS, HUB, KEEPER_NAME, ROWS, START_SECONDS, ServerStart

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from muxwire.client.client import Pending
    from muxwire.client.transport import ProcessPipes
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.screens import Version


# Attaching again when tmux has detached our client, and recording what was lost meanwhile.
#
# tmux throws out a control client that has not read for 300 s (`too far behind`: a suspended laptop), and drops what it
# held for it; a person can detach it, and any process of the user can kill it. The server and its panes continue, so we
# attach again, and ask what each pane shows. When tmux's answer begins, all that the pane had written before has
# arrived. It is thrown away, because it is not known how much is missing before it: tmux counts no pane's bytes. What
# comes after the answer is whole, so the log gets a hole of one byte there, whose record says why, between which two
# times the lost bytes were written, and what the screen showed. (While several panes flood, the answer may be some
# lines late.)


@final
class Reconnect:
    """The connection of one instance, when it is lost and reconnected.

    `client` is set once there is one, `hub` (the session's id) and `version` once the server has said who it is.
    """

    client: ControlClient

    def __init__(
        self, process: ProcessPipes, restart: Callable[[str], Awaitable[object]], size: str, book: TabBook
    ) -> None:
        """`restart` attaches to the hub anew; `size` is the client's, as refresh-client takes it."""
        self.hub = ""
        self.version: Version = (0, 0)
        self._process = process
        self._restart = restart
        self._size = size
        self._book = book
        self._reason = ""
        self._stall = process.stall

    async def reconnect(self, reason: str) -> str:
        if self._reason or not self.hub:
            return self._reason or reason  # the connection failed again at once, or never worked: the server is gone
        self._reason = reason
        self._stall = self._process.stall
        try:
            await self._restart(self.hub)
        except TmuxUnavailable:
            return reason
        return ""

    def on_reconnected(self) -> None:
        """There is a connection again: what it says of a pane counts from the answer to what the pane shows."""
        (attached,) = self.client.submit(("refresh-client", "-C", self._size))
        asked = {tab: self._ask(tab) for tab in self._book.open.values()}
        self._book.spawn(lambda: self._settle(attached, asked))

    def _ask(self, tab: Tab) -> Pending:
        tab.renamings = 0  # tmux does not report any more those that it had not reported yet
        self.client.attach_pane(pane_id(tab.pane_id), lambda _: None)
        asked = self.client.submit_list(*capture_commands(self.version, tab.pane_id, ()))
        asked.then(lambda: self._go_on(tab, asked))
        return asked

    def _go_on(self, tab: Tab, asked: Pending) -> None:
        """Hear a pane again, if it is there still; the reader calls this where the answer stands in the stream."""
        if asked.failed or tab.pane.session.closed:
            return
        now = time.time()
        listen_again(
            tab,
            reason=self._reason,
            since=round(now - (time.monotonic() - self._written_before(tab.pane.stream.last_output)), 3),
            until=round(now, 3),
            screen=self._screen(asked),
        )

    def _screen(self, asked: Pending) -> str:
        """What the pane showed; "" if tmux did not say."""
        if any(block.error for block in asked.blocks):
            return ""
        (rows,) = captured(self.version, [block.output for block in asked.blocks])
        return b"\n".join(rows).decode("utf-8", "replace").rstrip()

    def _written_before(self, heard: float) -> float:
        """The earliest time at which the pane may have written what was heard last: tmux and the pipe hold output."""
        began, ended = self._stall
        return min(heard - STALL_SECONDS, began) if heard < ended + DRAINED_SECONDS else heard - STALL_SECONDS

    async def _settle(self, attached: Pending, asked: Mapping[Tab, Pending]) -> None:
        """Find out what happened to the panes meanwhile."""
        reason = self._reason
        with suppress(ConnectionClosed):
            for answer in (attached, *asked.values()):
                with suppress(CommandError):  # the pane is gone: looked up below
                    await answer.wait()
            await look_up(self._book)
            self._reason = ""
        for tab in asked:
            if not tab.pane.session.dead:
                await notice_lost_end(tab, reason, tab.pane.stream.whole_from)


if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path
    from typing import TypeAlias

    from muxwire.client.transport import TmuxProcess, Transport
    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import Access
    from muxwire.tmux.start import Greeting

    # Puts something around a transport: a recorder, an observer.
    Wrap: TypeAlias = Callable[[Transport], Transport]

_LOG = logging.getLogger("muxwire")


@asynccontextmanager
async def open_server(
    folders: Folders,
    host: Host,
    *,
    history_limit: int,
    on_notification: Callable[[Event], None],
    on_end: Callable[[str], None],
    wrap: Wrap | None = None,
    access: Access,
    book: TabBook,
) -> AsyncIterator[TmuxServer]:
    """Start a tmux server that ends when this block does, or when we are killed; `access` may say that it lasts.

    If one runs already, it is attached to, by one process at a time.

    `on_end` is called once with the reason if the connection ends before the block. A connection that tmux or another
    process ended while the server continues is opened again, with the tabs of `book`. `wrap` may put something around
    the transport, such as a recorder. Raises TmuxUnavailable, InstanceUnavailable.
    """
    folders.prepare()
    lock = StartLock(folders.start_lock)
    try:
        if access.persistent:
            await lock.take(START_SECONDS)
        start = ServerStart(folders, host, access)
        start.prepare(history_limit)
        # The owner alone knows which logs are being written.
        home = None if access.role == "follower" else folders.state / folders.instance
        store = LogStore(say_log_error, limits=LogLimits.from_environment(host.environ), home=home)
        process = start.attach()
        reconnect = Reconnect(process, lambda hub: process.restart(start.again(hub)), f"{COLUMNS}x{ROWS}", book)

        client = reconnect.client = ControlClient(
            wrap(process) if wrap else process,
            on_notification=on_notification,
            on_chunk=store.flush_soon,
            # A server that outlives us is opened anew: the output until then is read from the spools.
            reconnect=None if access.persistent else reconnect.reconnect,
            on_reconnected=reconnect.on_reconnected,
            attaches=True,
        )
        async with store, client:
            greeting = await start.greet(process, client)
            lock.release()
            server = await _served(host, folders, process, client, greeting, store, access)
            reconnect.hub, reconnect.version = server.sessions.hub, server.version
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch_end, client, on_end)
                tasks.start_soon(process.watchdog.keep)
                yield server
                tasks.cancel_scope.cancel()
    finally:
        lock.release()


async def _served(
    host: Host,
    folders: Folders,
    process: TmuxProcess,
    client: ControlClient,
    greeting: Greeting,
    store: LogStore,
    access: Access,
) -> TmuxServer:
    """The server that has said who it is, ready to be used."""
    folders.make_logs(greeting.generation)
    keeper = await _find_keeper(client, greeting.hub)
    if access.role == "owner":
        commands: list[tuple[str, ...]] = [
            # Without a size of its own client, windows would keep the size of a person's terminal after it was
            # detached.
            ("refresh-client", "-C", f"{COLUMNS}x{ROWS}"),
            # As in the configuration: a person may have set it, and what we type would be in tmux's message log.
            ("set-option", "-s", "message-limit", "0"),
        ]
        if access.owns_persistent:
            commands += spool_hooks(folders, greeting.generation)
        if keeper:  # a person who finds it while looking around cannot end it with a key; -d selects nothing
            commands.append(("select-pane", "-d", "-t", keeper))
        for answer in client.submit(*commands):
            await answer.wait()
    sessions = Sessions(client, greeting.hub, HUB, keeper)
    return TmuxServer(host, folders, process, client, greeting.version, greeting.generation, store, sessions, access)


async def _find_keeper(client: ControlClient, hub: str) -> str:
    """The window that the hub was made with; "" if a person has closed it."""
    panes = panes_of(await client.command("list-panes", "-s", "-t", hub, "-F", PANE_FORMAT))
    return next((row.window for row in panes if row.window_name == KEEPER_NAME), "")


async def watch_end(client: ControlClient, on_end: Callable[[str], None]) -> None:
    await client.wait_closed()
    on_end(client.close_reason)


def say_log_error(path: Path, error: OSError) -> None:
    _LOG.warning("cannot write the log %s: %s; it continues when the disk accepts it", path, error.strerror or error)
