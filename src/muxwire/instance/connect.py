"""Connecting an instance to its tmux server, which is started if it does not run, and ending it with us.

`tmux -u -S SOCKET -f OUR.conf -C new-session -A -s hub`.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from muxwire.client.client import ControlClient
from muxwire.instance.reconnect import Reconnect
from muxwire.instance.spools import spool_hooks
from muxwire.logs.limits import LogLimits
from muxwire.logs.store import LogStore
from muxwire.tmux.rows import PANE_FORMAT, panes_of
from muxwire.tmux.server import TmuxServer
from muxwire.tmux.sessions import Sessions
from muxwire.tmux.start import COLUMNS, HUB, KEEPER_NAME, ROWS, ServerStart

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from muxwire.client.transport import TmuxProcess
    from muxwire.host.folders import Folders
    from muxwire.host.local import LocalHost
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import Access
    from muxwire.tmux.start import Greeting


_LOG = logging.getLogger("muxwire")


@asynccontextmanager
async def open_server(
    folders: Folders,
    host: LocalHost,
    *,
    history_limit: int,
    on_notification: Callable[[Event], None],
    on_end: Callable[[str], None],
    access: Access,
    book: TabBook,
) -> AsyncIterator[TmuxServer]:
    """Start a tmux server that ends when this block does, or when we are killed; `access` may say that it lasts.

    If one runs already, it is attached to.

    `on_end` is called once with the reason if the connection ends before the block. A connection that tmux or another
    process ended while the server continues is opened again, with the tabs of `book`. Raises
    TmuxUnavailable, InstanceUnavailable.
    """
    folders.prepare()
    start = ServerStart(folders, host, access)
    start.prepare(history_limit)
    home = folders.state / folders.instance
    store = LogStore(say_log_error, limits=LogLimits.from_environment(host.environ), home=home)
    process = start.attach()
    reconnect = Reconnect(process, lambda hub: process.restart(start.again(hub)), f"{COLUMNS}x{ROWS}", book)

    client = reconnect.client = ControlClient(
        process,
        on_notification=on_notification,
        # A server that outlives us is opened anew: the output until then is read from the spools.
        reconnect=None if access.persistent else reconnect.reconnect,
        on_reconnected=reconnect.on_reconnected,
        attaches=True,
    )
    async with store, client:
        greeting = await start.greet(process, client)
        server = await _served(host, folders, process, client, greeting, store, access)
        reconnect.hub, reconnect.version = server.sessions.hub, server.version
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch_end, client, on_end)
            tasks.start_soon(process.watchdog.keep)
            yield server
            tasks.cancel_scope.cancel()


async def _served(
    host: LocalHost,
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
    commands: list[tuple[str, ...]] = [
        # Without a size of its own client, windows would keep the size of a person's terminal after it was
        # detached.
        ("refresh-client", "-C", f"{COLUMNS}x{ROWS}"),
        # As in the configuration: a person may have set it, and what we type would be in tmux's message log.
        ("set-option", "-s", "message-limit", "0"),
    ]
    if access.lock is not None:  # this process writes the logs now, another one later
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
