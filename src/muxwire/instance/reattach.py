"""Reattaching tabs that run already: those of an earlier process.

A pane of muxwire is known by the label among the arguments of its supervisor; what else must be known of it is in the
directory of that label. What its shell is doing is known by the marks in its log, read again from the last command on.
"""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.host.folders import remove_folders
from muxwire.instance.lost_end import notice_lost_end
from muxwire.instance.spools import NOT_KEPT, join_spools
from muxwire.instance.stream_join import JOIN_SECONDS
from muxwire.logs import read as log_read
from muxwire.shell.marks import MarkScanner
from muxwire.tabs.maker import TabMaker
from muxwire.tabs.pane_ids import give_ids
from muxwire.tabs.record import TabRecord, name_of
from muxwire.tabs.windows import restore_sizes
from muxwire.tmux.rows import CLIENTS, PANES, ClientRow, panes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.shell.marks import Mark
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.rows import PaneRow
    from muxwire.tmux.server import TmuxServer


# The label among the words of a supervisor, whatever version of us wrote its script.
_LABEL = re.compile(r"(?<!\S)[0-9a-f]{16}(?!\S)")
# A server option for each control client: which process drives it.
_CLIENT_OPTION = "@muxwire-client-"
_CLIENT = re.compile(rb"@muxwire-client-([0-9]+) \"?([0-9]+) ([^\"]+)\"?\Z")
# What is read of a log at once.
_READ_BYTES = 4 << 20


@final
@dataclass(frozen=True, slots=True)
class RunningPane:
    """A pane that runs: started by muxwire, in this process or another, or, if `is_adopted`, by a person."""

    row: PaneRow
    record: TabRecord
    is_adopted: bool = False


async def running_panes(server: TmuxServer) -> list[RunningPane]:
    """The panes that muxwire made on this server."""
    found: dict[str, RunningPane] = {}
    for row in panes_of(await server.client.command(*PANES)):
        records = (TabRecord.load(server.record(label)) for label in _LABEL.findall(row.start_command))
        record = next(filter(None, records), None) or _recorded(server, row.record)
        # A window that is linked into several sessions is listed for each.
        if record is not None and row.pane not in found:
            found[row.pane] = RunningPane(row, record)
    return list(found.values())


def _recorded(server: TmuxServer, packed: str) -> TabRecord | None:
    """The record that tmux keeps of a pane here, saved again: the runtime directory was removed meanwhile."""
    record = TabRecord.unpacked(packed) if server.host.is_local else None
    if record is not None:
        folder = server.record(record.label)
        server.host.make_folder(folder)
        record.save(folder)
    return record


async def reattach(server: TmuxServer, book: TabBook) -> None:
    """Reattach every tab that runs on a server to which we have just attached; remove the directories of ended tabs."""
    if server.rejoin is not None:
        await _reattach_there(server, book)
        return
    await sign_client(server)
    panes = await running_panes(server)
    await kill_stale_clients(server)
    tabs = await reattach_panes(server, book, panes)
    await _take_names(server, panes, tabs)
    if not await a_size_counts(server):
        restore_sizes(tabs)  # a person may have left while no process was attached
    home = server.folders.shells.parent
    await server.host.remove_folders(home, spare={pane.record.label for pane in panes})


async def _take_names(server: TmuxServer, panes: Sequence[RunningPane], tabs: Sequence[Tab]) -> None:
    """Have tabs go by the names that a person gave their windows while no process was attached."""
    printed = {row.window: row.window_name for row in panes_of(await server.client.command(*PANES))}
    led = {tab.window_id: tab for tab in tabs if not tab.is_split}
    for pane, tab in zip(panes, tabs, strict=True):
        if tab.window_id not in printed:
            continue
        name = name_of(pane.record, tab.window_id, printed[tab.window_id])
        if tab.window_id not in led:
            tab.name = name
        elif not tab.is_split and name != tab.name:
            tab.keep_name(name)
    for tab in tabs:
        if tab.window_id in led:  # what was split off goes by the name of the first pane
            tab.name = led[tab.window_id].name


async def sign_client(server: TmuxServer) -> None:
    us = f"{os.getpid()} {server.host.started(os.getpid())}"
    await server.client.command("set-option", "-s", f"{_CLIENT_OPTION}{server.process.pid}", us)


