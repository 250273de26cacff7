"""A tmux server of its own for one test: started on entry, gone with all of its processes on exit."""

from __future__ import annotations

import os
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.client.client import ControlClient
from muxwire.client.process import TmuxProcess, clean_environment
from muxwire.testing.conformance import HUB, HUB_COMMAND, Observer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from muxwire.client.transport import Transport


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
        # A shell without start-up files: whose they are must not matter to a test.
        env={**clean_environment(os.environ), "SHELL": "/bin/sh"},
        ephemeral=ephemeral,
    )


@asynccontextmanager
async def open_private_tmux(
    *, wrap: Callable[[Transport], Transport] | None = None, tmux: str = "tmux"
) -> AsyncIterator[PrivateTmux]:
    """Start a server on a private socket and attach to it; `wrap` may put something around the transport."""
    # Short, since the path of a socket has room for a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="mw", ignore_cleanup_errors=True) as folder:
        process = start_tmux(f"{folder}/s", tmux=tmux)
        transport = process if wrap is None else wrap(process)
        observer = Observer()
        async with ControlClient(transport, on_notification=observer.notify, on_chunk=observer.wake) as client:
            yield PrivateTmux(client, observer, process, f"{folder}/s")
