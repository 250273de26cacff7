"""The tabs of one machine: what makes them and finds them at its tmux server. `Terminals` has one or several."""

from __future__ import annotations

import os
from math import inf
from typing import TYPE_CHECKING, final

from muxwire.errors import NoSuchTarget
from muxwire.tabs.maker import TabMaker, checked_request
from muxwire.tabs.targets import find_tab, open_pane

if TYPE_CHECKING:
    from muxwire.host.host import Host
    from muxwire.library.lifetime import ServerLifetime
    from muxwire.tabs.seat import Seat
    from muxwire.tabs.tab import Tab
    from muxwire.verbs.catalogue import TabRequest


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
            programs = [program for program in (wanted.shell, *wanted.command[:1]) if program]
            await host.look_up([os.fspath(wanted.cwd)] if wanted.cwd else [], programs)
        request = checked_request(host, wanted)
        server = await self.life.server()
        if self.life.adopted is not None:
            made = await self.life.adopted.make(request)
        else:
            made = await TabMaker(server, self.book, seat).make(request, os.urandom(8).hex())
        seat.away = self.name
        seat.made.add(made)
        return made

    async def tab(self, target: str, seat: Seat, within: float = inf) -> Tab:
        """The open tab that `target` names; it is the one that the seat used last then. As `Terminals.tab`."""
        tab = await self.known_tab(target, seat, within)
        if self.book.open.get(tab.key) is not tab:
            raise NoSuchTarget(
                f"tab {target} is closed: {tab.end_reason}",
                remedy="its log can still be read; create a new tab with `create_tab`",
            )
        self.book.use(tab.key, seat)
        seat.away = self.name
        return tab

    async def known_tab(self, target: str, seat: Seat, within: float = inf) -> Tab:
        """The tab that `target` names, open or closed; this does not make it the active one. As `Terminals.tab`."""
        await self.life.look(within)
        prefix = self.life.host.prefix
        tab = self.book.open.get(prefix + target) or open_pane(target, self.book.open)
        tab = tab or next((one for one in self.book.open.values() if one.address == prefix + target), None)
        if tab is None:
            sessions = self.life.running.sessions if self.life.running is not None else None
            with self.life.time_for_answers(within):
                tab = await find_tab(target, self.book, seat, prefix, sessions)
        tab.pane.use.note()
        return tab
