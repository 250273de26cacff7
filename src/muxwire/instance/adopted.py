"""A tmux server that a person runs: its windows as tabs, and nothing of it changed.

Every window is a tab, with its active pane at the time it was found. Their shells have no hooks of muxwire, so commands
run as in any shell that muxwire did not start (shell/listener.py): the kernel says which process reads, and what is
typed is the path of a file that holds the command.

A control client hears the panes of the session that it is attached to. So there is one for each session: for the one
where a person is from the beginning, for another one from the first use of a tab in it, and each stays. It is attached
with `ignore-size` and `-E`: no size, no variable and no option changes, and a session's current window stays. What
cannot be avoided is in docs/security.md.

Windows that muxwire makes there have hooks, as in other instances. They are known by the label among the arguments of
their first process, and end with this process, however that ends (client/watchdog.py).
"""

from __future__ import annotations

import os
import secrets
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client import client as patience
from muxwire.client.client import ControlClient
from muxwire.client.liveness import Watchdog
from muxwire.client.transport import TmuxProcess, clean_environment
from muxwire.errors import (
    CommandError,
    ConnectionClosed,
    InstanceUnavailable,
    NoSuchTarget,
    TmuxSilent,
    TmuxUnavailable,
    remedy_for,
)
from muxwire.instance.lost_end import notice_lost_end
from muxwire.instance.reattach import RunningPane, reattach_panes
from muxwire.logs.store import LogStore
from muxwire.protocol.escaping import DOLLAR_VERSION
from muxwire.tabs.maker import TabMaker, read_again
from muxwire.tabs.record import TabRecord
from muxwire.tabs.windows import PROCESS
from muxwire.tmux.program import program_for, read_version
from muxwire.tmux.rows import PANES, panes_of
from muxwire.tmux.server import TmuxServer
from muxwire.tmux.sessions import Sessions
from muxwire.tmux.start import silent_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from muxwire.host.folders import Folders
    from muxwire.host.local import LocalHost
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.seat import Seat
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.rows import PaneRow
    from muxwire.tmux.server import Access
    from muxwire.verbs.catalogue import TabRequest

_SESSIONS = ("list-sessions", "-F", "#{session_id} #{session_attached} #{version} #{pid}:#{start_time}")
_WHICH_SOCKET = "in that tmux, `tmux display-message -p '#{socket_path}'` prints the path of its socket"


@final
class _Session:
    """One session, as a server with a hub of its own, and the connection to it."""

    def __init__(self, server: TmuxServer) -> None:
        self.server = server
        self.wanted = anyio.Event()  # a tab in it is used for the first time, or it is gone
        self.attached = anyio.Event()  # or it cannot be
        self.open = anyio.CancelScope()  # in which the end of the connection is waited for
        self.over = anyio.Event()
        self.gone = ""  # why it has no connection, and will have none

    @property
    def lost(self) -> bool:
        """Whether it has no connection any more."""
        return bool(self.gone) or self.server.client.closed

    async def attach(self) -> None:
        """Return when its panes are heard; ConnectionClosed if the session is gone."""
        if not self.attached.is_set():
            self.wanted.set()
            await self.attached.wait()
        if self.gone:
            raise ConnectionClosed(self.gone)

    async def end(self) -> None:
        """It is gone; with the option `detach-on-destroy off` tmux has moved our client to another session."""
        self.gone = self.gone or "its session is gone"
        self.open.cancel()
        self.wanted.set()
        await self.over.wait()


