"""Who calls the command line: the words of one verb, and what the process that typed them can read, write and become.

A verb touches nothing of the process in which its code runs, which may be an instance's owner: what it does there is
sent as frames. `muxwire_client` describes them, and carries them out in the process that was started. If a verb's code
runs in that process too, it does so in a thread beside.
"""

from __future__ import annotations

import asyncio  # a connection that another task reads while this one writes
import errno
import os
import signal
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from muxwire.cli.printing import coloured, packed, spoken, uncoloured
from muxwire.errors import InvalidArgument, MuxwireError, remedy_for
from muxwire_reach import HEAD

if TYPE_CHECKING:
    import argparse
    import socket
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from muxwire.library.terminals import Terminals
    from muxwire.vt.readable import Size

    Write = Callable[[bytes], Awaitable[None]]
    Sizes = tuple[Size | None, Size | None, Size | None]
    # The instance that a verb acts on, as `open_terminals` gives it for `name`, `socket` or `socket_name`; RunsThere.
    Opening = Callable[[Mapping[str, Any]], AbstractAsyncContextManager[Terminals]]
    # A block in which verbs of other processes act on the terminals of this one.
    Answering = Callable[[Terminals], AbstractAsyncContextManager[object]]

STDIN, STDOUT = 0, 1
# The names of these in errors, where those of files have a path.
STREAMS = ("stdin", "stdout", "stderr")
# Bytes of stdin that are asked for at once.
_PIECE = 1 << 20
# Output of any length goes in frames of this size: the client holds one at a time.
_FRAME = 1 << 16


class RunsThere(Exception):
    """The verb has to run in another process: in the owner of the instance that this names, or in the caller's."""


