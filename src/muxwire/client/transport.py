"""What carries the bytes between the client and tmux."""

from __future__ import annotations

import asyncio  # only to name its loop, and what its tasks are cancelled with
import contextlib
import fcntl
import os
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Protocol, final

import anyio

from muxwire.client.liveness import OURS_ALONE, Watchdog, wait_process
from muxwire.errors import NO_SANDBOX, TmuxUnavailable, remedy_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Transport(Protocol):
    """A byte stream in both directions. One task receives; sends keep the order of the calls."""

    async def receive(self) -> bytes:
        """Return bytes as soon as there are some; b"" at the end of the stream, and ever after."""

    def receive_soon(self, seconds: float) -> bytes:
        """Return what is there, or comes within `seconds`, for which the whole thread waits; b"" if nothing does.

        The end of the stream is left to `receive`. A transport that cannot wait like that returns b"" at once.
        """

    def note_read(self, size: int, *, answers: bool) -> None:
        """Note how many bytes `receive` returned. If tmux owed `answers`, a large read may be these, no flood."""

    def send_nowait(self, data: bytes) -> int:
        """Write what the pipe takes at once and return how many bytes that was (0 if it is full or broken)."""

    async def send(self, data: bytes) -> None:
        """Write all of `data`, waiting for room; a broken pipe is silent, since `receive` ends too."""

    async def aclose(self) -> None:
        """End the connection and what belongs to it; a second call does nothing."""

    def ending(self) -> str:
        """Say what is known about why the stream ended (exit status, stderr); empty if nothing."""


# Which event loop runs the current task: some things need asyncio's own, where anyio has no counterpart.


