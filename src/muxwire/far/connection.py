"""Connecting an instance to a tmux server on another machine, by a carrier, and ending it with us.

The programs there continue when the connection is lost: we attach again, as long as they are kept (`keep` of the host),
and continue at the byte at which we stopped.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections import Counter
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, final

import anyio

from muxwire.errors import ConnectionClosed, HostUnavailable, MuxwireError, TmuxSilent, TmuxUnavailable
from muxwire.far.bootstrap import Facts, bootstrap_line
from muxwire.far.links import forget_link, link_in, note_link
from muxwire.far.resending import ResendingClient
from muxwire.far.transport import CarrierProcess
from muxwire.host.folders import Folders, private_folder
from muxwire.ids import pane_id, session_id, window_id
from muxwire.instance.connect import say_log_error, watch_end
from muxwire.instance.lost_end import notice_lost_end
from muxwire.instance.stream_join import KeptOutput, StreamJoin
from muxwire.logs.limits import LogLimits
from muxwire.logs.store import LogStore
from muxwire.protocol.commands import command
from muxwire.protocol.escaping import DOLLAR_VERSION
from muxwire.tabs.windows import look_up
from muxwire.tmux.rows import PANE_FORMAT
from muxwire.tmux.server import TmuxServer
from muxwire.tmux.sessions import Sessions
from muxwire.tmux.start import COLUMNS, GREETING, HUB, KEEPER_NAME, ROWS, Greeting, configuration

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from muxwire.client.client import ControlClient, Pending
    from muxwire.far.carriers import Carrier
    from muxwire.far.host import RemoteHost
    from muxwire.protocol.commands import Command
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import Access


# After a lost connection to another machine: the output of every pane continues at the byte at which it stopped.
#
# What a pane writes is also kept on that machine, from its first byte on (`host/scripts/spool.sh`). When there is a
# connection again, what was kept is joined to what comes live (stream_join.py).

# The label of a tab: among the arguments of its supervisor, and in the name of its directory.
_LABEL = re.compile(rb"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")


class Connection(Protocol):
    """The connection to a machine, which is opened anew whenever it is lost; `was_used`: it has worked."""

    host: RemoteHost
    was_used: bool

    async def reopen(self) -> None:
        """Connect again; TmuxUnavailable."""

    def works(self) -> None:
        """Note that the tmux there has answered."""


@final
class _Spool(KeptOutput):
    """What is kept of the panes' output on another machine (host/scripts/spool.sh)."""

    look_seconds = 0.02
    # tmux opens the pipe with the pane, so it has the first byte; the program that stores the output starts a little
    # later. Until then nothing is stored.
    begin_seconds = 2.0

    def __init__(self, host: RemoteHost) -> None:
        self._host = host

    @property
    def up(self) -> bool:
        return self._host.link.up

    async def read(self, tab: Tab, offset: int) -> tuple[int, bytes] | None:
        return await self._host.spooled(tab.pane_id, offset)

    def give_up(self, tab: Tab) -> None:
        self._host.end_spool(tab.pane_id)