class Console:
    """What one call of the command line has of the process that made it, at the other end of a connection.

    `words` are those behind `muxwire`. `environ` is that process's environment; a verb may change it for itself.
    `sizes` has for stdin, stdout and stderr the columns and rows of the terminal that each is, None for no terminal.
    `terminal` is the path of the terminal that is its stdin, "" if that is none.

    `opened` gives the instance that the verb acts on. `sent_to` is the one to whose process the words were sent, "" if
    they may mean another one.

    `on_signal` is called in the event loop when SIGINT, SIGTERM or SIGHUP was sent to that process; a process that was
    killed, or has closed the connection, counts as SIGHUP. `run_verb` sets it so that the verb ends; a verb may set
    another one. It must not block.
    """

    on_signal: Callable[[signal.Signals], None]
    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter

    def __init__(
        self,
        words: Sequence[str],
        environ: MutableMapping[str, str],
        sizes: Sizes,
        terminal: str,
        opened: Opening,
        *,
        sent_to: str = "",
        answering: Answering | None = None,
    ) -> None:
        """`answering` as `claim_process` gives it; None in another process than the one that was started."""
        self.words, self.environ, self.sizes, self.terminal = words, environ, sizes, terminal
        self.opened, self.sent_to, self._answering = opened, sent_to, answering
        self._gone, self._answers = False, asyncio.Queue[tuple[bytes, bytes]]()

    @asynccontextmanager
    async def connected(self, connection: socket.socket) -> AsyncIterator[None]:
        """Take the caller's frames in the block, and send it all that is written there."""
        self._reader, self._writer = await asyncio.open_connection(sock=connection)
        # So `drain` waits until all of it is sent: what is still in the buffer when the socket is closed is lost.
        self._writer.transport.set_write_buffer_limits(0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen)
            yield
            await self._sent()
            tasks.cancel_scope.cancel()
        self._writer.close()

    async def _listen(self) -> None:
        """Take the caller's frames until it hangs up."""
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                head = await self._reader.readexactly(HEAD)
                kind, body = head[:1], await self._reader.readexactly(int.from_bytes(head[1:], "big"))
                if kind == b"s" and body and body[0] in signal.valid_signals():
                    self.on_signal(signal.Signals(body[0]))
                else:
                    self._answers.put_nowait((kind, body))
        self._gone = True
        self._answers.put_nowait((b"n", b"%d" % errno.EPIPE))
        self.on_signal(signal.SIGHUP)

    def send(self, kind: bytes, body: bytes = b"") -> None:
        """Send one frame; nothing, if the caller has gone."""
        if not self._gone:
            self._writer.write(kind + len(body).to_bytes(HEAD - 1, "big") + body)

    async def _send_all(self, kind: bytes, data: bytes) -> None:
        for at in range(0, len(data), _FRAME):
            self.send(kind, data[at : at + _FRAME])
            await self._sent()

    async def _sent(self) -> None:
        """Wait until the caller has room; not, if it has gone."""
        with suppress(OSError):
            await self._writer.drain()

    async def _answer(self, name: str) -> bytes:
        """The caller's next frame; OSError about that name if it says so, or has gone."""
        kind, body = await self._answers.get()
        if kind == b"n":
            raise OSError(int(body), os.strerror(int(body)), name)
        return body

    def write(self, data: bytes, *, error: bool = False) -> None:
        """Write to stdout, or with `error` to stderr: all of it, in order with what was written before.

        For what has an end: it may all be held in memory. If stdout cannot be written, the caller says so and ends,
        which is told here as SIGHUP.
        """
        self.send(b"e" if error else b"o", data)

    async def write_soon(self, data: bytes) -> None:
        """As `write` to stdout, for output of any length: a slow reader makes the verb wait, and nothing else."""
        await self._send_all(b"o", data)

    async def read(self, most: int) -> bytes:
        """What stdin has next: up to so many bytes as soon as there are some, none at its end; OSError.

        Nothing is read before, nor more than that: the rest belongs to what runs after this call. Whatever else the
        verb does goes on meanwhile.
        """
        self.send(b"i", b"%d" % most)
        return await self._answer(STREAMS[STDIN])

    async def read_file(self, file: str, most: int) -> bytes:
        """What a file holds, up to so many bytes, as the calling process finds it (`/dev/fd/63`); OSError."""
        self.send(b"r", b"%d\0%b" % (most, os.fsencode(file)))
        parts = list[bytes]()
        while body := await self._answer(file):
            parts.append(body)
        return b"".join(parts)

    @asynccontextmanager
    async def create(self, file: str, *, overwrite: bool) -> AsyncIterator[Write]:
        """A file that the calling process opens for writing, in its directory, readable for its user alone.

        What is given to the function that this gives is written there, as by `write_soon`. FileExistsError without
        `overwrite`, OSError. The file is closed at the end of the block.
        """
        self.send(b"f", b"%d%b" % (overwrite, os.fsencode(file)))
        await self._answer(file)
        try:
            yield partial(self._send_all, b"d")
        finally:
            self.send(b"c")

    def execute(self, words: Sequence[str]) -> int:
        """Have a program take the place of the calling process.

        $PATH is searched for the first word. The program gets that process's descriptors, directory and environment,
        but neither $TMUX nor $TMUX_PANE, by which tmux would refuse to run inside of tmux.
        """
        self.send(b"a", b"\0".join(map(os.fsencode, words)))
        return 0

    def claim_process(self) -> Answering:
        """Called by a verb whose code has to run in the calling process itself, as it uses its descriptors.

        Gives the block in which verbs of other processes act on the terminals of this one. Raises RunsThere in another
        process.
        """
        if self._answering is None:
            raise RunsThere
        return self._answering

    # What follows is made of these.

    async def piped(self, most: int) -> bytes:
        """What is piped in; InvalidArgument if a person would have to type it without being asked."""
        if self.sizes[STDIN] is not None:
            raise InvalidArgument(
                "no text was given, and stdin is a terminal", remedy="give it as an argument, or pipe it"
            )
        parts = list[bytes]()
        while most > 0 and (data := await self.read(min(most, _PIECE))):
            parts.append(data)
            most -= len(data)
        return b"".join(parts)

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of stdin as they come, each without its end."""
        rest = b""
        while data := await self.read(_PIECE):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield line
        if rest:
            yield rest

    def time_of_day(self, seconds: float, said: str) -> str:
        """Unix seconds, as strftime says them, by the caller's $TZ, else by this process's clock."""
        from datetime import datetime  # late: few verbs say a time of day
        from zoneinfo import ZoneInfo

        zone = None
        with suppress(OSError, ValueError, KeyError):  # it is not given, or by its rules, or not known
            zone = ZoneInfo(self.environ["TZ"].removeprefix(":"))
        return datetime.fromtimestamp(seconds, zone).astimezone(zone).strftime(said)

    def colours(self, *, plain: bool) -> Callable[[str, str], str]:
        """By the conventions of https://no-color.org; none if $TERM names no terminal that has colours."""
        none = plain or self.environ.get("NO_COLOR") or self.environ.get("TERM", "dumb") == "dumb"
        return uncoloured if none or self.sizes[STDOUT] is None else coloured

    def tell(self, arguments: argparse.Namespace, document: object, lines: Iterable[str] = ()) -> None:
        """Print what a verb has found: with --json the document, else the lines."""
        if arguments.json:
            self.document(document)
        else:
            self.say(*lines)

    def say(self, *lines: str) -> None:
        self.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))

    def document(self, value: object) -> None:
        self.write(packed(value))

    def warn(self, text: str) -> None:
        """Write a line to stderr, if it is read.

        It may name a path or an argument, in which a terminal would find orders to it: those are shown as Python
        writes them, `\\x1b`.
        """
        signs = (one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode() for one in text)
        self.write("".join(signs).encode() + b"\n", error=True)

    def explain(self, error: MuxwireError | OSError, *, as_json: bool) -> None:
        """Say what went wrong and what to do: on stdout as a document, else on stderr."""
        if isinstance(error, MuxwireError):
            code, message, remedy = error.code, spoken(str(error)), spoken(error.remedy)
        else:
            name = f"{error.filename}: " if error.filename else ""
            code, message = "os_error", f"{name}{error.strerror or error}"
            remedy = "" if error.filename in STREAMS else spoken(remedy_for(error))
        if as_json:
            self.document({"error": {"code": code, "message": message, "remedy": remedy}})
        else:
            self.warn(f"muxwire: {message}" + (f"\n  {remedy}" if remedy else ""))
