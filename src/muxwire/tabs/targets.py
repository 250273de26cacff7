"""What a caller may call a tab: `@N`, `%N`, `.`, its name, or a session with a window in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muxwire.errors import AmbiguousTarget, InvalidArgument, NoSuchTarget
from muxwire.ids import LAST_USED, USED_BEFORE, host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.tabs.book import TabBook
    from muxwire.tabs.seat import Seat
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.sessions import Sessions

_REMEDY = "`list_tabs` shows every tab; `create_tab` makes one"
# Never a name, so that a tab called "@3" can never be taken for another that has this id.
_ID = re.compile(r"(?:[0-9]+/)?[@%][0-9]+\Z")
# How a step of a list of operations names a pane that an earlier one made.
_OF_STEP = "ref:"
_INDEX = re.compile(r"(?P<window>[0-9]+)(?:\.(?P<pane>[0-9]+))?\Z")


def check_tab_name(name: str) -> None:
    """Refuse a name by which the tab could never be found, since it means another one: InvalidArgument."""
    if name in (LAST_USED, USED_BEFORE):
        meaning = f"the tab {'used last' if name == LAST_USED else 'used before the last one'}"
    elif _ID.match(name) or host_of(name)[0]:
        meaning = "the window or pane of that id"
    elif name.startswith(_OF_STEP):
        meaning = "what an earlier step of a list of operations made"
    else:
        return
    raise InvalidArgument(f"a tab cannot be called {name!r}: that means {meaning}", remedy="give it another name")


async def find_tab(
    target: str,
    book: TabBook,
    seat: Seat,
    prefix: str,
    sessions: Sessions | None,
) -> Tab:
    """Resolve a selector of that seat; NoSuchTarget for none, and for more than one.

    `@N` a window (its first pane), `%N` a pane, `.` the tab last used, `=` the one before it, `NAME` a tab (or the
    active tab of that session), `SESSION:N` a window's index there, `SESSION:NAME` a tab's name there; `SESSION:N.M`
    names its pane M. If there is none, a closed one counts.
    """
    used = {LAST_USED: book.latest(seat), USED_BEFORE: book.previous(seat)}
    try:
        return await _find(target, book.open, used, sessions)
    except AmbiguousTarget:
        raise
    except NoSuchTarget:
        closed = book.find_closed(prefix + target) or book.find_closed(target)
        if closed is None:
            raise
        return closed


async def _find(target: str, tabs: Mapping[str, Tab], used: Mapping[str, str], sessions: Sessions | None) -> Tab:
    if target in tabs:
        return tabs[target]
    if target in used:
        if used[target] in tabs:
            return tabs[used[target]]
        what = "there is no active tab" if target == "." else "no tab was used before the active one"
        raise NoSuchTarget(what, remedy=_REMEDY)
    if _ID.match(target):
        return _only(
            target, [tab for tab in tabs.values() if target in (tab.pane_id, tab.address.removeprefix(tab.prefix))]
        )
    named = [tab for tab in tabs.values() if tab.name == target and not tab.is_split]
    if named or not target or sessions is None:
        return _only(target, named)
    return await _in_session(target, tabs, sessions)


async def _in_session(target: str, tabs: Mapping[str, Tab], sessions: Sessions) -> Tab:
    session, colon, rest = target.partition(":")
    panes = [row for row in await sessions.panes() if sessions.name(row.session, row.session_name) == session]
    if colon and not panes:
        raise NoSuchTarget(f"there is no session {session!r}", remedy=_REMEDY)
    shown = {row.window: row for row in panes}  # each window once
    windows = {tab.window_id: tab for tab in tabs.values() if not tab.is_split}
    inside = [windows[window] for window in shown if window in windows]
    if not rest:
        return _only(target, [tab for tab in inside if shown[tab.window_id].window_active] or inside)
    index = _INDEX.match(rest)
    if index is not None:
        found = [row for row in panes if row.window_index == int(index["window"])]
        if found and index["pane"] is not None:
            pane = {row.pane for row in found if row.pane_index == int(index["pane"])}
            return _only(target, [tab for tab in tabs.values() if tab.pane_id in pane])
        if found and found[0].window not in windows:
            raise NoSuchTarget(f"the window {target!r} is not a tab of muxwire", remedy=_REMEDY)
        if found:
            return windows[found[0].window]
        if not any(tab.name == rest for tab in tabs.values()):
            raise NoSuchTarget(f"session {session!r} has no window {index['window']}", remedy=_REMEDY)
    return _only(target, [tab for tab in inside if tab.name == rest])


def _only(target: str, found: list[Tab]) -> Tab:
    if not found:
        raise NoSuchTarget(f"no tab is called {target!r}", remedy=_REMEDY)
    if len(found) > 1:
        names = ", ".join(tab.key for tab in found)
        raise AmbiguousTarget(f"{target!r} names {len(found)} tabs: {names}", remedy="use one of these ids")
    return found[0]
