"""`list_tabs`: our tabs next to what tmux says of windows, sessions and clients, in one round trip."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING

from anyio import create_task_group, move_on_after

from muxwire.errors import InvalidArgument, MuxwireError, NotPermitted, TabUnavailable
from muxwire.logs.history import RECENT_COMMANDS, read_history
from muxwire.logs.limits import ended_instances, logs_of
from muxwire.logs.read import LogFileReader
from muxwire.results import SessionInfo, TabInfo, TabList
from muxwire.shell import SUPERVISOR
from muxwire.tabs.tab_events import COMMAND_SHOWN
from muxwire.tmux.rows import CLIENTS, PANES, clients_of, panes_of
from muxwire.verbs.types import HISTORY_LIMIT_MAX

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from muxwire.host.folders import Folders
    from muxwire.pane.state import PaneState
    from muxwire.results import CommandRecord
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer


# How many rows of scrollback tmux keeps of a pane: a limit for new tabs, which newer tmux applies to open ones too.

# The first tmux that applies a new limit to every pane at once, and drops the rows that are too many (options.c).
_APPLIES_TO_ALL = (3, 7)
# The panes that hold more rows than a limit, of every window of every session.
_FULLER = "#{S:#{W:#{P:#{?#{e|>:#{history_size},LIMIT},#{pane_id} ,}}}}"


def checked_limit(limit: int) -> int:
    if not 0 <= limit <= HISTORY_LIMIT_MAX:
        raise InvalidArgument(f"history limit {limit} is out of range", remedy=f"use 0 to {HISTORY_LIMIT_MAX}")
    return limit


async def limit_scrollback(server: TmuxServer, book: TabBook, limit: int) -> None:
    """Set the limit; TabUnavailable where tmux would drop rows of open tabs for it, and then nothing is changed.

    NotPermitted at a person's server: the option is the person's.
    """
    if server.access.role == "adopted":
        raise NotPermitted(
            "history-limit is an option of the person who runs this tmux server",
            remedy="leave it: logs keep every line, whatever it is",
        )
    setting = ("set-option", "-g", "history-limit", str(limit))
    if server.version < _APPLIES_TO_ALL:
        await server.client.command(*setting)
        return
    fuller = _FULLER.replace("LIMIT", str(limit))
    # One command, so that no row comes between the question and the answer.
    answer = await server.client.command("if-shell", "-F", fuller, f"display-message -p '{fuller}'", " ".join(setting))
    if panes := sorted(set(b" ".join(answer).decode().split())):
        tabs = {tab.pane_id: tab for tab in book.open.values()}
        named = ", ".join(tabs[pane].key if pane in tabs else pane for pane in panes)
        raise TabUnavailable(
            f"tmux would drop rows of scrollback of {named}: from 3.7 on it applies a limit to open tabs too",
            state=tabs[panes[0]].state if panes[0] in tabs else "",
            remedy="close them first, or choose a higher limit",
        )


# A machine that does not answer within this, and so many round trips more, is listed as it was last known. A dead
# connection is detected by its missing beats, which takes longer than a caller should wait for a list.
LISTED_SECONDS = 2.0
LISTED_ROUND_TRIPS = 10


async def list_tabs(
    server: TmuxServer | None, book: TabBook, ask: Callable[[], Awaitable[None]], *, closed: bool, session: str
) -> TabList:
    """Describe every tab and session, or those of `session`; if no server answers, what is known of them.

    `ask` is awaited if there are windows that are no tabs: it may add tabs.
    """
    link = server.host.link if server is not None else None
    if server is not None and (link is None or link.up):
        try:
            with move_on_after(inf if link is None else LISTED_SECONDS + LISTED_ROUND_TRIPS * link.rtt):
                return await _asked(server, book, ask, closed=closed, session=session)
        except (MuxwireError, ValueError):
            if link is None:
                raise
        # Another machine does not answer, or sends nonsense: the tabs of this machine are listed all the same.
    known = (*book.in_order(), *(book.closed.values() if closed else ()))
    return TabList(_rows_without_tmux(known, book, session), ())


async def _asked(
    server: TmuxServer, book: TabBook, ask: Callable[[], Awaitable[None]], *, closed: bool, session: str
) -> TabList:
    every, clients = await server.client.ask(PANES, CLIENTS)
    panes = panes_of(every)
    windows = {(row.session, row.window) for row in server.sessions.with_tabs(panes)}
    strange = {window for _, window in windows}.difference(tab.window_id for tab in book.open.values())
    if strange:
        await ask()
        if not strange.isdisjoint(tab.window_id for tab in book.open.values()):
            return await _asked(server, book, ask, closed=closed, session=session)
    commands = {row.pane: row.command for row in panes}
    if not server.host.answers_now:
        async with create_task_group() as tasks:
            for tab in book.open.values():
                tasks.start_soon(tab.pane.refresh)
    counts = Counter(key for key, _ in windows)
    # Our own control client is no visitor.
    visitors = Counter(row.session for row in clients_of(clients) if not row.control)
    named = {row.session: server.sessions.name(row.session, row.session_name) for row in panes}
    latest = book.latest
    rows = tuple(
        _row(tab, book, latest, command=commands.get(tab.pane_id, ""))
        for tab in book.in_order()
        if session in ("", tab.session)
    )
    return TabList(
        rows + (_rows_without_tmux(book.closed.values(), book, session) if closed else ()),
        tuple(SessionInfo(name, counts[key], visitors[key]) for key, name in named.items() if session in ("", name)),
    )


# How many instances without a name that have ended, and how many of their tabs, a list still shows. An agent finds
# there what it did before its client was started again, and the list stays short enough to read.
ENDED_INSTANCES = 3
ENDED_TABS = 30


def ended_tabs(folders: Folders) -> tuple[TabInfo, ...]:
    """The tabs of the last instances without a name that have ended, as far as they left logs. Blocks on the disk.

    `window_id` is `INSTANCE/@N`, as the reading of logs takes it (`find_log`).
    """
    rows: list[TabInfo] = []
    for home, logs in ended_instances(folders.state, folders.instance, ENDED_INSTANCES):
        newest = max(generation_of(log) for log in logs)
        rows += _ended_rows(home, logs[: ENDED_TABS - len(rows)], newest, f"{home.name}/", "its instance has ended")
    return tuple(rows)


def logged_tabs(folders: Folders, generation: int) -> tuple[TabInfo, ...]:
    """The tabs of this instance that left a log, the last `ENDED_TABS` of them, open ones too. Blocks on the disk.

    An id has the number of its server's generation before it, unless that is `generation`.
    """
    home = folders.state / folders.instance
    logs = [log for _, log in logs_of(home)[:ENDED_TABS]]
    return tuple(_ended_rows(home, logs, generation, "", "the tab has ended"))


def _ended_rows(home: Path, logs: Sequence[Path], newest: int, prefix: str, reason: str) -> list[TabInfo]:
    last = {(one.generation, one.window_id): one for one in read_history(home, (), RECENT_COMMANDS)}
    rows = []
    for log in logs:
        with suppress(OSError):
            rows.append(_ended_row(log, newest, prefix, last, reason))
    return rows


def generation_of(log: Path) -> int:
    """Which life of the tmux server a log is of."""
    return int(log.parent.parent.name)


def _ended_row(
    log: Path, newest: int, prefix: str, last: Mapping[tuple[int, str], CommandRecord], reason: str
) -> TabInfo:
    generation = generation_of(log)
    pane = log.stem.rpartition("-")[2]  # the log of a further pane is named pane-@N-%M
    life = "" if generation == newest else f"{generation}/"
    ran = last.get((generation, pane))
    with LogFileReader(log) as reader:
        end = reader.end
    return TabInfo(
        window_id=f"{prefix}{life}{pane}",
        name=ran.name if ran is not None else "",
        active=False,
        pane_id="",
        session="",
        state="dead",
        current_command="",
        cwd=ran.cwd if ran is not None else "",
        log_path=str(log),
        next_byte=end,
        closed=True,
        reason=reason,
        last_command=ran.command[:COMMAND_SHOWN] if ran is not None else "",
        last_exit_code=ran.exit_code if ran is not None else None,
    )


def _rows_without_tmux(tabs: Iterable[Tab], book: TabBook, session: str) -> tuple[TabInfo, ...]:
    latest = book.latest
    return tuple(_row(tab, book, latest, command="") for tab in tabs if session in ("", tab.session))


def _row(tab: Tab, book: TabBook, latest: str, *, command: str) -> TabInfo:
    if command == SUPERVISOR and tab.pane.supervised:
        command = _beneath(tab.pane) or command
    last = tab.pane.session.current
    link = tab.pane.host.link
    return TabInfo(
        window_id=book.address(tab),
        name=tab.name,
        active=tab.key == latest and not tab.pane.session.dead,
        pane_id=tab.prefix + tab.pane_id,
        session=tab.session,
        state=tab.state,
        current_command=command,
        cwd=tab.cwd,
        log_path=str(tab.log_path),
        next_byte=tab.next_byte,
        closed=tab.pane.session.dead,
        reason=tab.end_reason,
        last_command=last.command[:COMMAND_SHOWN].decode("utf-8", "replace") if last is not None else "",
        last_exit_code=last.exit_code if last is not None else None,
        created=round(time.time() - tab.created) if tab.created else None,
        used=round(max(0.0, time.monotonic() - tab.pane.use.last)),
        host=link.host if link is not None else "",
        link=link.state if link is not None else "",
        rtt_ms=round(link.rtt * 1000, 1) if link is not None else 0.0,
    )


def _beneath(pane: PaneState) -> str:
    """The command that the supervisor runs, if both are the foreground process group, which the supervisor leads."""
    supervisor, host = pane.leader_pid, pane.host
    return host.child_name(supervisor) if host.foreground_pgrp(supervisor) == supervisor else ""
