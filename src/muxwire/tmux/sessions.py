"""The sessions of one server: the hub, which holds every window, and those that show some of them to people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, InvalidArgument
from muxwire.values import dataclass

if TYPE_CHECKING:
    from muxwire.client.client import ControlClient

# Shows nothing, and is gone as soon as the session has a tab.
_PLACEHOLDER = ("sleep", "2147483647")
# tmux(1) COMMANDS: in a target `:` and `.` end the session's name, and tmux makes `_` of them.
_NOT_IN_NAME = re.compile(r"[:.\x00-\x1f\x7f-\x9f]")
_WINDOWS = "#{window_id} #{window_index} #{window_active} #{session_id} #{session_name}"


@final
@dataclass(frozen=True, slots=True)
class WindowRow:
    """A window as one session shows it; a window linked into two sessions has two rows."""

    window: str
    index: int
    active: bool
    session: str


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
        # tmux writes some characters differently; the name as given counts for as long as nobody renames the session.
        self._given: dict[str, tuple[str, str]] = {hub: (hub_name, hub_name)}
        self._placeholders: set[str] = set()

    def name(self, session: str, shown: str) -> str:
        """The name of a session of which tmux shows this one."""
        shown_first, given = self._given.get(session, (shown, shown))
        return given if shown == shown_first else shown

    async def windows(self) -> list[WindowRow]:
        (answer,) = await self._client.ask(self.windows_command())
        return self.rows(answer)

    @staticmethod
    def windows_command() -> tuple[str, ...]:
        return ("list-windows", "-a", "-F", _WINDOWS)

    def rows(self, answer: tuple[bytes, ...]) -> list[WindowRow]:
        rows = []
        for line in answer:
            window, index, active, session, name = line.decode("utf-8", "replace").split(" ", 4)
            if window != self.keeper and window not in self._placeholders:
                rows.append(WindowRow(window, int(index), active == "1", self.name(session, name)))
        return rows

    async def pane(self, window: str, index: int) -> str:
        (answer,) = await self._client.ask(("list-panes", "-t", window, "-F", "#{pane_index} #{pane_id}"))
        return dict(line.decode().split(" ", 1) for line in answer).get(str(index), "")

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
        """Make a session; return its id and the place of the window that it cannot do without until it has a tab."""
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
