"""How much is kept of logs: when a file is rotated, and what is removed, oldest first, and never what is being written.

Two kinds of logs have limits: those of a running instance, and those of instances that are no more. Whether an
ephemeral instance is no more is known by a lock in its directory, which the kernel lets go of when its holder dies. An
instance with a name of its own may come back at any time, so its logs are only ever too old, never too many.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, final

from muxwire.host.environment import whole_setting
from muxwire.host.folders import EPHEMERAL
from muxwire.host.locks import locked, named_server
from muxwire.logs.segments import Segment, log_of_script, remove_log, retire, segment_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_DAY = 86400.0
_LOCK = "in-use"
_SERVER = "server"
# An instance makes its directory and then its lock: one without a lock is only taken for dead when it is this old.
_LOCKLESS_SECONDS = _DAY


@final
@dataclass(frozen=True, slots=True)
class LogLimits:
    """The limits; each can be set by an environment variable, `MUXWIRE_LOG_` and its name in capitals.

    segment_bytes:   a file of this size is closed and another begun. A tail reads the newest, an old one goes whole.
    instance_bytes:  all logs of one instance. A pane that floods all day must not fill the disk.
    instance_logs:   closed tabs of one instance whose logs are kept.
    dead_bytes:      all logs of ephemeral instances that have ended.
    dead_instances:  ephemeral instances that have ended and whose logs are kept: one for each start of an MCP client.
    days:            what was last written longer ago than this goes.
    """

    segment_bytes: int = 64 << 20
    instance_bytes: int = 4 << 30
    instance_logs: int = 5000
    dead_bytes: int = 4 << 30
    dead_instances: int = 100
    days: int = 30

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Return the limits that were set; InvalidArgument for what is no positive number."""
        default, names = cls(), [field.name for field in fields(cls)]
        return cls(
            **{name: whole_setting(environ, f"MUXWIRE_LOG_{name.upper()}", getattr(default, name)) for name in names}
        )


@final
@dataclass(frozen=True, slots=True)
class _File:
    """A file of a log; `segment` is None for the one that is, or was, written, and for a `script` next to it."""

    log: Path
    segment: Segment | None
    size: int
    modified: float
    script: Path | None = None

    def remove(self) -> None:
        with suppress(OSError):
            if self.script is not None:  # a process that runs it still has it open
                self.script.unlink(missing_ok=True)
            elif self.segment is not None:
                retire(self.log, self.segment)
            else:
                remove_log(self.log)


def keep_within(home: Path, limits: LogLimits, being_written: Collection[Path]) -> None:
    """Remove what is too much or too old of the logs of one instance, whose directory is `home`."""
    logs = _logs(home)
    closed = [(files[-1].modified, log) for log, files in logs.items() if log not in being_written]
    for _, log in sorted(closed)[: max(0, len(closed) - limits.instance_logs)]:
        for file in logs.pop(log):
            file.remove()
    kept = [file for files in logs.values() for file in files]
    files = [file for file in kept if file.segment or file.script or file.log not in being_written]
    total = sum(file.size for file in kept)
    oldest_allowed = time.time() - limits.days * _DAY
    for file in sorted(files, key=lambda file: file.modified):  # stable: segments of one second stay in order
        if total <= limits.instance_bytes and file.modified >= oldest_allowed:
            break
        total -= file.size
        file.remove()


def sweep_dead(state: Path, limits: LogLimits, own: str) -> None:
    """Remove what is too much or too old of the logs of all instances but `own` that are no more."""
    dead = []
    oldest_allowed = time.time() - limits.days * _DAY
    for home in _folders(state):
        if home.name == own:
            continue
        logs = _logs(home)
        if EPHEMERAL.match(home.name) is None:
            _remove_all([files for files in logs.values() if files[-1].modified < oldest_allowed])
        elif not in_use(home):
            dead.append((max((files[-1].modified for files in logs.values()), default=_time_of(home)), home, logs))
    total = 0
    for count, (modified, home, logs) in enumerate(sorted(dead, key=lambda one: one[0], reverse=True)):
        total += sum(file.size for files in logs.values() for file in files)
        if count >= limits.dead_instances or total > limits.dead_bytes or modified < oldest_allowed:
            _remove_all(logs.values())
            _remove_empty(home)


