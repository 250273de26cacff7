"""Where the bytes of one log lie: a row of files, each of which begins at an offset that never changes.

The newest file, the one that is written, is always `pane-@N.log`. When it has grown to its limit it is renamed to
`pane-@N.OFFSET.log`, with the offset of its first byte in sixteen digits, and a new one is begun: so
`cat pane-@N.0*.log pane-@N.log` is the log, and the end of each file is the beginning of the next.

Next to them `pane-@N.gaps` holds what the files cannot say, one JSON object a line:

    {"offset": N, "size": N}    a hole: bytes that were lost, NULs in the file. More keys say why, where it is known.
    {"first": N}                the oldest files are gone, and the one that is written begins at this offset.
    {"at": N, "columns": C, "rows": R}    the pane's size from that offset on; before the first such record, the size
                                that muxwire gives its tabs.
                                With `"blank": false` the screen was not empty there: the pane was used before its log
                                began. With `"sure": false` what came before may have been laid out in that size.

`pane-@N.times` says when which byte came (`logs/times.py`).

The code of scripts that ran in a tab is kept there too: `pane-@N.script-ID.py` goes when `pane-@N.log` goes, so a
`script_path` of an earlier result can be read as long as the output of that script can be.

A log without a `.gaps` file is one file that begins at 0, so that a directory of thousands need not be searched.

The writer's side of one log is here too: pieces in, as many as the disk takes, and a new file whenever one has grown
large.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from muxwire.host.folders import make_private
from muxwire.logs.sizes import PaneSize
from muxwire.logs.times import LogTimes, times_path

if TYPE_CHECKING:
    from collections.abc import Mapping


# 9 petabytes: names sort as their offsets do.
_DIGITS = 16
_SCRIPT = re.compile(r"(?P<stem>.+)\.script-[0-9a-f]+\.[a-z]+\Z")
_SEGMENT = re.compile(r"(?P<stem>.+)\.(?P<first>[0-9]{16})\Z")

# A log may be rotated while it is examined: once is likely, a third time in a row is not.
_ATTEMPTS = 5
# What a piece takes besides its bytes: a bytes object, and its place in a list. If that did not count, a backlog of
# one-byte pieces would take sixty times its bound.
PIECE_COST = 64
# Linux takes 1024 buffers in one writev(2).
_BUFFERS_MAX = 1024
# What stands for bytes whose number is not known.
UNKNOWN_SIZE = 1


@final
@dataclass(frozen=True, slots=True)
class Segment:
    """A file that is no longer written: the offsets of its first byte and of the byte after its last."""

    path: Path
    first: int
    last: int
    modified: float


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """A log on disk: the files before the one that is written, in order; where that one begins; the holes.

    `gaps` are (begin, end), in order. `sizes` are in order of their offsets. `first` is the offset of the oldest byte
    that is kept.
    """

    older: tuple[Segment, ...]
    live_first: int
    gaps: tuple[tuple[int, int], ...]
    sizes: tuple[PaneSize, ...] = ()

    @property
    def first(self) -> int:
        """The offset of the oldest byte that is kept."""
        return self.older[0].first if self.older else self.live_first


def gaps_path(path: Path) -> Path:
    return path.with_suffix(".gaps")


def segment_path(path: Path, first: int) -> Path:
    return path.with_name(f"{path.stem}.{first:0{_DIGITS}d}.log")


def segment_of(entry: os.DirEntry[str]) -> tuple[Path, Segment] | None:
    """Return the log that a file belongs to and what part of it; None if the file is no segment."""
    name, dot, suffix = entry.name.rpartition(".")
    found = _SEGMENT.match(name)
    if found is None or dot + suffix != ".log":
        return None
    path = Path(entry.path)
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # retired since
        return None
    first = int(found["first"])
    segment = Segment(path, first, first + status.st_size, status.st_mtime)
    return path.with_name(f"{found['stem']}.log"), segment


def layout_of(path: Path) -> Layout:
    """A log as its files and what stands next to it say. A line there that a full disk has cut short is left out."""
    try:
        lines = gaps_path(path).read_bytes().splitlines()
    except FileNotFoundError:
        return Layout((), 0, ())
    first, gaps, sizes = 0, list[tuple[int, int]](), list[PaneSize]()
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            said = json.loads(line)
            if "first" in said:
                first = max(first, int(said["first"]))
            elif "at" in said:
                at, columns, rows = int(said["at"]), int(said["columns"]), int(said["rows"])
                sizes.append(PaneSize(at, columns, rows, said.get("blank", True), said.get("sure", True)))
            else:
                gaps.append((int(said["offset"]), int(said["offset"]) + int(said["size"])))
    older = _older(path)
    sizes.sort(key=attrgetter("at"))
    return Layout(tuple(older), older[-1].last if older else first, tuple(sorted(gaps)), tuple(sizes))


def open_log(path: Path) -> tuple[Layout, list[tuple[int, int, int]]]:
    """Examine a log and open its files to read: (descriptor, first, last) each, in order. OSError.

    The files are one state of the log, also while it is rotated, and stay readable when they are retired meanwhile.
    """
    for attempt in range(_ATTEMPTS):
        layout = layout_of(path)
        opened: list[tuple[int, int, int]] = []
        with ExitStack() as closing:
            for file, first in (*((one.path, one.first) for one in layout.older), (path, layout.live_first)):
                with suppress(FileNotFoundError):
                    descriptor = _open(file)
                    closing.callback(os.close, descriptor)
                    opened.append((descriptor, first, first + os.fstat(descriptor).st_size))
            if layout_of(path) == layout or attempt == _ATTEMPTS - 1:
                closing.pop_all()
                break
    return layout, opened


def append(path: Path, data: bytes) -> int:
    """Write to the end of a file that only we can read, by one write(2); how many bytes the disk took. OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        return os.write(descriptor, data)
    finally:
        os.close(descriptor)


