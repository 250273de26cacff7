"""The sessions of one server: the hub, which holds every window, and those that show some of them to people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, InvalidArgument
from muxwire.tmux.rows import PANES, panes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.client import ControlClient
    from muxwire.tmux.rows import PaneRow


# Shows nothing, and is gone as soon as the session has a tab.
_PLACEHOLDER = ("sleep", "2147483647")
# tmux(1) COMMANDS: in a target `:` and `.` end the session's name, and tmux makes `_` of them.
_NOT_IN_NAME = re.compile(r"[:.\x00-\x1f\x7f-\x9f]")


def checked_session(name: str) -> str:
    if _NOT_IN_NAME.search(name):
        raise InvalidArgument(
            f"a session's name cannot hold ':', '.' or control characters: {name!r}", remedy="use '-' instead"
        )
    return name


@final
class Sessions:
    """Finds and makes sessions by the names that callers gave."""

    def __init__(self, client: ControlClient, hub: str, hub_name: str, keeper: str) -> None:
        self.hub = hub
        self.hub_name = hub_name
        self.keeper = keeper
        self._client = client
        self._making = anyio.Lock()
        # tmux writes some characters differently; the name as given counts for as long as the session is not renamed.
        self._given: dict[str, tuple[str, str]] = {hub: (hub_name, hub_name)}
        self._placeholders: set[str] = set()

    def name(self, session: str, shown: str) -> str:
        """The name of a session for callers, by the name that tmux shows: as given, unless it was renamed."""
        shown_first, given = self._given.get(session, (shown, shown))
        return given if shown == shown_first else shown

    async def panes(self) -> list[PaneRow]:
        """The panes of every session, without those that only keep a session alive."""
        return self.with_tabs(panes_of(await self._client.command(*PANES)))

    def with_tabs(self, panes: Sequence[PaneRow]) -> list[PaneRow]:
        return [row for row in panes if row.window != self.keeper and row.window not in self._placeholders]

    async def link(self, window: str, name: str) -> str:
        """Show a window in the session of that name too, made if there is none; return its id. CommandError.

        Every window stays in the hub, whose client hears it.
        """
        async with self._making:
            while session := await self._find(name):
                try:
                    await self._link(window, f"{session}:")
                except CommandError:
                    if await self._find(name) == session:
                        raise
                    # Its last tab was closed meanwhile, and the session with it.
                else:
                    return session
            session, place = await self._make(name)
            await self._link(window, place, replace=True)
            return session

    async def _link(self, window: str, place: str, *, replace: bool = False) -> None:
        await self._client.command("link-window", *(("-k",) if replace else ()), "-d", "-s", window, "-t", place)

    async def _make(self, name: str) -> tuple[str, str]:
        """Make a session; return its id and the place of its placeholder, the window that it has until it has a tab."""
        # The name is a format to new-session: a doubled # stands for itself.
        (answer,) = await self._client.command(
            "new-session", "-d", "-s", name.replace("#", "##"), "-P",
            "-F", "#{session_id} #{window_id} #{window_index} #{session_name}", "--", *_PLACEHOLDER,
        )  # fmt: skip
        session, placeholder, index, shown = answer.decode("utf-8", "replace").split(" ", 3)
        self._given[session] = (shown, name)
        self._placeholders.add(placeholder)
        return session, f"{session}:{index}"

    async def _find(self, name: str) -> str:
        answer = await self._client.command("list-sessions", "-F", "#{session_id} #{session_name}")
        for line in answer:
            session, _, shown = line.decode("utf-8", "replace").partition(" ")
            if self.name(session, shown) == name:
                return session
        return ""
