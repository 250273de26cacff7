"""The output of a named instance's panes while no process is attached: tmux keeps it, and it is joined to the logs.

tmux writes each pane's output to a spool too (host/scripts/spool.sh), from its first byte on. A process that attaches
reads the spool from the end of the log up to a mark R, and continues live. So it does not matter how the owner ended.

A pane that tmux could not keep (the disk was full, or a person has used its pipe) is not kept any more: each end of an
owner then leaves a gap in its log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.host.folders import private_folder
from muxwire.instance.faces import OURS
from muxwire.instance.stream_join import KeptOutput, StreamJoin, go_over
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
# A window that a person makes has no log.
_IF_OURS = f"if-shell -F '{OURS}'"


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

    async def read(self, tab: Tab, offset: int) -> tuple[int, bytes] | None:
        await tab.pane.stream.log.flushed()  # else more and more would wait for the disk
        first, data = await anyio.to_thread.run_sync(Spool(tab.log_path).read, offset)
        if data:
            return first, data
        is_piped = tab.pane_id in self._piped
        return offset if is_piped else -1, b""  # the pipe's program has begun late, or is about to write

    def give_up(self, tab: Tab) -> None:
        Spool(tab.log_path).remove()


async def join_spools(server: TmuxServer, book: TabBook, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Complete the logs of the panes that run with what tmux kept; `listen` is called as each comes live.

    A pane whose terminal is stopped follows later.
    """
    await complete_logs(server.folders, server.log_store, server.generation, {tab.log_path.stem for tab in tabs})
    panes = await server.client.command("list-panes", "-a", "-f", "#{pane_pipe}", "-F", "#{pane_id}")
    spools = _Spools({pane.decode() for pane in panes})
    await go_over([StreamJoin(tab, spools, server.client, NOT_KEPT) for tab in tabs], book, listen)


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
