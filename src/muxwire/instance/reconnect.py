"""Attaching again when tmux has detached our client, and recording what was lost meanwhile.

tmux throws out a control client that has not read for 300 s (`too far behind`: a suspended laptop), and drops what it
held for it; a person can detach it, and somebody can kill it. The server and its panes continue, so we attach again. Of
each pane this one line is sent, with nothing read from the pane between its commands:

    refresh-client -A '%N:pause' ; capture-pane ... -t %N ; refresh-client -A '%N:continue'

What comes after `%continue` is the output from that moment on. Nobody knows how much is missing before it: tmux counts
no pane's bytes. So the log gets a hole of one byte, whose record says why, between which two times the lost bytes were
written, and what the screen showed at its end. Measured on tmux 3.3a.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, final

from muxwire.client.pipes import DRAINED_SECONDS, STALL_SECONDS
from muxwire.errors import CommandError, ConnectionClosed, TmuxUnavailable
from muxwire.ids import pane_id
from muxwire.instance.lost_end import notice_lost_end
from muxwire.pane.captures import capture_commands, captured
from muxwire.protocol.events import Continue, SessionChanged
from muxwire.tabs.maker import listen_again
from muxwire.tabs.windows import look_up

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.client.client import ControlClient
    from muxwire.client.pending import Pending
    from muxwire.client.pipes import ProcessPipes
    from muxwire.ids import PaneId
    from muxwire.pane.captures import Version
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab


@final
class _Held:
    """A pane between two connections: what it says is thrown away until tmux says that it flows again."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.pending: Pending | None = None
        self.whole_from = 0  # the offset after the gap

    def feed(self, data: bytes) -> None:
        """Take output that a gap lies before, and another perhaps after."""

    def screen(self, version: Version) -> str:
        """What the pane showed when it was to continue; "" if tmux did not say."""
        asked = capture_commands(version, "", ())
        # After the answer to `pause`; that to `continue` may still be on its way.
        blocks = self.pending.blocks[1 : 1 + len(asked)] if self.pending is not None else []
        if len(blocks) < len(asked) or any(block.error for block in blocks):
            return ""
        (rows,) = captured(version, [block.output for block in blocks])
        return b"\n".join(rows).decode("utf-8", "replace").rstrip()


@final
class Reconnect:
    """The connection of one instance, when it is lost and reconnected.

    `client` is set once there is one, `hub` (the session's id) and `version` once the server has said who it is.
    """

    client: ControlClient

    def __init__(
        self, process: ProcessPipes, restart: Callable[[str], Awaitable[object]], size: str, book: TabBook
    ) -> None:
        """`restart` attaches to the hub anew; `size` is the client's, as refresh-client takes it."""
        self.hub = ""
        self.version: Version = (0, 0)
        self._process = process
        self._restart = restart
        self._size = size
        self._book = book
        self._reason = ""
        self._stall = process.stall
        self._attaching = False
        self._held: dict[PaneId, _Held] = {}

    async def reconnect(self, reason: str) -> str:
        """Attach again; return why not, if we cannot."""
        if self._reason or not self.hub:
            return self._reason or reason  # it ended before it worked: there is no server any more
        self._reason = reason
        self._stall = self._process.stall
        try:
            await self._restart(self.hub)
        except TmuxUnavailable:
            return reason
        return ""

    def on_reconnected(self) -> None:
        """There is a process again: what it says of panes counts once tmux has attached it and they flow."""
        for tab in self._book.open.values():
            pane = pane_id(tab.pane_id)
            tab.renamings = 0  # what tmux had not reported yet it never will
            self._held[pane] = _Held(tab)
            self.client.attach_pane(pane, self._held[pane].feed)
        self._attaching = True

    def follow(self, event: Event) -> None:
        """Take a notification of tmux: %session-changed when we are attached, %continue when a pane flows."""
        match event:
            case SessionChanged() if self._attaching:
                self._attaching = False
                self._reattach()
            case Continue(pane) if pane in self._held:
                self._go_on(pane)
            case _:
                pass

    def _reattach(self) -> None:
        # Not before we are attached: tmux 3.3 reads commands earlier, and refuses these for want of a client.
        self.client.submit(("refresh-client", "-C", self._size))
        for pane, held in self._held.items():
            held.pending = self.client.submit_list(
                ("refresh-client", "-A", f"{pane}:pause"),
                *capture_commands(self.version, pane, ()),
                ("refresh-client", "-A", f"{pane}:continue"),
            )
        everyone = list(self._held.items())
        self._book.spawn(lambda: self._settle(everyone))

    def _go_on(self, pane: PaneId) -> None:
        held = self._held.pop(pane)
        stream = held.tab.pane.stream
        now = time.time()
        listen_again(
            held.tab,
            reason=self._reason,
            since=round(now - (time.monotonic() - self._written_before(stream.last_output)), 3),
            until=round(now, 3),
            screen=held.screen(self.version),
        )
        held.whole_from = stream.end

    def _written_before(self, heard: float) -> float:
        """A time before which the pane wrote what was last heard of it: what tmux or the pipe held is older."""
        began, ended = self._stall
        return min(heard - STALL_SECONDS, began) if heard < ended + DRAINED_SECONDS else heard - STALL_SECONDS

    async def _settle(self, everyone: Sequence[tuple[PaneId, _Held]]) -> None:
        """Find out what happened to the panes meanwhile."""
        reason = self._reason
        tabs: list[tuple[Tab, int]] = []
        with suppress(ConnectionClosed):
            for pane, held in everyone:
                assert held.pending is not None
                with suppress(CommandError):  # the pane is gone: looked up below
                    await held.pending.wait()
                if pane in self._held:
                    self._go_on(pane)
                tabs.append((held.tab, held.whole_from))
            await look_up(self._book)
            self._reason = ""
        for tab, whole_from in tabs:
            if not tab.pane.session.dead:
                await notice_lost_end(tab, reason, whole_from)
