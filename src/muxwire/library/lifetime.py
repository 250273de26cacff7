"""The tmux server of one instance: started when it is first needed, anew when it is gone, ended with the instance."""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.client import unexplained
from muxwire.errors import (
    ConnectionClosed,
    MuxwireError,
)
from muxwire.host.host import answer_seconds
from muxwire.host.local import LocalHost
from muxwire.instance.faces import introduce
from muxwire.instance.notifications import Notifications
from muxwire.instance.orphans import end_orphans
from muxwire.instance.reattach import reattach
from muxwire.logs.history import History
from muxwire.logs.store import FLUSH_WAIT_SECONDS
from muxwire.tabs.book import TabBook
from muxwire.tmux.server import Access
from muxwire.tmux.start import HISTORY_LIMIT, ServerEnding
from muxwire.tmux.status_line import ACTIVE_TAB, PREVIOUS_TAB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from typing import TypeAlias

    from anyio.abc import TaskGroup, TaskStatus

    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.instance.adopted import Adopted
    from muxwire.tmux.server import TmuxServer

    Opener: TypeAlias = Callable[..., AbstractAsyncContextManager[TmuxServer]]


_LOG = logging.getLogger("muxwire")
# After kill-server a server still listens for 14 ms here; one that refuses us for much longer does not end.
_ENDING_SECONDS = 3.0
_RETRY_SECONDS = 0.02

# A server that is just ending may listen for a moment, and then nothing goes on.
_LOST = (
    "the connection to tmux was lost, as when a person detaches it; unless the server is ending too, what runs in the "
    "tabs goes on: call again, and read its output with `read_logs_from_tab`"
)
_USED = f"#{{{PREVIOUS_TAB}}} #{{{ACTIVE_TAB}}}"