def asyncio_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop of the current task if that is asyncio's; None under trio, also within asyncio's loop."""
    if anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        return asyncio.get_running_loop()
    return None


# A program of this machine as a transport: its stdin and stdout are the stream, its stderr says what went wrong.
#
# `TmuxProcess` is `tmux -C` itself; `CarrierProcess` is what reaches a tmux on another machine.

# One read takes all that the pipe can hold. The limit for a user without privileges is 1 MiB on Linux.
READ_BYTES = 1024 * 1024
PIPE_BYTES = 1024 * 1024

# tmux writes 8 KB at a time, and a read of so little costs as much as one of 100 KB. So once that many reads in a row
# were full, each next one waits a little: at 15 MB/s 7 % of a core instead of 20, and no loss of speed, since the pipe
# holds 50 ms of it. The first 200 KB, which take tmux 10 ms, are never held up.
_FLOOD_READS = 32
_FLOOD_READ_BYTES = 2048
_FLOOD_PAUSE_S = 0.002

# Who waits for a short command looks again and again for so long before the thread sleeps: to sleep and be woken takes
# 14 % of `true` in a row, and 5 % with 4 ms between two (measured with a free processor).
_SPIN_SECONDS = 0.0005
# A thread that gets the processor back later than this after a yield shares it with a program that computes. Had it
# slept instead, it would have been scheduled before that program: so for the next fifty commands it does. Else `true`
# takes 1.1 to 1.8 times as long beside two such programs.
_HELD_UP_SECONDS = 0.001
_CROWDED_SECONDS = 0.02

# Longer than any wait of a reader that was not stopped, and short against the 300 s after which tmux gives up on us.
STALL_SECONDS = 1.0
# What tmux and the pipe held while we did not read has come this long after we read again.
DRAINED_SECONDS = 10.0

# tmux says in one line why it cannot start.
_STDERR_BYTES = 4096


class ProcessPipes:
    """The pipes of a child that speaks control mode."""

    def __init__(self, env: Mapping[str, str], cwd: str | None) -> None:
        self._env, self._cwd = env, cwd
        self._process: subprocess.Popen[bytes] | None = None
        self._descriptors: tuple[int, ...] = ()
        # One buffer for all reads.
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer)
        self._complaint = ""
        self._closed = False
        self._waiter: asyncio.Future[None] | None = None  # of the task in `receive`
        self._watching: asyncio.AbstractEventLoop | None = None  # the loop with which the pipe is registered
        # The newest time in which nothing was read, from and to: what came at its end was written at any time in it.
        self._read_at = time.monotonic()
        self.stall = (self._read_at, self._read_at)
        OURS_ALONE.add(self)

    def _make_pipes(self) -> tuple[int, int, int]:
        """Make the pipes and return the child's ends of them: stdin, stdout, stderr."""
        made: list[int] = []
        try:
            for make in (_pipe, _pipe, os.pipe):
                made += make()
        except OSError as error:
            for descriptor in made:
                os.close(descriptor)
            raise not_started("tmux", error) from error
        stdin, self._writer, self._reader, stdout, self._stderr, stderr = made
        self._descriptors = (self._reader, self._writer, self._stderr)
        for descriptor in self._descriptors:
            os.set_blocking(descriptor, False)
        return stdin, stdout, stderr

    def _start(self, argv: Sequence[str], ends: tuple[int, int, int]) -> None:
        try:
            self._process = self._popen(argv, *ends) if argv else None
        except OSError as error:
            self._close_descriptors()
            raise not_started(argv[0], error) from error
        finally:
            for descriptor in ends:
                os.close(descriptor)
        self._full_reads = 0  # in a row
        self._spins_from = 0.0  # on the monotonic clock
        self._poll = select.poll()
        self._poll.register(self._reader, select.POLLIN)

    def _popen(self, argv: Sequence[str], stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, env=self._env, cwd=self._cwd, start_new_session=True
        )

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    async def receive(self) -> bytes:
        if self._full_reads >= _FLOOD_READS:
            self._unwatch()  # else the loop would report the pipe all the time
            await anyio.sleep(_FLOOD_PAUSE_S)
        while await self._readable():  # other tasks run here, also while data never ends
            try:
                return self._read()
            except BlockingIOError:  # `receive_soon` has read it
                continue
        return b""

    def note_read(self, size: int, *, answers: bool) -> None:
        """Count full reads in a row; a big answer is no flood, and who waits for one is not to be held up."""
        self._full_reads = self._full_reads + 1 if size >= _FLOOD_READ_BYTES and not answers else 0

    async def _readable(self) -> bool:
        """Wait until there is something to read; False once the transport is closed."""
        if self._closed:
            return False
        loop = self._watching or asyncio_loop()
        if loop is None:
            with contextlib.suppress(anyio.ClosedResourceError):
                await anyio.wait_readable(self._reader)
        else:
            await self._watched(loop)
        return not self._closed

    async def _watched(self, loop: asyncio.AbstractEventLoop) -> None:
        """As `anyio.wait_readable`, which registers the pipe anew for each wait: a tenth of the processor time that a
        command takes where 50 tabs run one after the other at once.
        """
        self._waiter = loop.create_future()
        if self._watching is None:
            self._watching = loop
            loop.add_reader(self._reader, self._on_readable)
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _on_readable(self) -> None:
        """Wake the task that reads.

        It does nothing else: a callback of the loop is no task, and outside of a task anyio may not know which library
        runs (`NoEventLoopError`), so that nothing could be started from here.
        """
        if self._waiter is None:
            self._unwatch()
        # The loop may have examined the pipe before the last read.
        elif not self._waiter.done() and self._poll.poll(0):
            self._waiter.set_result(None)

    def _unwatch(self) -> None:
        if self._watching is not None:
            self._watching.remove_reader(self._reader)
            self._watching = None

    def receive_soon(self, seconds: float) -> bytes:
        """Wait for the pipe itself, without the event loop: poll(2) takes 2 us where the loop's way round takes 40."""
        if self._closed:
            return b""
        now = time.monotonic()
        end, here = now + seconds, self._poll.poll(0)
        spins_until = min(end, now + _SPIN_SECONDS)
        while not here and self._spins_from <= now < spins_until:
            os.sched_yield()
            before, now = now, time.monotonic()
            if now - before > _HELD_UP_SECONDS:
                self._spins_from = now + _CROWDED_SECONDS
            here = self._poll.poll(0)
        if not (here or self._poll.poll(max(0.0, end - now) * 1000)):
            return b""
        try:
            return self._read()
        except BlockingIOError:
            return b""

    def _read(self) -> bytes:
        now = time.monotonic()
        if now - self._read_at > STALL_SECONDS:
            self._note_stall(now)
        self._read_at = now
        return bytes(self._view[: os.readv(self._reader, (self._buffer,))])

    def _note_stall(self, now: float) -> None:
        began, ended = self.stall
        # A shorter one does not take the place of one whose output may still be coming.
        if self._read_at > ended + DRAINED_SECONDS or now - self._read_at > ended - began:
            self.stall = (self._read_at, now)

    def send_nowait(self, data: bytes) -> int:
        if self._closed:
            return 0
        try:
            return os.write(self._writer, data)
        except (BlockingIOError, BrokenPipeError):
            return 0

    async def send(self, data: bytes) -> None:
        rest, process = memoryview(data), self._process
        with contextlib.suppress(BrokenPipeError, anyio.ClosedResourceError):
            # Another process, started meanwhile, would take the rest of a line for a whole one.
            while rest and not self._closed and self._process is process:
                try:
                    rest = rest[os.write(self._writer, rest) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._writer)

    def ending(self) -> str:
        if not self._closed:
            self._read_complaint()
        return self._complaint

    async def aclose(self) -> None:
        if not self._closed:
            self._read_complaint()
            self._closed = True
            await self._end_child()

    async def _end_child(self) -> None:
        with anyio.CancelScope(shield=True):
            if self._process is not None:
                # Not SIGTERM: on a gentle exit tmux makes the pipes blocking again, which can block the server.
                with contextlib.suppress(ProcessLookupError):
                    self._process.send_signal(signal.SIGKILL)
                await wait_process(self._process)
            self._end_waits()
            self._close_descriptors()

    def _end_waits(self) -> None:
        self._unwatch()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        for descriptor in self._descriptors:
            anyio.notify_closing(descriptor)

    def close(self) -> None:
        """Close our ends of the pipes, and say no more: in a process that was forked from ours."""
        self._closed = True
        self._close_descriptors()

    def _close_descriptors(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = ()

    def _read_complaint(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._complaint += os.read(self._stderr, _STDERR_BYTES).decode("utf-8", "replace").strip()


def not_started(what: str, error: OSError) -> TmuxUnavailable:
    remedy = remedy_for(error) or (f"put {what} on PATH" if isinstance(error, FileNotFoundError) else NO_SANDBOX)
    return TmuxUnavailable(f"cannot start {what}: {error.strerror or error}", remedy=remedy)


def _pipe() -> tuple[int, int]:
    read_end, write_end = os.pipe()
    # EPERM beyond the user's share of pipe memory: the default size is only slower.
    with contextlib.suppress(OSError):
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return read_end, write_end


# The `tmux -C` process over plain pipes: the transport that muxwire uses on this machine.

# A variable of these would make tmux think that it runs inside itself, or tell programs in the panes about a
# terminal that they are not in.
_FOREIGN_VARIABLES = frozenset(
    (
        *("TMUX", "TMUX_PANE", "TMUX_TMPDIR", "STY", "WINDOW", "WINDOWID", "TERM", "TERMCAP", "TERMINFO"),
        *("COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "VTE_VERSION", "SHLVL", "_"),
        *("OLDPWD", "ITERM_SESSION_ID", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ZELLIJ", "PROMPT_COMMAND", "PS1"),
    )
)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a tmux server: what every pane inherits, without what the caller's terminal set."""
    return {name: value for name, value in environment.items() if name not in _FOREIGN_VARIABLES}


@final
class TmuxProcess(ProcessPipes):
    """A `tmux -C` child. It dies with us, whatever kills us; so do the server and its panes if they are `ephemeral`."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        socket: str,
        env: Mapping[str, str],
        ephemeral: bool,
        cwd: str | None = None,
        transient: Sequence[str] = (),
        lock: int | None = None,
        starts: bool = True,
    ) -> None:
        """Start `argv` (`tmux -u -S SOCKET -f CONF -C ...`); TmuxUnavailable if there is no such program.

        With `starts=False` it is as if the child had ended already: there is none before `restart`.
        The directories `transient` are removed at the end of an ephemeral instance. `lock`, the descriptor of a named
        instance's lock, is held by the watchdog too, until the child has ended.
        """
        super().__init__(env, cwd)
        ends = self._make_pipes()
        self._is_outlived = lock is not None or not ephemeral
        try:
            self.watchdog = Watchdog(
                tmux=argv[0],
                socket=socket,
                kind="ephemeral" if ephemeral else "named",
                kept=(lock,) if lock is not None else (),
            )
        except OSError as error:
            for descriptor in (*ends, *self._descriptors):
                os.close(descriptor)
            raise not_started("the watchdog", error) from error
        for folder in transient:
            self.watchdog.watch_folder(folder)
        try:
            self._start(argv if starts else (), ends)
        except TmuxUnavailable:
            self.watchdog.abandon()
            raise

    def _start(self, argv: Sequence[str], ends: tuple[int, int, int]) -> None:
        super()._start(argv, ends)
        if self._process is not None:
            self.watchdog.watch_client(self._process.pid, self._writer)

    async def restart(self, argv: Sequence[str]) -> None:
        """Start another `tmux -C` in place of one that has ended; the server and its watchdog continue.

        TmuxUnavailable if it cannot be started: the transport is closed then.
        """
        await self._end_child()
        try:
            self._start(argv, self._make_pipes())
        except TmuxUnavailable:
            self._closed = True
            await self.watchdog.aclose()
            raise

    async def aclose(self) -> None:
        """Kill `tmux -C` if it still runs; then, for an ephemeral instance, end the server and its panes."""
        if self._closed:
            return
        self._read_complaint()
        self._closed = True
        if self._is_outlived:
            self._end_waits()
            # The watchdog kills the client before the client's input ends, which could end the server (B14).
            await self.watchdog.aclose()
        await self._end_child()
        await self.watchdog.aclose()

    async def _end_child(self) -> None:
        await super()._end_child()
        if self._process is not None:
            self.watchdog.release_client()
