"""The lines of a connection on two descriptors: those that a client sends, and those that it reads.

The SDK's own stdio hands every line through worker threads and queues (more than half of a call's time), dies
of SIGTERM without closing anything, and hangs on SIGINT or a closed stdout. Here asyncio's transports read and write
the descriptors, and every end is one path: `Wire.end`.
"""

from __future__ import annotations

import asyncio  # its transports write at once what there is room for, and see that nobody reads
import os
import socket
from collections import deque
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, final

import anyio

from muxwire.protocol.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# One line is one message; the largest honest one is a script of some megabytes.
MAX_LINE_BYTES = 64 << 20
# Stands for a line that is longer: no message either.
TOO_LONG = b"too long"

# Requests read ahead of their handling; beyond this the client's pipe fills up and the client waits.
MAX_READ_AHEAD_BYTES = 16 << 20

# Answers waiting for a slow client; beyond this, calls wait before they answer and no new ones begin.
HIGH_WATER_BYTES = 1 << 20

# A client that closes stdin to end us waits only about 2 s in all. One that has closed it before it had any answer, as
# `printf REQUESTS | muxwire serve` does, wants them all.
EOF_GRACE_SECONDS = 0.5

# For the last answers to reach a client that still reads.
FLUSH_SECONDS = 0.3

# Called when the stream has ended, before its reader cancels the calls that are under way.
OnEnd = Callable[[], None]


@final
class Wire(asyncio.Protocol):
    """The protocol of one transport that reads and writes, or of two.

    Lines are given out until EOF, `end`, or nobody reads our answers. A client that is late makes callers wait, never
    the event loop.
    """

    _reading: asyncio.ReadTransport
    _writing: asyncio.WriteTransport

    def __init__(self, on_end: OnEnd) -> None:
        self.unanswered: set[object] = set()  # ids of requests
        self._on_end = on_end
        self._open = LineBuffer(MAX_LINE_BYTES)
        self._is_too_long = False  # the line that is open: its bytes are dropped, the next one is intact
        self._lines: deque[bytes] = deque()
        self._ahead = 0  # bytes of these
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._lost = asyncio.Event()
        self._has_written = False
        self._eof = False
        self._ended = False

    # What transports call.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.ReadTransport):
            self._reading = transport
        if isinstance(transport, asyncio.WriteTransport):
            self._writing = transport
            transport.set_write_buffer_limits(HIGH_WATER_BYTES)

    def data_received(self, data: bytes) -> None:
        for line in self._open.feed(data):
            whole = TOO_LONG if self._is_too_long or len(line) > MAX_LINE_BYTES else line.strip()
            self._is_too_long = False
            if whole:
                self._lines.append(whole)
                self._ahead += len(whole)
        if self._open.too_long:
            self._open.close()
            self._is_too_long = True
        if self._ahead > MAX_READ_AHEAD_BYTES:  # of whole lines: an open one has to be read until it is whole
            self._reading.pause_reading()
        self._news.set()

    def eof_received(self) -> bool:
        self.data_received(b"\n")  # a last line may lack its end
        self._eof = True
        if self._has_written:
            asyncio.get_running_loop().call_later(EOF_GRACE_SECONDS, self.end)
        return True  # a socket is still written to

    def connection_lost(self, error: Exception | None) -> None:
        del error
        if self._writing.is_closing():  # else it is the end of what is read
            self._lost.set()
            self.end()

    def pause_writing(self) -> None:
        if not self._ended:
            self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()
        self._news.set()

    # Lines.

    async def line(self) -> bytes | None:
        """Return the next line that is not blank, TOO_LONG in place of a longer one; None at the end."""
        try:
            while not self._ended and (self._lines or not self._eof or self.unanswered):
                if self._lines and self._room.is_set():
                    self._ahead -= len(self._lines[0])
                    if self._ahead <= MAX_READ_AHEAD_BYTES:
                        self._reading.resume_reading()
                    return self._lines.popleft()
                self._news.clear()
                await self._news.wait()
        except anyio.get_cancelled_exc_class():
            self.end()
            raise
        self._on_end()
        return None

    def settle(self, request_id: object) -> None:
        """Note that a request of `unanswered` needs no answer any more."""
        self.unanswered.discard(request_id)
        self._news.set()

    def write(self, line: bytes) -> None:
        """Write a line: now if the client has room for it, else as soon as it has."""
        self._has_written = True
        if not self._writing.is_closing():
            self._writing.write(line)

    async def room(self) -> None:
        """Return when the client is not too far behind."""
        await self._room.wait()

    def end(self) -> None:
        """End the stream now, whatever is still unread; what is still written is short, and waits for nobody."""
        self._ended = True
        self._room.set()
        self._news.set()

    async def close(self) -> None:
        """Write what is left, if the client still reads, and let go of the descriptors."""
        self._reading.close()
        self._writing.close()
        with anyio.move_on_after(FLUSH_SECONDS, shield=True) as flushing:
            await self._lost.wait()
        if flushing.cancelled_caught:
            self._writing.abort()


@asynccontextmanager
async def open_wire(reading: int, writing: int, on_end: OnEnd) -> AsyncIterator[Wire]:
    """Yield what reads and writes two descriptors, for the time of the block. They do not block from then on."""
    wire, loop = Wire(on_end), asyncio.get_running_loop()
    # ssh and inetd give a server one socket for both directions.
    if os.path.sameopenfile(reading, writing):  # noqa: ASYNC240 - it is fstat, twice
        await loop.connect_accepted_socket(lambda: wire, socket.socket(fileno=os.dup(reading)))
    else:
        await loop.connect_write_pipe(lambda: wire, os.fdopen(os.dup(writing), "wb", 0))
        await loop.connect_read_pipe(lambda: wire, os.fdopen(os.dup(reading), "rb", 0))
    try:
        yield wire
    finally:
        await wire.close()