@final
class ServerLifetime:
    """Starts, finds again and ends the tmux server of an instance; `book` knows the tabs in it."""

    def __init__(
        self,
        folders: Folders,
        host: Host,
        tasks: TaskGroup,
        access: Access,
        opener: Opener,
        *,
        parent: TabBook | None = None,
    ) -> None:
        """`opener` opens the server; on another machine `parent` is the book of the instance that it belongs to."""
        self._opener = opener
        self.folders = folders
        self.host = host
        self.access = access
        self.book = TabBook(tasks, parent)
        self.book.on_latest = self._on_latest
        if parent is None and host.environ.get("MUXWIRE_HISTORY") != "off":
            self.book.history = History(folders.state / folders.instance, self.book.spawn)
        self.notifications = Notifications(self.book)
        self.adopted: Adopted | None = None
        if self.access.role == "adopted":
            assert isinstance(host, LocalHost)
            from muxwire.instance.adopted import Adopted  # late: few have to do with a person's server

            self.adopted = Adopted(folders, host, self.access, self.book, self.notifications.notify, self._on_end)
        self._settle = partial(access.settle, folders)
        self.history_limit = HISTORY_LIMIT
        self._tasks = tasks
        self._server: TmuxServer | None = None
        self._starting = anyio.Lock()
        self._stop = anyio.Event()
        self._stopped = anyio.Event()
        self._closed = False
        self._client, self._directory = "", host.own_folder() if host.is_local else ""
        self.on_change: Callable[[], None] = lambda: None  # is called when the server has started or ended

    def name_client(self, client: str, directory: str) -> None:
        """Have `muxwire ls` show that program, in that directory, as what drives this instance."""
        self._client, self._directory = client, directory
        self._note_client()

    def _note_client(self) -> None:
        server = self.running
        if server is not None and self.host.is_local and self.adopted is None:
            with suppress(ConnectionClosed):  # no answer is waited for
                introduce(server, self._client, self._directory)

    def on_machine(self, folders: Folders, host: Host, opener: Opener, *, lasting: bool) -> ServerLifetime:
        """The lifetime of the server on another machine, which ends with us unless it is `lasting`."""
        access = Access(persistent=lasting)
        there = ServerLifetime(folders, host, self._tasks, access, opener, parent=self.book)
        there.book.on_unreadable = there._on_unreadable
        there.history_limit, there._settle = self.history_limit, self._settle  # one process has all of the instance
        there._client, there._directory = self._client, self._directory
        return there

    async def server(self, *, start: bool = True) -> TmuxServer:
        """The running tmux server; started now if there is none. TmuxUnavailable, InstanceUnavailable.

        On another machine, without `start`, a server is only looked for.
        """
        if self._server is not None and self.access.role != "adopted":  # adopted: a call attaches by itself
            client = self._server.client
            with anyio.move_on_after(client.patience.seconds) as late:
                await client.wait_reconnected()
            if late.cancelled_caught:
                raise client.patience.explain()
        async with self._starting:
            if self._closed:
                raise ConnectionClosed("the instance was closed", remedy="open terminals once more")
            if self.running is None:
                await self._stop_server()
                await self._settle()
                self._server = await self._start(start)
                if self.access.role != "adopted":
                    await self._reattach(self._server)
                self._note_client()
                self.on_change()
            assert self._server is not None
            return self.running or self._server

    async def _start(self, start: bool) -> TmuxServer:
        """Start the server or attach to it; one that is just ending is waited for, and another started."""
        deadline = anyio.current_time() + _ENDING_SECONDS
        while True:
            try:
                server: TmuxServer = await self._tasks.start(self._run_server, start)
            except ServerEnding:
                if anyio.current_time() > deadline:
                    raise
                await anyio.sleep(_RETRY_SECONDS)
            else:
                return server

    async def look(self, within: float = inf) -> None:
        """Know a person's windows as they are now, and the tabs of a server whose connection was lost.

        TmuxUnavailable, InstanceUnavailable, TmuxSilent, ConnectionClosed if the instance was closed.
        """
        if self._closed or self.adopted is not None or self._is_lost():
            with self.time_for_answers(within):
                await self.server()
                while self.adopted is not None and not await self.adopted.refresh():
                    await self.server()

    @contextmanager
    def time_for_answers(self, within: float) -> Iterator[None]:
        """Limit what a call asks tmux before its own time begins: TmuxSilent after max(`within`, `answer_seconds`)."""
        try:
            with anyio.fail_after(max(within, answer_seconds(self.host))):
                yield
        except TimeoutError:
            explain = unexplained if self._server is None else self._server.client.patience.explain
            raise explain() from None

    async def _reattach(self, server: TmuxServer) -> None:
        self.notifications.begin(server)
        try:
            if self.access.persistent:
                with self.notifications.kept():
                    await reattach(server, self.book)
                    server.tabs_known = True
                    # The tabs that an earlier process used last count as the tabs that this process used last.
                    (answer,) = await server.client.command("display-message", "-p", _USED)
                    previous, latest = answer.decode().split(" ")
                    self.book.recall_used(previous, self.host.prefix + latest)
        except BaseException:  # also a call that is cancelled: the next one begins anew, or no tab would be found again
            with anyio.CancelScope(shield=True):
                await self._stop_server()
            raise

    @property
    def running(self) -> TmuxServer | None:
        server = self._server if self.adopted is None or self._server is None else self.adopted.main
        return server if server is not None and not server.client.closed else None

    async def _run_server(self, start: bool, *, task_status: TaskStatus[TmuxServer]) -> None:
        """The server's life, in a task of its own: it belongs to no caller, and outlives the call that started it."""
        self._stop, self._stopped, started = anyio.Event(), anyio.Event(), False
        try:
            async with self._open_server(start) as server:
                task_status.started(server)
                started = True
                if self.host.is_local and self.adopted is None:
                    self._tasks.start_soon(end_orphans, self.folders)
                await self._stop.wait()
        except Exception as error:
            if self.host.is_local or not started:
                raise
            self._on_unreadable(error)
        finally:
            self._stopped.set()
            self.on_change()

    def _open_server(self, start: bool) -> AbstractAsyncContextManager[TmuxServer]:
        if self.adopted is not None:
            return self.adopted.open()
        return self._opener(
            history_limit=self.history_limit,
            on_notification=self.notifications.notify,
            on_end=self._on_end,
            access=self.access,
            book=self.book,
            **({} if self.host.is_local else {"start": start, "driver": (self._client, self._directory)}),
        )

    async def _stop_server(self) -> None:
        if self._server is not None:
            self._stop.set()
            await self._stopped.wait()
            self._server = None
            self.notifications.end()
            self.book.retire_all(
                "the instance was closed" if self._closed else "the tmux server ended",
                persistent=self.access.persistent,
            )

    async def stop_server(self) -> None:
        """End the server on another machine, and every tab there; the next call starts another one."""
        async with self._starting:
            for tab in list(self.book.open.values()) if self.access.persistent else ():  # else they end with the server
                with suppress(MuxwireError):
                    await tab.close(force=True)
            await self._stop_server()

    def _on_latest(self) -> None:
        """Tell tmux which tab is the active one: for the status line that people see, and for the next process."""
        server, tab = self.running, self.book.open.get(self.book.latest())
        if server is not None and tab is not None and self.access.role != "adopted":
            with suppress(ConnectionClosed):  # no answer is waited for
                server.client.submit(("set-option", "-s", ACTIVE_TAB, tab.window_id))
                server.client.submit(("set-option", "-s", PREVIOUS_TAB, self.book.previous()))

    def _on_end(self, reason: str) -> None:
        """The connection is gone: nothing that waits may wait on, and what ran in the tabs must not stay."""
        self.book.retire_all(
            _LOST if self._is_lost() else f"the tmux server ended: {reason}", persistent=self.access.persistent
        )
        self._stop.set()

    def _is_lost(self) -> bool:
        """Whether only the connection has ended, as when a person detaches it, to a server that outlives us."""
        return (
            self._server is not None
            and self.running is None
            and self.access.persistent
            and isinstance(self.host, LocalHost)
            and self.host.listening_pid(self.folders.socket_path) is not None
        )

    def _on_unreadable(self, error: Exception) -> None:
        """Another machine sends what no tmux sends: its tabs end, those of this machine and of others do not."""
        name = self.host.prefix.removesuffix("/")
        _LOG.warning("%s is given up: its answers cannot be understood", name, exc_info=error)
        self._on_end(f"the answers of {name} cannot be understood")

    async def aclose(self) -> None:
        """End the instance: every process in its tabs, its tmux server, its connection. Logs stay."""
        with anyio.CancelScope(shield=True):
            async with self._starting:
                self._closed = True
                if self.access.lock is not None:
                    self.access.lock.leave()
                if self.book.leaving and self._server is not None:
                    self._server.hurry()
                await self._stop_server()
            if self.adopted is not None:
                await self.adopted.aclose(hurry=bool(self.book.leaving))
        if self.book.history is not None:
            with anyio.CancelScope(shield=True), anyio.move_on_after(FLUSH_WAIT_SECONDS):
                await self.book.history.flush()
        if not self.access.persistent or self.access.role == "adopted":
            self.folders.remove_transient()
        if self.access.lock is not None:
            self.access.lock.release()
