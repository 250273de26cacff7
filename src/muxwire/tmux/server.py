"""The tmux server of one instance and our one control connection to it.

`tmux -u -S SOCKET -f OUR.conf -C new-session -A -s hub`: one hub session that every tab is a window of, so that one
client hears every pane, and a keeper window so that the hub never runs empty (an empty session crashes tmux 3.3a).
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.adopted_watchdog import ends_session, kill_command
from muxwire.errors import CommandError, ConnectionClosed, TmuxSilent
from muxwire.host.locks import nobody_attaches
from muxwire.logs.follower_log import FollowerLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from muxwire.client.client import ControlClient
    from muxwire.client.process import TmuxProcess
    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.logs.store import LogStore, PaneLog
    from muxwire.tmux.access import Access
    from muxwire.tmux.sessions import Sessions


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
        # Attaches for as long as the block lasts; only a person's server is left in between.
        self.attached: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
        # Of another machine: brings the output of a pane of which another connection may have had the beginning.
        self.rejoin: Callable[..., anyio.Event] | None = None
        self._killing = anyio.Lock()

    @property
    def process(self) -> TmuxProcess:
        assert self._process is not None
        return self._process

    def watch_session(self, pid: int) -> None:
        """A pane has that first process; of another machine's panes the helper there takes care."""
        if self._process is not None:
            self._process.watchdog.watch_session(pid)

    def release_session(self, pid: int) -> None:
        self.host.forget(pid)
        if self._process is not None:
            self._process.watchdog.release_session(pid)

    def record(self, nonce: str) -> Path:
        """Where the record of a tab is: with what its shell reads, or beside the logs of another machine's."""
        return self.folders.tab(nonce) if self.host.is_local else self.records / nonce

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
        """A block in which windows may be made and ended: no other process of ours attaches to the server then."""
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