def ended_instances(state: Path, limit: int) -> list[tuple[Path, list[Path]]]:
    """The directories of the ephemeral instances that ended last, and their logs: both newest first.

    Those that left no log do not count. Blocks on the disk.
    """
    found = []
    for home in _folders(state):
        if EPHEMERAL.match(home.name) is None or in_use(home):
            continue
        logs = logs_of(home)
        if logs:
            found.append((logs[0][0], home, [log for _, log in logs]))
    return [(home, tabs) for _, home, tabs in sorted(found, reverse=True)[:limit]]


def logs_of(home: Path) -> list[tuple[float, Path]]:
    """The logs of an instance's tabs, and when each was last written: newest first. Blocks on the disk."""
    return sorted(((files[-1].modified, log) for log, files in _logs(home).items() if log.parent != home), reverse=True)


def hold(home: Path) -> int | None:
    """Say that an instance is in use until the returned descriptor is closed, or we die; None if that cannot be."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError):
        descriptor = os.open(home / _LOCK, flags, 0o600)
        # Never waited for: only a sweep locks others out, for an instant.
        locked(descriptor, fcntl.LOCK_SH)
        return descriptor
    return None


def in_use(home: Path) -> bool:
    """Whether a process that runs holds this instance's directory."""
    try:
        descriptor = os.open(home / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return time.time() - _time_of(home) < _LOCKLESS_SECONDS
    except OSError:
        return True
    try:
        return not locked(descriptor)
    finally:
        os.close(descriptor)


def _logs(home: Path) -> dict[Path, list[_File]]:
    """The logs of an instance and their files, oldest first; the last is as new as any, whatever the clock did."""
    found: dict[Path, list[_File]] = {}
    for folder in (home, *(generation / "logs" for generation in _folders(home))):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    file = _file(entry)
                    if file is not None:
                        found.setdefault(file.log, []).append(file)
    return {log: _in_order(files) for log, files in found.items()}


def _file(entry: os.DirEntry[str]) -> _File | None:
    older = segment_of(entry)
    if older is not None:
        log, segment = older
        return _File(log, segment, segment.last - segment.first, segment.modified)
    script_of = log_of_script(entry)
    if script_of is None and not entry.name.endswith(".log"):
        return None
    status, path = entry.stat(follow_symlinks=False), Path(entry.path)
    if script_of is not None:
        return _File(path.with_name(script_of), None, status.st_size, status.st_mtime, path)
    return _File(path, None, status.st_size, status.st_mtime)


def _in_order(files: list[_File]) -> list[_File]:
    scripts = [file for file in files if file.script]
    own = [file for file in files if not file.script]
    own.sort(key=lambda file: file.segment.first if file.segment else sys.maxsize)
    modified = 0.0
    for index, file in enumerate(own):
        modified = max(modified, file.modified)
        own[index] = replace(file, modified=modified)
    return scripts + own


def _remove_all(logs: Iterable[list[_File]]) -> None:
    for files in logs:
        for file in files:
            file.remove()


def _folders(home: Path) -> list[Path]:
    try:
        return [entry for entry in home.iterdir() if entry.is_dir() and not entry.is_symlink()]
    except OSError:
        return []


def _time_of(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _remove_empty(home: Path) -> None:
    """Remove an instance's directory if nothing is left in it but its lock and the note of a server that has ended."""
    with suppress(OSError):
        for generation in _folders(home):
            for kind in ("*.gaps", "*.times"):
                for stray in (generation / "logs").glob(kind):
                    stray.unlink()
            (generation / "logs").rmdir()
            generation.rmdir()
        (home / _LOCK).unlink(missing_ok=True)
        if named_server(home / _SERVER) == (0, ""):
            (home / _SERVER).unlink(missing_ok=True)
        home.rmdir()
