"""`list_tabs`: our tabs beside what tmux says of windows, sessions and clients, in one round trip."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from muxwire.terminals.results import SessionInfo, TabInfo, TabList

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.client.client import ControlClient
    from muxwire.terminals.tab import Tab

_WINDOWS = "#{window_id} #{window_active} #{session_name}"
_PANES = "#{pane_id} #{pane_current_command}"
_CLIENTS = "#{client_control_mode} #{client_session}"


async def list_tabs(client: ControlClient | None, tabs: Mapping[str, Tab], closed: Mapping[str, Tab]) -> TabList:
    """Describe every tab and session; without a running server, what is left of it."""
    if client is None:
        return TabList(tuple(_row(tab, active=False, command="") for tab in closed.values()), ())
    pending = client.submit(
        ("list-windows", "-a", "-F", _WINDOWS), ("list-panes", "-a", "-F", _PANES), ("list-clients", "-F", _CLIENTS)
    )
    answers = [await answer.wait() for answer in pending]
    windows, panes, clients = ([line.decode("utf-8", "replace").split(" ") for line in answer] for answer in answers)
    active = {row[0] for row in windows if row[1] == "1"}
    commands = {row[0]: " ".join(row[1:]) for row in panes}
    # Our own control client is no visitor.
    visitors = Counter(" ".join(row[1:]) for row in clients if row[0] != "1")
    sessions = Counter(" ".join(row[2:]) for row in windows)
    rows = [
        _row(tab, active=tab.window_id in active, command=commands.get(tab.pane_id, "")) for tab in tabs.values()
    ] + [_row(tab, active=False, command="") for tab in closed.values()]
    return TabList(tuple(rows), tuple(SessionInfo(name, count, visitors[name]) for name, count in sessions.items()))


def _row(tab: Tab, *, active: bool, command: str) -> TabInfo:
    return TabInfo(
        window_id=tab.window_id,
        name=tab.name,
        active=active,
        pane_id=tab.pane_id,
        session=tab.session,
        state=tab.state,
        current_command=command,
        cwd=tab.cwd,
        log_path=str(tab.log_path),
        next_byte=tab.next_byte,
        closed=tab.pane.dead,
    )
