"""The lines of a connection on two descriptors: those that a client sends, and those that it reads.

The SDK's own stdio hands every line through worker threads and queues (more than half of a call's time), dies
of SIGTERM without closing anything, and hangs on SIGINT or a closed stdout. Here the event loop reads and writes
the descriptors itself, in the task that wants the message, and every end is one path: `WireReader.end`.
"""

from __future__ import annotations

import asyncio  # callbacks that stay registered for a descriptor's readiness have no anyio counterpart
import os
import socket
import stat
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, final

import anyio

from muxwire.protocol.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Iterator

    # A part of a line: its bytes, or an iterator that makes them once the client has read what comes before.
    Piece = bytes | Iterator[bytes]


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


# One line is one message; the largest honest one is a script of some megabytes.
MAX_LINE_BYTES = 64 << 20
# Stands for a line that is longer: no message either.
TOO_LONG = b"too long"

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
        self.unanswered: set[object] = set()  # ids of requests
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

    def settle(self, request_id: object) -> None:
        """Note that a request of `unanswered` needs no answer any more."""
        self.unanswered.discard(request_id)
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
        self._lines: deque[bytes] = deque()
        self._ahead = 0  # bytes of these
        self._news = asyncio.Event()
        self._paused = False
        self._eof = False
        self._ended = False

    def wake(self) -> None:
        """Look again: room for answers, or the last answer was given."""
        self._news.set()

    def end(self) -> None:
        """End the stream now, whatever is still unread: the one path of every shutdown."""
        self._ended = True
        self._writer.hurry()
        self._news.set()

    async def line(self) -> bytes | None:
        """Return the next line that is not blank, TOO_LONG in place of a longer one; None at the end."""
        try:
            while not self._ended and (self._lines or not self._eof or self._writer.unanswered):
                if self._lines and not self._writer.congested:
                    return self._take()
                self._news.clear()
                await self._news.wait()
        except anyio.get_cancelled_exc_class():
            self._writer.hurry()
            raise
        self._on_end()
        return None

    def _take(self) -> bytes:
        line = self._lines.popleft()
        self._ahead -= len(line)
        if self._paused and not self._is_far_ahead():
            self._paused = False
            self.start()
        return line

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
            self._loop.call_later(EOF_GRACE_SECONDS, self.end)
        elif self._is_far_ahead():
            self._paused = True
            self.close()
        self._news.set()

    def _feed(self, data: bytes) -> None:
        for line in self._open.feed(data):
            whole = TOO_LONG if self._is_too_long or len(line) > MAX_LINE_BYTES else line.strip()
            self._is_too_long = False
            if whole:
                self._lines.append(whole)
                self._ahead += len(whole)
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
