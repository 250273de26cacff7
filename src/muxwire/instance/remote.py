"""Connecting an instance to a tmux server on another machine, by a carrier, and ending it with us.

The programs there continue when the connection is lost: we attach again, as long as they are kept (`keep` of the host),
and continue at the byte at which we stopped (rejoin.py).
"""

from __future__ import annotations

import re
import secrets
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.carrier import CarrierProcess
from muxwire.client.client import ControlClient
from muxwire.client.resending import Resending
from muxwire.errors import ConnectionClosed, HostUnavailable, MuxwireError, TmuxSilent, TmuxUnavailable
from muxwire.host.bootstrap import Facts, bootstrap_line
from muxwire.host.folders import Folders, private_folder
from muxwire.host.links import forget_link, note_link
from muxwire.ids import pane_id
from muxwire.instance.connect import say_log_error, watch_end
from muxwire.instance.rejoin import Rejoin, asked_later
from muxwire.logs.limits import LogLimits
from muxwire.logs.store import LogStore
from muxwire.protocol.escaping import DOLLAR_VERSION
from muxwire.tmux.server import TmuxServer
from muxwire.tmux.sessions import Sessions
from muxwire.tmux.start import COLUMNS, GREETING, HUB, KEEPER_NAME, ROWS, Greeting, configuration

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from muxwire.host.hosts_file import Carrier
    from muxwire.host.remote import RemoteHost
    from muxwire.instance.connect import Wrap
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.access import Access

# The far half of the watch kills a client whose driver was silent for 8 s (helper.sh): two beats may be late.
BEAT_SECONDS = 3.0
# A carrier that has brought nothing for so long, while an answer is due, is ended: its connection may be half open.
SILENT_SECONDS = 10.0
# A call without a time of its own waits so long for an answer: most connections are back by then.
ANSWER_SECONDS = 30.0
# Between two attempts to reach a host again, the first and the longest.
BACKOFF_SECONDS, BACKOFF_MAX_SECONDS = 1.0, 30.0
# Hanging up takes a fifth of a second there, and some round trips.
_END_SECONDS = 5.0
_KEEPER = "#{window_id} #{pane_id} #{window_name}"
_NOT_IN_PATH = re.compile(r"[^A-Za-z0-9._@-]")


def remote_folders(local: Folders, host: str) -> Folders:
    """The places of one host in an instance: its logs here; its directory there has the name of the result's instance.

    The name is another one each time: nobody else's server there may be taken for ours.
    """
    name = f"{_NOT_IN_PATH.sub('_', host)}.{secrets.token_hex(4)}"
    return replace(local, state=local.state / local.instance / "hosts", instance=name, adopted=None)


@final
class RemoteConnection:
    def __init__(self, host: RemoteHost, carrier: Carrier, environ: Mapping[str, str], name: str, config: str) -> None:
        """`name` is that of our directory there, `config` what its tmux server is to read."""
        script = partial(
            bootstrap_line, name=name, keep=carrier.keep, spool=carrier.spool, size=(COLUMNS, ROWS), config=config
        )
        self.host = host
        self.process = CarrierProcess(carrier, script, environ)
        self.facts: Facts
        self.ending = self.was_used = False
        self._keep = carrier.keep
        self._wait = 0.0

    async def open(self, *, again: bool = False) -> None:
        """Connect, and learn about the machine; HostUnavailable, TmuxUnavailable (our server there is gone)."""
        fields = await self.process.open(again=again)
        try:
            self.facts = Facts.read(fields)
        except ValueError as error:
            raise HostUnavailable(self.host.name, "shell", f"it said {fields!r}") from error

    async def reopen(self) -> None:
        """Connect again, however often that takes, for as long as the programs there live; TmuxUnavailable."""
        self.host.link.up = False
        last = time.monotonic() + self._keep
        while not self.ending:
            # At once after a connection that worked.
            wait, self._wait = self._wait, min(max(2 * self._wait, BACKOFF_SECONDS), BACKOFF_MAX_SECONDS)
            await anyio.sleep(wait)
            try:
                await self.open(again=True)
            except HostUnavailable as error:
                if time.monotonic() + self._wait > last:
                    raise TmuxUnavailable(str(error), remedy=error.remedy) from error
            else:
                return
        raise TmuxUnavailable("the instance was closed")

    def works(self) -> None:
        """Tmux has answered: should the connection be lost again, it is regained at once."""
        self._wait = 0.0

    def use(self, client: ControlClient, keeper: str) -> None:
        """There is a control connection: the helper in that pane is asked by it."""
        self.host.link.up = self.was_used = True
        self.host.connect(self.facts, client, keeper)

    async def beat(self, client: ControlClient) -> None:
        """Let the far half know that we live, again and again, and find out whether it does."""
        while True:
            await anyio.sleep(BEAT_SECONDS)
            await client.wait_reconnected()
            began = time.monotonic()
            with suppress(ConnectionClosed), anyio.move_on_after(BEAT_SECONDS):
                await client.command("set-option", "-s", "@muxwire-beat", secrets.token_hex(4))
                self.host.link.rtt = time.monotonic() - began
            self.process.listen(SILENT_SECONDS)

    def silent(self) -> TmuxSilent:
        state = "does not answer" if self.host.link.up else "is lost; muxwire connects again"
        return TmuxSilent(f"the connection to {self.host.name} {state}", remedy="list_tabs says when its link is up")


