"""The stream to a transcript's file, from the next quiet moment on, without making the reader wait for the disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.errors import InvalidArgument
from muxwire.testing.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.testing.transcript import Record

# A disk that stands still: what waits for it is bounded, and then the recording ends rather than lie.
BACKLOG_BYTES = 64 * 1024 * 1024


@final
class Recorder:
    """Writes one file. A recording begins when no answer is due, so that whoever plays it can count the answers."""

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
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            self.failure = f"the disk refused: {error.strerror}"
