"""After a lost connection to another machine: the output of every pane continues at the byte at which it stopped.

What a pane writes is kept there too, from its first byte on (`host/scripts/spool.sh`). When there is a connection
again, an invisible mark R is printed on the pane's terminal. Both streams contain it: up to R we read what was kept,
and what comes live continues after it. Nothing is counted, stopped or waited for.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from typing import TYPE_CHECKING, Protocol, final

import anyio

from muxwire.errors import TmuxUnavailable
from muxwire.ids import pane_id
from muxwire.instance.lost_end import notice_lost_end
from muxwire.logs.segment_writer import UNKNOWN_SIZE
from muxwire.protocol.commands import command
from muxwire.shell.marks import INTRODUCER
from muxwire.tabs.maker import PANE_FORMAT, attach_stream
from muxwire.tabs.windows import look_up

if TYPE_CHECKING:
    from muxwire.client.client import ControlClient
    from muxwire.host.remote import RemoteHost
    from muxwire.protocol.commands import Command
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab

# What comes live while the kept output is read is held here; a pane that writes more gets another mark.
_HELD_BYTES = 16 << 20
# The program that keeps the output has read what tmux has sent us within a ms; on a busy machine within seconds.
_KEPT_SOON = 0.02
_KEPT_LOOKS = 500
# tmux opens the pipe with the pane, so it has the first byte; the program that stores the output starts a little later.
# Until then nothing is stored, and the question is repeated so often: two seconds.
_BEGUN_LOOKS = 100
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
class _PaneRejoin:
    """One pane, from a new connection until its output comes live again."""

    def __init__(self, tab: Tab, host: RemoteHost, client: ControlClient, reason: str) -> None:
        self.tab = tab
        self.over = False  # or there is a newer connection
        self.behind_gap = False
        self._host, self._client, self._reason = host, client, reason
        self._stream = tab.pane.stream
        self._heard = anyio.Event()
        self._looks = 0
        self._print_mark()
        self._stream.rejoining = True
        client.attach_pane(pane_id(tab.pane_id), self._feed)

    def _print_mark(self) -> None:
        self._mark = INTRODUCER + b"R;%s\x07" % secrets.token_hex(8).encode()
        self._live = bytearray()
        self._is_live = False  # whether R has come
        self._host.rejoin(self.tab.pane.tty, self._mark)

    def _feed(self, data: bytes) -> None:
        """Take what comes live: what stands before R is kept there too."""
        self._live += data
        if not self._is_live:
            at = self._live.find(self._mark)
            self._is_live = at >= 0
            del self._live[: at + len(self._mark) if at >= 0 else 1 - len(self._mark)]
        self._heard.set()

    async def run(self) -> None:
        """Read what was kept up to R, and continue live."""
        while not self._is_over():
            self._heard = anyio.Event()
            found = await self._host.spooled(self.tab.pane_id, self._stream.end)
            if self._is_over() or (found is None and not self._host.link.up):
                return  # the next connection begins again
            if found is not None and self._take(*found):
                break
            if len(self._live) > _HELD_BYTES:
                self._print_mark()
            elif self._looks and self._is_live:
                await anyio.sleep(_KEPT_SOON)
            elif self._looks:
                self._looks = 0
                await self._heard.wait()
        while not (self._is_live or self._is_over()):
            self._heard = anyio.Event()
            await self._heard.wait()
        if not self._is_over():
            self._go_on_live()

    def _is_over(self) -> bool:
        return self.over or self.tab.pane.session.closed or self._client.closed

    def _take(self, first: int, data: bytes) -> bool:
        """Take what was kept from an offset on; return whether live output continues after it."""
        stream = self._stream
        if first < 0 and self._looks < _BEGUN_LOOKS:
            self._looks += 1
            return False
        if first < 0 or self._looks > _KEPT_LOOKS:
            stream.lose(UNKNOWN_SIZE, exact=False, reason=f"{self._reason}; what was written then was not kept there")
            self.behind_gap = self._is_live = True
            return True
        if first > stream.end:
            stream.lose(first - stream.end, reason=f"{self._reason}; more was written then than is kept there (spool)")
            self.behind_gap = True
        at = data.find(self._mark)
        end = at + len(self._mark) if at >= 0 else len(data) - _begun(data, self._mark)
        if end:
            stream.feed(data[:end])
        self._looks = 0 if end else self._looks + 1
        return at >= 0

    def _go_on_live(self) -> None:
        self.over, self._stream.rejoining = True, False
        attach_stream(self.tab)
        self._stream.feed(bytes(self._live))


def _begun(data: bytes, mark: bytes) -> int:
    """How many bytes at the end of `data` may be the beginning of `mark`."""
    return next((size for size in range(min(len(mark) - 1, len(data)), 0, -1) if data.endswith(mark[:size])), 0)


@final
class Rejoin:
    """The panes of one machine, after each time that the connection was lost. `client` is set once there is one."""

    client: ControlClient

    def __init__(self, connection: Connection, book: TabBook, size: str) -> None:
        self._connection, self._book, self._size = connection, book, size
        self._reason = ""
        self._panes: list[_PaneRejoin] = []

    async def reconnect(self, reason: str) -> str:
        """Connect again; return why not, if we cannot."""
        if not self._connection.was_used:
            return reason  # it ended before it worked
        self._reason = f"the connection to {self._connection.host.name} was lost ({reason})"
        self._record("reconnecting")
        for pane in self._panes:
            pane.over = True
        try:
            await self._connection.reopen()
        except TmuxUnavailable:
            return reason
        return ""

    def on_reconnected(self) -> None:
        """There is a connection again: commands wait until tmux has said which of them it has run."""
        self._record("up")
        self.client.submit(("refresh-client", "-C", self._size))
        self._panes = []
        for tab in self._book.open.values():
            self.begin(tab)
        self._book.spawn(self._settle)

    def begin(self, tab: Tab) -> None:
        """Bring the output of a pane that was made while the connection was lost, or before."""
        pane = _PaneRejoin(tab, self._connection.host, self.client, self._reason)
        self._panes.append(pane)
        self._book.spawn(lambda: self._run(pane))

    async def _run(self, pane: _PaneRejoin) -> None:
        await pane.run()
        if pane.behind_gap and not pane.tab.pane.session.dead:
            await notice_lost_end(pane.tab, self._reason, pane.tab.pane.stream.whole_from)

    async def _settle(self) -> None:
        """Find out what happened to the windows meanwhile."""
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
