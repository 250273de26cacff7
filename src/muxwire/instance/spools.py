"""The output of a named instance's panes while no process is attached: tmux keeps it, and it is joined to the logs.

tmux writes each pane's output to a spool too (host/scripts/spool.sh), from its first byte on. A process that attaches
reads the spool from the end of the log up to a mark R, and continues live. So it does not matter how the owner ended.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.errors import CommandError, ConnectionClosed
from muxwire.host.folders import private_folder
from muxwire.instance.stream_join import JOIN_SECONDS, KEPT_SECONDS, KeptOutput, StreamJoin, go_over, new_mark
from muxwire.logs.segments import Spool, spooled, spools_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from pathlib import Path

    from muxwire.host.folders import Folders
    from muxwire.logs.store import LogStore
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer


NOT_KEPT = "no client was attached, and tmux did not keep the pane's output"
# A spool's program writes within a ms of tmux; on a busy machine within seconds.
_LOOK_SECONDS = 0.002
# A C-c may drop a mark, so up to so many are printed. Without any the spool cannot be aligned, and is of no use.
_MARKS = 3
# Panes of muxwire alone: their supervisor prints the mark X. A window that a person makes has no log.
_IF_OURS = "if-shell -F '#{m:*7770;X;*,#{pane_start_command}}'"


def spool_hooks(folders: Folders, generation: int) -> list[tuple[str, ...]]:
    """The commands that have tmux spool every pane that is made from here on; InstanceUnavailable."""
    logs = folders.logs(generation)
    private_folder(spools_beside(logs))
    # As logs are named.
    names = {"after-new-window": "pane-#{window_id}", "after-split-window": "pane-#{window_id}-#{pane_id}"}
    return [
        ("set-hook", "-g", hook, f"{_IF_OURS} {{ pipe-pane -O '{_program(folders, logs, name)}' }}")
        for hook, name in names.items()
    ]


def _program(folders: Folders, logs: Path, name: str) -> str:
    """What a pane's pipe runs; `name` is that of its log.

    tmux expands the text as a format and as a date, and then a shell reads it: so paths are written in octal, in which
    no character is special.
    """
    paths = (folders.spool_program, spools_beside(logs))
    script, spools = ("".join(f"\\{byte:03o}" for byte in bytes(path)) for path in paths)
    return f'exec sh "$(printf "{script}")" "$(printf "{spools}")"/{name} #{{pid}} #{{pane_pid}}'


@final
class _Spools(KeptOutput):
    """The spools of panes that run; `piped` are the ids of the panes whose output tmux writes to a pipe."""

    look_seconds = _LOOK_SECONDS

    def __init__(self, piped: Container[str]) -> None:
        self._piped = piped
        self.given_up: set[Tab] = set()

    async def read(self, tab: Tab, offset: int) -> tuple[int, bytes] | None:
        await tab.pane.stream.log.flushed()  # else more and more would wait for the disk
        first, data = await anyio.to_thread.run_sync(Spool(tab.log_path).read, offset)
        if data:
            return first, data
        is_piped = tab.pane_id in self._piped
        return offset if is_piped else -1, b""  # the pipe's program has begun late, or is about to write

    def give_up(self, tab: Tab) -> None:
        Spool(tab.log_path).remove()
        self.given_up.add(tab)


async def join_spools(server: TmuxServer, book: TabBook, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Complete the logs of the panes that run with what tmux kept; `listen` is called as each comes live.

    A pane whose terminal is stopped follows later.
    """
    await complete_logs(server.folders, server.log_store, server.generation, {tab.log_path.stem for tab in tabs})
    panes = await server.client.command("list-panes", "-a", "-f", "#{pane_pipe}", "-F", "#{pane_id}")
    spools = _Spools({pane.decode() for pane in panes})

    def on_live(tab: Tab) -> None:
        listen(tab)
        if tab in spools.given_up:
            book.spawn(lambda: _spool_again(server, tab))

    await go_over([StreamJoin(tab, spools, server.client, NOT_KEPT) for tab in tabs], book, on_live)


async def _spool_again(server: TmuxServer, tab: Tab) -> None:
    """Have tmux keep the output of a pane that it did not keep: the disk was full, or a person has used its pipe."""
    spool, program = Spool(tab.log_path), _program(server.folders, server.logs, tab.log_path.stem)
    with suppress(OSError, CommandError, ConnectionClosed):  # the disk is full still, or the pane is gone
        spool.begin()
        await server.client.command("pipe-pane", "-O", "-t", tab.pane_id, program)
        for _ in range(_MARKS):
            mark = new_mark(tab)
            if (at := await _printed(tab, mark)) >= 0:
                is_aligned = False
                with anyio.move_on_after(KEPT_SECONDS):
                    while not is_aligned:
                        await anyio.sleep(_LOOK_SECONDS)
                        is_aligned = await anyio.to_thread.run_sync(spool.align, mark, at)
                break


async def _printed(tab: Tab, mark: bytes) -> int:
    """Print a mark R; return the offset at which it came, -1 if it did not."""
    stream, begin = tab.pane.stream, tab.pane.stream.end
    tab.pane.host.print_mark(tab.pane.tty, mark, tab.pane.leader_pid)
    await stream.until(lambda: stream.ring.find(mark, begin) >= 0, JOIN_SECONDS)
    return stream.ring.find(mark, begin)


async def complete_logs(folders: Folders, store: LogStore, generation: int = 0, living: Container[str] = ()) -> None:
    """Complete the logs of panes that are no more; `living` are the names of those that run in that generation."""
    for number in folders.generations():
        for path in spooled(folders.logs(number)):
            if number != generation or path.stem not in living:
                await _complete(store, path)


async def _complete(store: LogStore, path: Path) -> None:
    log, spool = store.open(path), Spool(path)
    while True:
        first, data = await anyio.to_thread.run_sync(spool.read, log.end)
        if not data:
            break
        if first > log.end:
            log.lose(first - log.end, reason=NOT_KEPT)
        log.append(data)
        if not await log.flushed():  # the disk is full: the spool stays for another time
            log.close()
            return
    log.close(ended=True)