@final
class Rejoin:
    """The panes of one machine, after each time that the connection was lost. `client` is set once there is one."""

    client: ControlClient

    def __init__(self, connection: Connection, book: TabBook, size: str) -> None:
        self._connection, self._book, self._size = connection, book, size
        self._reason = ""
        self._joins: list[StreamJoin] = []

    async def reconnect(self, reason: str) -> str:
        if not self._connection.was_used:
            return reason  # the connection ended before it had worked
        self._reason = f"the connection to {self._connection.host.name} was lost ({reason})"
        self._record("reconnecting")
        self._end_joins()
        try:
            await self._connection.reopen()
        except TmuxUnavailable as error:  # it says why the programs there have ended, or cannot be reached
            return f"{reason}; {error}"
        return ""

    def on_reconnected(self) -> None:
        """There is a connection again: commands wait until tmux has said which of them it has run."""
        self._record("up")
        (answer,) = self.client.submit(("refresh-client", "-C", self._size))
        self._end_joins()  # also those that began while there was no connection
        for tab in self._book.open.values():
            self.begin(tab)
        self._book.spawn(lambda: self._settle(answer))

    def _end_joins(self) -> None:
        for join in self._joins:
            join.over = True
        self._joins = []

    def begin(self, tab: Tab) -> anyio.Event:
        """Bring the output of a pane from where its log ends; the event tells when that is done."""
        reason = self._reason or f"muxwire was not connected to {self._connection.host.name}"
        join, done = StreamJoin(tab, _Spool(self._connection.host), self.client, reason), anyio.Event()
        self._joins.append(join)
        self._book.spawn(lambda: self._run(join, done))
        return done

    async def _run(self, join: StreamJoin, done: anyio.Event) -> None:
        await join.run()
        done.set()
        if join.behind_gap and not join.tab.pane.session.dead:
            await notice_lost_end(join.tab, join.reason, join.tab.pane.stream.whole_from)

    async def _settle(self, answer: Pending) -> None:
        """What is to be known of a new connection; `answer` is the first that was asked for on it."""
        connections = self.client.connections
        await answer.settled()
        if self.client.connections == connections and not answer.failed:
            self._connection.works()
        await look_up(self._book)

    def _record(self, link: str) -> None:
        self._book.events.record("link", "", host=self._connection.host.name, link=link)


def asked_later(lost: Command) -> Command | None:
    """For a command that made a pane, and whose answer was lost: one with the same answer, found by its label."""
    labels = Counter(_LABEL.findall(lost.line)).most_common(1)
    if lost.name not in ("new-window", "split-window") or not labels:
        return None
    made = f"#{{m:*{labels[0][0].decode()}*,#{{pane_start_command}}}}"
    return command("list-panes", "-a", "-f", made, "-F", PANE_FORMAT)


# The far half of the watch kills a client whose driver was silent for 8 s (helper.sh): two beats may be late.
BEAT_SECONDS = 3.0
# A carrier that has brought nothing for so long, while an answer is due, is ended: its connection may be half open.
SILENT_SECONDS = 10.0
# A call without a time of its own waits so long for an answer: most connections are back by then.
ANSWER_SECONDS = 30.0
# Between two attempts to reach a host again, the first and the longest; in between a share of the time since a
# connection last worked. So a connection that is cut again and again, also while it is opened, is opened soon, and
# several times within the time that a call waits.
BACKOFF_SECONDS, BACKOFF_MAX_SECONDS, BACKOFF_SHARE = 1.0, 30.0, 0.125
# Hanging up takes a fifth of a second there, and some round trips.
_END_SECONDS = 5.0
_KEEPER = "#{window_id} #{pane_id} #{window_name}"
_NOT_IN_PATH = re.compile(r"[^A-Za-z0-9._@-]")
# So much of a host's name is in the names of directories: a socket's path has room for a hundred bytes.
_NAME_MAX = 32
_TOKEN_BYTES = 4


def remote_folders(local: Folders, host: str, *, lasting: bool) -> Folders:
    """The places of one host in an instance: its logs here, the same ones in every process if it is `lasting`."""
    token = hashlib.sha256(host.encode()).digest()[:_TOKEN_BYTES] if lasting else secrets.token_bytes(_TOKEN_BYTES)
    name = f"{_in_path(host)}.{token.hex()}"
    state = local.state / local.instance / "hosts"
    return replace(local, state=state, instance=name, adopted=None, within=local.instance)


def _in_path(host: str) -> str:
    return _NOT_IN_PATH.sub("_", host)[:_NAME_MAX]


