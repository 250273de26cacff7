"""The tmux server of one instance and our one control connection to it.

`tmux -u -S SOCKET -f OUR.conf -C new-session -A -s hub`: one hub session that every tab is a window of, so that one
client hears every pane, and a keeper window so that the hub never runs empty (an empty session crashes tmux 3.3a).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

import anyio

from muxwire.client.watchdog import ends_session, kill_command
from muxwire.errors import CommandError, ConnectionClosed, InstanceUnavailable, TmuxSilent
from muxwire.host.folders import how_to_use, private_folder
from muxwire.host.locks import named_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.client.client import ControlClient
    from muxwire.client.transport import TmuxProcess
    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.host.locks import InstanceLock
    from muxwire.logs.store import LogStore
    from muxwire.tmux.sessions import Sessions


# How a process stands to an instance: it owns it, it is a client of the process that does, or the tmux server is one
# that a person runs, of which nothing is changed.
Role = Literal["owner", "client", "adopted"]


@final
class Access:
    """`persistent`: the tmux server outlives us. `lock`: that of a named instance, which one process has at a time."""

    def __init__(self, *, persistent: bool, lock: InstanceLock | None = None, adopted: bool = False) -> None:
        self.persistent = persistent
        self.lock = lock
        self.role: Role = "adopted" if adopted else "owner"

    async def settle(self, folders: Folders) -> None:
        """Before the server is started or attached to: become its owner.

        InstanceUnavailable if another process is, or if the instance's server listens elsewhere.
        """
        if self.lock is None:
            return
        folders.prepare()
        pid, noted = named_server(folders.server)
        there = noted or named_server(folders.lock)[1]
        if folders.differs(there):
            raise InstanceUnavailable(
                f"the instance {folders.instance} is in use with its socket at {there}, not at {folders.socket_path}"
                + (f"; its tmux server is process {pid}" if pid else ""),
                remedy=f"{how_to_use(Path(there).parent)}; or choose another name",
            )
        if not await self.lock.take_soon():
            raise InstanceUnavailable(
                f"process {named_server(folders.lock)[0]} has the instance {folders.instance},"
                " and shares it with no other",
                remedy="end that process, or choose another name",
            )


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
        # The directory of the tabs' records: with what their shells read, or, of another machine, beside the logs.
        self.records = folders.shells.parent
        self.lists_records = access.persistent  # whether other processes find the tabs by what tmux says of them
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
        """Where the record of a tab is."""
        return self.records / label

    def make_record_folder(self, label: str) -> Path:
        """The directory of `record`, which is there now."""
        folder = self.record(label)
        private_folder(folder)
        return folder

    def mend_folders(self) -> None:
        """Make what shells read anew, if it was removed, as at the end of the user's last login."""
        if self.host.is_local and not self.folders.shells.is_dir():
            self.folders.prepare()
            self.host.install(self.folders.shells)

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

    async def _kill(self, *command: str) -> None:
        async with self._killing:
            try:
                await self.client.command(*command)
            except TmuxSilent:
                raise  # it is not gone yet
            except (CommandError, ConnectionClosed):
                pass


async def _is_attached() -> None:
    """A server of muxwire is attached to from its start on."""
