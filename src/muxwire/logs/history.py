"""The journal of an instance's commands: a line of JSON for each that has ended, in one file for all its processes.

No command waits for it: lines go to the file a moment later, from a thread, and are not synced. What the disk does not
take is lost, and no more than that. A batch is one write(2) to a file opened with O_APPEND, so those of several
processes do not mix. The file is opened for each batch: it may have been rotated, or removed by the limits of the logs.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, final

import anyio
import anyio.to_thread

from muxwire.logs.segments import append, segment_path
from muxwire.results import CommandRecord

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from pathlib import Path


# In the directory of the instance; `logs/limits.py` counts it as a log.
HISTORY_FILE = "history.log"
# A batch is written this long after its first line: what a SIGKILL of us may cost, and ten writes a second at most.
BATCH_SECONDS = 0.1
# Lines that may wait for a disk that stands still: some MB.
WAITING_MAX = 10_000
# A journal shows which command it was; a script of a megabyte is in the log.
COMMAND_TEXT = 4096
# Some 20,000 commands; a reader of the journal reads whole files.
FILE_BYTES = 4 << 20


class JournalEntry(NamedTuple):
    """A command for the journal: the monotonic times of its beginning and end, then as in `CommandRecord`.

    `ended` is None if no process was there at its end, and the shell did not say.
    """

    began: float
    ended: float | None
    window_id: str
    generation: int
    name: str
    by: str
    cwd: str
    exit_code: int | None
    from_byte: int
    next_byte: int
    command_id: str = ""
    command: bytes = b""


# How many of the last commands tell what the closed tabs of an instance were called, and what ran in them last.
RECENT_COMMANDS = 500


@final
class History:
    """Takes the commands of one instance."""

    def __init__(self, home: Path, spawn: Callable[[Callable[[], Awaitable[object]]], None]) -> None:
        self.path = home / HISTORY_FILE
        self._spawn = spawn
        self._noted: list[JournalEntry] = []
        self._armed = False
        self._writing = anyio.Lock()
        self._torn = b""  # what ends a line of which the disk took a part

    def note(self, entry: JournalEntry) -> None:
        """Take a command that has ended. Its caller waits for the result, so the line is made later."""
        if len(self._noted) < WAITING_MAX:
            self._noted.append(entry)
        if not self._armed:
            self._armed = True
            self._spawn(self._write_soon)

    async def _write_soon(self) -> None:
        await anyio.sleep(BATCH_SECONDS)
        await self.flush()

    async def flush(self) -> None:
        """Write what waits, and return when what another task writes is written too; never fails."""
        async with self._writing:
            noted, self._noted, self._armed = self._noted, [], False
            if noted:
                lines = b"".join(map(_line, noted))
                await anyio.to_thread.run_sync(self._write, lines, abandon_on_cancel=True)

    def _write(self, lines: bytes) -> None:
        data = self._torn + lines
        with suppress(OSError):
            self._torn = b"" if append(self.path, data) == len(data) else b"\n"
            if self.path.stat().st_size >= FILE_BYTES:  # it gets the name of one that is no longer written, as of a log
                number = 1 + max((int(path.name.split(".")[-2]) for path in _older(self.path)), default=0)
                self.path.rename(segment_path(self.path, number))


def _line(entry: JournalEntry) -> bytes:
    row = {
        "time": round(time.time() - time.monotonic() + entry.began, 3),
        "duration_ms": None if entry.ended is None else round(1000 * (entry.ended - entry.began), 1),
        **dict(zip(JournalEntry._fields[2:-1], entry[2:-1], strict=True)),
        "command": entry.command[:COMMAND_TEXT].decode("utf-8", "replace"),
    }
    return json.dumps(row).encode() + b"\n"


def read_history(
    home: Path,
    tabs: Collection[tuple[int, str]],
    limit: int,
    runs: Callable[[str], bool] = lambda _command_id: False,
) -> list[CommandRecord]:
    """Return the last `limit` commands of an instance's journal, at least one, the newest last. Blocks on the disk.

    `tabs`: the generation and the id of those that are wanted; none: all are. `runs`: whether the command of an id has
    not ended yet: a process that left it running has written an entry for it all the same, without an exit code.
    """
    found: list[CommandRecord] = []
    known: set[str] = set()
    path = home / HISTORY_FILE
    for file in (path, *sorted(_older(path), reverse=True)):
        with suppress(OSError):
            for line in reversed(file.read_bytes().split(b"\n")):
                record = _record(line)
                if record is None or (tabs and (record.generation, record.window_id) not in tabs):
                    continue
                # Another process may have written an earlier entry for the same command.
                if record.command_id in known or (record.command_id and runs(record.command_id)):
                    continue
                known.update([record.command_id] if record.command_id else [])
                found.append(record)
                if len(found) == limit:
                    return found[::-1]
    return found[::-1]


def _older(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{path.stem}.[0-9]*{path.suffix}"))


def _record(line: bytes) -> CommandRecord | None:
    try:
        return CommandRecord(**json.loads(line))
    except (ValueError, TypeError):  # torn by a full disk, or of another version
        return None
