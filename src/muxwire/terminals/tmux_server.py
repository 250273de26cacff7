"""The tmux server of one instance and our one control connection to it: start it, talk to it, end it with us.

`tmux -u -S SOCKET -f OUR.conf -C new-session -A -s hub`: one hub session that every tab is a window of, so that one
client hears every pane, and a keeper window so that the hub never runs empty (an empty session crashes tmux 3.3a).
"""

from __future__ import annotations

import datetime as dt
import re
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.client import ControlClient
from muxwire.client.process import TmuxProcess, clean_environment
from muxwire.errors import ConnectionClosed, TmuxUnavailable
from muxwire.terminals.folders import Folders, private_folder, write_private
from muxwire.terminals.log import LogStore
from muxwire.terminals.shells import install

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from muxwire.protocol.events import Event

HUB = "hub"
KEEPER_NAME = "muxwire-keeper"
# The longest sleep that every sleep(1) takes.
KEEPER = ("sleep", "2147483647")
MINIMUM_VERSION = (3, 3)
# Wide enough that few programs wrap their tables; what a program writes does not depend on it otherwise.
COLUMNS, ROWS = 200, 50
# tmux starts in 10 ms; a machine that swaps may take seconds.
START_SECONDS = 20

_VERSION = re.compile(r"(?:next-)?(\d+)\.(\d+)")

# message-limit first: tmux's message log keeps the text of every command, typed secrets included.
# exit-empty off: the server lives until we end it. automatic-rename off: else a notification each half second.
# window-size stays as it is: `set -g window-size manual` crashes tmux 3.3a to 3.6 at the next new-window.
CONFIG = f"""\
set -s message-limit 0
set -s exit-empty off
set -s set-clipboard off
set -s escape-time 0
set -g default-size {COLUMNS}x{ROWS}
set -g history-limit 10000
set -g automatic-rename off
set -g allow-rename off
set -g remain-on-exit off
set -g update-environment ''
set -g status-left-length 40
set -g default-command ''
set -g detach-on-destroy on
"""


@final
class TmuxServer:
    """A running tmux server with our control client attached; made by `open_server`."""

    def __init__(
        self, folders: Folders, client: ControlClient, version: tuple[int, int], generation: str, log_store: LogStore
    ) -> None:
        self.folders = folders
        self.client = client
        self.version = version
        self.generation = generation
        self.logs = folders.logs(generation)
        self.log_store = log_store


@asynccontextmanager
async def open_server(
    folders: Folders,
    environ: Mapping[str, str],
    *,
    on_notification: Callable[[Event], None],
    on_end: Callable[[str], None],
) -> AsyncIterator[TmuxServer]:
    """Start a tmux server that ends when this block does, or when we are killed.

    `on_end` is called once with the reason if the connection ends before that. Raises TmuxUnavailable,
    InstanceUnavailable.
    """
    tmux = find_tmux(environ)
    folders.prepare()
    install(folders.shells)
    write_private(folders.config, CONFIG.encode())
    argv = (
        tmux, "-u", "-S", str(folders.socket_path), "-f", str(folders.config), "-C",
        "new-session", "-A", "-s", HUB, "-x", str(COLUMNS), "-y", str(ROWS), "-n", KEEPER_NAME, "--", *KEEPER,
    )  # fmt: skip
    process = TmuxProcess(
        argv, socket=str(folders.socket_path), env=clean_environment(environ), ephemeral=True, cwd="/"
    )
    store = LogStore()
    client = ControlClient(process, on_notification=on_notification, on_chunk=store.flush_soon)
    async with store, client:
        version, pid, generation = await _greet(client)
        process.watch_server(pid)
        logs = folders.logs(generation)
        private_folder(logs.parent)
        private_folder(logs)
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                await client.wait_closed()
                on_end(client.close_reason)

            tasks.start_soon(watch)
            yield TmuxServer(folders, client, version, generation, store)
            tasks.cancel_scope.cancel()


async def _greet(client: ControlClient) -> tuple[tuple[int, int], int, str]:
    """Wait until tmux answers; return its version, its process id, and a name for this life of it."""
    remedy = "install tmux 3.3 or newer; `tmux -V` says which one is found"
    try:
        with anyio.fail_after(START_SECONDS):
            (answer,) = await client.command("display-message", "-p", "#{version} #{pid} #{start_time}")
    except ConnectionClosed as error:
        raise TmuxUnavailable(f"tmux did not start: {error.reason}", remedy=remedy) from error
    except TimeoutError:
        raise TmuxUnavailable(f"tmux did not answer within {START_SECONDS} s", remedy=remedy) from None
    text, pid, started = answer.decode().split(" ")
    found = _VERSION.match(text)
    # A build from git calls itself `next-3.8` or `master`: newer than all that has a number.
    version = (int(found[1]), int(found[2])) if found else (99, 0)
    if version < MINIMUM_VERSION:
        raise TmuxUnavailable(f"tmux {text} is too old, 3.3 is needed", remedy="install tmux 3.3 or newer")
    moment = dt.datetime.fromtimestamp(int(started), dt.UTC)
    return version, int(pid), f"{moment:%Y%m%dT%H%M%SZ}-{pid}"


def find_tmux(environ: Mapping[str, str]) -> str:
    """The tmux to start; TmuxUnavailable if there is none."""
    found = shutil.which("tmux", path=environ.get("PATH"))
    if found is None:
        raise TmuxUnavailable(
            "tmux is not installed, or not on PATH",
            remedy="install tmux 3.3 or newer (apt-get install tmux, brew install tmux), then try again",
        )
    return found
