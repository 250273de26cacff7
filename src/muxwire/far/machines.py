"""The other machines of one instance: each has a tmux server and a book of tabs of its own, under one set of names.

A tab on another machine is `HOST/@N`; whatever follows `HOST/` means there what it means here without it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, cast, final

import anyio

from muxwire.errors import HostUnavailable, InvalidArgument, MuxwireError, NoSuchTarget, TmuxUnavailable
from muxwire.far.carriers import Carrier
from muxwire.far.hosts_file import checked_host_name, read_hosts
from muxwire.far.links import forget_link, links, why_ended
from muxwire.host.descriptors import make_room
from muxwire.ids import LAST_USED, USED_BEFORE, host_of
from muxwire.library.machine import Machine, Machines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from muxwire.host.folders import Folders
    from muxwire.tabs.seat import Seat
    from muxwire.verbs.types import Way


# `find_all` waits so long for machines on which an earlier process left tabs: a cold ssh takes 3 s, on a busy machine
# more.
_FOUND_SECONDS = 15.0
# A machine that could not be reached is tried again by `find_all` after this; until then it is not waited for.
_FOUND_AGAIN_SECONDS = 30.0
# Why a list leaves out a machine: the search for its tabs goes on.
_SEARCHED = "it has not answered yet"
# The reason of a search that failed is cut after so many characters: one or two lines of a terminal.
_REASON_MAX, _CUT = 160, "..."
# Why no tab is on a machine that did not answer when its tabs were to be closed by force.
_GIVEN_UP = "it was not reached, and is forgotten; its programs end by themselves after `keep`"
# Of more machines than that, an error does not say what a tab would be called on each: it is one line.
_NAMES_SAID = 3

# How many descriptors a host needs: three pipes, what its log keeps open, and one that is opened for moments.
FILES_PER_HOST = 5
# With a number after it, the name of a machine that a program gives without a name. If a pattern of `allow` in
# hosts.toml matches it too, the machine that the program gave is meant.
_MADE_UP = "carrier-"


def check_host(name: str, carrier: object) -> None:
    """Refuse a name that no machine can have, and what does not lead to one: InvalidArgument."""
    checked_host_name(name)
    _checked(carrier, f"the host {name}")


def _checked(given: object, what: str) -> Carrier:
    if not isinstance(given, Carrier):
        raise InvalidArgument(
            f"{what} must be a Carrier, or the name of a machine that hosts.toml allows, not {given!r}",
            remedy='for example Carrier(["ssh", "box"])',
        )
    return given


def _reason(error: MuxwireError) -> str:
    """Why a machine was not reached, in one short line that does not name it once more."""
    line = " ".join((f"{error.stage}: {error.reason}" if isinstance(error, HostUnavailable) else str(error)).split())
    return line if len(line) <= _REASON_MAX else line[: _REASON_MAX - len(_CUT)] + _CUT


@final
class FarMachines(Machines):
    """The machines that are used: those that the program gives, and those that hosts.toml allowed at the opening."""

    def __init__(self, here: Machine) -> None:
        """In a named instance the servers on other machines outlive us too."""
        super().__init__(here)
        self._life = life = here.life
        self._folders, host = life.folders, life.host
        self._environ = host.settings
        self._file = read_hosts(self._environ)
        self._given: dict[str, Carrier] = {}  # by the program
        self._unnamed = 0  # how many of these the program has given without a name
        self._used: dict[str, Machine] = {}
        self._lasting = life.access.persistent and life.access.role != "adopted"
        self._finding: dict[str, anyio.Event] = {}  # set when the search for a machine has ended
        self._tried: dict[str, float] = {}  # when that search began, on the monotonic clock
        self._searches: dict[str, anyio.CancelScope] = {}
        self._failed: dict[str, str] = {}  # why the last search for a machine found nothing

    @property
    def machines(self) -> tuple[Machine, ...]:
        return (self.here, *self._used.values())

    def on(self, host: str | Way) -> Machine:
        name = self._name_of(host)
        if not name:
            return self.here
        if name not in self._used:
            from muxwire.far.connection import open_remote, prepare_remote, remote_folders
            from muxwire.far.host import RemoteHost  # late: most processes use no other machine

            carrier = self._given.get(name) or self._file.carrier(name)
            # A name that was made up here may mean another machine in the next process.
            lasts = self._lasting and not name.startswith(_MADE_UP)
            folders = remote_folders(self._folders, name, lasting=lasts)
            if lasts:
                prepare_remote(folders)
            make_room(FILES_PER_HOST * (len(self._used) + 1))
            there = RemoteHost(name)
            opener = partial(open_remote, there, carrier, self._environ, folders)
            self._used[name] = Machine(self._life.on_machine(folders, there, opener, lasting=lasts))
        return self._used[name]

    def give(self, hosts: Mapping[str, Way]) -> None:
        self._given.update(cast("Mapping[str, Carrier]", hosts))

    def _name_of(self, host: str | Way) -> str:
        """The name of a machine; for a machine that is given without a name, one is made up the first time."""
        if isinstance(host, str):
            return host
        carrier = _checked(host, "host")
        name = next((name for name, known in self._given.items() if known == carrier), "")
        if not name:
            self._unnamed += 1
            name = f"{_MADE_UP}{self._unnamed}"
            self._given[name] = carrier
        return name

    async def close(self, host: str | Way) -> None:
        name = self._name_of(host)
        if name in self.unreached:
            self._searches.get(name, anyio.CancelScope()).cancel()
            forget_link(self._logs(name), _GIVEN_UP)
        elif (there := self._used.get(name)) is None:
            raise NoSuchTarget(f"no tab was opened on {name}", remedy="`list_tabs` names the hosts of all tabs")
        else:
            await there.life.stop_server()

    async def place(self, target: str, seat: Seat) -> tuple[Machine, str]:
        for name in self._left() if "/" in target else ():
            if target.startswith(f"{name}/"):
                await self._find(name)
        return self._split(target, seat)

    async def find_all(self) -> None:
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
        left = self._left() if self._failed else ()
        reasons = {name: why for name, why in self._failed.items() if name in left} | {
            name: _SEARCHED for name, done in self._finding.items() if not done.is_set()
        }
        return dict(sorted(reasons.items()))

    def _left(self) -> set[str]:
        """The machines on which an earlier process, or another one, has tabs of this instance."""
        searched = {name for name, done in self._finding.items() if not done.is_set()}
        reached = {name for name, there in self._used.items() if name in searched or there.life.running is not None}
        return (
            {link.host for link in links(self._folders.state, self._folders.instance)} - reached
            if self._lasting
            else set()
        )

    async def _find(self, name: str) -> None:
        self._failed.pop(name, None)
        try:
            await self.on(name).life.server(start=False)
        except TmuxUnavailable:
            return  # the server there has ended
        except MuxwireError as error:
            self._failed[name] = _reason(error)
            raise

    def _logs(self, name: str) -> Path:
        """Where a named instance keeps the logs of that machine."""
        from muxwire.far.connection import remote_folders

        folders = remote_folders(self._folders, name, lasting=True)
        return folders.state / folders.instance

    @property
    def _with_tabs(self) -> dict[str, Machine]:
        """Those with a server, or that had a tab. Others stay in `_used`: a call may be starting a server there."""
        return {name: there for name, there in self._used.items() if there.life.running or there.book.closed}

    def _split(self, target: str, seat: Seat) -> tuple[Machine, str]:
        """Whose tab a client means, and what it is called there."""
        latest = self.latest(seat)
        if target == LAST_USED:
            return latest, target
        if target == USED_BEFORE:
            # A key that comes again stays where it is.
            before = [*{key: there for there, key in self.last_used(seat)}.values(), latest, latest][1]
            return before, target if before is latest else LAST_USED
        # The name of a pod's container begins with the name of the pod, so longer names are tried first.
        for name in sorted(found := self._with_tabs, key=len, reverse=True):
            if target.startswith(f"{name}/"):
                return found[name], target.removeprefix(f"{name}/")
        host = target.rpartition("/")[0]
        # A name with a slash may also be one on this machine.
        if host and self._allows(host) and (host_of(target)[0] or self._logs(host).is_dir()):
            why = why_ended(self._logs(host)) if self._lasting else ""
            raise NoSuchTarget(
                f"this process has no tab on {host}{why and f': {why}'}",
                remedy=f"with host={host} a new one is made; muxwire attach shows those of another process",
            )
        return self.here, target

    def point_elsewhere(self, error: NoSuchTarget, target: str) -> None:
        known = [tab for there in self._with_tabs.values() for tab in there.book.open.values()]
        named = {tab.prefix + target for tab in known if target in (tab.name, tab.pane_id, tab.key[len(tab.prefix) :])}
        there = f"it is {' or '.join(sorted(named)[:_NAMES_SAID])}" if named else "a tab is called HOST/NAME"
        error.remedy += f"; on another machine {there}" if "/" not in target and (known or self._left()) else ""

    def _allows(self, host: str) -> bool:
        with suppress(HostUnavailable):
            return host in self._given or bool(self._file.carrier(host))
        return False

    def left_by(self, target: str) -> tuple[Folders, str]:
        from muxwire.far.connection import remote_folders

        host, rest = host_of(target)
        return remote_folders(self._folders, host, lasting=True), rest

    async def end(self) -> None:
        for search in self._searches.values():  # the end would wait for the machine to answer
            search.cancel()
        async with anyio.create_task_group() as tasks:
            for there in self._used.values():
                tasks.start_soon(there.life.aclose)
