"""What tmux said last, kept in a file that outlives us: a SIGKILL must not cost what was read and not yet logged.

The transport reads straight into this file's memory, so it costs nothing to keep. Two halves are filled in turn. Each
begins with a header that says how far every pane's log had come, so that each half can be read by itself:

    8 bytes  sequence number, slot, length | two slots of JSON, of which one counts | stream

The JSON is {"panes": {"%N": [offset, log name, place]}}: `offset` counts for the first line of that pane which begins
at `place` of the stream or later. A half ends at its last byte that is not NUL: tmux's stream holds none, and what is
free is kept at NUL.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from typing import TYPE_CHECKING, final

from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeAlias

    # For each pane, how far its log has come and what that log is called.
    PaneOffsets: TypeAlias = dict[str, tuple[int, str]]

# A half holds 0.2 s of the fastest output that tmux was seen to emit; the logs are 10 ms late at most.
HALF_BYTES = 4 << 20
# Room for the offsets of a thousand panes, twice.
_SLOT_BYTES = 64 * 1024
# In the machine's own order, since that is written by one instruction: a kill cannot leave half of it.
_FIXED = struct.Struct("@Q")
_LENGTH_BITS = 31
_STREAM = _FIXED.size + 2 * _SLOT_BYTES
# A read that could bring less than this is worth a change of halves.
_ROOM_BYTES = 1 << 20
# Most of a half is free: it is passed over in pieces of this size, each compared at once.
_FREE = bytes(64 * 1024)


@final
class Journal:
    """The writing side: give `room` to read(2), then tell with `took` how much came."""

    def __init__(self, path: Path, unfinished: Callable[[], bytes], panes: Callable[[], PaneOffsets]) -> None:
        """Make the file, of its full size, so that no page of it can fail later; OSError.

        `unfinished`: the input of a line that has begun; `panes`: how far each pane's log has come, and its name. Both
        are asked when everything that was taken has been dealt with.
        """
        self._unfinished = unfinished
        self._panes = panes
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, 2 * HALF_BYTES)
            else:
                os.ftruncate(descriptor, 2 * HALF_BYTES)
            self._map = mmap.mmap(descriptor, 2 * HALF_BYTES)
        finally:
            os.close(descriptor)
        self._view = memoryview(self._map)
        self._sequence = 0
        self._half = 1
        self._slot = 0
        self._at = self._start = HALF_BYTES + _STREAM
        self._used = [0, 0]
        self._known: dict[str, tuple[int, str, int]] = {}
        self._begin_half()

    def room(self) -> memoryview:
        if (self._half + 1) * HALF_BYTES - self._at < _ROOM_BYTES:
            self._begin_half()
        return self._view[self._at : self._at + _ROOM_BYTES]

    def took(self, count: int) -> bytes:
        self._at += count
        return bytes(self._view[self._at - count : self._at])

    def note_panes(self) -> None:
        """Panes are known that were not: from here on their output belongs to their logs."""
        place = self._at - self._start - len(self._unfinished())
        self._known |= {
            pane: (offset, name, place) for pane, (offset, name) in self._panes().items() if pane not in self._known
        }
        self._write_header()

    def _begin_half(self) -> None:
        """Go over to the other half, with the panes as they are now."""
        self._used[self._half] = self._at - self._start
        half = self._half = 1 - self._half
        base = half * HALF_BYTES
        self._start = self._at = base + _STREAM
        _FIXED.pack_into(self._map, base, 0)
        self._view[self._at : self._at + self._used[half]] = bytes(self._used[half])
        rest = self._unfinished()
        if len(rest) > HALF_BYTES // 2:  # an answer of that size is nobody's output
            rest = b""
        self._view[self._at : self._at + len(rest)] = rest
        self._at += len(rest)
        self._sequence += 1
        self._known = {pane: (offset, name, 0) for pane, (offset, name) in self._panes().items()}
        self._write_header()

    def _write_header(self) -> None:
        base, self._slot = self._half * HALF_BYTES, 1 - self._slot
        header = json.dumps({"panes": self._known}).encode()
        if len(header) > _SLOT_BYTES:
            _FIXED.pack_into(self._map, base, 0)
            return
        place = base + _FIXED.size + self._slot * _SLOT_BYTES
        self._view[place : place + len(header)] = header
        _FIXED.pack_into(
            self._map, base, (self._sequence << (_LENGTH_BITS + 1)) | self._slot << _LENGTH_BITS | len(header)
        )

    def close(self) -> None:
        """Let go of the file, which stays."""
        self._view.release()
        self._map.close()


@final
@dataclass(frozen=True, slots=True)
class JournalHalf:
    """One half as it was left: for each pane the offset, the log's name and the place; and the stream."""

    panes: dict[str, tuple[int, str, int]]
    stream: bytes


def read_journal(path: Path) -> list[JournalHalf]:
    """The halves of a journal that are valid, older first; none of a file that is not there."""
    try:
        file = path.open("rb")
    except OSError:
        return []
    found = []
    with file:
        if os.fstat(file.fileno()).st_size < 2 * HALF_BYTES:
            return []
        with mmap.mmap(file.fileno(), 2 * HALF_BYTES, access=mmap.ACCESS_READ) as content:
            for base in (0, HALF_BYTES):
                if not (fixed := _FIXED.unpack_from(content, base)[0]):
                    continue
                sequence, slot = fixed >> (_LENGTH_BITS + 1), fixed >> _LENGTH_BITS & 1
                at = base + _FIXED.size + slot * _SLOT_BYTES
                rows = json.loads(content[at : at + (fixed & (1 << _LENGTH_BITS) - 1)])["panes"]
                panes = {pane: (row[0], row[1], row[2]) for pane, row in rows.items()}
                found.append((sequence, JournalHalf(panes, _stream(content, base + _STREAM, base + HALF_BYTES))))
    return [half for _, half in sorted(found, key=lambda pair: pair[0])]


def _stream(content: mmap.mmap, start: int, end: int) -> bytes:
    while end - len(_FREE) > start and content[end - len(_FREE) : end] == _FREE:
        end -= len(_FREE)
    return content[start:end].rstrip(b"\0")
