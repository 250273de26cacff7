"""The tmux server of one instance and our one control connection to it.

`tmux -u -S SOCKET -f OUR.conf -C new-session -A -s hub`: one hub session that every tab is a window of, so that one
client hears every pane, and a keeper window so that the hub never runs empty (an empty session crashes tmux 3.3a).
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

import anyio

from muxwire.client.watchdog import ends_session, kill_command
from muxwire.errors import CommandError, ConnectionClosed, InstanceUnavailable, InvalidArgument, TmuxSilent
from muxwire.host.folders import how_to_use, private_folder
from muxwire.host.locks import named_server, nobody_attaches
from muxwire.logs.store import FollowerLog
from muxwire.tmux.rows import PANES, panes_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from muxwire.client.client import ControlClient
    from muxwire.client.transport import TmuxProcess
    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.host.locks import InstanceLock
    from muxwire.logs.store import LogStore, PaneLog
    from muxwire.tmux.rows import PaneRow


# How a process stands to the tmux server that it uses: owner of the instance, follower, or at a person's server.

# The owner writes the logs and reattaches every tab; a follower executes and reads next to it; a server that a person
# runs is adopted: nothing of it is changed.
Role = Literal["owner", "follower", "adopted"]


@final
class Access:
    """`persistent`: the tmux server outlives us. `lock`: that of a named instance, whose holder is the owner.

    A follower becomes the owner when it gets the lock.
    """

    def __init__(
        self, *, persistent: bool, lock: InstanceLock | None = None, follower: bool = False, adopted: bool = False
    ) -> None:
        self.persistent = persistent
        self.lock = lock
        self._follower = follower
        self._adopted = adopted

    async def settle(self, folders: Folders) -> None:
        """Before the server is started or attached to: become its owner if no other process is.

        InstanceUnavailable, also if the instance's server listens elsewhere: no process would own the one here, and
        both would write the same logs.
        """
        if self.lock is None:
            return
        folders.prepare()
        held = await self.lock.take_soon()
        pid, noted = named_server(folders.server)
        there = noted if held else self.lock.socket_of_holder()
        if folders.differs(there):
            self.lock.give_back()
            raise InstanceUnavailable(
                f"the instance {folders.instance} is in use with its socket at {there}, not at {folders.socket_path}"
                + (f"; its tmux server is process {pid}" if pid else ""),
                remedy=f"{how_to_use(Path(there).parent)}; or choose another name",
            )

    @property
    def role(self) -> Role:
        """What this process is to the server now. Before the lock was tried: what it would be."""
        refused = self.lock is not None and self.lock.refused
        if self._adopted:
            return "adopted"
        return "follower" if self._follower or refused else "owner"

    @property
    def owns_persistent(self) -> bool:
        """Whether we are the owner of a named instance: this process writes the logs now, another one later."""
        return self.lock is not None and self.lock.held


# What a person who attaches sees at the bottom: the tabs, and which of them an agent uses now.

# The server option with the window id of the active tab: formats of every session find it there.
ACTIVE_TAB = "@muxwire-tab"
# The tab that was used before the active one, which a later process calls `=`.
PREVIOUS_TAB = "@muxwire-previous-tab"

# What the agent does now, in words; kept up to date while a person is attached.
DOING = "@muxwire-doing"
# How many characters of a command the status line shows.
DOING_CHARS = 40

# The session in which a person last pressed the prefix key, and the second in which they did.
PREFIX_PRESSED = "@muxwire-prefix"
# tmux's own prefix. It is bound as other keys are, since the option `prefix` runs no command; and in copy mode too,
# where that option would count.
PREFIX_KEY = "C-b"
_PREFIX_TABLES = "root", "copy-mode", "copy-mode-vi"

# How often tmux draws the line anew by itself; it does so at once when the tab changes.
_INTERVAL = 5

# Processes of muxwire are attached to the hub; people are not, unless they attach there themselves.
_DRIVEN = "#{m:*1*,#{S:#{?#{&&:#{==:#{session_name},HUB},#{!=:#{session_attached},0}},1,}}}"
_AGENT = "#{?#{&&:#{==:#{window_id},#{USED}},DRIVEN}, (agent),}"
_TAB = "#{?#{==:#{window_name},KEEPER},,#I:#W#FAGENT}"


def doing_format(hub: str) -> str:
    """The format of what the agent does: empty while no muxwire is attached, since it is not updated then."""
    return f"#{{?{_DRIVEN.replace('HUB', hub)},#{{{DOING}}},}}"


def status_config(*, hub: str, keeper: str) -> str:
    """The lines of tmux's configuration that are for people: the status line, and the prefix key.

    The keeper is not shown, since there is nothing to see in it; the keys that continue to the next tab pass it by.
    """
    agent = _AGENT.replace("DRIVEN", _DRIVEN.replace("HUB", hub)).replace("USED", ACTIVE_TAB)
    tab = _TAB.replace("KEEPER", keeper).replace("AGENT", agent)
    # A person's terminal gives its size to the tab that they view, and to no other.
    lines = f"set -g aggressive-resize on\nset -g status-interval {_INTERVAL}\n"
    lines += "".join(f'set -g window-status-{current}format "{tab}"\n' for current in ("", "current-"))
    keeper_shown = f"if-shell -F '#{{==:#{{window_name}},{keeper}}}'"
    for key, command in (("n", "next-window"), ("p", "previous-window")):
        lines += f"bind-key {key} {command} \\; {keeper_shown} {command}\n"
    note = f"set-option -sF {PREFIX_PRESSED} '#{{session_id}} #{{session_activity}}'"
    for table in _PREFIX_TABLES:
        lines += f"bind-key -T {table} {PREFIX_KEY} {note} \\; switch-client -T prefix\n"
    return lines + f"set -g prefix None\nbind-key {PREFIX_KEY} send-keys {PREFIX_KEY}\n"


# The sessions of one server: the hub, which holds every window, and those that show some of them to people.

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


@final
class TmuxServer:
    """A running tmux server with our control client attached; made by `instance.connect.open_server`.

    `generation` counts the lives of this instance's server, from 1.
    """

    def __init__(
        self,
        host: Host,
        folders: Folders,
        process: TmuxProcess | None,
        client: ControlClient,
        version: tuple[int, int],
        generation: int,
        log_store: LogStore,
        sessions: Sessions,
        access: Access,
    ) -> None:
        self.host = host
        self.folders = folders
        self._process = process
        self.client = client
        self.version = version
        self.generation = generation
        self.logs = folders.logs(generation)
        self.log_store = log_store
        self.sessions = sessions
        self.access = access
        # Attaches the client, if it is not yet: at a person's server a session is attached to at its first use.
        self.attach: Callable[[], Awaitable[None]] = _is_attached
        # On another machine: fetches the output of a pane whose beginning another connection may have received.
        self.rejoin: Callable[..., anyio.Event] | None = None
        # On another machine: False until the tabs are found that an earlier process has left there.
        self.tabs_known = True
        self._killing = anyio.Lock()

    @property
    def process(self) -> TmuxProcess:
        assert self._process is not None
        return self._process

    def hurry(self) -> None:
        """Leave what takes long to close to the watchdog, because this process ends."""
        self.client.hurry()
        if self._process is not None:
            self._process.watchdog.hurry()

    def watch_session(self, pid: int) -> None:
        """Have the watchdog end what may remain of a pane's session; on another machine the helper there does it."""
        if self._process is not None:
            self._process.watchdog.watch_session(pid)

    def release_session(self, pid: int) -> None:
        self.host.forget(pid)
        if self._process is not None:
            self._process.watchdog.release_session(pid)

    def record(self, label: str) -> Path:
        """Where the record of a tab is: with what its shell reads; for a tab on another machine, beside its logs."""
        return self.folders.tab(label) if self.host.is_local else self.records / label

    @property
    def keeps_records(self) -> bool:
        """Whether another process may ask for the record of a tab: on this machine also a command of `muxwire`."""
        return self.access.persistent or self.host.is_local

    def make_record_folder(self, label: str) -> Path:
        """The directory of `record`; for a pane on this machine `Host.make_folder` has made it already."""
        folder = self.record(label)
        if not self.host.is_local:
            private_folder(folder)
        return folder

    @property
    def is_shared(self) -> bool:
        """Whether other processes of muxwire type into its panes, too: into those of another machine only one does."""
        return self.access.persistent and self.host.is_local

    @property
    def lists_records(self) -> bool:
        """Whether other processes of muxwire list its tabs by what tmux says of them."""
        return self.is_shared or not self.host.is_local

    def mend_folders(self) -> None:
        """Make what shells read anew, if it was removed, as at the end of the user's last login."""
        if self.host.is_local and not self.folders.shells.is_dir():
            self.folders.prepare()
            self.host.install(self.folders.shells)

    @property
    def records(self) -> Path:
        """The records of another machine's tabs."""
        return self.logs.parent / "tabs"

    def open_log(self, path: Path) -> PaneLog | FollowerLog:
        """The log at that path: to be written by the owner, to be read by a follower."""
        return FollowerLog(path) if self.access.role == "follower" else self.log_store.open(path)

    async def kill_window(self, window: str) -> None:
        """Kill a window; one that is gone already is no error. TmuxSilent.

        One at a time: when the last two windows of a session go in one batch, tmux 3.3 to 3.7 crashes.
        """
        await self._kill("kill-window", "-t", window)

    async def kill_pane(self, pane: str) -> None:
        """Kill a pane, and its window if it is the last one there; one that is gone already is no error. TmuxSilent.

        At a person's server it stays if a session would end with it.
        """
        await self._kill(*(kill_command(pane) if self.access.role == "adopted" else ("kill-pane", "-t", pane)))

    async def ends_session(self, pane: str) -> bool:
        if self.access.role == "adopted":
            try:
                return bool(await self.client.command("list-panes", "-a", "-f", ends_session(pane), "-F", "1"))
            except TmuxSilent:
                raise
            except ConnectionClosed:
                pass
        return False

    def changing(self) -> AbstractAsyncContextManager[None]:
        """A block in which windows may be made and ended: no other process of muxwire attaches to the server then."""
        is_shared = self.host.is_local and self.access.role != "adopted"
        return nobody_attaches(self.folders.start_lock) if is_shared else nullcontext()

    async def _kill(self, *command: str) -> None:
        async with self._killing, self.changing():
            try:
                await self.client.command(*command)
            except TmuxSilent:
                raise  # it is not gone yet
            except (CommandError, ConnectionClosed):
                pass


async def _is_attached() -> None:
    """A server of muxwire is attached to from its start on."""
