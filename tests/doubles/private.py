"""A tmux server of its own for one test: started on entry, gone with all of its processes on exit."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar, final

import anyio

from muxwire.client.client import ControlClient
from muxwire.client.transport import TmuxProcess, clean_environment
from muxwire.ids import PaneId
from muxwire.protocol.events import Event

EventT = TypeVar("EventT")

HUB = "hub"
# Keeps the session alive and says nothing.
HUB_COMMAND = "exec tail -f /dev/null"


@final
class Observer:
    """Collects what a client hears, so that a scenario can wait for it."""

    def __init__(self) -> None:
        self.notifications: list[Event] = []  # to which the client's `on_notification` appends
        self.outputs: dict[PaneId, bytearray] = {}
        self._heard = anyio.Event()

    def wake(self, *_: bytes) -> None:
        """Let waiters look again, once what came has been read (one of the client's `taps`)."""
        heard, self._heard = self._heard, anyio.Event()
        heard.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return when the condition holds; it is asked after every read."""
        while not condition():
            await self._heard.wait()

    async def until_output(self, pane: PaneId, text: bytes) -> None:
        """Return when the pane has written `text`."""
        await self.until(lambda: text in self.outputs[pane])

    async def first(self, kind: type[EventT]) -> EventT:
        """Return the first notification of a kind, waiting for it."""
        await self.until(lambda: any(isinstance(event, kind) for event in self.notifications))
        return next(event for event in self.notifications if isinstance(event, kind))


@final
@dataclass(frozen=True, slots=True)
class PrivateTmux:
    """A running server, the client that is attached to it, and what the client hears."""

    client: ControlClient
    observer: Observer
    process: TmuxProcess
    socket: str


def start_tmux(socket: str, *, ephemeral: bool = True, tmux: str = "tmux") -> TmuxProcess:
    """Start a server with the hub session, or attach to the one on this socket. No configuration is read."""
    return TmuxProcess(
        [tmux, "-u", "-S", socket, "-f", "/dev/null", "-C", "new-session", "-A", "-s", HUB, HUB_COMMAND],
        socket=socket,
        # sh reads no start-up files here: those of the person who runs a test must not change it.
        env={**clean_environment(os.environ), "SHELL": "/bin/sh"},
        ephemeral=ephemeral,
    )


@asynccontextmanager
async def open_private_tmux(
    *, taps: Iterable[Callable[[bytes, bytes], None]] = (), tmux: str = "tmux"
) -> AsyncIterator[PrivateTmux]:
    """Start a server on a private socket and attach to it; `taps` are the client's, from the beginning."""
    # Short, since the path of a socket has room for a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="mw", ignore_cleanup_errors=True) as folder:
        process = start_tmux(f"{folder}/s", tmux=tmux)
        observer = Observer()
        client = ControlClient(process, on_notification=observer.notifications.append)
        client.taps.extend((observer.wake, *taps))
        async with client:
            yield PrivateTmux(client, observer, process, f"{folder}/s")
