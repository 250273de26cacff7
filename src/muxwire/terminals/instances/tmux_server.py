"""The tmux server of one instance and our one control connection to it: start it, talk to it, end it with us.

`tmux -u -S SOCKET -f OUR.conf -C new-session -A -s hub`: one hub session that every tab is a window of, so that one
client hears every pane, and a keeper window so that the hub never runs empty (an empty session crashes tmux 3.3a).
"""

from __future__ import annotations

import logging
import re
import shutil
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.client import ControlClient
from muxwire.client.process import TmuxProcess, clean_environment
from muxwire.errors import CommandError, ConnectionClosed, InstanceUnavailable, TmuxUnavailable
from muxwire.terminals.instances.folders import Folders, private_folder, write_private
from muxwire.terminals.instances.hand_over import HandOver
from muxwire.terminals.instances.resync import Resync
from muxwire.terminals.instances.sessions import Sessions
from muxwire.terminals.instances.status_line import status_config
from muxwire.terminals.logs.guest_log import GuestLog
from muxwire.terminals.logs.log import LogStore
from muxwire.terminals.logs.log_limits import LogLimits
from muxwire.terminals.shells import install

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from muxwire.client.transport import Transport
    from muxwire.protocol.events import Event
    from muxwire.terminals.instances.access import Access
    from muxwire.terminals.logs.log import PaneLog
    from muxwire.terminals.tabs.tab import Tab
    from muxwire.terminals.tabs.tab_book import TabBook

    # Puts something around a transport: a recorder, an observer.
    Wrap: TypeAlias = Callable[[Transport], Transport]

HUB = "hub"
KEEPER_NAME = "muxwire-keeper"
# The longest sleep that every sleep(1) takes.
KEEPER = ("sleep", "2147483647")
MINIMUM_VERSION = (3, 3)
# Wide enough that few programs wrap their tables; what a program writes does not depend on it otherwise.
COLUMNS, ROWS = 200, 50
# Rows of scrollback that tmux keeps of a pane, for people: logs hold everything.
HISTORY_LIMIT = 10_000
# tmux starts in 10 ms; a machine that swaps may take seconds.
START_SECONDS = 20

_SAYS = logging.getLogger("muxwire")
_VERSION = re.compile(r"(?:next-)?(\d+)\.(\d+)")
_GREETING = "#{pid} #{session_id} #{window_id} #{@muxwire-generation} #{version}"

