"""A follower next to the owner: its streams, in the owner's offsets, and how it becomes the owner later.

A follower's stream begins in the owner's log, and continues live behind a mark that both contain (stream_join.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread

from muxwire.instance.spools import NOT_KEPT, complete_logs
from muxwire.instance.stream_join import KeptOutput, StreamJoin, go_over
from muxwire.logs.read import read_raw
from muxwire.logs.segments import Spool
from muxwire.logs.store import BATCH_SECONDS, FollowerLog
from muxwire.pane.stream import PaneStream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from muxwire.logs.store import PaneLog
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

# What is read of a log at once.
_READ_BYTES = 4 << 20
# A log may be ahead of our stream by what tmux has not sent us yet. That is waited for so long.
_BEHIND_SECONDS = 5.0
_NOT_WRITTEN = "the owner did not write its log"


class _OwnersLogs(KeptOutput):
    """The kept output is what the owner has written to its logs; after the end of a log, what tmux has spooled.

    The spool is needed when the owner leaves meanwhile, and writes no more.
    """

    look_seconds = BATCH_SECONDS / 2

    async def read(self, tab: Tab, offset: int) -> tuple[int, bytes] | None:
        return offset, await anyio.to_thread.run_sync(_kept, tab.log_path, offset)


def _kept(log: Path, offset: int) -> bytes:
    if data := read_raw(log, offset, offset + _READ_BYTES):
        return data
    first, data = Spool(log).read(offset)
    return data if first == offset else b""


async def follow_owner(server: TmuxServer, book: TabBook, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Go over from the owner's logs to what comes live."""
    logs = _OwnersLogs()
    await go_over([StreamJoin(tab, logs, server.client, _NOT_WRITTEN) for tab in tabs], book, listen)


def begin_stream(tab: Tab, start: int) -> None:
    """Give a tab that has no stream yet a stream from that offset on."""
    log, pane = FollowerLog(tab.log_path, start), tab.pane
    pane.stream = PaneStream(
        log, pane.session.on_mark, start=start, capacity=pane.stream.capacity, owns=pane.session.owns
    )


async def become_owner(server: TmuxServer, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Complete the logs that the last owner left, and write them from here on. The lock is held already."""
    for tab in tabs:
        log = server.log_store.open(tab.log_path)
        await _catch_up(tab, log.end)
        if tab.pane.session.closed:
            log.close()
        else:
            await _complete(tab, log)
            tab.pane.stream.log = log
            # While a pane rejoins, its terminal is stopped: `follow_owner` listens to it once it continues.
            if not tab.pane.stream.rejoining:
                listen(tab)
    living = {tab.log_path.stem for tab in tabs if not tab.pane.session.closed}
    await complete_logs(server.folders, server.log_store, server.generation, living)
    server.log_store.keep_limits_of(server.folders.state / server.folders.instance)


async def _catch_up(tab: Tab, end: int) -> None:
    """Wait until our stream has what the log has: tmux may have sent it to the owner before it sends it to us."""
    stream, session = tab.pane.stream, tab.pane.session
    await stream.until(lambda: session.closed or (stream.end >= end and not stream.rejoining), _BEHIND_SECONDS)


async def _complete(tab: Tab, log: PaneLog) -> None:
    """Write what the owner did not: from what we have heard, and before that from what tmux kept."""
    stream, spool = tab.pane.stream, Spool(tab.log_path)
    while log.end < stream.ring.start:
        first, data = await anyio.to_thread.run_sync(spool.read, log.end)
        if first != log.end or not data:
            log.lose(stream.ring.start - log.end, reason=NOT_KEPT)
            break
        log.append(data[: stream.end - log.end])
        await log.flushed()
    if log.end < stream.end:
        log.append(stream.ring.read(log.end, stream.end))
    elif log.end > stream.end:
        stream.lose(log.end - stream.end)
