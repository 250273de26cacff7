"""When which byte of a log came: `pane-@N.times` next to it, records of a time and an offset.

A record says that all bytes before its offset came by its time (seconds since the epoch). The bytes between the
offsets of two successive records came between their times. The newest record moves on while output comes, and another
one is begun every `STEP` seconds at most. Where output begins after a pause, a record with the old offset says that
nothing came during the pause. That record is missing if no process wrote the log then: the two records around that time
are far apart, and it is not known when the bytes between them came.

The file is bounded: when it is full, records that are old stay as far apart as `_SHARE` of their age.
"""

from __future__ import annotations

import os
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, final

from muxwire.errors import InvalidArgument
from muxwire.host.folders import replace_private

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

# How exactly times are known while output comes; a person who says "ten seconds ago" needs no more.
STEP: Final = 0.1
# 128 KiB a log. Thinned by `_SHARE`, a month of output without a pause keeps 3,200 of these.
RECORDS_MAX: Final = 8192
_SHARE: Final = 1 / 256
# An answer may be so wrong, in seconds, or by this share of the time that was asked for.
_NEAR: Final = 1.0
_NEAR_SHARE: Final = 1 / 60
_RECORD: Final = struct.Struct("<dQ")

Record = tuple[float, int]


def times_path(log: Path) -> Path:
    return log.with_suffix(".times")


@final
class LogTimes:
    """The writer's side, for the thread that writes the log. What the disk does not take is not known later."""

    def __init__(self, log: Path) -> None:
        self._path = times_path(log)
        self._count = -1  # not looked yet
        self._newest = 0.0
        self._since = 0.0  # when the newest record was begun; 0 if it may not be moved on
        self._moved = b""  # the newest record, if it has been moved on since it was written

    def note(self, began: float, came: float, begin: int, end: int, *, present: bool) -> None:
        """Note that the bytes from offset `begin` to `end` came between the times `began` and `came`.

        If not `present`, it is only known that they came by `came`. If `begin` is `end`, the record says that what
        comes next comes after `came`.
        """
        with suppress(OSError, struct.error):
            if self._count < 0:
                known = read_times(self._path)
                self._count, self._newest = len(known), known[-1][0] if known else 0.0
            records, place = b"", self._count
            if present and begin < end and abs(began - self._newest) >= STEP:
                records = _RECORD.pack(began, begin)
            elif place and self._since and abs(came - self._since) < STEP:
                self._moved, self._newest = _RECORD.pack(came, end), came
                return
            if self._moved:
                place, records, self._moved = place - 1, self._moved + records, b""
            self._since = came if present and begin < end else 0.0
            self._write(records + _RECORD.pack(came, end), place)
            self._newest = came
            if self._count >= RECORDS_MAX:
                self._thin(came)

    def flush(self) -> None:
        """Write the newest record, if that was not done."""
        if self._moved:
            with suppress(OSError):
                self._write(self._moved, self._count - 1)
            self._moved = b""

    def _write(self, records: bytes, place: int) -> None:
        # Not kept open: a descriptor for each log is what there is room for.
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(descriptor, records, place * _RECORD.size)
        finally:
            os.close(descriptor)
        self._count = place + len(records) // _RECORD.size

    def _thin(self, now: float) -> None:
        kept = thinned(read_times(self._path), now)[-RECORDS_MAX // 2 :]
        replace_private(self._path, b"".join(_RECORD.pack(*one) for one in kept))
        self._count, self._since = len(kept), 0.0


def thinned(records: Sequence[Record], now: float) -> list[Record]:
    """Those of the records that are at least `_SHARE` of their age after the one kept before, and the last one."""
    kept: list[Record] = []
    for one in records[:-1]:
        if not kept or abs(one[0] - kept[-1][0]) >= (now - one[0]) * _SHARE:
            kept.append(one)
    return [*kept, *records[-1:]]


def read_times(path: Path) -> list[Record]:
    """The records of a file of times, none if it is not there; OSError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return list(_RECORD.iter_unpack(data[: len(data) - len(data) % _RECORD.size]))


def offset_ago(log: Path, ago: float, shows: Callable[[int, int], bool] | None = None) -> int:
    """The offset at which a log ended so many seconds ago; InvalidArgument where that is not known. Blocks.

    `shows`: whether anything can be seen of the bytes between two offsets; if not, it does not matter when they came.
    """
    return offset_at(read_times(times_path(log)), ago, time.time(), shows)


def offset_at(
    records: Sequence[Record], ago: float, now: float, shows: Callable[[int, int], bool] | None = None
) -> int:
    """As `offset_ago`, by these records; the clock may have been set back between two of them."""
    for index in range(len(records) - 1, -1, -1):
        at, offset = records[index]
        if at > now - ago:
            continue
        if index + 1 < len(records):
            later, end = records[index + 1]
            late = end > offset and later - at > max(_NEAR, ago * _NEAR_SHARE)
            if late and (shows is None or shows(offset, end)):
                raise InvalidArgument(
                    f"bytes {offset} to {end} came between {now - at:.1f} and {max(now - later, 0):.1f} s ago:"
                    " muxwire was not running then, so their time is not known",
                    remedy="give an offset instead",
                )
        return offset
    known = "it was not recorded when the bytes of this log came"
    if records:
        known = f"times of this log are recorded only since {max(now - records[0][0], 0):.1f} s ago"
    raise InvalidArgument(known, remedy="give an offset, or a shorter time")
