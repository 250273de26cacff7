"""A tmux server that a person runs: its windows as tabs, and nothing of it changed.

Every window is a tab, with its active pane at the time it was found. Their shells have no hooks of ours, so commands
run as in any shell that was not started by us (listening.py): the kernel says who reads, the body's path is typed.

Windows that we make there are as everywhere. They are known by the nonce among the arguments of their first process,
and end with this process, however that ends (client/adopted_watchdog.py).
"""

from __future__ import annotations

import functools
import inspect
import os
import secrets
import weakref
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar, final

import anyio

from muxwire.client.liveness import Watchdog
from muxwire.client.process import clean_environment
from muxwire.errors import ConnectionClosed, InstanceUnavailable, NoSuchTarget
from muxwire.host.folders import private_folder
from muxwire.host.processes import command_name, executable
from muxwire.host.shells import install, shell_for
from muxwire.ids import pane_id
from muxwire.instance.adopted_link import Link, after_a_gap, open_link
from muxwire.instance.reattach import restore
from muxwire.instance.reconnect import poll_until
from muxwire.logs.store import LogStore
from muxwire.protocol.escaping import DOLLAR_VERSION
from muxwire.tabs.maker import PanePlace, TabMaker
from muxwire.tabs.record import TabRecord
from muxwire.tmux.program import program_for, read_version, server_pid
from muxwire.tmux.server import TmuxServer
from muxwire.tmux.sessions import Sessions
from muxwire.tmux.start import silent_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
    from contextlib import AbstractAsyncContextManager

    from anyio.abc import TaskGroup, TaskStatus

    from muxwire.host.folders import Folders
    from muxwire.instance.connect import Wrap
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.maker import TabRequest
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.access import Access

_SESSIONS = "#{session_id} #{session_attached} #{version}"
_PANES = (
    "#{window_id} #{pane_id} #{pane_pid} #{pane_tty} #{window_width} #{session_id} #{pane_active} #{pane_dead}"
    " |#{window_name} |#{session_name} |#{pane_current_path} |#{pane_start_command}"
)
_GAP = " |"
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
# A server in good health answers at once.
_ASK_SECONDS = 5.0


@final
@dataclass(frozen=True, slots=True)
class _Row:
    place: PanePlace
    columns: int
    session_id: str
    name: str
    session: str
    cwd: str
    command: str