async def kill_stale_clients(server: TmuxServer) -> None:
    """Kill control clients whose driver is dead: tmux waits for them for ever, and freezes every pane (B2).

    The watchdog ends this process's client. If both were killed together, the next owner finds that client here.
    """
    attached = {row.pid for row in map(ClientRow.parse, await server.client.command(*CLIENTS)) if row.control}
    for line in await server.client.command("show-options", "-s"):
        found = _CLIENT.match(line)
        if found is None or server.host.started(int(found[2])) == found[3].decode():
            continue
        client = int(found[1])
        if client in attached and client != server.process.pid:
            # detach-client cannot end it: its output has nowhere to go.
            server.host.signal_process(client, signal.SIGKILL)
        await server.client.command("set-option", "-s", "-u", f"{_CLIENT_OPTION}{client}")


async def a_size_counts(server: TmuxServer) -> bool:
    """Whether a person's terminal is attached whose size the windows follow."""
    rows = map(ClientRow.parse, await server.client.command(*CLIENTS))
    return any(not row.control and "ignore-size" not in row.flags for row in rows)


async def _reattach_there(server: TmuxServer, book: TabBook) -> None:
    """As `reattach`, on another machine: each log continues at the byte at which it ends, with what was kept there."""
    panes = await running_panes(server)
    await server.host.look_up((), {pane.record.shell for pane in panes if pane.record.shell})
    assert server.rejoin is not None
    maker, live = TabMaker(server, book), []
    for tab in _tabs_of(server, book, panes):
        await restore(tab, book)
        maker.add(tab)
        live.append(server.rejoin(tab))
        maker.close_at_end(tab)
    with anyio.move_on_after(JOIN_SECONDS):
        for one in live:
            await one.wait()
    labels = {pane.record.label for pane in panes}
    await anyio.to_thread.run_sync(lambda: remove_folders(server.records, spare=labels))


def _tabs_of(server: TmuxServer, book: TabBook, panes: Sequence[RunningPane]) -> list[Tab]:
    """A tab for each of these panes, called as is right where the pane is now; they are in no book yet."""
    maker = TabMaker(server, book)
    tabs = [maker.build(pane.record, pane.row, pane.row.session) for pane in panes]
    if server.access.role != "adopted":  # there a window is one tab
        give_ids(book, tabs)
    return tabs


async def reattach_panes(server: TmuxServer, book: TabBook, panes: Sequence[RunningPane]) -> list[Tab]:
    """Have a tab for each of these panes, in the state and with the commands that its log holds, and hear them."""
    maker = TabMaker(server, book)
    tabs = _tabs_of(server, book, panes)
    for pane, tab in zip(panes, tabs, strict=True):
        if pane.is_adopted:
            tab.is_adopted = True
            tab.pane.adopt(server.host.shell_for(server.host.program_of(pane.row.pid)))
        else:
            await restore(tab, book)
    if server.access.role == "adopted":
        for tab in tabs:
            maker.add_and_read(tab)
        return tabs

    def listen(tab: Tab) -> None:
        maker.add_and_read(tab)
        if lost_before := tab.pane.stream.whole_from:
            book.spawn(lambda: notice_lost_end(tab, NOT_KEPT, lost_before))

    await join_spools(server, book, tabs, listen)
    for tab in tabs:
        if tab.pane.stream.rejoining:  # its terminal is stopped
            maker.add(tab)
    return tabs


async def restore(tab: Tab, book: TabBook) -> None:
    """Give a tab the state and the commands that its log holds, up to where its stream begins."""
    pane, executions = tab.pane, book.recall(tab)
    for execution in executions:
        execution.ends_with(pane.stream.wake)
    assert tab.record is not None
    start = pane.session.recall(executions, tab.record.shell_pid, tab.record.input_at)
    marks = await anyio.to_thread.run_sync(_read_again, tab, min(start, pane.stream.end))
    book.reads_again(tab)
    for mark in marks:
        pane.session.on_mark(mark, time.monotonic(), pane.stream.whole_from)
    pane.session.recalled(time.monotonic(), end=pane.stream.end)


def _read_again(tab: Tab, start: int) -> list[Mark]:
    """The marks since that offset."""
    end = tab.pane.stream.end
    marks: list[Mark] = []
    with suppress(OSError), log_read.LogFileReader(tab.log_path) as log:
        for first, last in log.ranges:  # a mark is never made of bytes from both sides of a hole
            at, stop = max(first, start), min(last, end)
            scanner = MarkScanner(at)
            while at < stop and (piece := log.pread(at, min(at + _READ_BYTES, stop))):
                marks += scanner.feed(piece)
                at += len(piece)
    return marks
