"""A follower next to the owner: its streams in the owner's offsets, and how it becomes the owner when that one is gone.

Where the owner's log ends is where a follower's stream begins, but only while the pane is silent: the log is some
milliseconds late. So a follower waits for silence, and a pane that is never silent is stopped for it (`log_merge`).
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from muxwire.client.watchdog import QUIET_LOOKS
from muxwire.ids import pane_id
from muxwire.instance.connect import begin_handoff
from muxwire.instance.log_merge import Sink, join_living
from muxwire.logs.follower_log import FollowerLog, end_of
from muxwire.logs.store import BATCH_SECONDS, PaneLog
from muxwire.pane.stream import PaneStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

# A byte is on file one batch after it came, and a little more on a busy machine.
_LOOK_SECONDS = 1.5 * BATCH_SECONDS
# A pane that was silent for none of these looks is stopped; if it continues then, its log is written by nobody.
_LOOKS_FREE, _LOOKS_STOPPED = 6, 60


@asynccontextmanager
async def aligned(server: TmuxServer, tabs: Sequence[Tab]) -> AsyncIterator[dict[Tab, bytearray]]:
    """Begin the stream of each tab at the end of its log on file; what comes from there on is collected in the block.

    The caller feeds it to the stream when it listens.
    """
    heard = {tab: bytearray() for tab in tabs}
    for tab, data in heard.items():
        server.client.attach_pane(pane_id(tab.pane_id), data.extend)
    with server.process.watchdog.held() as stop:
        noisy = await _settle(server, heard, list(tabs), _LOOKS_FREE)
        stop(tab.pane.tty for tab in noisy)
        await _settle(server, heard, noisy, _LOOKS_STOPPED)
        yield heard


async def _settle(server: TmuxServer, heard: dict[Tab, bytearray], tabs: list[Tab], looks: int) -> list[Tab]:
    """Set the streams of the tabs that fall silent within so many looks; return the others."""
    quiet = dict.fromkeys(tabs, 0)
    before = dict.fromkeys(tabs, (-1, -1))
    for _ in range(looks if tabs else 0):
        await server.client.command("display-message", "-p", "")
        for tab in list(quiet):
            now = (len(heard[tab]), end_of(tab.log_path))
            quiet[tab] = quiet[tab] + 1 if now == before[tab] else 0
            before[tab] = now
            if quiet[tab] >= QUIET_LOOKS:
                begin_stream(tab, now[1])
                heard[tab].clear()
                del quiet[tab]
        if not quiet:
            break
        await anyio.sleep(_LOOK_SECONDS)
    return list(quiet)


def begin_stream(tab: Tab, start: int) -> None:
    """Give a tab that nobody listens to yet a stream from that offset on."""
    log, capacity = FollowerLog(tab.log_path, start), tab.pane.stream.capacity
    tab.pane.stream = PaneStream(log, tab.pane.on_mark, start=start, capacity=capacity)


async def become_owner(server: TmuxServer, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Complete the logs that the last owner left, and write them from here on. The lock is held already.

    What was not handed over is known all the same: we have heard it.
    """
    begin_handoff(server)

    def go_on(tab: Tab, sink: Sink) -> None:
        assert isinstance(sink.into, PaneLog)
        stream = tab.pane.stream
        if sink.end < stream.ring.start:
            sink.lose(stream.ring.start - sink.end, reason="the owner was killed together with its watchdog")
        if sink.end < stream.end:
            sink.take(stream.ring.read(sink.end, stream.end))
        elif sink.end > stream.end:
            stream.lose(sink.end - stream.end)
        stream.log = sink.into
        listen(tab)

    await join_living(server, tabs, go_on, heard=True)
    server.log_store.keep_limits_of(server.folders.state / server.folders.instance)
