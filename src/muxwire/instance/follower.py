"""A follower next to the owner: its streams in the owner's offsets, and how it becomes the owner when that one is gone.

A follower's stream begins in the owner's log, and continues live behind a mark that both contain (stream_join.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread

from muxwire.instance.connect import begin_handoff
from muxwire.instance.log_merge import Sinks, earlier_lives, join_remains, remove_remains, stop_pipe, take_pipe
from muxwire.instance.stream_join import KeptOutput, StreamJoin, go_over
from muxwire.logs.follower_log import FollowerLog
from muxwire.logs.read import read_raw
from muxwire.logs.store import BATCH_SECONDS, PaneLog
from muxwire.pane.stream import PaneStream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.instance.log_merge import Sink
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

# What is read of a log at once.
_READ_BYTES = 4 << 20
# A log may be ahead of our stream by what tmux has not told us yet.
_BEHIND_SECONDS = 5.0
_NOT_WRITTEN = "the owner did not write its log"


class _OwnersLogs(KeptOutput):
    """The logs that the owner writes, as what is kept of the panes' output."""

    look_seconds = BATCH_SECONDS / 2

    async def read(self, tab: Tab, offset: int) -> tuple[int, bytes] | None:
        return offset, await anyio.to_thread.run_sync(read_raw, tab.log_path, offset, offset + _READ_BYTES)


async def follow_owner(server: TmuxServer, book: TabBook, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Go over from the owner's logs to what comes live."""
    logs = _OwnersLogs()

    async def on_live(tab: Tab) -> None:
        listen(tab)

    await go_over([StreamJoin(tab, logs, server.client, _NOT_WRITTEN) for tab in tabs], book, on_live)


def begin_stream(tab: Tab, start: int) -> None:
    """Give a tab that nobody listens to yet a stream from that offset on."""
    log, capacity = FollowerLog(tab.log_path, start), tab.pane.stream.capacity
    tab.pane.stream = PaneStream(log, tab.pane.on_mark, start=start, capacity=capacity)


async def become_owner(server: TmuxServer, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Complete the logs that the last owner left, and write them from here on. The lock is held already.

    What was not handed over is known all the same: we have heard it.
    """
    begin_handoff(server)
    remains = earlier_lives(server)
    sinks = Sinks(server.logs, server.log_store)
    for one in remains:
        await join_remains(one, sinks)
    for tab in tabs:
        sink = sinks[tab.log_path.name]
        await _catch_up(tab, sink.end)
        if not tab.pane.session.closed:
            for one in remains:  # what we hold of the pane's output may not reach back so far
                take_pipe(one, tab.log_path.name, sink, tab.pane.stream.ring.start)
            _write_on(tab, sink)
            listen(tab)
            await stop_pipe(server, tab)
    await remove_remains(server, remains, sinks, {tab.log_path.name for tab in tabs if not tab.pane.session.closed})
    server.log_store.keep_limits_of(server.folders.state / server.folders.instance)


async def _catch_up(tab: Tab, end: int) -> None:
    """Wait until our stream has what the log has: tmux tells us later than whoever wrote that."""
    stream, session = tab.pane.stream, tab.pane.session
    await stream.until(lambda: session.closed or (stream.end >= end and not stream.rejoining), _BEHIND_SECONDS)


def _write_on(tab: Tab, sink: Sink) -> None:
    assert isinstance(sink.into, PaneLog)
    stream = tab.pane.stream
    if sink.end < stream.ring.start:
        sink.lose(stream.ring.start - sink.end, reason="the owner was killed together with its watchdog")
    if sink.end < stream.end:
        sink.take(stream.ring.read(sink.end, stream.end))
    elif sink.end > stream.end:
        stream.lose(sink.end - stream.end)
    stream.log = sink.into