@asynccontextmanager
async def open_remote(
    host: RemoteHost,
    carrier: Carrier,
    environ: Mapping[str, str],
    folders: Folders,
    *,
    history_limit: int,
    on_notification: Callable[[Event], None],
    on_end: Callable[[str], None],
    wrap: Wrap | None,
    access: Access,
    book: TabBook,
) -> AsyncIterator[TmuxServer]:
    """Start a tmux server on that host, which ends when this block does; as `instance.connect.open_server`.

    Raises HostUnavailable, TmuxUnavailable, InstanceUnavailable.
    """
    _prepare(folders)
    connection = RemoteConnection(host, carrier, environ, folders.instance, configuration(folders, history_limit))
    limits, process, keeper = LogLimits.from_environment(environ), connection.process, ""
    store = LogStore(say_log_error, limits=limits, home=folders.state / folders.instance)
    await connection.open()
    rejoin = Rejoin(connection, book, f"{COLUMNS}x{ROWS}")

    def reconnected() -> None:
        connection.use(client, keeper)
        rejoin.on_reconnected()

    client = rejoin.client = ControlClient(
        wrap(process) if wrap else process,
        on_notification=on_notification,
        on_chunk=store.flush_soon,
        reconnect=rejoin.reconnect,
        on_reconnected=reconnected,
        attaches=True,
        resending=Resending(asked_later),
    )
    client.patience.seconds, client.patience.explain = ANSWER_SECONDS, connection.silent
    async with store, client:
        greeting, window, keeper = await _greet(client, host)
        connection.use(client, keeper)
        client.attach_pane(pane_id(keeper), host.feed)
        server = _served(connection, folders, client, greeting, window, store, access)
        server.rejoin = rejoin.begin
        logs = folders.state / folders.instance
        with suppress(OSError):  # then nobody else finds it; the tabs work
            note_link(logs, host.name)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch_end, client, on_end)
                tasks.start_soon(connection.beat, client)
                yield server
                tasks.cancel_scope.cancel()
        finally:
            connection.ending, host.link.up = True, False
            with anyio.move_on_after(_END_SECONDS, shield=True):
                if host.end():
                    await client.wait_closed()
                    forget_link(logs)


def _served(
    connection: RemoteConnection,
    folders: Folders,
    client: ControlClient,
    greeting: Greeting,
    keeper: str,
    store: LogStore,
    access: Access,
) -> TmuxServer:
    """The server that has said who it is, as ours to work with: its logs are here, all else is there."""
    folders.make_logs(greeting.generation)
    home = Path(connection.facts.folder).parent
    there = replace(folders, runtime=home, memory=Path(connection.facts.memory))
    sessions = Sessions(client, greeting.hub, HUB, keeper)
    host, version = connection.host, greeting.version
    return TmuxServer(host, there, None, client, version, greeting.generation, store, sessions, access)


async def _greet(client: ControlClient, host: RemoteHost) -> tuple[Greeting, str, str]:
    """Who the server is, and its keeper: the window and the pane of the helper."""
    began = time.monotonic()
    try:
        asked = client.submit(
            ("display-message", "-p", GREETING),
            ("list-panes", "-s", "-t", f"={HUB}", "-F", _KEEPER),
            ("refresh-client", "-C", f"{COLUMNS}x{ROWS}"),
        )
        (answer,), panes, _ = [await one.wait() for one in asked]
        greeting = Greeting.read(answer, host)
        client.undoes_dollars = greeting.version == DOLLAR_VERSION
        host.link.rtt = time.monotonic() - began
        window, pane = next(row for row in (line.decode().split(" ") for line in panes) if row[2] == KEEPER_NAME)[:2]
    except (MuxwireError, ValueError, StopIteration) as error:
        raise HostUnavailable(host.name, "shell", f"its tmux did not answer as it should: {error}") from error
    return greeting, window, pane


def _prepare(folders: Folders) -> None:
    """Make the place of a host's logs; InstanceUnavailable."""
    instance = folders.state.parent
    private_folder(instance.parent, only_ours=False)
    for folder in (instance, folders.state, folders.state / folders.instance):
        private_folder(folder)
