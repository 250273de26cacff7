"""The `tmux -C` process over plain pipes: the transport that muxwire uses on this machine."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
from typing import TYPE_CHECKING, Self, final

import anyio
import anyio.lowlevel

from muxwire.client.liveness import Watchdog
from muxwire.client.reaping import wait_process
from muxwire.errors import TmuxUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# One read takes all that the pipe can hold. The limit for a user without privileges is 1 MiB on Linux.
READ_BYTES = 1024 * 1024
PIPE_BYTES = 1024 * 1024

# tmux writes 8 KB at a time, and a read of so little costs as much as one of 100 KB. So once that many reads in a row
# were full, each next one waits a little: at 15 MB/s 7 % of a core instead of 20, and no loss of speed, since the pipe
# holds 50 ms of it. The first 200 KB, which take tmux 10 ms, are never held up.
_FLOOD_READS = 32
_FLOOD_READ_BYTES = 2048
_FLOOD_PAUSE_S = 0.002

# tmux says in one line why it cannot start.
_STDERR_BYTES = 4096

# Linux only, and only in Python's fcntl from 3.10; the number is of <linux/fcntl.h>.
_F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", 0)

# A variable of these would make tmux think that it runs inside itself, or tell programs in the panes about a
# terminal that they are not in.
_FOREIGN_VARIABLES = frozenset(
    (
        *("TMUX", "TMUX_PANE", "TMUX_TMPDIR", "STY", "WINDOW", "WINDOWID", "TERM", "TERMCAP", "TERMINFO", "COLORTERM"),
        *("COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "VTE_VERSION", "SHLVL", "_"),
        *("OLDPWD", "ITERM_SESSION_ID", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ZELLIJ", "PROMPT_COMMAND", "PS1"),
    )
)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a tmux server: what every pane inherits, without what the caller's terminal set."""
    return {name: value for name, value in environment.items() if name not in _FOREIGN_VARIABLES}


@final
class TmuxProcess:
    """A `tmux -C` child. It dies with us, whatever kills us, and with it what `ephemeral` names."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        socket: str,
        env: Mapping[str, str],
        ephemeral: bool,
        cwd: str | None = None,
        transient: Sequence[str] = (),
    ) -> None:
        """Start `argv` (`tmux -u -S SOCKET -f CONF -C ...`); TmuxUnavailable if there is no such program.

        The folders `transient` are removed at the end of an ephemeral instance.
        """
        stdin, self._writer = _pipe()
        self._reader, stdout = _pipe()
        self._stderr, stderr = os.pipe()
        self._descriptors = (self._reader, self._writer, self._stderr)
        for descriptor in self._descriptors:
            os.set_blocking(descriptor, False)
        self._watchdog = Watchdog(tmux=argv[0], socket=socket, ephemeral=ephemeral)
        for folder in transient:
            self._watchdog.watch_folder(folder)
        try:
            self._process = subprocess.Popen(
                argv, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=cwd, start_new_session=True
            )
        except OSError as error:
            self._watchdog.abandon()
            self._close_descriptors()
            remedy = "install tmux 3.3 or newer"
            raise TmuxUnavailable(f"cannot start {argv[0]}: {error.strerror}", remedy=remedy) from error
        finally:
            for descriptor in (stdin, stdout, stderr):
                os.close(descriptor)
        self._watchdog.watch_client(self._process.pid)
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer)
        self._complaint = ""
        self._full_reads = 0  # in a row
        self._poll = select.poll()
        self._poll.register(self._reader, select.POLLIN)
        self._closed = False

    @property
    def pid(self) -> int:
        """The process id of `tmux -C`."""
        return self._process.pid

    def watch_server(self, pid: int) -> None:
        """Tell the watchdog the server's process id."""
        self._watchdog.watch_server(pid)

    def watch_session(self, pid: int) -> None:
        """Tell the watchdog the first process of a pane."""
        self._watchdog.watch_session(pid)

    def release_session(self, pid: int) -> None:
        """Tell the watchdog that a pane has ended."""
        self._watchdog.release_session(pid)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def receive(self) -> bytes:
        """Return what the pipe holds, up to 1 MiB."""
        # Others run between two reads, also while data never ends. tmux answers in 15 us, so the answer to what they
        # send is often here before the loop would sleep: to look first takes 42 us a round trip, to wait first 66.
        await anyio.lowlevel.checkpoint()
        if self._full_reads >= _FLOOD_READS:
            await anyio.sleep(_FLOOD_PAUSE_S)
        with contextlib.suppress(anyio.ClosedResourceError):  # closed while we waited
            while not self._closed:
                try:
                    count = os.readv(self._reader, (self._buffer,))
                except BlockingIOError:
                    await anyio.wait_readable(self._reader)
                else:
                    self._full_reads = self._full_reads + 1 if count >= _FLOOD_READ_BYTES else 0
                    return bytes(self._view[:count])
        return b""

    def receive_soon(self, seconds: float) -> bytes:
        """Wait for the pipe itself, without the event loop: poll(2) takes 2 us where the loop's way round takes 40."""
        if self._closed or self._full_reads or not self._poll.poll(seconds * 1000):
            return b""
        try:
            return bytes(self._view[: os.readv(self._reader, (self._buffer,))])
        except BlockingIOError:
            return b""

    def send_nowait(self, data: bytes) -> int:
        """Write what the pipe takes at once."""
        if self._closed:
            return 0
        try:
            return os.write(self._writer, data)
        except (BlockingIOError, BrokenPipeError):
            return 0

    async def send(self, data: bytes) -> None:
        """Write all of `data`."""
        rest = memoryview(data)
        with contextlib.suppress(BrokenPipeError, anyio.ClosedResourceError):
            while rest and not self._closed:
                try:
                    rest = rest[os.write(self._writer, rest) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._writer)

    def ending(self) -> str:
        """Say what tmux complained about."""
        if not self._closed:
            self._read_complaint()
        return self._complaint

    async def aclose(self) -> None:
        """Kill `tmux -C` if it still runs; then, for an ephemeral instance, end the server and its panes."""
        if self._closed:
            return
        self._read_complaint()
        self._closed = True
        # Not SIGTERM: on a gentle exit tmux makes the pipes blocking again, which can block the server.
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        with anyio.CancelScope(shield=True):
            await wait_process(self._process)
            self._watchdog.release_client()
            for descriptor in self._descriptors:
                anyio.notify_closing(descriptor)
            self._close_descriptors()
            await self._watchdog.aclose()

    def _close_descriptors(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)

    def _read_complaint(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._complaint += os.read(self._stderr, _STDERR_BYTES).decode("utf-8", "replace").strip()


def _pipe() -> tuple[int, int]:
    read_end, write_end = os.pipe()
    if _F_SETPIPE_SZ:
        # EPERM beyond the user's share of pipe memory: the default size is only slower.
        with contextlib.suppress(OSError):
            fcntl.fcntl(write_end, _F_SETPIPE_SZ, PIPE_BYTES)
    return read_end, write_end
