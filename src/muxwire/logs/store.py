"""The panes' log files: every byte that came, written by one thread that the reader of tmux never waits for.

A log holds the pane's raw bytes; a byte's position in it is its offset. `LogStore.open(path)` continues where the log
ends, also if another process wrote it: the file at `path` is always the one that is written.
At `LogLimits.segment_bytes` it becomes a segment with its first offset in its name and a new one is begun
(segments.py says how); offsets continue. Only a file that is not written any more is ever removed (limits.py).

Where bytes were lost, the file has a hole of their size, so that the positions stay true; the hole is recorded in the
`.gaps` file next to it. Lost is what came while the disk stood still for too long, and what tmux did not give us:
the size of that is not known, so its hole is one byte, and its record says why, and between which two times.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Self, final

import anyio
import anyio.to_thread

from muxwire.logs import read as log_read
from muxwire.logs.limits import LogLimits, hold, keep_within, sweep_dead
from muxwire.logs.segments import PIECE_COST, PRUNE_BYTES, Gap, LogFile, Spool
from muxwire.logs.times import STEP
from muxwire.vt.readable import SIZE

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

# A full disk is examined again this often, and only while something waits to be written.
RETRY_SECONDS = 1.0

# Readers wait this long for the writer; then they read what the file has.
FLUSH_WAIT_SECONDS = 5.0

# Closed logs are counted, and those that are too many removed, after this many more: a check reads a whole directory.
CLOSINGS_PER_CHECK = 100

# So many files stay open, in which each tab in use has its own.
KEPT_MAX = 128

# For the writer: pieces for a file and when they came, a file to be closed, an event to be set, None to stop. () is
# nothing. A time is negative where the bytes may have come long before it, and 0 where none is to be noted.
_Job = tuple[LogFile, list[bytes | Gap], float] | tuple[()] | LogFile | threading.Event | None


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
        self._size = (file.size.columns, file.size.rows) if file.size else SIZE
        self._store = store
        self.comes_late = file.end > 0  # what was written while no process was there is read first

    def append(self, data: bytes) -> None:
        """Take the pane's next bytes. Never waits, never fails."""
        if not data:
            return
        offset = self.end
        self.end = offset + len(data)
        pending = self.pending
        if not pending:
            self._store.note_pending(self)
        if self._store.admit(len(data) + PIECE_COST):
            pending.append(data)
        elif pending and isinstance(last := pending[-1], Gap) and not last.details:
            pending[-1] = Gap(last.offset, last.size + len(data))
        else:
            self._store.admit_gap(PIECE_COST)
            pending.append(Gap(offset, len(data)))
        self._store.hand_over_batch()

    def lose(self, size: int, **details: object) -> None:
        """Record that the pane's next `size` bytes are not here, and why.

        `segments.UNKNOWN_SIZE` stands for a number that is not known.
        """
        offset = self.end
        self.end = offset + size
        if not self.pending:
            self._store.note_pending(self)
        self._store.admit_gap(PIECE_COST)
        self.pending.append(Gap(offset, size, details))

    def late(self) -> None:
        """What is appended from now on may have come long before."""
        self._store.hand_over()
        self.comes_late = True

    def live(self) -> None:
        """What is appended from now on comes now."""
        self._store.hand_over()
        self.comes_late = False
        self._store.look_at(self, time.time())

    def resized(self, columns: int, rows: int, *, blank: bool = True, sure: bool = True) -> None:
        """The pane has that size from here on; not `blank` if its screen was used before its log began.

        Not `sure` if some of what came before may have been laid out in that size.
        """
        if (columns, rows) != self._size or not blank:
            self._size = columns, rows
            said = {name: False for name, holds in (("blank", blank), ("sure", sure)) if not holds}
            self.lose(0, columns=columns, rows=rows, **said)

    async def flushed(self) -> bool:
        """Return once all that was appended is in the file; False if the disk does not take it."""
        target = self.end
        if self.file.end < target:
            await self._store.written()
        return self.file.end >= target

    async def dated(self) -> None:
        """Return once it is on file when what was appended came."""
        await self._store.written()

    async def trouble(self) -> str:
        """Return why the file does not hold all that was appended, in a sentence; "" if it does."""
        self._store.look_at(self)
        await self._store.written()
        file = self.file
        if file.error is not None and file.end < self.end:
            why = file.error.strerror or file.error
            return f"the disk does not take the log ({why}): what came from byte {file.end} on is not in it yet"
        if file.begun_anew >= 0:
            return f"the log was removed while it was written: what came before byte {file.begun_anew} is not in it"
        return ""

    async def read(self, begin: int, end: int) -> bytes:
        if not await self.flushed() and self.file.end < end:
            return b""  # a part of the range would not connect to what comes after it
        with suppress(OSError):
            return await anyio.to_thread.run_sync(log_read.read_raw, self.path, begin, end)
        return b""

    def close(self, *, ended: bool = False) -> None:
        """Nothing more will be appended, with `ended` by no process: write what is left and let go of the file."""
        self.file.ended = ended
        self._store.close_log(self)


