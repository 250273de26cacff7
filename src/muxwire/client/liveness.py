"""Starts the watchdog and tells it what to end. The pipe between them is what dies with us."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import termios
from pathlib import Path
from typing import TYPE_CHECKING, final

from muxwire.client.reaping import wait_process
from muxwire.client.watchdog import stop_terminals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_SCRIPT = Path(__file__).with_name("watchdog.py")


@final
class Watchdog:
    """The watchdog process, seen from the process that it watches."""

    def __init__(
        self, *, tmux: str, socket: str, ephemeral: bool, connection: Sequence[int] = (), kept: Sequence[int] = ()
    ) -> None:
        """Start it. It comes up when tmux has; the pipe holds what is said until then.

        `connection` are the descriptors that it needs for a hand-over; those of `kept` it only holds, as a lock.
        """
        read_end, self._pipe = os.pipe()
        # -I -S: no site, no environment, no current folder. A session of its own: no signal meant for ours.
        argv = [sys.executable, "-I", "-S", str(_SCRIPT), tmux, socket, "ephemeral" if ephemeral else "named"]
        argv += map(str, connection)
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=read_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                start_new_session=True,
                pass_fds=(*connection, *kept),
            )
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(read_end)

    def watch_client(self, pid: int) -> None:
        """Have this `tmux -C` process killed when we are gone."""
        self._say(f"client {pid}")

    def release_client(self) -> None:
        """Say that the `tmux -C` process has ended and its number may be another's."""
        self._say("release")

    def watch_server(self, pid: int) -> None:
        """Tell the server's process id, so that it can be ended when it no longer answers."""
        self._say(f"server {pid}")

    def watch_session(self, pid: int) -> None:
        """Have the processes of a pane's session ended too, should the server be killed before them."""
        self._say(f"session {pid}")

    def release_session(self, pid: int) -> None:
        """Say that a pane's session has ended and its number may be another's."""
        self._say(f"session-over {pid}")

    def watch_folder(self, path: str) -> None:
        """Have a folder removed at the end."""
        self._say(f"folder {os.fsencode(path).hex()}")

    def watch_tail(self, path: str) -> None:
        """Tell where the end of the control stream goes when the logs are handed over."""
        self._say(f"tail {os.fsencode(path).hex()}")

    def watch_pane(self, pane: str, tty: str, command: bytes) -> None:
        """Have a pane handed over to tmux by this command when we are gone."""
        self._say(f"pane {pane} {os.fsencode(tty).hex()} {command.hex()}")

    def release_pane(self, pane: str) -> None:
        """Say that a pane has ended."""
        self._say(f"pane-over {pane}")

    @contextlib.contextmanager
    def held(self) -> Iterator[Callable[[Iterable[str]], None]]:
        """Yield what stops terminals; at the end of the block they go on, also if we are killed in it."""
        stopped: list[bytes] = []

        def stop(terminals: Iterable[str]) -> None:
            names = [os.fsencode(tty) for tty in terminals]
            stopped.extend(names)
            for name in names:
                self._say(f"held {name.hex()}")
            stop_terminals(names, termios.TCOOFF)

        try:
            yield stop
        finally:
            stop_terminals(stopped, termios.TCOON)
            for name in stopped:
                self._say(f"held-over {name.hex()}")

    def abandon(self) -> None:
        """End it before there was anything to watch."""
        self._process.kill()
        self._process.wait()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    async def aclose(self) -> None:
        """Hang up, and wait until its work is done."""
        self._hang_up()
        await wait_process(self._process)

    def _say(self, line: str) -> None:
        if self._pipe >= 0:
            # Broken if somebody killed the watchdog: no reason to fail.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._pipe, line.encode() + b"\n")
