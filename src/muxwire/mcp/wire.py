"""Newline-delimited JSON-RPC over two descriptors: lines in, lines out.

The SDK's own stdio hands every line through worker threads and queues (more than half of a call's time), dies
of SIGTERM without closing anything, and hangs on SIGINT or a closed stdout. Here the event loop reads and writes
the descriptors itself, in the task that wants the message, and every end is one path: `WireReader.end`.
"""

from __future__ import annotations

import asyncio  # callbacks that stay registered for a descriptor's readiness have no anyio counterpart
import fcntl
import os
import signal
import socket
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, final

import anyio

from muxwire.mcp.jsonrpc import INVALID_REQUEST, RequestError, RequestId, encoded
from muxwire.protocol.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Iterator

    # A part of a line: its bytes, or an iterator that makes them once the client has read what comes before.
    Piece = bytes | Iterator[bytes]


# The standard descriptors while a server speaks JSON-RPC on them: a private pair for it, harmless ones for the rest.
#
# A print, a library's warning or a child that inherits fd 1 would break the stream, and a child that reads
# fd 0 would steal requests. So the wire moves to private descriptors, fd 0 reads nothing and fd 1 is stderr.

STDIN, STDOUT, STDERR = 0, 1, 2

# A duplicate must not land on a standard descriptor that happens to be closed.
FIRST_PRIVATE = 3