# message-limit first: tmux's message log keeps the text of every command, typed secrets included.
# exit-empty off: the server lives until we end it. automatic-rename off: else a notification each half second.
# window-size stays as it is: `set -g window-size manual` crashes tmux 3.3a to 3.6 at the next new-window.
_CONFIG = """\
set -s message-limit 0
set -s exit-empty off
set -s set-clipboard off
set -s escape-time 0
set -s @muxwire-generation {generation}
set -g default-size {columns}x{rows}
set -g history-limit {history}
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
    """A running tmux server with our control client attached; made by `open_server`.

    `generation` counts the lives of this instance's server, from 1.
    """

    def __init__(
        self,
        folders: Folders,
        process: TmuxProcess,
        client: ControlClient,
        version: tuple[int, int],
        generation: int,
        log_store: LogStore,
        sessions: Sessions,
        access: Access,
    ) -> None:
        self.folders = folders
        self.process = process
        self.client = client
        self.version = version
        self.generation = generation
        self.logs = folders.logs(generation)
        self.log_store = log_store
        self.sessions = sessions
        self.access = access
        # Of the owner of an instance that lasts: what is kept for the time after us.
        self.hand_over: HandOver | None = None
        self._killing = anyio.Lock()

    def open_log(self, path: Path) -> PaneLog | GuestLog:
        """The log at that path: to be written by the owner, to be read by a guest."""
        return GuestLog(path) if self.access.role == "guest" else self.log_store.open(path)

    def begin_hand_over(self) -> None:
        """We are the owner: keep from now on what whoever comes after us needs."""
        self.hand_over = HandOver(
            self.logs.parent, self.folders.shells.parent, self.process, lambda: self.client.unfinished
        )

    def forget(self, tab: Tab) -> None:
        """A tab has ended, and is not to be handed over."""
        if self.hand_over is not None:
            self.hand_over.release(tab)

    async def kill_window(self, window: str) -> None:
        """Kill a window; one that is gone already is no error.

        One at a time: when the last two windows of a session go in one batch, tmux 3.3 to 3.7 crashes.
        """
        await self._kill("kill-window", window)

    async def kill_pane(self, pane: str) -> None:
        """Kill a pane, and its window if it is the last one there; one that is gone already is no error."""
        await self._kill("kill-pane", pane)

    async def _kill(self, command: str, target: str) -> None:
        with suppress(CommandError, ConnectionClosed):
            async with self._killing:
                await self.client.command(command, "-t", target)


@asynccontextmanager
async def open_server(
    folders: Folders,
    environ: Mapping[str, str],
    *,
    history_limit: int,
    on_notification: Callable[[Event], None],
    on_end: Callable[[str], None],
    wrap: Wrap | None = None,
    access: Access,
    book: TabBook,
) -> AsyncIterator[TmuxServer]:
    """Start a tmux server that ends when this block does, or when we are killed; `access` may say that it lasts.

    One that runs already is attached to.

    `on_end` is called once with the reason if the connection ends before that. One that tmux or somebody else ended
    while the server goes on is taken up again, with the tabs of `book`. `wrap` may put something around the
    transport, such as a recorder. Raises TmuxUnavailable, InstanceUnavailable.
    """
    limits = LogLimits.from_environment(environ)
    tmux = find_tmux(environ)
    _prepare(folders, history_limit)
    start = (tmux, "-u", "-S", str(folders.socket_path), "-f", str(folders.config))
    process = _attach(start, folders, environ, access)
    store = LogStore(
        _say_log_error,
        limits=limits,
        # The owner alone knows which logs are being written.
        home=None if access.role == "guest" else folders.state / folders.instance,
    )
    resync = Resync(process, start, f"{COLUMNS}x{ROWS}", book)

    def notify(event: Event) -> None:
        resync.follow(event)
        on_notification(event)

    client = resync.client = ControlClient(
        wrap(process) if wrap else process,
        on_notification=notify,
        on_chunk=store.flush_soon,
        # Of a server that outlives us the next process takes up the panes, as its hand-over left them.
        regain=None if access.lasting else resync.regain,
        on_regained=resync.on_regained,
        detaches=lambda: not access.hands_over,
        attaches=True,
    )
    async with store, client:
        server = await _greet(folders, process, client, store, access)
        resync.hub = server.sessions.hub
        if access.hands_over:
            server.begin_hand_over()
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                await client.wait_closed()
                on_end(client.close_reason)

            tasks.start_soon(watch)
            yield server
            tasks.cancel_scope.cancel()


def _attach(start: Sequence[str], folders: Folders, environ: Mapping[str, str], access: Access) -> TmuxProcess:
    """Start our `tmux -C`, and the server if there is none."""
    argv = (
        *start, "-C", "new-session", "-A", "-s", HUB, "-x", str(COLUMNS), "-y", str(ROWS),
        "-n", KEEPER_NAME, "--", *KEEPER,
    )  # fmt: skip
    return TmuxProcess(
        argv,
        socket=str(folders.socket_path),
        env=clean_environment(environ),
        ephemeral=not access.lasting,
        cwd="/",
        transient=() if access.lasting else [str(folder) for folder in folders.transient],
        lock=access.lock.descriptor if access.lock is not None else None,
    )


def _prepare(folders: Folders, history_limit: int) -> None:
    folders.prepare()
    generation = max(folders.generations(), default=0) + 1
    config = _CONFIG.format(columns=COLUMNS, rows=ROWS, history=history_limit, generation=generation)
    config += status_config(hub=HUB, keeper=KEEPER_NAME)
    try:
        install(folders.shells)
        write_private(folders.config, config.encode())
    except OSError as error:
        raise InstanceUnavailable(
            f"cannot write {error.filename}: {error.strerror}",
            remedy="make room there, or point XDG_RUNTIME_DIR at a folder of your own",
        ) from error


async def _greet(
    folders: Folders, process: TmuxProcess, client: ControlClient, store: LogStore, access: Access
) -> TmuxServer:
    """Wait until tmux answers, and learn who it is."""
    remedy = "install tmux 3.3 or newer; `tmux -V` says which one is found"
    try:
        with anyio.fail_after(START_SECONDS):
            answer = b""
            while b" $" not in answer:  # tmux may run what it reads before it has made the session it was started with
                (answer,) = await client.command("display-message", "-p", _GREETING)
    except ConnectionClosed as error:
        raise TmuxUnavailable(f"tmux did not start: {error.reason}", remedy=remedy) from error
    except TimeoutError:
        raise TmuxUnavailable(f"tmux did not answer within {START_SECONDS} s", remedy=remedy) from None
    pid, hub, _, generation, text = answer.decode().split(" ", 4)
    process.watch_server(int(pid))
    version = read_version(text)
    if access.role == "owner":
        # Without a size of ours, windows would keep the size of a person's terminal after it was detached.
        await client.command("refresh-client", "-C", f"{COLUMNS}x{ROWS}")
    logs = folders.logs(int(generation))
    private_folder(logs.parent)
    private_folder(logs)
    keeper = await _find_keeper(client, hub)
    if access.role == "owner":
        # A person who finds the keeper while looking around cannot end it with a key. (-d selects nothing.)
        await client.command("select-pane", "-d", "-t", keeper)
    sessions = Sessions(client, hub, HUB, keeper)
    return TmuxServer(folders, process, client, version, int(generation), store, sessions, access)


def read_version(text: str) -> tuple[int, int]:
    """The version that a server says it has; TmuxUnavailable if it is too old."""
    found = _VERSION.match(text)
    # A build from git calls itself `next-3.8` or `master`: newer than all that has a number.
    version = (int(found[1]), int(found[2])) if found else (99, 0)
    if version < MINIMUM_VERSION:
        raise TmuxUnavailable(f"tmux {text} is too old, 3.3 is needed", remedy="install tmux 3.3 or newer")
    return version


async def _find_keeper(client: ControlClient, hub: str) -> str:
    """The window that the hub was made with; "" if a person has closed it."""
    answer = await client.command("list-windows", "-t", hub, "-F", "#{window_id} #{window_name}")
    named = (line.decode("utf-8", "replace").partition(" ") for line in answer)
    return next((window for window, _, name in named if name == KEEPER_NAME), "")


def _say_log_error(path: Path, error: OSError) -> None:
    _SAYS.warning("cannot write the log %s: %s; it goes on when the disk lets it", path, error.strerror or error)


def find_tmux(environ: Mapping[str, str]) -> str:
    """The tmux to start; TmuxUnavailable if there is none."""
    found = shutil.which("tmux", path=environ.get("PATH"))
    if found is None:
        raise TmuxUnavailable(
            "tmux is not installed, or not on PATH",
            remedy="install tmux 3.3 or newer (apt-get install tmux, brew install tmux), then try again",
        )
    return found
