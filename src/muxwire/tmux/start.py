"""Starting the tmux server of an instance, or attaching to the one that runs: its configuration, and who it is.

`tmux -u -S SOCKET -f OUR.conf -C new-session -A -s hub`. The process that does this holds the instance's start lock.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.client.transport import TmuxProcess, clean_environment
from muxwire.errors import (
    NO_SANDBOX,
    CommandError,
    ConnectionClosed,
    InstanceUnavailable,
    MuxwireError,
    TmuxSilent,
    TmuxUnavailable,
    cannot,
)
from muxwire.protocol.escaping import DOLLAR_VERSION
from muxwire.tmux.program import (
    note_server,
    program_for,
    program_version,
    read_version,
    server_pid,
)
from muxwire.tmux.status_line import status_config

if TYPE_CHECKING:
    from muxwire.client.client import ControlClient
    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.host.local import LocalHost
    from muxwire.tmux.server import Access

HUB = "hub"
KEEPER_NAME = "muxwire-keeper"
# The longest sleep that every sleep(1) takes.
KEEPER = ("sleep", "2147483647")
# Of the hub, where a person sees it once the last tab has ended. The cursor is hidden: nothing can be typed there.
_NO_TAB = r"printf '\033[?25l\n  No tab is open. The next one is shown here. C-b d leaves.'"
_HUB_KEEPER = ("sh", "-c", f"{_NO_TAB}; exec {' '.join(KEEPER)}")
# Wide enough that few programs wrap their tables, and not more: a model reads all of a screen (docs/decisions.md,
# "Size of a tab"). One size for all tabs of an instance: tmux gives them that of the one control client.
COLUMNS, ROWS = 120, 30
# Rows of scrollback that tmux keeps of a pane, for people: logs hold everything.
HISTORY_LIMIT = 10_000
# tmux starts in 10 ms; a machine that swaps may take seconds. No call waits longer for tmux.
START_SECONDS = 10
# A tmux that is stopped answers once it is continued. It gets this time, in case it is being continued just now.
STOPPED_SECONDS = 1

# What a client prints whose connection was closed without a message, or refused (client.c). A server that ends accepts
# and closes; one that was killed accepts our probe until the kernel has closed its socket.
_LOST = ("server exited unexpectedly", "no server running on ", "error connecting to ")

GREETING = "#{pid} #{session_id} #{@muxwire-generation} #{version} #{@muxwire-state}"

# message-limit first: tmux's message log keeps the text of every command, typed secrets included.
# exit-empty off: the server lives until we end it. automatic-rename off: else a notification each half second.
# window-size stays as it is: `set -g window-size manual` crashes tmux 3.3a to 3.6 at the next new-window.
_CONFIG = """\
set -s message-limit 0
set -s exit-empty off
set -s set-clipboard off
set -s escape-time 0
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
# The directory of the instance's locks and logs: its path, in hexadecimal digits.
_STATE = "set -s @muxwire-state {state}\n"
# The last line: where this option is set, tmux has read the whole file.
_READ_ALL = "set -s @muxwire-generation {generation}\n"


@final
class ServerEnding(TmuxUnavailable):
    """The server was found while it ended: it refuses us, and is gone in a moment (server_accept in server.c)."""


@final
@dataclass(frozen=True, slots=True)
class Greeting:
    """Who a server is: its process, the id of its hub, which life of the instance it is, its version, its state.

    `state` is the directory of the instance's locks and logs; None for a server on another machine, or one that an
    older muxwire started.
    """

    pid: int
    hub: str
    generation: int
    version: tuple[int, int]
    state: Path | None

    @classmethod
    def read(cls, answer: bytes, host: Host) -> Greeting:
        """Read what tmux printed for `GREETING`; generation 0 for a server of another program. TmuxUnavailable."""
        pid, hub, generation, version, state = (*answer.decode("utf-8", "replace").split(" "), "")[:5]
        there = Path(os.fsdecode(bytes.fromhex(state))) if state else None
        return cls(int(pid), hub, int(generation or 0), read_version(version, host), there)


