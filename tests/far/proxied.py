"""An instance whose `box` is this machine behind a proxy, so that the connection can be cut, stalled and refused."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, final
from unittest.mock import patch

import anyio

import muxwire
from muxwire import Tab, Terminals
from muxwire.far import connection as remote, transport as carrier
from muxwire.far.host import RemoteHost
from tests.far.hosts import user_of, words_there

# A connection that falls silent while it is opened; an open takes up to a second on a busy machine.
OPEN_SECONDS = 8.0
# Beats and backoff, in seconds.
QUICK: dict[str, Any] = {"BEAT_SECONDS": 0.3, "SILENT_SECONDS": 2.0, "BACKOFF_SECONDS": 0.1, "BACKOFF_MAX_SECONDS": 0.5}
_SIGNALS = {"kill": signal.SIGKILL, "close": signal.SIGUSR1, "stall": signal.SIGSTOP}


def place_of(tab: Tab) -> Path:
    """The directory of a tab's server on its machine."""
    host = tab.pane.host
    assert isinstance(host, RemoteHost)
    return Path(host.facts.folder)


@final
class Proxied:
    """The instance, and the proxy in front of its machine."""

    def __init__(self, opened: Terminals, place: Path) -> None:
        self.opened = opened
        self._pid, self._down = place / "pid", place / "pid.down"

    def lose(self, kind: str) -> bool:
        """Lose the connection, or the one that is being opened: `kill`, `close` or `stall`; False if there is none."""
        try:
            pid = int(self._pid.read_text())
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return False
        if b"disturbed.py" not in words:  # it has ended
            return False
        os.kill(pid, _SIGNALS[kind])
        return True

    def go_on(self) -> None:
        """Let a connection that was stalled continue."""
        os.kill(int(self._pid.read_text()), signal.SIGCONT)

    def refuse(self) -> None:
        """Let no further connection through."""
        self._down.touch()

    def over(self) -> None:
        """Let connections through again."""
        self._down.unlink()

    async def cut(self, tab: Tab, kind: str) -> None:
        """Lose the connection, and return when there is another one."""
        connections = tab.client.connections
        self.lose(kind)
        await self.regained(tab, connections)

    @staticmethod
    async def regained(tab: Tab, connections: int) -> None:
        """Return when there was a connection after so many."""
        link = tab.pane.host.link
        assert link is not None
        while tab.client.connections == connections or not link.up:
            await anyio.sleep(0.01)

    async def outage(self, tab: Tab) -> None:
        """Lose the connection, and refuse further ones."""
        self.refuse()
        self.lose("kill")
        link = tab.pane.host.link
        assert link is not None
        while link.up:
            await anyio.sleep(0.01)


@asynccontextmanager
async def proxied(folder: Path, environ: dict[str, str], **table: str) -> AsyncIterator[Proxied]:
    """Open it, with more in the table of that host; beats and backoff are quick."""
    place = folder / "proxy"
    place.mkdir(exist_ok=True)
    words = [sys.executable, str(Path(__file__).with_name("disturbed.py")), "cut", str(place / "pid")]
    words += words_there(environ, folder / "there")
    user = user_of(environ, place / "hosts.toml", box={"via": words, **table})
    with patch.multiple(remote, **QUICK), patch.object(carrier, "OPEN_SECONDS", OPEN_SECONDS):
        async with muxwire.open_terminals(state_dir=folder / "state", environ=user) as opened:
            yield Proxied(opened, place)
