"""One log on the writer's side: pieces in, as many as the disk takes, and a new file whenever one has grown large."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import field
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, final

from muxwire.logs.segments import layout_of, record, segment_path
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from muxwire.vt.past import PaneSize

# A bytes object and its place in a list: one-byte chunks must not make the bound sixty times what it says.
PIECE_COST = 64

# Linux and macOS take 1024 buffers in one writev(2).
_BUFFERS_MAX = 1024


# What stands for bytes of which nobody knows how many they were.
UNKNOWN_SIZE = 1


@final
@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that were not kept; `details` is what else is known and goes into the record, and all of it for 0 bytes."""

    offset: int
    size: int
    details: Mapping[str, Any] = field(default_factory=dict)


@final
class LogFile:
    """One log's file. Only the writer's thread comes here, but for the counters, which it alone sets."""

    def __init__(self, path: Path, segment_bytes: int) -> None:
        self.path = path
        self.first: int | None = None  # the offset of the first byte of the file that is written; None: not looked yet
        self.end = 0  # the offset up to which the log holds everything
        self.size: PaneSize | None = None  # the newest that is on file
        self.waiting: deque[bytes | Gap] = deque()
        self.closing = False
        self.rotated = False
        self._segment_bytes = segment_bytes
        self._descriptor: int | None = None

    def open(self) -> None:
        if self._descriptor is None:
            if self.first is None:
                layout = layout_of(self.path)
                self.first, self.size = layout.live_first, layout.sizes[-1] if layout.sizes else None
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            self._descriptor = os.open(self.path, flags, 0o600)
            self.end = self.first + os.fstat(self._descriptor).st_size

    def write(self) -> int:
        """Write what waits, as far as it goes in one go; return the cost of what need not be kept any more; OSError."""
        self.open()
        assert self._descriptor is not None
        assert self.first is not None
        if self.end - self.first >= self._segment_bytes:
            self._rotate()
        first = self.waiting[0]
        if isinstance(first, Gap):
            self._skip(self._descriptor, first)
            self.waiting.popleft()
            return PIECE_COST
        pieces = takewhile(lambda piece: isinstance(piece, bytes), islice(self.waiting, _BUFFERS_MAX))
        written = os.writev(self._descriptor, list(pieces))  # type: ignore[arg-type]
        self.end += written
        return self._drop(written)

    def _drop(self, written: int) -> int:
        settled = 0
        while written:
            first = self.waiting[0]
            assert isinstance(first, bytes)
            if len(first) > written:
                self.waiting[0] = first[written:]
                return settled + written
            self.waiting.popleft()
            written -= len(first)
            settled += len(first) + PIECE_COST
        return settled

    def _skip(self, descriptor: int, gap: Gap) -> None:
        assert self.first is not None
        self.end = gap.offset + gap.size
        if os.fstat(descriptor).st_size < self.end - self.first:  # a retry may find it done
            os.ftruncate(descriptor, self.end - self.first)
        place = {"offset": gap.offset, "size": gap.size} if gap.size else {"at": gap.offset}
        record(self.path, **place, **gap.details)

    def _rotate(self) -> None:
        """Begin another file; if the directory does not let us, the old one stays. OSError if none can be opened."""
        assert self.first is not None
        try:
            record(self.path)  # before there is a segment: without it nobody looks for one
            self.path.rename(segment_path(self.path, self.first))
        except OSError:
            return
        self.first = self.end
        self.rotated = True
        self.close()
        self.open()

    def close(self) -> None:
        """Let go of the file; a later write opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