@final
class RemoteConnection:
    def __init__(self, host: RemoteHost, carrier: Carrier, environ: Mapping[str, str], config: str, logs: Path) -> None:
        """`config` is what the tmux server there is to read; `logs` is where the output of its panes is kept here."""
        self.host = host
        self.process = CarrierProcess(host.name, carrier, self._script, environ)
        self.directory = ""  # the name of muxwire's directory there
        self.facts: Facts
        self.ending = self.was_used = False
        self.is_new = False  # whether the server there was started for this connection
        self._carrier, self._config, self._logs = carrier, config, logs
        # Whether this connection is known to work, and since when, or until when, one did.
        self._works, self._worked = False, time.monotonic()

    def _script(self, connection: str, again: bool) -> bytes:
        return bootstrap_line(
            connection, again, self._carrier, name=self.directory, size=(COLUMNS, ROWS), config=self._config
        )

    async def begin(self, *, start: bool) -> None:
        """Connect to the server that an earlier process has noted, if it runs; else to a new one, if one is to `start`.

        HostUnavailable, TmuxUnavailable (there is none).
        """
        left = link_in(self._logs)
        why = f"no tmux server of this instance runs on {self.host.name}"
        if left is not None:
            self.directory = left.name
            try:
                await self._open_again()
            except TmuxUnavailable as error:
                why = str(error)
            else:
                return
        if not start:
            raise TmuxUnavailable(why)
        # Each new server has a name of its own: no other server can be taken for it, and a process that ends an earlier
        # server does not end this one.
        self.directory = f"{_in_path(self.host.name)}.{secrets.token_hex(_TOKEN_BYTES)}"
        self.is_new = True
        await self.open()

    async def open(self, *, again: bool = False) -> None:
        """Connect, and learn about the machine; HostUnavailable, TmuxUnavailable (our server there is gone)."""
        fields = await self.process.open(again=again)
        try:
            self.facts = Facts.read(fields)
        except ValueError as error:
            raise self.process.unavailable("shell", f"it said {fields!r}") from error

    async def _open_again(self) -> None:
        """As `open`, to the server that ran before; if that has ended, no later connection looks for it."""
        try:
            await self.open(again=True)
        except TmuxUnavailable as error:
            forget_link(self._logs, str(error))  # the machine says it once
            raise

    async def reopen(self) -> None:
        """Connect again, however often that takes, for as long as the programs there live; TmuxUnavailable."""
        self.host.link.up = False
        last = time.monotonic() + self._carrier.keep
        wait = 0.0 if self._works else self._backoff()
        self._works = False
        while not self.ending:
            await anyio.sleep(wait)
            try:
                await self._open_again()
            except HostUnavailable as error:
                wait = self._backoff()
                if time.monotonic() + wait > last:
                    raise TmuxUnavailable(str(error), remedy=error.remedy) from error
            else:
                return
        raise TmuxUnavailable("the instance was closed")

    def _backoff(self) -> float:
        """Seconds until the next attempt."""
        share = BACKOFF_SHARE * (time.monotonic() - self._worked)
        return min(max(BACKOFF_SECONDS, share), BACKOFF_MAX_SECONDS)

    def works(self) -> None:
        """Tmux has answered: should the connection be lost again, it is regained at once."""
        self._works, self._worked = True, time.monotonic()

    def use(self, client: ControlClient, keeper: str) -> None:
        """There is a control connection: over it the helper in the pane `keeper` is asked."""
        self.host.link.up = self.was_used = True
        self.host.link.closed = False
        self.host.connect(self.facts, client, keeper)

    async def beat(self, client: ControlClient) -> None:
        """Let the far half know that we live, again and again, and find out whether it does.

        The first time at once: the far half counts the silence from the end of an earlier process.
        """
        while True:
            await client.wait_reconnected()
            began = time.monotonic()
            with suppress(ConnectionClosed), anyio.move_on_after(BEAT_SECONDS):
                await client.command("set-option", "-s", "@muxwire-beat", secrets.token_hex(4))
                self.host.link.rtt = time.monotonic() - began
            self.process.listen(SILENT_SECONDS)
            await anyio.sleep(BEAT_SECONDS)

    def silent(self) -> TmuxSilent:
        state = "does not answer" if self.host.link.up else "is lost; muxwire connects again"
        return TmuxSilent(f"the connection to {self.host.name} {state}", remedy="`list_tabs` says when its link is up")


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
    access: Access,
    book: TabBook,
    start: bool = True,
    driver: tuple[str, str] = ("", ""),
) -> AsyncIterator[TmuxServer]:
    """Start a tmux server on that host, which ends when this block does; as `instance.connect.open_server`.

    One that is to outlive us ends with us if it has no tab. Without `start` there must be one. `driver`: name and
    directory of the program that drives the instance, for `ls`.
    Raises HostUnavailable, TmuxUnavailable, InstanceUnavailable.
    """
    prepare_remote(folders)
    logs = folders.state / folders.instance
    connection = RemoteConnection(host, carrier, environ, configuration(folders, history_limit), logs)
    process, keeper = connection.process, ""
    store = LogStore(say_log_error, limits=LogLimits.from_environment(environ), home=logs)
    async with process:
        await connection.begin(start=start)
        rejoin = Rejoin(connection, book, f"{COLUMNS}x{ROWS}")

        def reconnected() -> None:
            connection.use(client, keeper)
            rejoin.on_reconnected()

        client = rejoin.client = ResendingClient(
            process,
            asked_later,
            on_notification=on_notification,
            reconnect=rejoin.reconnect,
            on_reconnected=reconnected,
        )
        client.patience.seconds, client.patience.explain = ANSWER_SECONDS, connection.silent
        async with store, client:
            greeting, window, keeper = await _greet(client, connection)
            connection.use(client, keeper)
            client.attach_pane(pane_id(keeper), host.feed)
            server = _served(connection, folders, client, greeting, window, store, access)
            server.rejoin, server.tabs_known = rejoin.begin, connection.is_new
            _note(logs, connection, *driver)
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(watch_end, client, on_end)
                    tasks.start_soon(connection.beat, client)
                    yield server
                    tasks.cancel_scope.cancel()
            finally:
                connection.ending, host.link.up, host.link.closed = True, False, True
                if not access.persistent or (server.tabs_known and not book.open):
                    await _end(host, client, logs)


