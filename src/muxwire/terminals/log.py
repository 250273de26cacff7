"""The panes' log files: every byte that came, written by one thread that the reader of tmux never waits for.

A log's file holds the pane's raw bytes, and a byte's position in the file is its offset. Where bytes were lost because
the disk stood still for too long, the file has a hole of their size, so that the positions stay true; the hole is
recorded in a `.gaps` file beside the log, one JSON object `{"offset": N, "size": N}` a line.

Today a log is one file; `LogFile` alone knows that, should it become a row of segments.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Self, final

import anyio
import anyio.to_thread

from muxwire.terminals import log_read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from anyio.abc import TaskGroup

# A batch goes to the writer at this size, or this long after its first byte. 10 ms is what a SIGKILL of us may cost,
# and makes a hundred writes a second at most; at 256 KiB a write costs more than waking the thread.
BATCH_BYTES = 256 * 1024
BATCH_SECONDS = 0.010

# What may wait for a disk that stands still: three seconds of the fastest output that tmux was seen to pass on.
BACKLOG_MAX = 64 * 1024 * 1024

# A bytes object and its place in a list: one-byte chunks must not make the bound sixty times what it says.
_PIECE_COST = 64

# A full disk is looked at again this often, and only while something waits to be written.
RETRY_SECONDS = 1.0

# Readers wait this long for the writer; then they read what the file has.
FLUSH_WAIT_SECONDS = 5.0

# Linux and macOS take 1024 buffers in one writev(2).
_BUFFERS_MAX = 1024


@final
@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that were not kept."""

    offset: int
    size: int


@final
class LogFile:
    """One log's file. Only the writer's thread comes here, but for the counters, which it alone sets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.end = 0  # the offset up to which the file holds everything
        self.waiting: deque[bytes | Gap] = deque()
        self.closing = False
        self._descriptor: int | None = None

    def open(self) -> None:
        """Open the file, made if it is not there; OSError."""
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            self._descriptor = os.open(self.path, flags, 0o600)
            self.end = os.fstat(self._descriptor).st_size

    def write(self) -> int:
        """Write what waits, as far as it goes in one go; return the cost of what need not be kept any more; OSError."""
        self.open()
        assert self._descriptor is not None
        first = self.waiting[0]
        if isinstance(first, Gap):
            self._skip(self._descriptor, first)
            self.waiting.popleft()
            return _PIECE_COST
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
            settled += len(first) + _PIECE_COST
        return settled

    def _skip(self, descriptor: int, gap: Gap) -> None:
        self.end = gap.offset + gap.size
        if os.fstat(descriptor).st_size < self.end:  # a retry may find it done
            os.ftruncate(descriptor, self.end)
        record = os.open(
            log_read.gaps_path(self.path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            os.write(record, json.dumps({"offset": gap.offset, "size": gap.size}).encode() + b"\n")
        finally:
            os.close(record)

    def close(self) -> None:
        """Let go of the file; a later write opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


# For the writer: pieces for a file, a file to be closed, an event to be set, None to stop. () is nothing.
_Job = tuple[LogFile, list[bytes | Gap]] | tuple[()] | LogFile | threading.Event | None


@final
class PaneLog:
    """The log of one pane, on the side of those who append and read; made by `LogStore.open`.

    `end` is the offset of the next byte to be appended; it begins at the size of a file that was there before.
    """

    def __init__(self, path: Path, file: LogFile, store: LogStore) -> None:
        self.path = path
        self.end = file.end
        self.pending: list[bytes | Gap] = []
        self.file = file
        self._store = store

    def append(self, data: bytes) -> None:
        """Take the pane's next bytes. Never waits, never fails."""
        if not data:
            return
        offset = self.end
        self.end = offset + len(data)
        pending = self.pending
        if not pending:
            self._store.note_pending(self)
        if self._store.admit(len(data) + _PIECE_COST):
            pending.append(data)
        elif pending and isinstance(last := pending[-1], Gap):
            pending[-1] = Gap(last.offset, last.size + len(data))
        else:
            self._store.admit_gap(_PIECE_COST)
            pending.append(Gap(offset, len(data)))

    async def flushed(self) -> bool:
        """Return once all that was appended is in the file; False if the disk does not take it."""
        target = self.end
        if self.file.end < target:
            await self._store.written()
        return self.file.end >= target

    async def read(self, begin: int, end: int) -> bytes:
        """Return the raw bytes of a range, shorter by what was never kept."""
        await self.flushed()
        return await anyio.to_thread.run_sync(log_read.read_raw, self.path, begin, end)

    def close(self) -> None:
        """Nothing more will be appended: write what is left and let go of the file."""
        self._store.close_log(self)