@final
class LogStore:
    """The logs of one instance and the thread that writes them; use it in an `async with` block.

    `on_error` is called when writing begins to fail, and not again until it has worked once more. It is called in the
    writer's thread. `home` is the directory of the instance, in the directory of all instances: with it, logs that are
    too many or too old are removed, this instance's as they grow, those of others that are no more at the start.
    """

    def __init__(
        self,
        on_error: Callable[[Path, OSError], None] | None = None,
        *,
        limits: LogLimits | None = None,
        home: Path | None = None,
    ) -> None:
        self._on_error = on_error
        self._limits = limits or LogLimits()
        self._home = home
        self._held: int | None = None
        self._being_written: set[Path] = set()
        self._closings = 0
        self._dirty: list[PaneLog] = []
        self._files: dict[LogFile, None] = {}  # that are open, the one written longest ago first
        # The cost of all pieces that were ever taken, and of those that are written. The event loop sets the first, the
        # writer's thread the second; both read both.
        self._taken = 0
        self._settled = 0
        self._handed = 0
        self._overrun = False
        self._armed: anyio.Event | None = None  # what the task that hands over sleeps on, if it sleeps
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._failing: set[LogFile] = set()
        self._undated: set[LogFile] = set()  # whose newest times are not written yet
        self._retry_at = 0.0
        self._said = False
        self._thread = threading.Thread(target=self._write_for_ever, name="muxwire-log", daemon=True)
        # Of its own: to look through the logs of a hundred dead instances takes a while, and no log may wait for that.
        self._sweeper = threading.Thread(target=self._sweep, name="muxwire-sweep", daemon=True) if home else None
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._held = hold(self._home) if self._home is not None else None
        self._thread.start()
        if self._sweeper is not None:
            self._sweeper.start()
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
            self.hand_over()
            self._queue.put(None)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._thread.join, FLUSH_WAIT_SECONDS)
                if self._sweeper is not None:
                    await anyio.to_thread.run_sync(self._sweeper.join, FLUSH_WAIT_SECONDS)
            if self._held is not None:
                os.close(self._held)

    # -- on the side of the event loop

    def open(self, path: Path) -> PaneLog:
        """Return the log at `path`, which continues where it ends. A file that cannot be opened is tried again."""
        file = LogFile(path, self._limits.segment_bytes)
        self._being_written.add(path)
        with suppress(OSError):  # to be said, and tried again, with the first bytes
            file.open()
        self._queue.put((file, [], 0.0))
        return PaneLog(path, file, self)

    def note_pending(self, log: PaneLog) -> None:
        """See to it that what is appended to that log is written."""
        self._dirty.append(log)
        if self._armed is not None:
            self._armed.set()
            self._armed = None

    def look_at(self, log: PaneLog, now: float = 0.0) -> None:
        """Have the writer see whether the file is still there. What comes next comes after `now`, if that is given."""
        self._queue.put((log.file, [], now))

    def admit(self, cost: int) -> bool:
        """Return whether there is room for that much; once there was none, half of it must be free again."""
        backlog = self._taken - self._settled
        self._overrun = backlog + cost > (BACKLOG_MAX // 2 if self._overrun else BACKLOG_MAX)
        if not self._overrun:
            self._taken += cost
        return not self._overrun

    def hand_over_batch(self) -> None:
        """Give the writer what was appended, if it is much."""
        if self._taken - self._handed >= BATCH_BYTES:
            self.hand_over()

    def admit_gap(self, cost: int) -> None:
        self._taken += cost

    async def _flush_in_time(self) -> None:
        while True:
            if not self._dirty:
                self._armed = anyio.Event()
                await self._armed.wait()  # an idle process is not woken
            await anyio.sleep(BATCH_SECONDS)
            self.hand_over()

    def hand_over(self) -> None:
        """Give the writer all that was appended."""
        dirty, self._dirty, now = self._dirty, [], time.time()
        for log in dirty:
            pieces, log.pending = log.pending, []
            output = [piece for piece in pieces if isinstance(piece, bytes)]
            if len(output) == len(pieces) > 1:
                # As one: all other Python threads would have to wait for the thread that takes them one by one.
                self._taken -= PIECE_COST * (len(pieces) - 1)
                pieces = [b"".join(output)]
            self._queue.put((log.file, pieces, -now if log.comes_late else now))
        self._handed = self._taken

    async def written(self) -> None:
        """Return when the writer has done what it could of all that was appended so far."""
        self.hand_over()
        done = threading.Event()
        self._queue.put(done)
        await anyio.to_thread.run_sync(done.wait, FLUSH_WAIT_SECONDS, abandon_on_cancel=True)

    def close_log(self, log: PaneLog) -> None:
        self.hand_over()
        self._being_written.discard(log.path)
        self._queue.put(log.file)

    def _sweep(self) -> None:
        assert self._home is not None
        with suppress(OSError):
            sweep_dead(self._home.parent, self._limits, self._home.name)

    # -- in the writer's thread

    def _write_for_ever(self) -> None:
        job: _Job = ()
        while job is not None:
            if self._failing and time.monotonic() >= self._retry_at:
                self._retry()
            try:
                job = self._queue.get(timeout=STEP if self._undated else RETRY_SECONDS if self._failing else None)
            except Empty:
                self._date()
                continue
            match job:
                case LogFile():
                    job.closing = True
                    self._write(job)
                case threading.Event():
                    self._retry()
                    self._date()
                    job.set()
                case file, pieces, came:
                    if not file.waiting:
                        file.waits_since = came
                    file.waiting += pieces
                    self._write(file, came)
        self._date()
        for file in self._files:
            with suppress(OSError):
                file.close()

    def _date(self) -> None:
        for file in self._undated:
            file.times.flush()
        self._undated.clear()

    def _retry(self) -> None:
        for file in list(self._failing):
            self._write(file)
        self._retry_at = time.monotonic() + RETRY_SECONDS

    def _write(self, file: LogFile, came: float = 0.0) -> None:
        """Write the output that is kept back for a file. Its last byte came at `came`. What fails stays kept back."""
        try:
            self._write_out(file, came)
        except OSError as error:
            self._fails(file, error)
        except Exception as error:  # noqa: BLE001 - the other logs need this thread, whatever one of them brings about
            self._fails(file, OSError(errno.EIO, f"{type(error).__name__}: {error}"))

    def _fails(self, file: LogFile, error: OSError) -> None:
        file.error = error
        self._failing.add(file)
        if not self._said and self._on_error is not None:
            with suppress(Exception):  # the logs continue whatever becomes of the message
                self._on_error(file.path, error)
        self._said = True

    def _write_out(self, file: LogFile, came: float) -> None:
        self._files.pop(file, None)
        self._files[file] = None
        while len(self._files) > KEPT_MAX:
            self._let_go_of(next(iter(self._files)))
        file.open()
        file.renew()
        begin = file.end
        while file.waiting:
            self._settled += file.write()
        if came or file.end > begin:
            present = came > 0 and file.waits_since > 0
            file.times.note(abs(file.waits_since), abs(came) or time.time(), begin, file.end, present=present)
            self._undated.add(file)
        file.error = None
        self._failing.discard(file)
        self._said = self._said and bool(self._failing)
        if file.closing:
            file.times.flush()
            self._let_go_of(file)
            self._closings += 1
            if file.ended:
                Spool(file.path).remove()
        if file.end - file.pruned >= PRUNE_BYTES:
            file.pruned = file.end
            Spool(file.path).prune(file.end)
        if file.rotated or self._closings >= CLOSINGS_PER_CHECK:
            file.rotated = False
            self._keep_within()

    def _let_go_of(self, file: LogFile) -> None:
        self._files.pop(file, None)
        file.close()

    def _keep_within(self) -> None:
        self._closings = 0
        if self._home is not None:
            with suppress(OSError):
                keep_within(self._home, self._limits, frozenset(self._being_written))
