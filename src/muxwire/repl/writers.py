"""What is written without holding up the reader of the connection: lines to the terminal, the stream to a transcript.

What is put here waits in memory until the writer, a task of its own, has taken it. If notifications come faster than
they can be written, the newest are left out and counted; answers and errors are always kept.
"""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.errors import InvalidArgument
from muxwire.repl.showing import BAD, Line
from muxwire.testing.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from muxwire.testing.transcript import Record

# Some screens of a terminal: a person reads no more, and a terminal takes a tenth of a second for them.
ROOM = 1000
# Lines written at once: a terminal that is asked to show more is busy for longer than a key may wait.
BATCH = 200
# Between two writes to a terminal: more often cannot be seen, and each costs a redraw of the prompt.
PAUSE_S = 0.02
# How much may wait for a slow disk. With more the recording ends there: with a gap it would be false.
BACKLOG_BYTES = 64 * 1024 * 1024


def write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@final
class Printer:
    """Takes lines at any time; `run` writes them by `write`."""

    def __init__(
        self, write: Callable[[Sequence[Line]], Awaitable[None]], *, room: int = ROOM, pause: float = PAUSE_S
    ) -> None:
        self.left_out = 0  # notifications, since the start
        self._write = write
        self._room = room
        self._pause = pause
        self._lines: deque[Line] = deque()
        self._gap = 0  # notifications left out since the last line
        self._filled = anyio.Event()
        self._empty = anyio.Event()
        self._empty.set()

    def put(self, lines: Iterable[Line]) -> None:
        """Have these lines written: an answer, an error, a remark."""
        self._close_gap()
        self._lines.extend(lines)
        self._wake()

    def offer(self, lines: Sequence[Line]) -> None:
        """Have these lines written if there is room: a notification."""
        if len(self._lines) >= self._room:
            self._gap += 1
            self.left_out += 1
            return
        self._close_gap()
        self._lines.extend(lines)
        self._wake()

    async def flushed(self) -> None:
        self._close_gap()
        await self._empty.wait()

    async def run(self) -> None:
        while True:
            await self._filled.wait()
            self._filled = anyio.Event()
            while self._lines or self._gap:
                if not self._lines:
                    self._close_gap()
                batch = [self._lines.popleft() for _ in range(min(BATCH, len(self._lines)))]
                await self._write(batch)
                await anyio.sleep(self._pause if self._lines else 0)
            self._empty.set()

    def _close_gap(self) -> None:
        if self._gap:
            text = f"… {self._gap} notifications came too fast to be shown (:filter shows fewer, :record keeps all)"
            self._gap = 0
            self._lines.append(((BAD, text),))
            self._wake()

    def _wake(self) -> None:
        if self._lines:
            if self._empty.is_set():
                self._empty = anyio.Event()
            self._filled.set()


@final
class Recorder:
    """Writes one file. A recording begins when no answer is due, so that a replay can count the answers."""

    def __init__(self, path: str, *comments: str) -> None:
        """Make the file, readable by us alone: all that is typed is in it. InvalidArgument if it cannot be made."""
        self.path = Path(path).expanduser()
        self.lines = 0
        self.failure = ""
        self.begun = False
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InvalidArgument(
                f"cannot write {self.path}: {error.strerror}", remedy="give a file that you can write"
            ) from error
        self._waiting = bytearray(Transcript((), comments).format())
        self._filled = anyio.Event()
        self._filled.set()
        self.finished = anyio.Event()
        self._closing = False

    def take(self, records: Sequence[Record], *, quiet: bool) -> None:
        """Take what was just said; `quiet`: before it no answer was due."""
        self.begun = self.begun or quiet
        if not self.begun or self.failure:
            return
        self.lines += len(records)
        self._waiting += Transcript(tuple(records)).format()
        if len(self._waiting) > BACKLOG_BYTES:
            self.failure = "the disk could not keep up"
            self._waiting.clear()
        self._filled.set()

    def stop(self) -> None:
        self._closing = True
        self._filled.set()

    async def run(self) -> None:
        """Write what was taken until `stop`; a disk that refuses is reported by `failure`."""
        try:
            while True:
                await self._filled.wait()
                self._filled = anyio.Event()
                data = bytes(self._waiting)
                self._waiting.clear()
                if data and not self.failure:
                    await anyio.to_thread.run_sync(self._write, data)
                if self._closing and not self._waiting:
                    return
        finally:
            os.close(self._file)
            self.finished.set()

    def _write(self, data: bytes) -> None:
        try:
            write_all(self._file, data)
        except OSError as error:
            self.failure = f"the disk refused: {error.strerror}"