@final
class Adopted:
    """A person's server, heard through one connection for each of its sessions in which a tab was used.

    `open` is called again after the last connection was lost; `aclose` closes the panes that muxwire made there.
    """

    def __init__(
        self,
        folders: Folders,
        host: LocalHost,
        access: Access,
        book: TabBook,
        on_notification: Callable[[Event], None],
        on_end: Callable[[str], None],
    ) -> None:
        """`on_end` is called with the reason when the last connection has ended."""
        self._folders = folders
        self._host = host
        self._access = access
        self._book = book
        self._on_notification = on_notification
        self._on_end = on_end
        self._sessions: dict[str, _Session] = {}
        # Each server that we have attached to: a new one counts windows from the start, and has logs of its own.
        self._lives = set[str]()
        self._made: set[str] = set()  # the labels of the panes that we made
        self._watchdog: Watchdog | None = None  # there is one as soon as there is something to close
        self._changing = anyio.Lock()  # of the tabs: two calls that see a new window at once must not both adopt it

    @asynccontextmanager
    async def open(self) -> AsyncIterator[TmuxServer]:
        """Attach to the session where a person is, else to any; InstanceUnavailable if there is no server."""
        session = await self._first_session()
        self._folders.prepare()
        self._host.install(self._folders.shells)
        self._folders.make_logs(len(self._lives))
        self._store = LogStore(home=self._folders.state / self._folders.instance)
        self._sessions = {}
        async with self._store, anyio.create_task_group() as self._tasks:
            self._first = self.server_of(session)
            await self._first.attach()
            yield self._first
            self._tasks.cancel_scope.cancel()

    @property
    def main(self) -> TmuxServer:
        """Over which tmux is asked about all sessions: the first that is heard; if none is, one that was lost."""
        return next(
            (one.server for one in self._sessions.values() if one.attached.is_set() and not one.lost), self._first
        )

    async def aclose(self, *, hurry: bool) -> None:
        """Close the panes that we made; the server may be gone, and the connection to it is not needed."""
        if self._watchdog is not None:
            if hurry:
                self._watchdog.hurry()
            await self._watchdog.aclose()

    @property
    def _tmux(self) -> str:
        return program_for(self._host.listening_pid(self._folders.socket_path), self._host)

    def _silent(self) -> TmuxSilent:
        return silent_server(
            self._host,
            self._host.listening_pid(self._folders.socket_path) or 0,
            "the person who runs this server has to check it",
        )

    async def _first_session(self) -> str:
        """The session to attach to; notes which server it is. TmuxSilent, TmuxUnavailable, InstanceUnavailable."""
        socket = self._folders.socket_path
        argv = [self._tmux, "-N", "-S", str(socket), *_SESSIONS]  # -N: starts no server
        try:
            with anyio.fail_after(patience.ANSWER_SECONDS):
                answer = await anyio.run_process(argv, check=False, env=clean_environment(self._host.environ))
        except TimeoutError:
            raise self._silent() from None
        except OSError as error:
            raise TmuxUnavailable(f"cannot start tmux: {error.strerror or error}", remedy=remedy_for(error)) from error
        rows = [row.split(" ") for row in answer.stdout.decode().splitlines()]
        if rows:
            self._version = read_version(rows[0][2], self._host)
            self._lives.add(rows[0][3])
            # One to which a client is attached comes first: the tabs that a person uses are there.
            return min(rows, key=lambda row: row[1] == "0")[0]
        raise InstanceUnavailable(
            f"there is no tmux server at {socket}"
            if self._host.listening_pid(socket) is None
            else f"the tmux server at {socket} has no session",  # it runs on with `exit-empty off`
            remedy=_WHICH_SOCKET,
        )

    def server_of(self, session: str) -> TmuxServer:
        """The session as a server with a hub of its own, attached to when a tab in it is first used."""
        known = self._sessions.get(session)
        if known is not None and not known.lost:
            return known.server
        # -E: the session's environment stays as it is.
        argv = (
            self._tmux, "-u", "-N", "-S", str(self._folders.socket_path),
            "-C", "attach-session", "-E", "-f", "ignore-size", "-t", session,
        )  # fmt: skip
        process = TmuxProcess(
            argv, socket=str(self._folders.socket_path), env=clean_environment(self._host.environ), ephemeral=False,
            cwd="/", starts=False,
        )  # fmt: skip
        client = ControlClient(process, on_notification=self._on_notification, attaches=True)
        client.undoes_dollars = self._version == DOLLAR_VERSION
        client.patience.explain = self._silent
        server = TmuxServer(
            self._host, self._folders, process, client, self._version, len(self._lives), self._store,
            Sessions(client, session, "", ""), self._access,
        )  # fmt: skip
        one = self._sessions[session] = _Session(server)
        server.attach = one.attach
        self._tasks.start_soon(self._hold, one, argv)
        return server

    async def _hold(self, one: _Session, argv: tuple[str, ...]) -> None:
        """A connection's life, in a task of its own: the call that needed it first comes and goes."""
        client, process = one.server.client, one.server.process
        try:
            await one.wanted.wait()
            if not one.gone:
                await process.restart(argv)
                async with client, anyio.create_task_group() as tasks:
                    tasks.start_soon(process.watchdog.keep)
                    with suppress(ConnectionClosed):  # the session is gone already
                        client.submit(("refresh-client", "-B", PROCESS))
                    one.attached.set()
                    with one.open:
                        await client.wait_closed()
                    if self.main.client.closed:
                        self._on_end(client.close_reason)
                    tasks.cancel_scope.cancel()
        except TmuxUnavailable as error:
            one.gone = str(error)
        finally:
            await process.aclose()
            one.gone = one.gone or client.close_reason or "muxwire has left the server"
            one.attached.set()
            one.over.set()
        # The person has detached us, or the session is gone: the next call finds anew what is left of it.
        await self._store.written()  # that call opens the logs again, each at its end
        self._book.retire_all(
            f"the connection to its session ended: {one.gone}; if it is not gone, what runs in it goes on: call again",
            persistent=True,
            client=client,
        )

    # -- tabs

    async def refresh(self) -> bool:
        """Have a tab for every window, and none for windows and panes that are gone.

        Return False if no connection is left: the caller has to `open` again, which finds what there is. TmuxSilent.
        """
        async with self._changing:
            return not self.main.client.closed and await self._refresh()

    async def _refresh(self) -> bool:
        try:
            listed = panes_of(await self.main.client.command(*PANES))
        except TmuxSilent:
            raise
        except (CommandError, ConnectionClosed):
            listed = []
        alive = [row for row in listed if not row.dead]
        panes = {row.pane for row in alive}
        # By window, its active pane. A window that is linked is listed for each session: the first counts.
        rows = {row.window: row for row in reversed(alive) if row.pane_active}
        for session in set(self._sessions) - {row.session for row in listed}:
            await self._sessions[session].end()
        if self.main.client.closed:
            return False
        for tab in list(self._book.open.values()):
            row = rows.get(tab.window_id)
            if row is None or tab.pane_id not in panes:
                tab.lost("its pane is in another window now" if tab.pane_id in panes else "its pane was closed")
                continue
            tab.session = row.session_name
            if tab.pane_id == row.pane and tab.size != row.size:
                tab.was_resized(*row.size, reported=False)
            # Only a change of the shown name is a new name: of a name that muxwire gave, tmux shows a shortened form.
            if tab.shown_name not in (None, row.window_name):
                tab.name = row.window_name
            tab.shown_name = row.window_name
            # Its program has ended, and it was not closed then, since it was the only window of a session.
            if not tab.is_adopted and tab.pane.session.exit_status is not None:
                self._book.spawn(tab.reap)
        known = {tab.window_id for tab in self._book.open.values()}
        for window, row in rows.items():
            if window not in known:
                await self._adopt(row)
        return True

    async def _adopt(self, row: PaneRow) -> None:
        made = (TabRecord.load(self._folders.tab(word)) for word in row.start_command.split() if word in self._made)
        ours = next(made, None)
        record = ours or TabRecord(
            label=secrets.token_hex(8), nonce=secrets.token_hex(8), name=row.window_name, session=row.session_name,
            shell="", cwd=row.cwd, sized=True,
        )  # fmt: skip
        self._host.make_folder(self._folders.tab(record.label))
        pane = RunningPane(row, record, is_adopted=ours is None)
        server = self.server_of(row.session)
        (tab,) = await reattach_panes(server, self._book, [pane])
        if tab.next_byte:  # it was a tab before, until another client detached us: its output since then was not read
            read_again(tab, reason="muxwire was detached from its session")
        tab.shown_name = row.window_name
        if ours is not None:
            self._book.spawn(lambda: notice_lost_end(tab, "muxwire was detached", tab.next_byte))

    async def make(self, request: TabRequest, seat: Seat) -> Tab:
        """Open a tab for a seat, in the session of that name or in the one where a person is; NoSuchTarget.

        No session is made: a person would find it among his own.
        """
        names = {row.session: row.session_name for row in panes_of(await self.main.client.command(*PANES))}
        found = [session for session, name in names.items() if name == request.session]
        if request.session and not found:
            raise NoSuchTarget(
                f"there is no session {request.session!r}",
                remedy=f"use one of {', '.join(names.values())}, or make it: tmux new-session -d -s {request.session}",
            )
        session = found[0] if found else next((one for one in self._sessions if one in names), next(iter(names)))
        server = self.server_of(session)
        server.sessions.hub_name = names[session]
        await server.attach()
        async with self._changing:
            tab = await TabMaker(server, self._book, seat).make(replace(request, session=""), self._coming())
            tab.sized = True  # the person's terminals say how large it is, as of every window there
            await self._refresh()
        return tab

    def _coming(self) -> str:
        """The label of a pane that is about to be made: whatever happens now, it is closed when we are gone."""
        if self._watchdog is None:
            self._watchdog = Watchdog(tmux=self._tmux, socket=str(self._folders.socket_path), kind="adopted")
            self._book.spawn(self._watchdog.keep)
            for folder in self._folders.transient:
                self._watchdog.watch_folder(str(folder))
        label = secrets.token_hex(8)
        self._made.add(label)
        self._watchdog.watch_made(label)
        return label


def socket_of(name: str, environ: Mapping[str, str]) -> Path:
    """The socket of the server that `tmux -L NAME` talks to (tmux(1), -L)."""
    return Path(environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}" / name  # noqa: S108 - as tmux has it
