"""The tmux server of one instance: started when it is first needed, anew when it is gone, ended with the instance."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, final

import anyio

from muxwire.client.client import unexplained
from muxwire.errors import (
    ConnectionClosed,
    HostUnavailable,
    InvalidArgument,
    MuxwireError,
    NoSuchTarget,
    TmuxUnavailable,
)
from muxwire.host.descriptors import make_room
from muxwire.host.host import answer_seconds
from muxwire.host.hosts_file import HostsFile, checked_host_name, links_of, read_hosts, why_ended
from muxwire.host.locks import InstanceLock
from muxwire.ids import host_of
from muxwire.instance.connect import open_server
from muxwire.instance.faces import introduce
from muxwire.instance.notifications import Notifications
from muxwire.instance.orphans import end_orphans
from muxwire.instance.reattach import reattach
from muxwire.logs.history import History
from muxwire.logs.store import FLUSH_WAIT_SECONDS
from muxwire.tabs.book import TabBook
from muxwire.tmux.program import server_pid
from muxwire.tmux.server import ACTIVE_TAB, PREVIOUS_TAB, Access
from muxwire.tmux.start import HISTORY_LIMIT, ServerEnding

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from muxwire.host.carriers import Carrier
    from muxwire.host.folders import Folders
    from muxwire.tabs.tab import Tab


# The other machines of one instance: each has a tmux server and a book of tabs of its own, under one set of names.
#
# A tab on another machine is `HOST/@N`; whatever follows `HOST/` means there what it means here without it.


class Machine(Protocol):
    """The terminals of one machine."""

    async def tab(self, target: str, *, within: float) -> Tab:
        """An open tab."""

    async def server(self, *, start: bool = True) -> object:
        """Its tmux server, which is started if it does not run; without `start` TmuxUnavailable."""

    async def end(self) -> None:
        """End it."""

    async def rest(self) -> None:
        """End its tmux server and the connection, until there is another call."""


# `find_all` waits so long for machines on which an earlier process left tabs: a cold ssh takes 3 s, on a busy machine
# more.
_FOUND_SECONDS = 15.0
# A machine that could not be reached is tried again by `find_all` after this; until then it is not waited for.
_FOUND_AGAIN_SECONDS = 30.0
# Why a list leaves out a machine: another muxwire process has connected to it, or the search for its tabs goes on.
_DRIVEN = "another process has its tabs"
_SEARCHED = "it has not answered yet"
# The reason of a search that failed is cut after so many characters: one or two lines of a terminal.
_REASON_MAX, _CUT = 160, "..."
# Of more machines than that, an error does not say what a tab would be called on each: it is one line.
_NAMES_SAID = 3

# How many descriptors a host needs: three pipes, what its log keeps open, and one that is opened for moments.
FILES_PER_HOST = 5
# With a number after it, the name of a machine that a program gives without a name. If a pattern of `allow` in
# hosts.toml matches it too, the machine that the program gave is meant.
_MADE_UP = "carrier-"

There = TypeVar("There", bound=Machine)


def check_carrier(given: object, what: str) -> None:
    """Refuse what does not lead to a machine: InvalidArgument."""
    from muxwire.host.carriers import Carrier  # late: most processes use no other machine

    if not isinstance(given, Carrier):
        raise InvalidArgument(
            f"{what} must be a Carrier, or the name of a machine that hosts.toml allows, not {given!r}",
            remedy='for example Carrier(["ssh", "box"])',
        )


def check_hosts(carriers: Mapping[str, Carrier]) -> None:
    """Refuse a name that no machine can have, and what does not lead to one: InvalidArgument."""
    for name, carrier in carriers.items():
        checked_host_name(name)
        check_carrier(carrier, f"the host {name}")


def _reason(error: MuxwireError) -> str:
    """Why a machine was not reached, in one short line that does not name it once more."""
    said = f"{error.stage}: {error.reason}" if isinstance(error, HostUnavailable) else str(error)
    line = " ".join(said.split())
    return line if len(line) <= _REASON_MAX else line[: _REASON_MAX - len(_CUT)] + _CUT


@final
class Hosts(Generic[There]):
    """The machines that are used: those that the program gives, and those that hosts.toml allowed at the opening."""

    def __init__(self, life: ServerLifetime, make: Callable[[ServerLifetime], There]) -> None:
        """In a named instance the servers on other machines outlive us too, except one that another process drives.

        The terminals on another machine have a `Hosts` too, which allows no machine.
        """
        self._life = life
        self._folders, host = life.folders, life.host
        self._environ = host.settings
        self._make = make
        self._file = read_hosts(self._environ) if host.is_local else HostsFile(Path())
        self._given: dict[str, Carrier] = {}  # by the program
        self._unnamed = 0  # how many of these the program has given without a name
        self._used: dict[str, There] = {}
        self._lasting = host.is_local and life.access.persistent and life.access.role != "adopted"
        self._finding: dict[str, anyio.Event] = {}  # set when the search for a machine has ended
        self._tried: dict[str, float] = {}  # when that search began, on the monotonic clock
        self._searches: dict[str, anyio.CancelScope] = {}
        self._failed: dict[str, str] = {}  # why the last search for a machine found nothing
        self._locks: dict[str, InstanceLock] = {}  # of the servers that outlive us
        self.latest: There | None = None  # where the tab used last is, if not on this machine

    @property
    def used(self) -> tuple[There, ...]:
        return tuple(self._used.values())

    def on(self, name: str) -> There:
        """The terminals of a host, which is reached at their first use; HostUnavailable if it is not allowed."""
        if name not in self._used:
            from muxwire.host.remote import RemoteHost  # late: most processes use no other machine
            from muxwire.instance.remote import open_remote, remote_folders

            carrier = self._given.get(name) or self._file.carrier(name)
            # A name that was made up here may mean another machine in the next process.
            lasts = self._lasting and not name.startswith(_MADE_UP) and self._is_ours(name)
            folders = remote_folders(self._folders, name, lasting=lasts)
            make_room(FILES_PER_HOST * (len(self._used) + 1))
            host = RemoteHost(name)
            opener = partial(open_remote, host, carrier, self._environ, folders)
            self._used[name] = self._make(self._life.elsewhere(folders, host, opener, lasting=lasts))
        return self._used[name]

    def give(self, carriers: Mapping[str, Carrier]) -> None:
        """Machines that the program allows itself, by their names, which `check_hosts` has checked."""
        self._given.update(carriers)

    def name_of(self, host: str | Carrier) -> str:
        """The name of a machine; for a machine that is given without a name, one is made up the first time."""
        if isinstance(host, str):
            return host
        check_carrier(host, "host")
        name = next((name for name, known in self._given.items() if known == host), "")
        if not name:
            self._unnamed += 1
            name = f"{_MADE_UP}{self._unnamed}"
            self._given[name] = host
        return name

    async def close(self, host: str | Carrier) -> None:
        """End what runs on a machine, and the connection; the next call for it connects again. NoSuchTarget."""
        name = self.name_of(host)
        if (there := self._used.get(name)) is None:
            raise NoSuchTarget(f"no tab was opened on {name}", remedy="`list_tabs` names the hosts of all tabs")
        await there.rest()
        if self.latest is there:
            self.latest = None

    def lasts(self, name: str) -> bool:
        """Whether tabs on a host outlive this process; HostUnavailable if it is not allowed."""
        self.on(name)
        return name in self._locks

    def _is_ours(self, name: str) -> bool:
        """Whether no other process drives the server of this instance on a host; then none will, while we live."""
        from muxwire.instance.remote import prepare_remote, remote_folders

        folders = remote_folders(self._folders, name, lasting=True)
        prepare_remote(folders)
        lock = self._locks.get(name) or InstanceLock(folders.lock)
        if lock.take():
            self._locks[name] = lock
            return True
        lock.release()
        return False

    async def place(self, target: str) -> tuple[There | None, str]:
        """As `split`; the machine may be one where an earlier process of the instance left tabs. HostUnavailable."""
        for name in self._left() if "/" in target else ():
            if target.startswith(f"{name}/"):
                await self._find(name)
        return self.split(target)

    async def find_all(self) -> None:
        """Attach to every machine on which other processes left tabs; that may end after this has returned."""
        for name in self._left():
            if time.monotonic() - self._tried.get(name, -inf) > _FOUND_AGAIN_SECONDS:
                self._tried[name], self._finding[name] = time.monotonic(), anyio.Event()
                self._life.book.spawn(partial(self._find_soon, name, self._finding[name]))
        # What was waited for once is not waited for by each further list.
        searched = {name: done for name, done in self._finding.items() if not done.is_set()}
        if searched:
            begun = max(self._tried[name] for name in searched)
            with anyio.move_on_after(begun + _FOUND_SECONDS - time.monotonic()):
                for done in searched.values():
                    await done.wait()

    async def _find_soon(self, name: str, done: anyio.Event) -> None:
        with anyio.CancelScope() as self._searches[name], suppress(MuxwireError):  # `unreached` tells the error
            await self._find(name)
        done.set()

    @property
    def unreached(self) -> dict[str, str]:
        """The machines on which this instance has tabs that `find_all` did not find, by name, and why."""
        left = self._left() if self._failed else ()
        told = {name: why for name, why in self._failed.items() if name in left}
        told |= {name: _SEARCHED for name, done in self._finding.items() if not done.is_set()}
        return dict(sorted(told.items()))

    def _left(self) -> set[str]:
        """The machines on which an earlier process, or another one, has tabs of this instance."""
        home = self._folders.state / self._folders.instance
        return {link.host for link in links_of(home)} - self._used.keys() if self._lasting else set()

    async def _find(self, name: str) -> None:
        self._failed.pop(name, None)
        try:
            if not self._is_ours(name):
                self._failed[name] = _DRIVEN
                return
            there = self.on(name)
            try:
                await there.server(start=False)
            except BaseException:
                del self._used[name]
                raise
        except TmuxUnavailable:
            return  # the server there has ended
        except MuxwireError as error:
            self._failed[name] = _reason(error)
            raise

    def _why_ended(self, name: str) -> str:
        if not self._lasting:
            return ""
        from muxwire.instance.remote import remote_folders

        folders = remote_folders(self._folders, name, lasting=True)
        return why_ended(folders.state / folders.instance)

    async def create(self, name: str, make: Callable[[There], Awaitable[Tab]]) -> Tab:
        """Open a tab on a host by `make`; it is the one used last then. HostUnavailable, and as `make`."""
        there = self.on(name)
        made = await make(there)
        self.latest = there
        return made

    async def tab(self, target: str, within: float) -> Tab | None:
        """The open tab that a caller means, if it is on another machine; it is the one used last then."""
        there, rest = await self.place(target)
        if there is None:
            return None
        found = await there.tab(rest, within=within)
        self.latest = there
        return found

    def split(self, target: str) -> tuple[There | None, str]:
        """Whose tab a caller means, and what it is called there; None for one of this machine."""
        if target == "." and self.latest is not None:
            return self.latest, target
        # The name of a pod's container begins with the name of the pod, so longer names are tried first.
        for name in sorted(self._used, key=len, reverse=True):
            if target.startswith(f"{name}/"):
                return self._used[name], target.removeprefix(f"{name}/")
        host, _ = host_of(target)
        if host and self._allows(host):
            why = self._why_ended(host)
            raise NoSuchTarget(
                f"this process has no tab on {host}{why and f': {why}'}",
                remedy=f"with host={host} a new one is made; muxwire attach shows those of another process",
            )
        return None, target

    def point_elsewhere(self, error: NoSuchTarget, target: str) -> NoSuchTarget:
        """The same error about a tab of this machine; its remedy says what a tab of another one would be called."""
        names = sorted({*self._used, *self._left()})[:_NAMES_SAID] if "/" not in target else []
        if names:
            error.remedy += f"; on another machine it is {' or '.join(f'{name}/{target}' for name in names)}"
        return error

    def _allows(self, host: str) -> bool:
        with suppress(HostUnavailable):
            return host in self._given or bool(self._file.carrier(host))
        return False

    def left_by(self, target: str) -> tuple[Folders, str]:
        """Where the logs are that an earlier process has of a machine, and what a target is called there."""
        from muxwire.instance.remote import remote_folders

        host, rest = host_of(target)
        return remote_folders(self._folders, host, lasting=True), rest

    async def end(self) -> None:
        for search in self._searches.values():  # the end would wait for the machine to answer
            search.cancel()
        async with anyio.create_task_group() as tasks:
            for there in self.used:
                tasks.start_soon(there.end)
        for lock in self._locks.values():
            lock.release()


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from typing import TypeAlias

    from anyio.abc import TaskGroup, TaskStatus

    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.instance.adopted import Adopted
    from muxwire.instance.connect import Wrap
    from muxwire.tmux.server import TmuxServer

    Opener: TypeAlias = Callable[..., AbstractAsyncContextManager[TmuxServer]]

_LOG = logging.getLogger("muxwire")
# After kill-server a server still listens for 14 ms here; one that refuses us for much longer does not end.
_ENDING_SECONDS = 3.0
_RETRY_SECONDS = 0.02
# A call that is given up while it connects waits so long for the connection. What starts later ends by itself there.
# With the time for a last answer and for closing that is within the 2 s after which MCP clients kill a server.
GIVEN_UP_SECONDS = 0.2
# How long shells in containers may take to end, all at the same time: MCP clients kill a server after 2 s.
_INSIDE_SECONDS = 1.5

_USED = f"#{{{PREVIOUS_TAB}}} #{{{ACTIVE_TAB}}}"


@final
class ServerLifetime:
    """Starts, finds again and ends the tmux server of an instance; `book` knows the tabs in it."""

    def __init__(
        self,
        folders: Folders,
        host: Host,
        tasks: TaskGroup,
        wrap: Wrap | None,
        access: Access,
        *,
        opener: Opener | None = None,
        parent: TabBook | None = None,
    ) -> None:
        """`opener` opens a server on another machine; `parent` is the book of the instance that it belongs to."""
        self._opener = opener or partial(open_server, folders, host)
        self.folders = folders
        self.host = host
        self.access = access
        self.book = TabBook(tasks, parent)
        self.book.on_latest = self._on_latest
        if parent is None and host.environ.get("MUXWIRE_HISTORY") != "off":
            self.book.history = History(
                folders.state / folders.instance, self.book.spawn, lambda: self.access.role == "follower"
            )
        self.notifications = Notifications(self.book)
        self.adopted: Adopted | None = None
        if self.access.role == "adopted":
            from muxwire.instance.adopted import Adopted  # late: few have to do with a person's server

            self.adopted = Adopted(folders, host, self.access, self.book, self.notifications.tell, wrap)
        self.history_limit = HISTORY_LIMIT
        self._tasks = tasks
        self._wrap = wrap
        self._server: TmuxServer | None = None
        self._starting = anyio.Lock()
        self._stop = anyio.Event()
        self._stopped = anyio.Event()
        self._closed = False
        self._client = ""

    def introduce(self, client: str) -> None:
        """Have `muxwire ls` show that program as what drives this instance."""
        self._client = client
        self._introduce()

    def _introduce(self) -> None:
        server = self.running
        if server is not None and self.host.is_local and self.access.role == "owner":
            with suppress(ConnectionClosed):  # no answer is waited for
                introduce(server, self._client)

    def elsewhere(self, folders: Folders, host: Host, opener: Opener, *, lasting: bool) -> ServerLifetime:
        """The lifetime of the server on another machine, which ends with us unless it is `lasting`."""
        access = Access(persistent=lasting)
        there = ServerLifetime(folders, host, self._tasks, self._wrap, access, opener=opener, parent=self.book)
        there.book.on_nonsense = there._on_nonsense
        there.history_limit = self.history_limit
        there._client = self._client
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
                await self.access.settle(self.folders)
                self._server = await self._start(start)
                if self.access.role != "adopted":
                    await self._reattach(self._server)
                self._introduce()
            assert self._server is not None
            return self._server

    async def _start(self, start: bool) -> TmuxServer:
        """Start the server or attach to it; one that is just ending is waited for, and another started."""
        deadline = anyio.current_time() + _ENDING_SECONDS
        while True:
            try:
                server: TmuxServer = await (
                    self._start_there()
                    if start and not self.host.is_local
                    else self._tasks.start(self._run_server, start)
                )
            except ServerEnding:
                if anyio.current_time() > deadline:
                    raise
                await anyio.sleep(_RETRY_SECONDS)
            else:
                return server

    async def _start_there(self) -> TmuxServer:
        """Start the server on another machine, for a call that may be cancelled: then no new one is left running there.

        Only over the connection can a server be ended that this call has had started, so that is waited for a little.
        """
        opening, done = anyio.CancelScope(), anyio.Event()
        made: list[TmuxServer] = []
        failed: list[Exception] = []

        async def begin() -> None:
            try:
                with opening:
                    made.append(await self._tasks.start(self._run_server, True))
            except Exception as error:  # noqa: BLE001 - raised again below, to the call
                failed.append(error)
            finally:
                if opening.cancel_called:
                    self._stop.set()
                done.set()

        self._tasks.start_soon(begin)
        try:
            await done.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                try:
                    with anyio.move_on_after(GIVEN_UP_SECONDS):
                        await done.wait()
                finally:  # also where asyncio cancels it once more
                    opening.cancel()
                    self._stop.set()
                await done.wait()
                if made:
                    await self._stopped.wait()
            raise
        if failed:
            raise failed[0]
        if not made:
            raise ConnectionClosed("the instance was closed", remedy="open terminals once more")
        return made[0]

    async def look(self, within: float = inf) -> None:
        """Know a person's windows as they are now, and the server that another process has started since.

        TmuxUnavailable, InstanceUnavailable, TmuxSilent.
        """
        if self.adopted is None:
            await self._find(within)
        else:
            with self.time_for_answers(within):
                await self.server()
                while not await self.adopted.refresh():
                    await self.server()

    async def _find(self, within: float) -> None:
        """Attach to the server of a name that was not there when this process opened it."""
        if self.running is not None or self._closed or not (self.access.persistent and self.host.is_local):
            return
        if self.folders.socket_path.exists() and server_pid(self.folders, self.host) is not None:
            with self.time_for_answers(within):
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
        return self._server if self._server is not None and not self._server.client.closed else None

    async def _run_server(self, start: bool, *, task_status: TaskStatus[TmuxServer]) -> None:
        """The server's life, in a task of its own: it belongs to no caller, and outlives the call that started it."""
        self._stop, self._stopped = anyio.Event(), anyio.Event()
        started = False
        try:
            async with self._open_server(start) as server:
                task_status.started(server)
                started = True
                if self.host.is_local and self.access.role == "owner":
                    self._tasks.start_soon(end_orphans, self.folders)
                await self._stop.wait()
        except Exception as error:
            if self.host.is_local or not started:
                raise
            self._on_nonsense(error)
        finally:
            self._stopped.set()

    def _open_server(self, start: bool) -> AbstractAsyncContextManager[TmuxServer]:
        if self.adopted is not None:
            return self.adopted.open(self._on_end)
        return self._opener(
            history_limit=self.history_limit,
            on_notification=self.notifications.tell,
            on_end=self._on_end,
            wrap=self._wrap,
            access=self.access,
            book=self.book,
            **({} if self.host.is_local else {"start": start, "client_name": self._client}),
        )

    async def _stop_server(self) -> None:
        if self._server is not None:
            self._stop.set()
            await self._stopped.wait()
            self._server = None
            self.notifications.end()
            self.book.retire_all("the tmux server ended", persistent=self.access.persistent)

    async def rest(self) -> None:
        """End the server on another machine, and every tab there; the next call starts another one."""
        async with self._starting:
            for tab in list(self.book.open.values()) if self.access.persistent else ():  # else they end with the server
                with suppress(MuxwireError):
                    await tab.close(force=True)
            await self._stop_server()

    async def _hang_up_inside(self) -> None:
        """End shells in containers, which would go on there when the tabs end with the server."""
        with anyio.move_on_after(_INSIDE_SECONDS):
            async with anyio.create_task_group() as tasks:
                for tab in self.book.open.values() if self.running is not None else ():
                    tasks.start_soon(tab.runner.hang_up_inside)

    def _on_latest(self) -> None:
        """Tell tmux which tab is the active one: for the status line that people see, and for the next process."""
        server, tab = self.running, self.book.open.get(self.book.latest)
        if server is not None and tab is not None and self.access.role != "adopted":
            with suppress(ConnectionClosed):  # no answer is waited for
                server.client.submit(("set-option", "-s", ACTIVE_TAB, tab.window_id))
                server.client.submit(("set-option", "-s", PREVIOUS_TAB, self.book.previous))

    def _on_end(self, reason: str) -> None:
        """The connection is gone: nothing that waits may wait on, and what ran in the tabs must not stay."""
        self.book.retire_all(f"the tmux server ended: {reason}", persistent=self.access.persistent)
        self._stop.set()

    def _on_nonsense(self, error: Exception) -> None:
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
                if not self.access.persistent:
                    await self._hang_up_inside()
                if self.book.leaves_running and self._server is not None:
                    self._server.hurry()
                await self._stop_server()
            if self.adopted is not None:
                await self.adopted.aclose(hurry=self.book.leaves_running)
        self.book.retire_all("the instance was closed", persistent=self.access.persistent)
        if self.book.history is not None:
            with anyio.CancelScope(shield=True), anyio.move_on_after(FLUSH_WAIT_SECONDS):
                await self.book.history.flush()
        if not self.access.persistent or self.access.role == "adopted":
            self.folders.remove_transient()
        if self.access.lock is not None:
            self.access.lock.release()
