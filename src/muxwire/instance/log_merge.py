"""Joining the logs after a time without an owner: what is left of the last one, then what tmux wrote, then the stream.

Each two are joined at a mark that both contain: what is left and tmux's file at the one that the watchdog has printed,
tmux's file and our stream at another one (stream_join.py). The panes notice nothing.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.errors import CommandError, ConnectionClosed
from muxwire.instance.handoff import Leftovers, over_folders, read_pipe
from muxwire.instance.stream_join import KeptOutput, StreamJoin, go_over
from muxwire.logs.segments import UNKNOWN_SIZE
from muxwire.logs.store import PaneLog

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence
    from pathlib import Path

    from muxwire.host.folders import Folders
    from muxwire.logs.store import LogStore
    from muxwire.pane.stream import PaneStream
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

# A pipe's `cat` writes within a ms; on a busy machine within seconds.
_PIPE_SECONDS, _PIPE_LOOK_SECONDS = 5.0, 0.002
_NOBODY = "the process that wrote the log was killed together with its watchdog, or its connection before it"
# A sixteenth of what may wait for the disk.
_FLUSH_BYTES = 4 << 20


@final
class Sink:
    """Takes the bytes of a log: the stream of a tab that lives, which reads its marks, or the log of one that is gone.

    `lose` says that so many are lost.
    """

    def __init__(self, into: PaneStream | PaneLog, take: Callable[[bytes], None]) -> None:
        self.into, self.take, self.lose = into, take, into.lose

    @property
    def end(self) -> int:
        return self.into.end


@final
class Sinks:
    """Where the bytes of each log go, by the name of its file."""

    def __init__(self, logs: Path, store: LogStore, tabs: Iterable[Tab] = ()) -> None:
        self._logs = logs
        self._store = store
        self._unflushed = 0
        self._known: dict[str, Sink] = {}
        for tab in tabs:
            self._known[tab.log_path.name] = Sink(tab.pane.stream, tab.pane.stream.feed)

    def __getitem__(self, name: str) -> Sink:
        if name not in self._known:
            log = self._store.open(self._logs / name)
            self._known[name] = Sink(log, log.append)
        return self._known[name]

    async def put(self, name: str, offset: int, data: bytes) -> None:
        """Append what is new of the bytes at `offset`; what lies between the log's end and there is lost."""
        sink = self[name]
        if offset > sink.end:
            sink.lose(offset - sink.end, reason="the process that wrote the log was killed while its disk stood still")
        if offset + len(data) > sink.end:
            sink.take(data[sink.end - offset :])
            self._unflushed += len(data)
            if self._unflushed > _FLUSH_BYTES:
                await self.flushed()

    async def flushed(self) -> None:
        """Have all of it on file: what waits for the disk has a bound."""
        self._unflushed = 0
        await self._store.written()

    def close(self, keep: Container[str] = ()) -> None:
        """Let go of the files of tabs that are gone; those of `keep` are written on."""
        for name, sink in self._known.items():
            if isinstance(sink.into, PaneLog) and name not in keep:
                sink.into.close()


async def join_remains(remains: Leftovers, sinks: Sinks) -> None:
    """Put into the logs what is left of an earlier life, and of its pipes what is there now. May be done again."""
    if remains.base is None:
        for name, offset, data in remains.pieces():
            await sinks.put(name, offset, data)
        await sinks.flushed()
        base = {path.name: await _begin(remains, path.name, sinks[path.name]) for path in remains.pipes()}
        await anyio.to_thread.run_sync(remains.settle, base)
    for path in remains.pipes():
        sink = sinks[path.name]
        for data in read_pipe(path, sink.end - remains.base_of(path.name, sink.end)):
            sink.take(data)
            await sinks.flushed()


def take_pipe(remains: Leftovers, name: str, sink: Sink, end: int) -> None:
    """Put into a log what tmux has written of it up to that offset. At once: for what came in the last milliseconds."""
    while sink.end < end and remains.base and name in remains.base:
        data = remains.kept_from(name, sink.end)[: end - sink.end]
        if not data:
            break
        sink.take(data)


