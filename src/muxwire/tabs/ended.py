"""Tabs that have ended, as far as they left logs: those of this instance, and of the last ones without a name."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.logs.history import RECENT_COMMANDS, read_history
from muxwire.logs.limits import ended_instances, logs_of
from muxwire.logs.read import LogFileReader
from muxwire.results import TabInfo
from muxwire.tabs.tab_events import COMMAND_SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from muxwire.host.folders import Folders
    from muxwire.results import CommandRecord


# How many instances without a name that have ended, and how many of their tabs, a list still shows. An agent finds
# there what it did before its client was started again, and the list stays short enough to read.
ENDED_INSTANCES = 3
ENDED_TABS = 30


def ended_tabs(folders: Folders) -> tuple[TabInfo, ...]:
    """The tabs of the last instances without a name that have ended, as far as they left logs. Blocks on the disk.

    `window_id` is `INSTANCE/@N`, as the reading of logs takes it (`find_log`).
    """
    rows: list[TabInfo] = []
    for home, logs in ended_instances(folders.state, ENDED_INSTANCES):
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
        cwd=ran.cwd if ran is not None else "",
        log_path=str(log),
        next_byte=end,
        closed=True,
        reason=reason,
        last_command=ran.command[:COMMAND_SHOWN] if ran is not None else "",
        last_exit_code=ran.exit_code if ran is not None else None,
    )
