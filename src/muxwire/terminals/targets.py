"""What a caller may call a tab: `@N`, `%N`, `.`, its name, or a session with a window in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.errors import NoSuchTarget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.client.client import ControlClient
    from muxwire.terminals.tab import Tab

_REMEDY = "list_tabs shows every tab; create_tab makes one"


async def find_tab(target: str, tabs: Mapping[str, Tab], latest: str, client: ControlClient | None) -> Tab:
    """Resolve a selector; NoSuchTarget for none, and for more than one.

    `@N` a window, `%N` a pane, `.` the tab last used, `NAME` a tab (or the active tab of that session),
    `SESSION:N` a window's index there, `SESSION:NAME` a tab's name there; `SESSION:N.M` names its pane M.
    """
    if target in tabs:
        return tabs[target]
    if target == ".":
        if latest in tabs:
            return tabs[latest]
        raise NoSuchTarget("there is no active tab", remedy=_REMEDY)
    if target.startswith("%"):
        return _only(target, [tab for tab in tabs.values() if tab.pane_id == target])
    named = [tab for tab in tabs.values() if tab.name == target]
    if named or not target or client is None or target[0] == "@":
        return _only(target, named)
    session, _, rest = target.partition(":")
    listing = await client.command(
        "list-windows", "-a", "-F", "#{window_id} #{window_index} #{window_active} #{session_name}"
    )
    rows = [line.decode("utf-8", "replace").split(" ", 3) for line in listing]
    inside = [(tabs[row[0]], row[1], row[2]) for row in rows if row[0] in tabs and row[3] == session]
    if not rest:
        return _only(target, [tab for tab, _, active in inside if active == "1"] or [tab for tab, _, _ in inside])
    index = rest.split(".", 1)[0]
    return _only(target, [tab for tab, number, _ in inside if rest == tab.name or index == number])


def _only(target: str, found: list[Tab]) -> Tab:
    if not found:
        raise NoSuchTarget(f"no tab is called {target!r}", remedy=_REMEDY)
    if len(found) > 1:
        names = ", ".join(tab.window_id for tab in found)
        raise NoSuchTarget(f"{target!r} names {len(found)} tabs: {names}", remedy="use one of these ids")
    return found[0]