async def _begin(remains: Leftovers, name: str, sink: Sink) -> int:
    """The offset at which begins what tmux has written of a log."""
    place, marked = await anyio.to_thread.run_sync(remains.mark_in_pipe, name), remains.marked.get(name)
    with anyio.move_on_after(_PIPE_SECONDS):
        while place < 0 and marked is not None:  # nothing reports a file
            await anyio.sleep(_PIPE_LOOK_SECONDS)
            place = await anyio.to_thread.run_sync(remains.mark_in_pipe, name)
    if marked is not None and place >= 0:
        return marked - place
    if marked is not None or place >= 0:  # the disk was full for one of the two
        sink.lose(UNKNOWN_SIZE, exact=False, reason=_NOBODY)
    return sink.end - max(place, 0)  # without a mark the terminal was stopped: what was said last is where it begins


async def join_dead(folders: Folders, store: LogStore, *, alive: int = 0) -> None:
    """Complete the logs of the tmux servers that are no more: all but that of the generation `alive`."""
    for generation in folders.generations():
        logs = folders.logs(generation)
        left = over_folders(logs.parent) if generation != alive else []
        sinks = Sinks(logs, store)
        for remains in map(Leftovers, left):
            await join_remains(remains, sinks)
            await sinks.flushed()
            remains.remove()
        sinks.close()


def earlier_lives(server: TmuxServer) -> list[Leftovers]:
    """What the owners before us have left of a server that still runs, the oldest first."""
    assert server.handoff is not None
    return [Leftovers(folder) for folder in over_folders(server.logs.parent) if folder != server.handoff.folder]


@final
class _Pipes(KeptOutput):
    """What tmux has written of the panes since their last owner ended."""

    look_seconds = _PIPE_LOOK_SECONDS

    def __init__(self, remains: Sequence[Leftovers]) -> None:
        self._remains = remains

    async def read(self, tab: Tab, offset: int) -> tuple[int, bytes] | None:
        """The newest life counts: its owner had joined what was written before."""
        name = tab.log_path.name
        life = next((one for one in reversed(self._remains) if one.base and name in one.base), None)
        if life is None:
            return -1, b""
        await tab.pane.stream.log.flushed()  # what waits for the disk has a bound
        return offset, await anyio.to_thread.run_sync(life.kept_from, name, offset)


async def join_living(server: TmuxServer, book: TabBook, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Complete the logs of the server that we are attached to, and go over from tmux's writing to ours.

    `listen` is called for each tab at the moment from which its output goes into its log by us. A pane whose
    terminal is stopped follows later.
    """
    remains = earlier_lives(server)
    sinks = Sinks(server.logs, server.log_store, tabs)
    for one in remains:
        await join_remains(one, sinks)
    pipes = _Pipes(remains)
    joins = [StreamJoin(tab, pipes, server.client, _NOBODY) for tab in tabs]

    async def on_live(tab: Tab) -> None:
        listen(tab)
        await stop_pipe(server, tab)

    await go_over(joins, book, on_live, lambda: remove_remains(server, remains, sinks))


async def stop_pipe(server: TmuxServer, tab: Tab) -> None:
    """Have tmux no longer write a log that we write.

    Only now, after the watchdog knows the pane: should we be killed, it has tmux continue.
    """
    with suppress(CommandError, ConnectionClosed):  # the pane is gone
        await server.client.command("pipe-pane", "-t", tab.pane_id)


async def remove_remains(
    server: TmuxServer, remains: Sequence[Leftovers], sinks: Sinks, keep: Container[str] = ()
) -> None:
    """All that earlier lives have left is in the logs; those of `keep` are written on."""
    if server.client.closed:
        return  # who comes next joins again
    for one in remains:
        await sinks.flushed()
        one.remove()
    sinks.close(keep)
