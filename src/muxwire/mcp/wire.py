"""Newline-delimited JSON-RPC over two descriptors, as the streams that the SDK's server reads and writes.

The SDK's own stdio hands every line through worker threads and queues (more than half of a call's time), dies
of SIGTERM without closing anything, and hangs on SIGINT or a closed stdout. Here the event loop reads and writes
the descriptors itself, in the task that wants the message, and every end is one path: `WireReader.end`.
"""

from __future__ import annotations

import asyncio  # callbacks that stay registered for a descriptor's readiness have no anyio counterpart
import fcntl
import json
import logging
import os
import signal
import socket
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, final

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import to_json

from muxwire.protocol.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Iterator


# The standard descriptors while a server speaks JSON-RPC on them: a private pair for it, harmless ones for the rest.
#
# A print, a library's warning or a child that inherits fd 1 would break the stream, and a child that reads
# fd 0 would steal requests. So the wire moves to private descriptors, fd 0 reads nothing and fd 1 is stderr.

STDIN, STDOUT, STDERR = 0, 1, 2

# A duplicate must not land on a standard descriptor that happens to be closed.
FIRST_PRIVATE = 3

# How hosts and people end a server; all of them mean the same to us.
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
            sys.stdout.flush()  # what was printed meanwhile is still stderr's
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


log = logging.getLogger(__name__)

# One line is one message; the largest honest one is a script of some megabytes.
MAX_LINE_BYTES = 64 << 20

# Of what is larger than 128 KiB, malloc has the kernel map new pages for each read, and take them back: 40 us a call.
READ_BYTES = 1 << 16

# Requests read ahead of their handling; beyond this the client's pipe fills up and the client waits.
MAX_READ_AHEAD_BYTES = 16 << 20

# Answers waiting for a slow client; beyond this, calls wait before they answer and no new ones begin.
HIGH_WATER_BYTES = 1 << 20

# `printf REQUESTS | muxwire serve` closes stdin at once and still wants the answers, but a client that
# closes stdin to end us waits only about 2 s in all.
EOF_GRACE_SECONDS = 0.5

# For the last answers to reach a client that still reads.
FLUSH_SECONDS = 0.3

_NO_ID = "The id of a request must be a string or an integer"

# The answer to this request is a stream without an end: nobody who hangs up waits for it.
_ENDLESS = "subscriptions/listen"

Reply = types.JSONRPCResponse | types.JSONRPCError
EarlyAnswer = Callable[[types.JSONRPCRequest], Reply | None]
# Called when the stream has ended, before whoever reads it cancels what is under way.
OnEnd = Callable[[], None]


class CallsOnTheWire(Protocol):
    """The requests that are answered without the SDK (calls.py)."""

    def began(self, request_id: types.RequestId, params: dict[str, Any]) -> None:
        """Note the id of a request `initialize`, and what it says of the client."""

    def answered(self, request_id: types.RequestId | None, result: dict[str, Any]) -> None:
        """Note an answer of the SDK's."""

    def take(self, line: bytes, writer: WireWriter) -> bool:
        """Begin the call that `line` is; False if it is none, or one for the SDK."""

    def cancel(self, request_id: types.RequestId) -> None:
        """End a call that its client no longer waits for."""


