"""The log of a pane as a follower has it: the owner writes it, the follower counts along and reads the file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.logs import read as log_read
from muxwire.logs.store import FLUSH_WAIT_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

# The owner writes 10 ms after a byte at the latest; nothing notifies a follower when it has.
POLL_SECONDS = 0.005


@final
class FollowerLog:
    """Counts what is appended, and writes nothing. `end` is the offset of the next byte."""

    def __init__(self, path: Path, end: int | None = None) -> None:
        """Begin at the end of the file, or at `end` if that is known."""
        self.path = path
        self.end = end_of(path) if end is None else end

    def append(self, data: bytes) -> None:
        self.end += len(data)

    def lose(self, size: int, **_details: object) -> None:
        self.end += size

    def resized(self, _columns: int, _rows: int, **_details: bool) -> None:
        """The owner sees it too."""

    def note_script(self, _size: int) -> None:
        """A script was written next to the log: the owner finds it at its next check."""

    async def flushed(self) -> bool:
        """Return once the owner has written all that was appended here; False if it does not."""
        target, deadline = self.end, time.monotonic() + FLUSH_WAIT_SECONDS
        while end_of(self.path) < target:
            if time.monotonic() > deadline:
                return False
            await anyio.sleep(POLL_SECONDS)
        return True

    async def read(self, begin: int, end: int) -> bytes:
        await self.flushed()
        return await anyio.to_thread.run_sync(log_read.read_raw, self.path, begin, end)

    def close(self, *, ended: bool = False) -> None:
        """Nothing to let go of."""


def end_of(path: Path) -> int:
    """The offset after the last byte that is on file; 0 for a log that is not there."""
    try:
        with log_read.LogFileReader(path) as log:
            return log.end
    except OSError:
        return 0