# How hosts and people end a server; all of them have the same effect.
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def is_pipe(fd: int) -> bool:
    """Tell whether the descriptor can be awaited and made non-blocking: a pipe or a socket.

    A terminal is neither: its blocking mode is shared with the shell that started us.
    """
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextmanager
def private_wire() -> Iterator[tuple[int, int]]:
    """Yield private non-blocking descriptors of stdin and stdout; put everything back at the end."""
    sys.stdout.flush()
    reading = fcntl.fcntl(STDIN, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    writing = fcntl.fcntl(STDOUT, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    blocking = os.get_blocking(reading), os.get_blocking(writing)
    _divert()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    try:
        yield reading, writing
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()  # what was printed meanwhile goes to stderr, as fd 1 still does
        os.set_blocking(reading, blocking[0])  # the mode belongs to the pipe, which others may hold too
        os.set_blocking(writing, blocking[1])
        os.dup2(reading, STDIN)
        os.dup2(writing, STDOUT)
        os.close(reading)
        os.close(writing)


def _divert() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, STDIN)
    try:
        os.dup2(STDERR, STDOUT)
    except OSError:  # stderr is closed
        os.dup2(null, STDOUT)
    if null > STDERR:
        os.close(null)


def peer_is_gone(fd: int) -> bool:
    """Tell, when a descriptor that we only write to became readable, whether nobody reads its other end."""
    if not stat.S_ISSOCK(os.fstat(fd).st_mode):
        return True  # the writing end of a pipe becomes readable only by its closing
    with socket.socket(fileno=os.dup(fd)) as duplicate:
        try:
            return not duplicate.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True


@contextmanager
def on_ending_signal(loop: asyncio.AbstractEventLoop, end: Callable[[int], None]) -> Iterator[None]:
    """Call `end` with the number of any signal that means "stop", for the time of the block."""
    installed = []
    if threading.current_thread() is threading.main_thread():
        for number in ENDING_SIGNALS:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup: whoever started us wants it ignored
            loop.add_signal_handler(number, end, number)
            installed.append(number)
    try:
        yield
    finally:
        for number in installed:
            loop.remove_signal_handler(number)


# One line is one message; the largest honest one is a script of some megabytes.
MAX_LINE_BYTES = 64 << 20

# For a buffer of more than 128 KiB malloc maps new pages at each read, and unmaps them after it: 40 us a call.
READ_BYTES = 1 << 16

# Requests read ahead of their handling; beyond this the client's pipe fills up and the client waits.
MAX_READ_AHEAD_BYTES = 16 << 20

# Answers waiting for a slow client; beyond this, calls wait before they answer and no new ones begin.
HIGH_WATER_BYTES = 1 << 20

# `printf REQUESTS | muxwire serve` closes stdin at once and still wants the answers, but a client that
# closes stdin to end us waits only about 2 s in all.
EOF_GRACE_SECONDS = 0.5

# How many bytes of a later piece are made at a time: as much as a pipe takes.
_MADE_BYTES = 1 << 16

# For the last answers to reach a client that still reads.
FLUSH_SECONDS = 0.3

# Called when the stream has ended, before its reader cancels the calls that are under way.
OnEnd = Callable[[], None]


@final
class WireWriter:
    """Writes at once when the pipe has room; keeps the rest and makes callers wait, never the event loop."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self.unanswered: set[object] = set()  # ids of requests, and lines that may turn out to be one
        self.listener: WireReader | None = None  # told of room for answers, and that nobody reads them any more
        self._fd = fd
        self._loop = loop
        self._backlog = bytearray()
        self._later: deque[Piece] = deque()  # what comes after the backlog, which is empty only if this is
        self._empty = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._in_a_hurry = False
        self._lost = False

    @property
    def congested(self) -> bool:
        """Whether the client is so late that nothing new should begin."""
        return not self._room.is_set()

    async def room(self) -> None:
        """Return when the client is not too far behind."""
        if not self._room.is_set():
            await self._room.wait()

    def answer(self, request_id: RequestId | None, *member: Piece) -> None:
        """Write an answer: `member` is its result or error, as JSON, in pieces that the caller need not join."""
        self.write(b'{"jsonrpc":"2.0","id":%b,' % encoded(request_id), *member, b"}\n")
        self.settle(request_id)

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Write a notification."""
        more = {} if params is None else {"params": params}
        self.write(encoded({"jsonrpc": "2.0", "method": method} | more) + b"\n")

    def settle(self, asked: object) -> None:
        """Note that something of `unanswered` needs no answer any more."""
        self.unanswered.discard(asked)
        self._tell()

    def hurry(self) -> None:
        """Stop making callers wait: the server ends, and what they still write is short."""
        self._in_a_hurry = True
        self._room.set()

    async def flush(self) -> None:
        """Wait until all is written, for FLUSH_SECONDS at most."""
        with anyio.move_on_after(FLUSH_SECONDS, shield=True):
            while self._backlog:
                self._empty.clear()
                await self._empty.wait()

    def lose(self) -> None:
        """Nobody reads any more: drop everything and end."""
        self.close()
        self.hurry()
        if self.listener is not None:
            self.listener.end()

    def close(self) -> None:
        self._lost = True
        self._backlog.clear()
        self._later.clear()
        self._empty.set()
        self._loop.remove_writer(self._fd)

    def write(self, *line: Piece) -> None:
        """Write the pieces of a line, the first of them bytes, now if the pipe has room, else as soon as it has."""
        if self._lost:
            return
        was_empty = not self._backlog
        for piece in line:
            if self._later or not isinstance(piece, bytes):
                self._later.append(piece)
            else:
                self._backlog += piece
        if was_empty:  # most lines are written whole here
            self._write_backlog()
            if self._backlog:
                self._loop.add_writer(self._fd, self._write_backlog)
        if (self._later or len(self._backlog) > HIGH_WATER_BYTES) and not self._in_a_hurry:
            self._room.clear()

    def _write_backlog(self) -> None:
        try:
            written = os.write(self._fd, self._backlog)
        except BlockingIOError:
            return
        except OSError:
            self.lose()
            return
        del self._backlog[:written]
        if self._later:
            self._make_more()
        if not self._backlog:
            self._empty.set()
            self._loop.remove_writer(self._fd)
        if self.congested and not self._later and len(self._backlog) <= HIGH_WATER_BYTES:
            self._room.set()
            self._tell()

    def _make_more(self) -> None:
        while self._later and len(self._backlog) < _MADE_BYTES:
            piece = self._later[0]
            more = piece if isinstance(piece, bytes) else next(piece, None)
            self._backlog += more or b""
            if more is None or more is piece:
                self._later.popleft()

    def _tell(self) -> None:
        if self.listener is not None:
            self.listener.wake()


@final
class WireReader:
    """Reads lines as they come; ends at EOF, at `end`, and when nobody reads our answers."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, writer: WireWriter, on_end: OnEnd) -> None:
        self._on_end = on_end
        self._fd = fd
        self._loop = loop
        self._writer = writer
        self._open = LineBuffer(MAX_LINE_BYTES)
        self._is_too_long = False  # the line that is open: its bytes are dropped, the next one is intact
        self._lines: deque[bytes | None] = deque()  # None: one that was too long
        self._ahead = 0  # bytes of these
        self._news = asyncio.Event()
        self._paused = False
        self._eof = False
        self._ended = False
        self._held = False

    def wake(self) -> None:
        """Look again: room for answers, or the last answer was given."""
        self._news.set()

    def end(self) -> None:
        """End the stream now, whatever is still unread: the one path of every shutdown."""
        self._ended = True
        self._writer.hurry()
        self._news.set()

    def hold(self) -> None:
        """Do not let EOF_GRACE_SECONDS begin at EOF: the SDK, which is to answer, is still being imported."""
        self._held = True

    def release(self) -> None:
        """Let EOF_GRACE_SECONDS begin at EOF, or now if EOF has come."""
        self._held = False
        if self._eof:
            self._end_soon()

    def _end_soon(self) -> None:
        if not self._held:
            self._loop.call_later(EOF_GRACE_SECONDS, self.end)

    async def line(self) -> bytes | None:
        """Return the next line that is not blank; None at the end."""
        while not self._ended:
            if not self._writer.congested:
                line = self._buffered_line()
                if line:
                    return line
                if line is not None:
                    continue
                if self._eof and not self._writer.unanswered:
                    break
            self._news.clear()
            await self._news.wait()
        self._on_end()
        return None

    def _buffered_line(self) -> bytes | None:
        if not self._lines:
            return None
        line = self._lines.popleft()
        self._ahead -= len(line or b"")
        if self._paused and not self._is_far_ahead():
            self._paused = False
            self.start()
        if line is None:
            too_long = RequestError(INVALID_REQUEST, f"Message longer than {MAX_LINE_BYTES} bytes")
            self._writer.answer(None, too_long.member())
        return b"" if line is None or line.isspace() else line

    def _is_far_ahead(self) -> bool:
        """Whether to stop reading. Only whole lines count: an open one has to be read until it is whole."""
        return self._ahead > MAX_READ_AHEAD_BYTES

    def start(self) -> None:
        self._loop.add_reader(self._fd, self._on_readable)

    def close(self) -> None:
        self._loop.remove_reader(self._fd)

    def _on_readable(self) -> None:
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._feed(data or b"\n")  # a last line may lack its end
        if not data:
            self.close()
            self._eof = True
            self._end_soon()
        elif self._is_far_ahead():
            self._paused = True
            self.close()
        self._news.set()

    def _feed(self, data: bytes) -> None:
        for line in self._open.feed(data):
            self._lines.append(None if self._is_too_long or len(line) > MAX_LINE_BYTES else line)
            self._ahead += len(self._lines[-1] or b"")
            self._is_too_long = False
        if self._open.too_long:
            self._open.close()
            self._is_too_long = True


@contextmanager
def open_wire(reading: int, writing: int, on_end: OnEnd) -> Iterator[tuple[WireReader, WireWriter]]:
    """Yield what reads and writes two non-blocking descriptors, for the time of the block."""
    loop = asyncio.get_running_loop()
    writer = WireWriter(writing, loop)
    reader = WireReader(reading, loop, writer, on_end)
    writer.listener = reader

    def on_lost_reader() -> None:
        loop.remove_reader(writing)
        if peer_is_gone(writing):
            writer.lose()

    reader.start()
    # ssh and inetd give a server one socket for both directions: its end is the reader's EOF.
    if not os.path.sameopenfile(reading, writing):
        loop.add_reader(writing, on_lost_reader)
    try:
        yield reader, writer
    finally:
        reader.close()
        writer.close()
        loop.remove_reader(writing)
