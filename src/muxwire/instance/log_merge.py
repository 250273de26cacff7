"""Joining the logs after a time without an owner: what is left of the last one, then what tmux wrote, then the stream.

The seam between tmux's own file and our stream is exact because the panes' terminals are stopped for it: while no byte
comes, the file's end and the stream's beginning are the same place. A terminal is stopped as C-s does it; a program
that writes waits for some 25 ms, and notices nothing else.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.client.watchdog import QUIET_LOOK_S, QUIET_LOOKS
from muxwire.errors import CommandError
from muxwire.ids import pane_id
from muxwire.instance.handoff import Leftovers, over_folders, read_pipe
from muxwire.logs.segment_writer import UNKNOWN_SIZE
from muxwire.logs.store import PaneLog

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence
    from pathlib import Path

    from muxwire.host.folders import Folders
    from muxwire.logs.store import LogStore
    from muxwire.pane.stream import PaneStream
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

# A pane that is not silent for so long although it is stopped, or whose pipe does not end, is reattached as it is.
SETTLE_SECONDS = 5.0
# A pipe's `cat` and its shell end 2 ms after tmux has closed it.
_END_LOOK_SECONDS = 0.002
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
        """The offset of the next byte."""
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

    def ends(self) -> dict[str, int]:
        """How far every log is that something was put into, or may be."""
        return {name: sink.end for name, sink in self._known.items()}

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
        for path in remains.pipes():
            sinks[path.name]
        await anyio.to_thread.run_sync(remains.settle, sinks.ends())
    await join_pipes(remains, sinks)


async def join_pipes(remains: Leftovers, sinks: Sinks) -> bool:
    """Put into the logs what tmux has written since the last time; return whether there was anything."""
    assert remains.base is not None
    more = False
    for path in remains.pipes():
        sink = sinks[path.name]
        base = remains.base.setdefault(path.name, 0)
        for data in read_pipe(path, sink.end - base):
            more = True
            sink.take(data)
            await sinks.flushed()
    return more


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


async def join_living(
    server: TmuxServer, tabs: Sequence[Tab], listen: Callable[[Tab, Sink], None], *, heard: bool = False
) -> None:
    """Complete the logs of the server that we are attached to, and go over from tmux's writing to ours.

    `listen` is called for each tab at the moment from which its output goes into its log by us, with what continues
    there. `heard`: we have listened all the time, as a follower, and the streams have what the logs have not.
    """
    assert server.handoff is not None
    remains = [Leftovers(folder) for folder in over_folders(server.logs.parent) if folder != server.handoff.folder]
    sinks = Sinks(server.logs, server.log_store, () if heard else tabs)
    for one in remains:
        await join_remains(one, sinks)
    carried = {path.name for one in remains for path in one.pipes()}
    with server.process.watchdog.held() as stop:
        stop(tab.pane.tty for tab in tabs)
        piped = [tab for tab in tabs if tab.log_path.name in carried]
        await _settle(server, tabs, () if heard else piped, remains, sinks)
        for tab in tabs:
            if tab.pane.session.closed:  # meanwhile
                continue
            name = tab.log_path.name
            sink = sinks[name]
            if name not in carried and not heard:
                sink.lose(UNKNOWN_SIZE, exact=False, reason=_NOBODY)
            listen(tab, sink)
        # After the watchdog knows the panes: should we be killed now, it has tmux continue writing.
        await _stop_pipes(server, tabs)
        await _pipes_ended(remains, {tab.log_path.name for tab in tabs})
        for one in remains:  # before the terminals continue: what comes then stands after it
            await join_pipes(one, sinks)
    for one in remains:
        await sinks.flushed()
        one.remove()
    sinks.close({tab.log_path.name for tab in tabs if not tab.pane.session.closed})


async def _settle(
    server: TmuxServer, tabs: Sequence[Tab], carried: Sequence[Tab], remains: Sequence[Leftovers], sinks: Sinks
) -> None:
    """Return when nothing more comes, neither to us nor into the pipes' files. What the pipes carry we do not keep."""
    heard = 0

    def hear(data: bytes) -> None:
        nonlocal heard
        heard += len(data)

    for tab in carried:
        server.client.attach_pane(pane_id(tab.pane_id), hear)
    quiet, before = 0, sum(tab.pane.stream.end for tab in tabs)
    with anyio.move_on_after(SETTLE_SECONDS):
        while True:
            await server.client.command("display-message", "-p", "")
            more = [await join_pipes(one, sinks) for one in remains]
            now = heard + sum(tab.pane.stream.end for tab in tabs)
            quiet = 0 if now != before or any(more) else quiet + 1
            if quiet == QUIET_LOOKS:
                break
            before = now
            await anyio.sleep(QUIET_LOOK_S)


async def _stop_pipes(server: TmuxServer, tabs: Sequence[Tab]) -> None:
    asked = server.client.submit(*(("pipe-pane", "-t", tab.pane_id) for tab in tabs)) if tabs else []
    for answer in asked:
        with suppress(CommandError):  # the pane is gone
            await answer.wait()


async def _pipes_ended(remains: Sequence[Leftovers], names: Container[str]) -> None:
    """Return when the pipes' files are whole. The pipe of an older version does not say so."""
    with anyio.move_on_after(SETTLE_SECONDS):
        while not all(one.ended(names) for one in remains):  # noqa: ASYNC110 - nothing reports a file
            await anyio.sleep(_END_LOOK_SECONDS)
