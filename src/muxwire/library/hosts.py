"""The other machines of one instance: each has a tmux server and a book of tabs of its own, under one set of names.

A tab on another machine is `HOST/@N`; whatever follows `HOST/` means there what it means here without it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, final

import anyio

from muxwire.errors import HostUnavailable, MuxwireError, NoSuchTarget, TmuxUnavailable
from muxwire.host.hosts_file import HostsFile, read_hosts
from muxwire.host.links import links_of
from muxwire.host.locks import InstanceLock
from muxwire.ids import host_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.host.folders import Folders
    from muxwire.library.lifetime import ServerLifetime
    from muxwire.tabs.tab import Tab


class Machine(Protocol):
    """The terminals of one machine."""

    async def tab(self, target: str, *, within: float) -> Tab:
        """An open tab."""

    async def server(self, *, start: bool = True) -> object:
        """Its tmux server, which is started if it does not run; without `start` TmuxUnavailable."""

    async def end(self) -> None:
        """End it."""


# A list waits so long for machines on which an earlier process left tabs: a cold ssh takes 3 s, on a busy machine more.
_FOUND_SECONDS = 15.0
# One that could not be reached is tried again by a list after this; until then nobody waits for it.
_FOUND_AGAIN_SECONDS = 30.0

There = TypeVar("There", bound=Machine)


@final
class Hosts(Generic[There]):
    """The machines that are used; which may be used was read when the instance was opened."""

    def __init__(self, life: ServerLifetime, make: Callable[[ServerLifetime], There]) -> None:
        """Of a named instance the servers there outlive us too, but one that another process drives.

        The terminals on another machine know of no further ones.
        """
        self._life = life
        self._folders, host = life.folders, life.host
        self._environ = host.environ if host.is_local else {}
        self._make = make
        self._file = read_hosts(self._environ) if host.is_local else HostsFile(Path())
        self._used: dict[str, There] = {}
        self._lasting = host.is_local and life.access.persistent and life.access.role != "adopted"
        self._finding: dict[str, anyio.Event] = {}  # set when a machine was found, or not
        self._tried: dict[str, float] = {}  # when that was, on the monotonic clock
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

            carrier = self._file.carrier(name)
            lasts = self._lasting and self._is_ours(name)
            folders = remote_folders(self._folders, name, lasting=lasts)
            host = RemoteHost(name)
            opener = partial(open_remote, host, carrier, self._environ, folders)
            self._used[name] = self._make(self._life.elsewhere(folders, host, opener, lasting=lasts))
        return self._used[name]

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
        """As `split`; the machine may be one on which an earlier process of ours left tabs. HostUnavailable."""
        for name in self._left() if "/" in target else ():
            if target.startswith(f"{name}/"):
                await self._find(name)
        return self.split(target)

    async def find_all(self) -> None:
        """Attach to every machine where such tabs are, or wait no longer: it is done later."""
        for name in self._left():
            if time.monotonic() - self._tried.get(name, -inf) > _FOUND_AGAIN_SECONDS:
                self._tried[name], self._finding[name] = time.monotonic(), anyio.Event()
                self._life.book.spawn(partial(self._find_soon, name, self._finding[name]))
        with anyio.move_on_after(_FOUND_SECONDS):
            for done in self._finding.values():
                await done.wait()

    async def _find_soon(self, name: str, done: anyio.Event) -> None:
        with suppress(MuxwireError):
            await self._find(name)
        done.set()

    def _left(self) -> set[str]:
        """The machines on which an earlier process, or another one, has tabs of this instance."""
        home = self._folders.state / self._folders.instance
        return {link.host for link in links_of(home)} - self._used.keys() if self._lasting else set()

    async def _find(self, name: str) -> None:
        if not self._is_ours(name):
            return
        there = self.on(name)
        try:
            await there.server(start=False)
        except BaseException as error:
            del self._used[name]
            if not isinstance(error, TmuxUnavailable):  # it has ended
                raise

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
        # A pod's container has a longer name than the pod.
        for name in sorted(self._used, key=len, reverse=True):
            if target.startswith(f"{name}/"):
                return self._used[name], target.removeprefix(f"{name}/")
        host, _ = host_of(target)
        if host and self._allows(host):
            raise NoSuchTarget(
                f"this process has no tab on {host}",
                remedy=f"with host={host} a new one is made; muxwire attach shows those of another process",
            )
        return None, target

    def _allows(self, host: str) -> bool:
        with suppress(HostUnavailable):
            return bool(self._file.carrier(host).argv)
        return False

    def left_by(self, target: str) -> tuple[Folders, str]:
        """Where the logs are that an earlier process has of a machine, and what a target is called there."""
        from muxwire.instance.remote import remote_folders

        host, rest = host_of(target)
        return remote_folders(self._folders, host, lasting=True), rest

    async def end(self) -> None:
        async with anyio.create_task_group() as tasks:
            for there in self.used:
                tasks.start_soon(there.end)
        for lock in self._locks.values():
            lock.release()