def record(path: Path, **fields: object) -> None:
    """Write a line next to a log; without fields, only see to it that the file is there. OSError."""
    append(gaps_path(path), json.dumps(fields).encode() + b"\n" if fields else b"")


def retire(path: Path, oldest: Segment) -> None:
    """Remove the oldest file of a log, which is not the one that is written; OSError."""
    # Recorded before the file is removed, in case we die in between: if it is the only segment, nothing else says at
    # which offset the live file begins.
    record(path, first=oldest.last)
    oldest.path.unlink(missing_ok=True)


def remove_log(path: Path) -> None:
    for one in (path, gaps_path(path), times_path(path)):
        one.unlink(missing_ok=True)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)


def _older(path: Path) -> list[Segment]:
    prefix = f"{path.stem}."
    try:
        with os.scandir(path.parent) as entries:
            named = [segment_of(entry) for entry in entries if entry.name.startswith(prefix)]
    except FileNotFoundError:
        return []
    return sorted((one[1] for one in named if one and one[0] == path), key=lambda segment: segment.first)


def script_path(log: Path, name: str) -> Path:
    """Return where the script `script-ID.SUFFIX` of the tab with that log is kept."""
    return log.with_name(f"{log.stem}.{name}")


def log_of_script(entry: os.DirEntry[str] | Path) -> str | None:
    """Return the name of the log that a script's file belongs to; None if it is no script's."""
    found = _SCRIPT.match(entry.name)
    return f"{found['stem']}.log" if found is not None else None


