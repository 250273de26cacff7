"""Attaching again when tmux has detached our client, and recording what was lost meanwhile.

tmux throws out a control client that has not read for 300 s (`too far behind`: a suspended laptop), and drops what it
held for it; a person can detach it, and any process of the user can kill it. The server and its panes continue, so we
attach again, and ask what each pane shows. When tmux's answer begins, all that the pane had written before has
arrived. It is thrown away, because it is not known how much is missing before it: tmux counts no pane's bytes. What
comes after the answer is whole, so the log gets a hole of one byte there, whose record says why, between which two
times the lost bytes were written, and what the screen showed. (While several panes flood, the answer may be some lines
late.)
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, final

from muxwire.client.transport import DRAINED_SECONDS, STALL_SECONDS
from muxwire.errors import CommandError, ConnectionClosed, TmuxUnavailable
from muxwire.ids import pane_id
from muxwire.instance.lost_end import notice_lost_end
from muxwire.tabs.maker import read_again
from muxwire.tabs.windows import look_up
from muxwire.tmux.screens import capture_commands, captured

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from muxwire.client.client import ControlClient, Pending
    from muxwire.client.transport import ProcessPipes
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.screens import Version


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

    async def reconnect(self, reason: str) -> str:
        if self._reason or not self.hub:
            return self._reason or reason  # the connection failed again at once, or never worked: the server is gone
        self._reason = reason
        self._stall = self._process.stall
        try:
            await self._restart(self.hub)
        except TmuxUnavailable:
            return reason
        return ""

    def on_reconnected(self) -> None:
        """There is a connection again: what it says of a pane counts from the answer to what the pane shows."""
        (attached,) = self.client.submit(("refresh-client", "-C", self._size))
        asked = {tab: self._ask(tab) for tab in self._book.open.values()}
        self._book.spawn(lambda: self._settle(attached, asked))

    def _ask(self, tab: Tab) -> Pending:
        self.client.attach_pane(pane_id(tab.pane_id), lambda _: None)
        asked = self.client.submit_list(*capture_commands(self.version, tab.pane_id, ()))
        asked.then(lambda: self._go_on(tab, asked))
        return asked

    def _go_on(self, tab: Tab, asked: Pending) -> None:
        """Hear a pane again, if it is there still; the reader calls this where the answer stands in the stream."""
        if asked.failed or tab.pane.session.closed:
            return
        now = time.time()
        read_again(
            tab,
            reason=self._reason,
            since=round(now - (time.monotonic() - self._written_before(tab.pane.stream.last_output)), 3),
            until=round(now, 3),
            screen=self._screen(asked),
        )

    def _screen(self, asked: Pending) -> str:
        """What the pane showed; "" if tmux did not say."""
        if any(block.error for block in asked.blocks):
            return ""
        (rows,) = captured(self.version, [block.output for block in asked.blocks])
        return b"\n".join(rows).decode("utf-8", "replace").rstrip()

    def _written_before(self, received: float) -> float:
        """The earliest time at which the pane may have written what came last: tmux and the pipe hold output."""
        began, ended = self._stall
        earliest = received - STALL_SECONDS
        return min(began, earliest) if received < ended + DRAINED_SECONDS else earliest

    async def _settle(self, attached: Pending, asked: Mapping[Tab, Pending]) -> None:
        """Find out what happened to the panes meanwhile."""
        reason = self._reason
        with suppress(ConnectionClosed):
            for answer in (attached, *asked.values()):
                with suppress(CommandError):  # the pane is gone: looked up below
                    await answer.wait()
            await look_up(self._book)
            self._reason = ""
        for tab in asked:
            if not tab.pane.session.dead:
                await notice_lost_end(tab, reason, tab.pane.stream.whole_from)
