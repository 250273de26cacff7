"""The tabs of one machine: what makes them and finds them at its tmux server. `Terminals` has one or several.

Several where `muxwire.far` is: a tab on another machine is `HOST/@N` then.
"""

from __future__ import annotations

import os
from math import inf
from typing import TYPE_CHECKING, final

from muxwire.errors import NoSuchTarget
from muxwire.host.elsewhere import far, missing
from muxwire.tabs.maker import TabMaker, checked_request
from muxwire.tabs.targets import find_tab

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.library.lifetime import ServerLifetime
    from muxwire.tabs.seat import Seat
    from muxwire.tabs.tab import Tab
    from muxwire.verbs.catalogue import TabRequest
    from muxwire.verbs.types import Way


@final
class Machine:
    """The tmux server of an instance on one machine, and the book of its tabs."""

    def __init__(self, life: ServerLifetime) -> None:
        self.life = life
        self.book = life.book
        self.name = life.host.prefix.removesuffix("/")  # "" for this machine

    async def make(self, wanted: TabRequest, seat: Seat, host: Host) -> Tab:
        """Open the tab that is described; as `Terminals.create_tab`. `host` is the machine as the client sees it."""
        if not host.is_local:
            await self.life.server()
            await host.look_up(
                [os.fspath(wanted.cwd)] if wanted.cwd else [], [*filter(None, (wanted.shell, *wanted.command[:1]))]
            )
        request = checked_request(host, wanted)
        server = await self.life.server()
        if self.life.adopted is not None:
            made = await self.life.adopted.make(request, seat)
        else:
            made = await TabMaker(server, self.book, seat).make(request, os.urandom(8).hex())
        seat.made.add(made)
        return made

    async def tab(self, target: str, seat: Seat, within: float = inf) -> Tab:
        """The open tab that `target` names; it is the one that the seat used last then. As `Terminals.tab`.

        The tmux server that follows one that has ended numbers its windows from the start again. An id that was the
        seat's own tab at the old server is refused if another client's tab has it now.
        """
        tab = await self.known_tab(target, seat, within)
        if self.book.open.get(tab.key) is not tab:
            raise NoSuchTarget(
                f"tab {target} is closed: {tab.end_reason}",
                remedy="its log can still be read; create a new tab with `create_tab`",
            )
        if (
            target in (tab.key.removeprefix(self.life.host.prefix), tab.pane_id)
            and tab.key not in seat.used
            and (own := [one for one in seat.made if one.key == tab.key and one.generation < tab.generation])
        ):
            raise NoSuchTarget(
                f"the tmux server that had your tab {target} has ended, and another client's tab is called so now",
                remedy=f"make one with `create_tab`; {tab.address} is that tab, and {own[-1].address} has your log",
            )
        self.book.use(tab.key, seat)
        return tab

    async def known_tab(self, target: str, seat: Seat, within: float = inf) -> Tab:
        """The tab that `target` names, open or closed; this does not make it the active one. As `Terminals.tab`."""
        await self.life.look(within)
        tab = self.book.open.get(self.life.host.prefix + target)
        if tab is None:
            with self.life.time_for_answers(within):
                sessions = running.sessions if (running := self.life.running) is not None else None
                tab = await find_tab(target, self.book, seat, self.life.host.prefix, sessions)
        tab.pane.use.note()
        return tab


class Machines:
    """The machines of one instance, under one set of names: this one. `muxwire.far` has a class that reaches others."""

    def __init__(self, here: Machine) -> None:
        self.here = here

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Those that are used, this one first."""
        return (self.here,)

    @property
    def unreached(self) -> dict[str, str]:
        """The machines on which this instance has tabs that `find_all` did not find, by name, and why."""
        return {}

    def on(self, host: str | Way) -> Machine:
        """The machine of that name ("" is this one), which is reached at its first use; HostUnavailable."""
        if host:
            raise missing(host)
        return self.here

    def give(self, hosts: Mapping[str, Way]) -> None:
        """Machines that the program allows itself, by their names, which `check_hosts` has checked."""

    async def close(self, host: str | Way) -> None:
        """End what runs on a machine, and the connection; the next call for it connects again. NoSuchTarget.

        One that `find_all` could not reach is forgotten: what runs there ends by itself.
        """
        self.on(host)

    async def find_all(self) -> None:
        """Attach to every machine on which other processes left tabs; that may end after this has returned."""

    def latest(self, seat: Seat) -> Machine:
        """The machine of the open tab that a client used last, this one if it has used none."""
        return next(self.last_used(seat), (self.here, ""))[0]

    def last_used(self, seat: Seat) -> Iterator[tuple[Machine, str]]:
        """The open tabs that a client used, the last one first, then those of this machine to which it may come.

        Each is its machine and its key, and may come twice.
        """
        for key in reversed(seat.used):
            yield from ((there, key) for there in self.machines if there.book.lives(key))
        yield from ((self.here, key) for key in self.here.book.last_used(seat))

    async def place(self, target: str, _seat: Seat) -> tuple[Machine, str]:
        """Whose tab a client means, and what it is called there.

        The machine may be one where an earlier process of the instance left tabs. HostUnavailable, NoSuchTarget.
        """
        return self.here, target

    def left_by(self, target: str) -> tuple[Folders, str]:
        """Where the logs are that an earlier process has of a machine, and what a target is called there."""
        return self.here.life.folders, target

    def point_elsewhere(self, error: NoSuchTarget, target: str) -> None:
        """Add to an error about a tab of this machine what a tab of another one would be called."""

    async def end(self) -> None:
        """Leave the other machines, or end what is there."""


def machines_of(here: Machine) -> Machines:
    """All machines that can be reached."""
    found = far("machines")
    return Machines(here) if found is None else found.FarMachines(here)


def check_hosts(hosts: Mapping[str, Way]) -> None:
    """Refuse a name that no machine can have, and what does not lead to one: InvalidArgument, HostUnavailable."""
    for name, way in hosts.items():
        found = far("machines")
        if found is None:
            raise missing(name)
        found.check_host(name, way)