@final
class WireWriter(ObjectSendStream[SessionMessage]):
    """Writes at once when the pipe has room; keeps the rest and makes callers wait, never the event loop."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self.unanswered: set[types.RequestId] = set()
        self.listener: WireReader | None = None  # told of room for answers, and that nobody reads them any more
        self.calls: CallsOnTheWire | None = None  # told of the SDK's answers
        self._fd = fd
        self._loop = loop
        self._backlog = bytearray()
        self._empty = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._in_a_hurry = False
        self._lost = False

    @property
    def congested(self) -> bool:
        """Whether the client is so late that nothing new should begin."""
        return not self._room.is_set()

    async def aclose(self) -> None:
        """Nothing is owned: the descriptor belongs to whoever opened it."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message; returns when the client is not too far behind."""
        self.send_nowait(item.message)
        await self.room()

    async def room(self) -> None:
        """Return when the client is not too far behind."""
        if not self._room.is_set():
            await self._room.wait()

    def send_nowait(self, message: types.JSONRPCMessage) -> None:
        self._write(_encoded(message))
        if isinstance(message, types.JSONRPCResponse) and self.calls is not None:
            self.calls.answered(message.id, message.result)
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            self._settle(message.id)

    def answer(self, request_id: types.RequestId, member: bytes) -> None:
        """Write an answer: `member` is its result or error, as JSON."""
        self._write(b'{"jsonrpc":"2.0","id":%b,%b}\n' % (to_json(request_id), member))
        self._settle(request_id)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Write a notification."""
        self._write(to_json({"jsonrpc": "2.0", "method": method, "params": params}) + b"\n")

    def _settle(self, request_id: types.RequestId) -> None:
        self.unanswered.discard(request_id)
        self._tell()

    def hurry(self) -> None:
        """Stop making callers wait: the server ends, and what they have to say is short."""
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
        self._empty.set()
        self._loop.remove_writer(self._fd)

    def _write(self, line: bytes) -> None:
        if self._lost:
            return
        self._backlog += line
        if len(self._backlog) == len(line):  # nothing was waiting: most lines leave right here
            self._write_backlog()
            if self._backlog:
                self._loop.add_writer(self._fd, self._write_backlog)
        if len(self._backlog) > HIGH_WATER_BYTES and not self._in_a_hurry:
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
        if not self._backlog:
            self._empty.set()
            self._loop.remove_writer(self._fd)
        if self.congested and len(self._backlog) <= HIGH_WATER_BYTES:
            self._room.set()
            self._tell()

    def _tell(self) -> None:
        if self.listener is not None:
            self.listener.wake()


@final
class WireReader(ObjectReceiveStream[SessionMessage]):
    """Reads requests as they come; ends at EOF, at `end`, and when nobody reads our answers."""

    def __init__(
        self,
        fd: int,
        loop: asyncio.AbstractEventLoop,
        writer: WireWriter,
        answer_early: EarlyAnswer | None,
        on_end: OnEnd,
        calls: CallsOnTheWire | None,
    ) -> None:
        self._on_end = on_end
        self._calls = calls
        self._fd = fd
        self._loop = loop
        self._writer = writer
        self._answer_early = answer_early
        self._open = LineBuffer(MAX_LINE_BYTES)
        self._is_too_long = False  # the line that is open: its bytes are dropped, the next one is intact
        self._lines: deque[bytes | None] = deque()  # None: one that was too long
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

    async def aclose(self) -> None:
        """Nothing is owned here either."""

    async def receive(self) -> SessionMessage:
        """Return the next message for the server; raises EndOfStream at the end."""
        while True:
            message = self._taken(await self._next_line())
            if message is not None:
                return SessionMessage(message)

    async def _next_line(self) -> bytes:
        while not self._ended:
            if not self._writer.congested:
                line = self._buffered_line()
                if line is not None:
                    return line
                if self._eof and not self._writer.unanswered:
                    break
            self._news.clear()
            await self._news.wait()
        self._on_end()
        raise anyio.EndOfStream

    def _buffered_line(self) -> bytes | None:
        if not self._lines:
            return None
        line = self._lines.popleft()
        self._ahead -= len(line or b"")
        if self._paused and not self._is_far_ahead():
            self._paused = False
            self.start()
        if line is None:
            self._refuse(types.INVALID_REQUEST, f"Message longer than {MAX_LINE_BYTES} bytes")
        return line or b""

    def _is_far_ahead(self) -> bool:
        """Whether to stop reading; never within a line, which would then never become whole."""
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
            self._lines.append(None if self._is_too_long or len(line) > MAX_LINE_BYTES else line)
            self._ahead += len(self._lines[-1] or b"")
            self._is_too_long = False
        if self._open.too_long:
            self._open.close()
            self._is_too_long = True

    def _taken(self, line: bytes) -> types.JSONRPCMessage | None:
        """Parse one line; None if it is blank, was answered here, or is no message (then that is the answer)."""
        if not line or line.isspace():
            return None
        if self._calls is not None and self._calls.take(line, self._writer):
            return None
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            self._refuse(*_what_is_wrong_with(line, error))
            return None
        match message:
            # The SDK's model passes over an id that is none, and would have nobody answer.
            case types.JSONRPCNotification() if "id" in json.loads(line):
                self._refuse(types.INVALID_REQUEST, _NO_ID)
                return None
            case types.JSONRPCRequest():
                early = self._answer_early(message) if self._answer_early is not None else None
                if early is not None:
                    self._writer.send_nowait(early)
                    return None
                if message.method != _ENDLESS:
                    self._writer.unanswered.add(message.id)
                if message.method == "initialize" and self._calls is not None:
                    self._calls.began(message.id, message.params or {})
            case types.JSONRPCNotification(
                method="notifications/cancelled", params={"requestId": str() | int() as id_}
            ):
                self._writer.unanswered.discard(id_)  # a cancelled request is never answered
                if self._calls is not None:
                    self._calls.cancel(id_)
        return message

    def _refuse(self, code: int, message: str, request_id: types.RequestId | None = None) -> None:
        error = types.ErrorData(code=code, message=message)
        self._writer.send_nowait(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


@contextmanager
def open_wire(
    reading: int, writing: int, answer_early: EarlyAnswer | None, on_end: OnEnd, calls: CallsOnTheWire | None = None
) -> Iterator[tuple[WireReader, WireWriter]]:
    """Yield the streams of two non-blocking descriptors, for the time of the block."""
    loop = asyncio.get_running_loop()
    writer = WireWriter(writing, loop)
    reader = WireReader(reading, loop, writer, answer_early, on_end, calls)
    writer.listener, writer.calls = reader, calls

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


def _what_is_wrong_with(line: bytes, error: ValidationError) -> tuple[int, str, types.RequestId | None]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return types.PARSE_ERROR, "Parse error: not JSON", None
    if isinstance(value, list):
        return types.INVALID_REQUEST, "Batches are not supported: send one message per line", None
    request_id = _usable_id(value.get("id")) if isinstance(value, dict) else None
    for found in error.errors():
        if found["type"] == "json_invalid":  # JSON that is no text: half of a surrogate pair
            return types.PARSE_ERROR, f"Parse error: {found['ctx']['error']}", request_id
    return types.INVALID_REQUEST, "Not a JSON-RPC 2.0 message", request_id


def _usable_id(given: object) -> types.RequestId | None:
    """Return the id if an answer can carry it."""
    match given:
        case bool():
            return None
        case str() if any("\ud800" <= character <= "\udfff" for character in given):
            return None
        case str() | int():
            return given
        case _:
            return None


def _encoded(message: types.JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:  # pydantic's: a lone surrogate, say
        # One answer that cannot be said must not take the connection with it.
        log.exception("a message could not be encoded")
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return b""
        data = types.ErrorData(code=types.INTERNAL_ERROR, message="The result could not be encoded")
        return _encoded(types.JSONRPCError(jsonrpc="2.0", id=message.id, error=data))