@final
@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that were not kept, with `details` for the record. With a size of 0 it is a record of these only."""

    offset: int
    size: int
    details: Mapping[str, Any] = field(default_factory=dict)


@final
class LogFile:
    """One log's file, which the writer's thread uses. Others read `end`, `error`, `begun_anew`, and set `ended`."""

    def __init__(self, path: Path, segment_bytes: int) -> None:
        self.path = path
        self.first: int | None = None  # the offset of the first byte of the file that is written; None: not looked yet
        self.end = 0  # the offset up to which the log holds everything
        self.size: PaneSize | None = None  # the newest that is on file
        self.waiting: deque[bytes | Gap] = deque()
        self.closing = self.ended = False
        self.rotated = False
        self.begun_anew = -1  # the offset from which on it is written after its file was removed
        self.error: OSError | None = None  # why what waits could not be written last
        self.pruned = 0  # the offset up to which its spool was pruned last
        self.times = LogTimes(path)
        self.waits_since = 0.0  # when the first byte of what waits came
        self._segment_bytes = segment_bytes
        self._descriptor: int | None = None

    def open(self) -> None:
        if self._descriptor is None:
            if self.first is None:
                layout = layout_of(self.path)
                self.first, self.size = layout.live_first, layout.sizes[-1] if layout.sizes else None
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            try:
                self._descriptor = os.open(self.path, flags, 0o600)
            except FileNotFoundError:
                make_private(self.path.parent)
                self._descriptor = os.open(self.path, flags, 0o600)
            self.end = self.first + os.fstat(self._descriptor).st_size

    def renew(self) -> None:
        """If the file was removed or renamed, begin another one, which goes on at the same offset; OSError."""
        if self._descriptor is None or (os.fstat(self._descriptor).st_nlink and self.path.exists()):
            return
        self.close()
        make_private(self.path.parent)
        record(self.path, first=self.end)
        self.first = self.begun_anew = self.end
        self.open()

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
        if os.fstat(descriptor).st_size < self.end - self.first:  # else a hole would cut off what another has written
            os.ftruncate(descriptor, self.end - self.first)
        place = {"offset": gap.offset, "size": gap.size} if gap.size else {"at": gap.offset}
        record(self.path, **place, **gap.details)

    def _rotate(self) -> None:
        """Begin another file; if the directory does not let us, the old one stays. OSError if none can be opened."""
        assert self.first is not None
        try:
            record(self.path)  # before there is a segment: without it no reader looks for one
            self.path.rename(segment_path(self.path, self.first))
        except OSError:
            return
        self.first = self.end
        self.rotated = True
        self.close()
        self.open()

    def close(self) -> None:
        """Let go of the file; a later write opens it again."""
        descriptor, self._descriptor = self._descriptor, None  # also if close(2) fails: the number is free then
        if descriptor is not None:
            os.close(descriptor)


# What tmux itself keeps of a pane's output, for the time in which no process writes its log: files in a directory.
#
# The pane's pipe writes them (host/scripts/spool.sh), from the pane's first byte on: an offset there is one of the log.
# Each is named by the offset of its first byte, and goes once the log holds its bytes.

_GONE = ".gone"
# A spool is pruned whenever its log has grown by so much; one of its files holds as much at most.
PRUNE_BYTES = 16 << 20
# What is read at once.
_READ_BYTES = 4 << 20


def spools_beside(logs: Path) -> Path:
    """The directory of the spools of the panes whose logs are in `logs`."""
    return logs.with_name("spool")


def spooled(logs: Path) -> list[Path]:
    """The paths of the logs in `logs` that have a spool; what is left of one that was being removed goes."""
    found = []
    with suppress(OSError):
        for folder in spools_beside(logs).iterdir():
            if folder.suffix == _GONE:
                shutil.rmtree(folder, ignore_errors=True)
            elif folder.is_dir():
                found.append(logs / f"{folder.name}.log")
    return found


@final
class Spool:
    """The spool of the pane with that log. What the disk does not let us read or remove is left as it is."""

    def __init__(self, log: Path) -> None:
        self._folder = spools_beside(log.parent) / log.stem

    def read(self, offset: int) -> tuple[int, bytes]:
        """What is kept from an offset on, and its first offset: a later one if that is gone, -1 if nothing is kept.

        Not more than a piece of it; b"" behind the end.
        """
        with suppress(OSError, ValueError):  # ValueError: a name that is no number
            if starts := self._starts():
                place = max(offset, starts[0])
                start = max(one for one in starts if one <= place)
                with (self._folder / str(start)).open("rb") as file:
                    file.seek(place - start)
                    return place, file.read(_READ_BYTES)
        return -1, b""

    def prune(self, before: int) -> None:
        """Remove the files of which the log holds every byte: it holds all `before` that offset."""
        with suppress(OSError, ValueError):
            for start, end in pairwise(self._starts()):
                if end <= before:
                    (self._folder / str(start)).unlink()

    def remove(self) -> None:
        # Renamed first: the pipe's program, which may be about to begin a file, does not find the directory any more.
        gone = self._folder.with_suffix(_GONE)
        with suppress(OSError):
            self._folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _starts(self) -> list[int]:
        return sorted(int(file.name) for file in self._folder.iterdir())
