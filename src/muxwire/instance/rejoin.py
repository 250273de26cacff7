"""After a lost connection to another machine: the output of every pane continues at the byte at which it stopped.

What a pane writes is kept there too, from its first byte on (`host/scripts/spool.sh`). When there is a connection
again, the two are joined (stream_join.py).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Protocol, final

import anyio

from muxwire.errors import TmuxUnavailable
from muxwire.instance.lost_end import notice_lost_end
from muxwire.instance.stream_join import KeptOutput, StreamJoin
from muxwire.protocol.commands import command
from muxwire.tabs.maker import PANE_FORMAT
from muxwire.tabs.windows import look_up

if TYPE_CHECKING:
    from muxwire.client.client import ControlClient
    from muxwire.host.remote import RemoteHost
    from muxwire.protocol.commands import Command
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab

# In the arguments of a supervisor, and in the name of its pane's directory.
_NONCE = re.compile(rb"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")


class Connection(Protocol):
    """The connection to a machine, which is opened anew whenever it is lost; `was_used`: it has worked."""

    host: RemoteHost
    was_used: bool

    async def reopen(self) -> None:
        """Connect again; TmuxUnavailable."""

    def works(self) -> None:
        """The tmux there has answered."""


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
            return reason  # it ended before it worked
        self._reason = f"the connection to {self._connection.host.name} was lost ({reason})"
        self._record("reconnecting")
        self._end_joins()
        try:
            await self._connection.reopen()
        except TmuxUnavailable:
            return reason
        return ""

    def on_reconnected(self) -> None:
        """There is a connection again: commands wait until tmux has said which of them it has run."""
        self._record("up")
        self.client.submit(("refresh-client", "-C", self._size))
        self._end_joins()  # of a tab that was found again while there was no connection
        for tab in self._book.open.values():
            self.begin(tab)
        self._book.spawn(self._settle)

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

    async def _settle(self) -> None:
        connections = self.client.connections
        await look_up(self._book)
        if self.client.connections == connections:
            self._connection.works()

    def _record(self, link: str) -> None:
        self._book.events.record("link", "", host=self._connection.host.name, link=link)


def asked_later(lost: Command) -> Command | None:
    """What answers as a command that made a pane, and whose answer was lost: the pane is known by its nonce."""
    nonces = Counter(_NONCE.findall(lost.line)).most_common(1)
    if lost.name not in ("new-window", "split-window") or not nonces:
        return None
    made = f"#{{m:*{nonces[0][0].decode()}*,#{{pane_start_command}}}}"
    return command("list-panes", "-a", "-f", made, "-F", PANE_FORMAT)