@final
class Adopted:
    """A person's server, seen through one link for each of its sessions that is used.

    It is opened again when the connection to it was lost; `aclose` closes what was made there.
    """

    def __init__(
        self,
        folders: Folders,
        environ: Mapping[str, str],
        access: Access,
        book: TabBook,
        on_notification: Callable[[Event], None],
        wrap: Wrap | None = None,
    ) -> None:
        self.main: TmuxServer
        self._wrap_transport = wrap
        self._folders = folders
        self._environ = environ
        self._access = access
        self._book = book
        self._on_notification = on_notification
        self._store: LogStore
        self._links: dict[str, Link] = {}
        self._servers: dict[str, TmuxServer] = {}
        # The tabs whose calls are wrapped, each with the name that tmux showed when it was last looked at.
        self._shown: weakref.WeakKeyDictionary[Tab, str] = weakref.WeakKeyDictionary()
        self._made: set[str] = set()  # the nonces of the panes that we made
        self._watchdog: Watchdog | None = None  # there is one as soon as there is something to close
        self._tasks: TaskGroup
        self._linking = anyio.Lock()
        self._changing = anyio.Lock()  # of the tabs: two calls that see a new window at once must not both take it up

    @asynccontextmanager
    async def open(self, on_end: Callable[[str], None]) -> AsyncIterator[TmuxServer]:
        """Attach for the first time; InstanceUnavailable if there is no server."""
        sessions = await self._sessions()
        self._folders.prepare()
        install(self._folders.shells)
        private_folder(self._folders.logs(1).parent)
        private_folder(self._folders.logs(1))
        self._store = LogStore(home=self._folders.state / self._folders.instance)
        self._links, self._servers = {}, {}
        async with self._store, anyio.create_task_group() as self._tasks:
            self.main = await self.server_of(sessions[0])

            async def watch() -> None:
                await self.main.client.wait_closed()
                on_end(self.main.client.close_reason)

            self._tasks.start_soon(watch)
            yield self.main
            self._tasks.cancel_scope.cancel()

    def _program(self) -> str:
        return program_for(server_pid(self._folders.socket_path), self._environ)

    async def aclose(self) -> None:
        """Close the panes that we made; the server may be gone, and the connection to it is not needed."""
        if self._watchdog is not None:
            await self._watchdog.aclose()

    async def _sessions(self) -> list[str]:
        tmux, socket = self._program(), str(self._folders.socket_path)
        argv = [tmux, "-N", "-S", socket, "list-sessions", "-F", _SESSIONS]
        try:
            with anyio.fail_after(_ASK_SECONDS):
                answer = await anyio.run_process(argv, check=False, env=clean_environment(self._environ))
        except (OSError, TimeoutError) as error:
            raise InstanceUnavailable(f"the tmux server at {socket} does not answer: {error}") from error
        rows = [line.split(" ") for line in answer.stdout.decode("utf-8", "replace").splitlines()]
        if not rows:
            raise InstanceUnavailable(
                f"no tmux server with a session at {socket}: {answer.stderr.decode('utf-8', 'replace').strip()}",
                remedy="`tmux display-message -p '#{socket_path}'` inside of it tells the path",
            )
        self.version = read_version(rows[0][2])
        # Where a person is, is where the tabs are that matter.
        return [row[0] for row in sorted(rows, key=lambda row: row[1] == "0")]

    async def server_of(self, session: str) -> TmuxServer:
        """The session as a server with a hub of its own; attached now if it never was."""
        async with self._linking:
            if session not in self._servers or self._links[session].client.closed:
                link = self._links[session] = await self._tasks.start(self._hold_link, session)
                link.client.undoes_dollars = self.version == DOLLAR_VERSION
                if pid := server_pid(self._folders.socket_path):
                    link.client.patience.explain = lambda: silent_server(pid, "the person who runs it has to look")
                sessions = Sessions(link.client, session, "", "")
                self._servers[session] = TmuxServer(
                    self._folders, link.process, link.client, self.version, 1, self._store, sessions, self._access
                )
            async with self._links[session].used():  # so that it lets go, should no call come
                return self._servers[session]

    async def _hold_link(self, session: str, *, task_status: TaskStatus[Link]) -> None:
        """A link's life, in a task of its own: the call that needed it first comes and goes."""
        async with open_link(
            self._program(),
            str(self._folders.socket_path),
            session,
            self._environ,
            store=self._store,
            book=self._book,
            on_notification=self._on_notification,
            wrap=self._wrap_transport,
        ) as link:
            task_status.started(link)
            await link.client.wait_closed()
            # The person has detached us, or the session is gone: what is left of it is found anew by the next call.
            await self._store.written()  # a log is opened again at its end
            reason = f"the connection to its session ended: {link.client.close_reason}"
            for tab in [tab for tab in self._book.open.values() if tab.client is link.client]:
                self._book.retire(tab, reason, persistent=True)

    # -- tabs

    async def refresh(self) -> None:
        """Have a tab for every window, and none for windows and panes that are gone."""
        async with self._changing:
            await self._refresh()

    async def _refresh(self) -> None:
        rows, panes = await self._rows()
        for tab in list(self._book.open.values()):
            row = rows.get(tab.window_id)
            if row is None or tab.pane_id not in panes:
                tab.lost("its pane was closed")
                continue
            tab.session, tab.columns = row.session, row.columns
            if tab not in self._shown:  # one that we made: of its name tmux shows what its status line has room for
                self._wrap(tab)
            elif row.name != self._shown[tab]:
                tab.name = row.name
            self._shown[tab] = row.name
            if not tab.theirs and tab.pane.exit_status is not None:  # it was the only window of a session
                self._reap(tab)
        known = {tab.window_id for tab in self._book.open.values()}
        for window, row in rows.items():
            if window not in known:
                await self._adopt(row)

    async def _rows(self) -> tuple[dict[str, _Row], set[str]]:
        """The active pane of every window, and the ids of all panes that live."""
        rows: dict[str, _Row] = {}
        panes = set()
        for line in await self.main.client.command("list-panes", "-a", "-F", _PANES):
            ids, name, session, cwd, command = [*line.decode("utf-8", "replace").split(_GAP, 4), "", "", "", ""][:5]
            window, pane, pid, tty, width, session_id, active, dead = ids.split(" ")
            if dead == "1":
                continue
            panes.add(pane)
            if active == "1" and window not in rows:  # a window that is linked is listed for each session
                place = PanePlace(window, pane, int(pid), tty)
                rows[window] = _Row(place, int(width), session_id, name, session, cwd, command)
        return rows, panes

    async def _adopt(self, row: _Row) -> None:
        server = await self.server_of(row.session_id)
        maker = TabMaker(server, self._environ, self._book)
        made = (TabRecord.load(self._folders.tab(word)) for word in row.command.split() if word in self._made)
        ours = next(made, None)
        record = ours or TabRecord(
            nonce=secrets.token_hex(8), name=row.name, session=row.session, shell="", cwd=row.cwd,
            columns=row.columns, sized=True,
        )  # fmt: skip
        private_folder(self._folders.tab(record.nonce))
        tab = maker.build(record, row.place)
        tab.session_id, tab.theirs = row.session_id, ours is None
        if ours is None:
            tab.pane.adopt(shell_for(executable(row.place.pid) or command_name(row.place.pid)))
        else:
            await restore(tab, self._book)
        maker.listen(tab)
        if tab.next_byte:  # we had it before, and were thrown out: since then nobody has heard it
            server.client.attach_pane(pane_id(tab.pane_id), after_a_gap(server.client, tab))
        self._wrap(tab)
        self._shown[tab] = row.name
        if ours is not None:
            self._book.spawn(lambda: poll_until(tab, "muxwire was detached", tab.next_byte))

    async def make(self, request: TabRequest) -> Tab:
        """Open a tab in the session of that name, or in the one where a person is; NoSuchTarget.

        No session is made: a person would find it among his own.
        """
        rows = await self.main.client.command("list-sessions", "-F", "#{session_id} #{session_name}")
        names = dict(row.decode("utf-8", "replace").split(" ", 1) for row in rows)
        found = [session for session, name in names.items() if name == request.session]
        if request.session and not found:
            raise NoSuchTarget(
                f"there is no session {request.session!r}",
                remedy=f"use one of {', '.join(names.values())}, or make it: tmux new-session -d -s {request.session}",
            )
        session = found[0] if found else next(iter(self._servers))
        server = await self.server_of(session)
        server.sessions.hub_name = names[session]
        async with self._changing, self._links[session].used():
            maker = TabMaker(server, self._environ, self._book)
            tab = await maker.make(replace(request, session=""), self._coming())
            tab.sized = True  # the person's terminals say how large it is, as of every window there
            await self._refresh()
        return tab

    def _coming(self) -> str:
        """The nonce of a pane that is about to be made: whatever happens now, it is closed when we are gone."""
        if self._watchdog is None:
            self._watchdog = Watchdog(tmux=self._program(), socket=str(self._folders.socket_path), kind="adopted")
            self._book.spawn(self._watchdog.keep)
            for folder in self._folders.transient:
                self._watchdog.watch_folder(str(folder))
        nonce = secrets.token_hex(8)
        self._made.add(nonce)
        self._watchdog.watch_made(nonce)
        return nonce

    def _wrap(self, tab: Tab) -> None:
        wrap_calls(tab, self._links[tab.session_id].used, spare=("reap",))
        tab.pane.on_exit = lambda: self._reap(tab)

    def _reap(self, tab: Tab) -> None:
        async def reap() -> None:
            with suppress(ConnectionClosed):  # the session, or the server, is gone
                async with self._links[tab.session_id].used():
                    await tab.reap()

        self._book.spawn(reap)

    @asynccontextmanager
    async def used(self) -> AsyncIterator[None]:
        """Be attached for a call, to every session, with all tabs as they are now."""
        async with AsyncExitStack() as stack:
            for link in list(self._links.values()):
                if not link.client.closed:
                    await stack.enter_async_context(link.used())
            await self.refresh()
            yield


def wrap_calls(
    target: object, used: Callable[[], AbstractAsyncContextManager[None]], spare: Collection[str] = ()
) -> None:
    """Have every public call of this one object run inside of `used()`."""

    def inside(call: Callable[_Arguments, Awaitable[_Result]]) -> Callable[_Arguments, Awaitable[_Result]]:
        @functools.wraps(call)
        async def run(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
            async with used():
                return await call(*arguments, **options)

        return run

    for name, call in inspect.getmembers(target, inspect.iscoroutinefunction):
        if not name.startswith("_") and name not in spare:
            setattr(target, name, inside(call))


def socket_of(name: str, environ: Mapping[str, str]) -> Path:
    """The socket of the server that `tmux -L NAME` talks to (tmux(1), -L)."""
    return Path(environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}" / name  # noqa: S108 - as tmux has it