def _note(logs: Path, connection: RemoteConnection, program: str, cwd: str) -> None:
    with suppress(OSError):  # without the note no other process finds this server; the tabs work
        note_link(logs, connection.host.name, connection.directory, program, cwd)


async def _end(host: RemoteHost, client: ControlClient, logs: Path) -> None:
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
    """The server that has said who it is, ready to be used: its logs are here, all else is there."""
    folders.make_logs(greeting.generation)
    home = Path(connection.facts.folder).parent
    there = replace(folders, runtime=home, memory=Path(connection.facts.memory), instance=connection.directory)
    sessions = Sessions(client, greeting.hub, HUB, keeper)
    host, version = connection.host, greeting.version
    server = TmuxServer(host, there, None, client, version, greeting.generation, store, sessions, access)
    server.logs = folders.logs(greeting.generation)
    server.records, server.lists_records = server.logs.parent / "tabs", True
    return server


async def _greet(client: ControlClient, connection: RemoteConnection) -> tuple[Greeting, str, str]:
    """Who the server is, and its keeper: the window and the pane of the helper."""
    began = time.monotonic()
    try:
        asked = client.submit(
            ("display-message", "-p", GREETING),
            ("list-panes", "-s", "-t", f"={HUB}", "-F", _KEEPER),
            ("refresh-client", "-C", f"{COLUMNS}x{ROWS}"),
        )
        (answer,), panes, _ = [await one.wait() for one in asked]
        greeting = Greeting.read(answer, connection.host)
        client.undoes_dollars = greeting.version == DOLLAR_VERSION
        connection.host.link.rtt = time.monotonic() - began
        session_id(greeting.hub)
        rows = [line.decode().split(" ", 2) for line in panes]
        window, pane = next((window_id(window), pane_id(pane)) for window, pane, name in rows if name == KEEPER_NAME)
    except (MuxwireError, ValueError, StopIteration) as error:
        raise connection.process.unavailable("shell", f"its tmux did not answer as it should: {error}") from error
    return greeting, window, pane


def prepare_remote(folders: Folders) -> None:
    """Make the place of a host's logs; InstanceUnavailable."""
    instance = folders.state.parent
    private_folder(instance.parent, only_ours=False)
    for folder in (instance, folders.state, folders.state / folders.instance):
        private_folder(folder)
