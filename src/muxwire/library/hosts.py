"""The other machines of one instance: each has a tmux server and a book of tabs of its own, under one set of names.

A tab on another machine is `HOST/@N`; whatever follows `HOST/` means there what it means here without it.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, final

import anyio

from muxwire.errors import HostUnavailable, NoSuchTarget
from muxwire.host.hosts_file import HostsFile, read_hosts
from muxwire.ids import host_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.tabs.tab import Tab


class Machine(Protocol):
    """The terminals of one machine."""

    async def tab(self, target: str) -> Tab:
        """An open tab."""

    async def end(self) -> None:
        """End it."""


There = TypeVar("There", bound=Machine)


@final
class Hosts(Generic[There]):
    """The machines that are used; which may be used was read when the instance was opened."""

    def __init__(self, folders: Folders, host: Host, make: Callable[..., There]) -> None:
        """`make` takes the directories of a host, the host, and what opens its server.

        The terminals on another machine know of no further ones.
        """
        self._folders = folders
        self._environ = host.environ if host.is_local else {}
        self._make = make
        self._file = read_hosts(self._environ) if host.is_local else HostsFile(Path())
        self._used: dict[str, There] = {}
        self.latest: There | None = None  # where the tab used last is, if not on this machine

    @property
    def used(self) -> tuple[There, ...]:
        """The terminals of every machine that was used."""
        return tuple(self._used.values())

    def on(self, name: str) -> There:
        """The terminals of a host, which is reached at their first use; HostUnavailable if it is not allowed."""
        if name not in self._used:
            from muxwire.host.remote import RemoteHost  # late: most processes use no other machine
            from muxwire.instance.remote import open_remote, remote_folders

            carrier = self._file.carrier(name)
            folders = remote_folders(self._folders, name)
            host = RemoteHost(name)
            opener = partial(open_remote, host, carrier, self._environ, folders)
            self._used[name] = self._make(folders, host, opener)
        return self._used[name]

    async def create(self, name: str, make: Callable[[There], Awaitable[Tab]]) -> Tab:
        """Open a tab on a host by `make`; it is the one used last then. HostUnavailable, and as `make`."""
        there = self.on(name)
        made = await make(there)
        self.latest = there
        return made

    async def tab(self, target: str) -> Tab | None:
        """The open tab that a caller means, if it is on another machine; it is the one used last then."""
        there, rest = self.split(target)
        if there is None:
            return None
        found = await there.tab(rest)
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

    async def end(self) -> None:
        """End what was started on every machine."""
        async with anyio.create_task_group() as tasks:
            for there in self.used:
                tasks.start_soon(there.end)
