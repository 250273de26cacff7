"""Starts the watchdog, sends it what to end, and starts another one should it be killed.

A socket pair is between the two: its end at the watchdog reads as closed when this process is gone, and the other end
when the watchdog is.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final
from weakref import WeakSet

import anyio

if TYPE_CHECKING:
    from collections.abc import Sequence


# Between two looks at a child that is about to end.
_LOOK_SECONDS = 0.002


async def wait_process(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status of a child, which is about to end, once it has, and reap it."""
    while (status := process.poll()) is None:  # noqa: ASYNC110 - nothing else reports it everywhere
        await anyio.sleep(_LOOK_SECONDS)
    return status


# Our ends of what must end with this process. A process that is forked from it, as multiprocessing's are, has a copy of
# each until it runs another program, and would keep the other side waiting: so it closes its copies first of all.
OURS_ALONE: WeakSet[Any] = WeakSet()
os.register_at_fork(after_in_child=lambda: [one.close() for one in OURS_ALONE])

_LOG = logging.getLogger("muxwire")
# `ephemeral`: our tmux server ends with us; `named`: it outlives us; `adopted`: a person's, in which we made panes.
Kind = Literal["ephemeral", "named", "adopted"]
_SCRIPT = Path(__file__).with_name("watchdog.py")
# Imports watchdog.py: a script is compiled anew at each start. The standard library comes first on the path.
_START = (
    "import sys; sys.path.append(sys.argv[1].rpartition('/')[0]); from watchdog import main; main(*sys.argv[2:]);"
    " import os; os._exit(0)"  # without the 5 ms in which Python tidies up
)

# Between two attempts to start another one, when memory or descriptors are wanting.
_AGAIN_SECONDS = 1.0
# At the end `keep` no longer runs: `aclose` waits for so many watchdogs at most, if each of them is killed.
_LAST_ATTEMPTS = 3
# Most tabs end in less. Programs that ignore SIGHUP are killed after watchdog.KILL_GRACE_S, and a server that is
# stopped is waited for twice as long: an MCP client that has closed our input kills us before that.
_HURRY_SECONDS = 0.6


@final
class Watchdog:
    """The watchdog process, seen from the process that it watches."""

    def __init__(self, *, tmux: str, socket: str, kind: Kind, kept: Sequence[int] = ()) -> None:
        """Start the watchdog. The socket pair holds the lines that are sent until it reads them.

        The watchdog keeps the descriptors `kept` (that of a lock) open until it ends.
        """
        # -I -S: no site, no environment, no current directory.
        self._argv = [sys.executable, "-I", "-S", "-c", _START, str(_SCRIPT), tmux, socket, kind]
        self._kept = kept
        self._told: dict[str, str] = {}  # the lines sent, by subject: another watchdog gets them too
        self._closed = False
        self._patience = math.inf  # how long `aclose` waits, in seconds
        self._control = -1
        self._process: subprocess.Popen[bytes]
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                # A session of its own: a signal for this process's session or terminal does not reach it.
                self._process = subprocess.Popen(
                    self._argv,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                    start_new_session=True,
                    pass_fds=self._kept,
                )
        except BaseException:
            ours.close()
            raise
        OURS_ALONE.add(ours)
        self._socket = ours
        # In one piece: the socket has room for thousands of lines, but only for some hundreds of messages.
        self._say("\n".join(self._told.values()))
        ours.setblocking(False)

    async def keep(self) -> None:
        """Start another one whenever it is killed: a task that runs for as long as there is something to watch."""
        with contextlib.suppress(anyio.ClosedResourceError):
            while not self._closed:
                await anyio.wait_readable(self._socket)  # the watchdog never writes: this is its end
                await wait_process(self._process)
                if not self._closed:
                    await self._replace()

    async def _replace(self) -> None:
        _LOG.warning("the watchdog was killed (status %s); another one is started", self._process.returncode)
        self._socket.close()
        while not self._closed:
            try:
                self._start()
            except OSError as error:
                _LOG.warning("cannot start the watchdog: %s; tried again", error.strerror or error)
                await anyio.sleep(_AGAIN_SECONDS)
            else:
                return

    def watch_client(self, pid: int, control: int) -> None:
        """Have this `tmux -C` process killed when we are gone, before its input ends: `control` is our end of that."""
        self._control = control
        self._tell("client", f"client {pid}")

    def release_client(self) -> None:
        """Say that the `tmux -C` process has ended and its number may be another's."""
        self._forget("client", "release")

    def watch_server(self, pid: int) -> None:
        self._tell("server", f"server {pid}")

    def keep_server(self) -> None:
        """Have the server and its directories stay when we are gone."""
        self._tell("kept", "kept")

    def watch_session(self, pid: int) -> None:
        """Have the processes of a pane's session ended too, should the server be killed before them."""
        self._tell(f"session {pid}", f"session {pid}")

    def release_session(self, pid: int) -> None:
        self._forget(f"session {pid}", f"session-over {pid}")

    def watch_made(self, label: str) -> None:
        """Have the pane closed at a person's server whose first process has this word among its arguments."""
        self._tell(f"made {label}", f"made {label}")

    def watch_folder(self, path: str) -> None:
        line = f"folder {os.fsencode(path).hex()}"
        self._tell(line, line)

    def abandon(self) -> None:
        """End it before there was anything to watch."""
        self._closed = True
        self._process.kill()
        self._process.wait()
        self._socket.close()

    def hurry(self) -> None:
        """Have `aclose` wait for a moment only, because this process ends; the watchdog does the rest alone."""
        self._patience = _HURRY_SECONDS

    async def aclose(self) -> None:
        """Hang up, and wait until its work is done, by another one if this one was killed before."""
        self._closed = True
        with anyio.move_on_after(self._patience, shield=True):
            anyio.notify_closing(self._socket)
            self._socket.close()
            for _ in range(_LAST_ATTEMPTS):
                if await wait_process(self._process) == 0:
                    return
                try:
                    self._start()
                    self._socket.close()
                except OSError as error:
                    _LOG.warning("cannot start the watchdog: %s", error.strerror or error)

    def _tell(self, key: str, line: str) -> None:
        self._told[key] = line
        self._say(line)

    def _forget(self, key: str, line: str) -> None:
        self._told.pop(key, None)
        self._say(line)

    def _say(self, lines: str) -> None:
        # The socket is broken if the watchdog was killed (the next one gets the line), and closed after `aclose`.
        with contextlib.suppress(OSError):
            try:
                socket.send_fds(self._socket, [f"{lines}\n".encode()], [self._control] if "client " in lines else [])
            except BlockingIOError:  # it has read nothing for long, as one that is stopped: another one may
                self._process.kill()