@final
class ServerStart:
    """One attempt to attach to the server of an instance, which is started if it does not run."""

    def __init__(self, folders: Folders, host: LocalHost, access: Access) -> None:
        """See whether it runs; TmuxUnavailable if there is no tmux to talk to it with."""
        self._folders = folders
        self._host = host
        self._access = access
        self._running = server_pid(folders, host)
        self._tmux = program_for(self._running, host)
        self.command = (self._tmux, "-u", "-S", str(folders.socket_path), "-f", str(folders.config))

    def prepare(self, history_limit: int) -> None:
        try:
            self._host.install(self._folders.shells)
            if self._running is None:
                state = _STATE.format(state=os.fsencode(self._folders.state).hex())
                config = state + configuration(self._folders, history_limit)
                self._host.replace_file(self._folders.config, config.encode())
        except OSError as error:
            where = error.filename or self._folders.shells.parent
            raise cannot(f"write {where}", error) from error

    def attach(self) -> TmuxProcess:
        """Start our `tmux -C`, and the server if there is none. Until the server has answered, it ends with us."""
        # If the server has ended since the probe, no new one may start with its configuration: it would write into the
        # logs of the one that ended.
        runs = () if self._running is None else ("-N",)
        # ignore-size: while a person's terminal is attached, it alone sets the size; without one, we do.
        argv = (
            *self.command, *runs, "-C", "new-session", "-A", "-f", "ignore-size", "-s", HUB,
            "-x", str(COLUMNS), "-y", str(ROWS), "-n", KEEPER_NAME, "--", *_HUB_KEEPER,
        )  # fmt: skip
        ephemeral = not self._access.persistent or self._running is None
        return TmuxProcess(
            argv,
            socket=str(self._folders.socket_path),
            env=clean_environment(self._host.environ),
            ephemeral=ephemeral,
            cwd="/",
            transient=[str(folder) for folder in self._folders.transient] if ephemeral else (),
            lock=self._access.lock.descriptor if self._access.lock is not None else None,
        )

    def again(self, hub: str) -> tuple[str, ...]:
        """The argv that attaches once more; a server that is gone is not started again, empty (-N)."""
        return (*self.command, "-N", "-C", "attach-session", "-t", hub)

    async def greet(self, process: TmuxProcess, client: ControlClient) -> Greeting:
        """Wait until tmux answers, and learn who it is. TmuxUnavailable, InstanceUnavailable."""
        try:
            greeting = await self._answered(client)
        except MuxwireError:
            if self._running is None and (pid := self._host.listening_pid(self._folders.socket_path)):
                process.watchdog.watch_server(pid)  # it may not answer a request to end, either
            raise
        process.watchdog.watch_server(greeting.pid)
        client.undoes_dollars = greeting.version == DOLLAR_VERSION
        client.patience.explain = lambda: silent_server(self._host, greeting.pid, self._ends_it)
        if self._access.persistent:
            process.watchdog.keep_server()
            self._check_state(greeting.state)
        note_server(self._folders, greeting.pid, self._host)
        return greeting

    def _check_state(self, there: Path | None) -> None:
        """Refuse to be a second owner: the locks, and what is known of the tabs, are in that directory."""
        here = self._folders.state
        if there is not None and there != here and not (there.exists() and there.samefile(here)):
            raise InstanceUnavailable(
                f"the instance {self._folders.instance} runs with the state directory {there}, not {here}",
                remedy=f"set MUXWIRE_STATE_DIR={there}, or choose another name",
            )

    async def _answered(self, client: ControlClient) -> Greeting:
        try:
            stopped = self._running is not None and self._host.is_stopped(self._running)
            with anyio.fail_after(min(START_SECONDS, STOPPED_SECONDS) if stopped else START_SECONDS):
                answer = b""
                while b" $" not in answer:  # tmux may run what it reads before it has made the session of its start
                    (answer,) = await client.command("display-message", "-p", GREETING)
        except (ConnectionClosed, CommandError, TimeoutError) as error:
            raise await self._failure(error) from error
        found = Greeting.read(answer, self._host)
        if not found.generation:
            raise InstanceUnavailable(
                f"the tmux server at {self._folders.socket_path} was not started by muxwire", remedy=self._ends_it
            )
        return found

    @property
    def _ends_it(self) -> str:
        return f"`muxwire kill --all --force --name {self._folders.instance}` ends it, with all that runs in it"

    async def _failure(self, error: Exception) -> MuxwireError:
        """Why there is no answer, as far as it is known."""
        timed_out = isinstance(error, TimeoutError | TmuxSilent)
        silent = f"did not answer within {START_SECONDS} s" if timed_out else ""
        if self._running is None:
            read_version(await anyio.to_thread.run_sync(program_version, self._tmux), self._host)
            reason = error.reason if isinstance(error, ConnectionClosed) else error
            why = f"tmux {silent}" if silent else f"tmux did not start: {reason}"
            return TmuxUnavailable(why, remedy=f"`tmux -L try new` shows what {self._tmux} says; {NO_SANDBOX}")
        who = f"the tmux server of this instance (process {self._running})"
        if self._host.is_stopped(self._running):
            return TmuxUnavailable(f"{who} is stopped", remedy=_continues(self._running))
        why = silent or f"refused the connection: {error}"
        ended = isinstance(error, ConnectionClosed) and error.reason.startswith(_LOST)
        kind = ServerEnding if ended else TmuxUnavailable
        return kind(f"{who} {why}; it may be of another version than {self._tmux}", remedy=self._ends_it)


def configuration(folders: Folders, history_limit: int) -> str:
    """What a new server reads: the next life of its instance."""
    generation = max(folders.generations(), default=0) + 1
    config = _CONFIG.format(columns=COLUMNS, rows=ROWS, history=history_limit)
    return config + status_config(hub=HUB, keeper=KEEPER_NAME) + _READ_ALL.format(generation=generation)


def silent_server(host: LocalHost, pid: int, ends_it: str) -> TmuxSilent:
    who = f"the tmux server (process {pid})"
    if host.is_stopped(pid):
        return TmuxSilent(f"{who} is stopped", remedy=_continues(pid))
    return TmuxSilent(f"{who} does not answer", remedy=f"try again; {ends_it}")


def _continues(pid: int) -> str:
    return f"`kill -CONT {pid}` continues it"