@final
class LogStore:
    """The logs of one instance and the thread that writes them; use it in an `async with` block.

    `on_error` is called when writing begins to fail, and not again until it has worked once more. It is called in the
    writer's thread.
    """

    def __init__(self, on_error: Callable[[Path, OSError], None] | None = None) -> None:
        self._on_error = on_error
        self._dirty: list[PaneLog] = []
        self._files: set[LogFile] = set()
        # What was taken and what was done with, ever. Each side of the thread sets one and reads both.
        self._taken = 0
        self._settled = 0
        self._handed = 0
        self._overrun = False
        self._armed = anyio.Event()
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._failing: set[LogFile] = set()
        self._retry_at = 0.0
        self._said = False
        self._thread = threading.Thread(target=self._write_for_ever, name="muxwire-log", daemon=True)
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._thread.start()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._flush_in_time)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        self._tasks.cancel_scope.cancel()
        try:
            # Not the caller's exception: our task has nothing to do with it, and would make a group of it.
            await self._tasks.__aexit__(None, None, None)
        finally:
            self._hand_over()
            self._queue.put(None)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._thread.join, FLUSH_WAIT_SECONDS)

    # -- on the side of the event loop

    def open(self, path: Path) -> PaneLog:
        """Return the log at `path`, which goes on where the file ends. A file that cannot be opened is tried again."""
        file = LogFile(path)
        try:
            file.open()
        except OSError:
            self._queue.put((file, []))  # to be said, and tried again, with the first bytes
        return PaneLog(path, file, self)

    def note_pending(self, log: PaneLog) -> None:
        """Remember that a log has something for the writer."""
        self._dirty.append(log)

    def admit(self, cost: int) -> bool:
        """Return whether there is room for that much; once there was none, half of it must be free again."""
        backlog = self._taken - self._settled
        self._overrun = backlog + cost > (BACKLOG_MAX // 2 if self._overrun else BACKLOG_MAX)
        if not self._overrun:
            self._taken += cost
        return not self._overrun

    def admit_gap(self, cost: int) -> None:
        """Count a gap's record: it is taken whatever the backlog."""
        self._taken += cost

    def flush_soon(self) -> None:
        """Called after each chunk of tmux's output: see to it that what was appended is written."""
        if not self._dirty:
            return
        if self._taken - self._handed >= BATCH_BYTES:
            self._hand_over()
        elif not self._armed.is_set():
            self._armed.set()

    async def _flush_in_time(self) -> None:
        while True:
            await self._armed.wait()  # an idle process is not woken
            await anyio.sleep(BATCH_SECONDS)
            self._armed = anyio.Event()
            self._hand_over()

    def _hand_over(self) -> None:
        self._handed = self._taken
        dirty, self._dirty = self._dirty, []
        for log in dirty:
            pieces, log.pending = log.pending, []
            self._queue.put((log.file, pieces))

    async def written(self) -> None:
        """Return when the writer has done what it could of all that was appended so far."""
        self._hand_over()
        done = threading.Event()
        self._queue.put(done)
        await anyio.to_thread.run_sync(done.wait, FLUSH_WAIT_SECONDS, abandon_on_cancel=True)

    def close_log(self, log: PaneLog) -> None:
        """Write what is left of a log and close its file."""
        self._hand_over()
        self._queue.put(log.file)

    # -- in the writer's thread

    def _write_for_ever(self) -> None:
        job: _Job = ()
        while job is not None:
            if self._failing and time.monotonic() >= self._retry_at:
                self._retry()
            try:
                job = self._queue.get(timeout=RETRY_SECONDS if self._failing else None)
            except Empty:
                continue
            match job:
                case LogFile():
                    job.closing = True
                    self._write(job)
                case threading.Event():
                    self._retry()
                    job.set()
                case file, pieces:
                    file.waiting += pieces
                    self._write(file)
        for file in self._files:
            file.close()

    def _retry(self) -> None:
        for file in list(self._failing):
            self._write(file)
        self._retry_at = time.monotonic() + RETRY_SECONDS

    def _write(self, file: LogFile) -> None:
        """Write what waits for a file; what fails stays for the next time."""
        self._files.add(file)
        try:
            file.open()
            while file.waiting:
                self._settled += file.write()
        except OSError as error:
            self._failing.add(file)
            if not self._said and self._on_error is not None:
                with suppress(Exception):  # the logs go on whatever becomes of the message
                    self._on_error(file.path, error)
            self._said = True
            return
        self._failing.discard(file)
        self._said = self._said and bool(self._failing)
        if file.closing:
            file.close()
            self._files.discard(file)
