"""What instances that have ended left behind: found, and removed by `muxwire doctor --clean`.

What belongs to an instance that runs is never named: a server that answers, an owner that lives, or a server whose
socket was removed: it makes that anew when an instance looks for it.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from muxwire.client.watchdog import process_table
from muxwire.host.local import LocalHost
from muxwire.host.locks import holder
from muxwire.host.processes import read_proc
from muxwire.instance.orphans import EPHEMERAL, is_served, served
from muxwire.library.doctor.finding import Finding, ok, warning

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from muxwire.host.folders import Folders

CLEAN = "muxwire doctor --clean"
# A line of a report names so many.
_NAMED = 3
# What a tmux client calls itself (setproctitle in client_main, client.c).
_CLIENT = b"tmux: client\n"
# Seconds that a client without a parent must live on: a server starts by way of a copy of its client, which ends at
# once (daemon in proc.c), and a driver's end takes its client with it.
_LIVES_ON = 0.2


def leftovers(places: Folders) -> Iterator[Finding]:
    """Each kind of what was left behind."""
    orphans, folders = _orphans(places), _folders_left(places)
    yield _finding("sockets", "without a server", [path.name for path in _dead_sockets(places)])
    yield _finding("servers left", "without the process that should have ended them", [path.stem for path in orphans])
    yield _finding("directories left", "of instances that are gone", [path.name for path in folders])
    # tmux waits for them, and freezes every pane that they listen to.
    yield _finding("clients left", "`tmux -C` without a driver, which may freeze panes", _clients_left(places))


def _finding(check: str, message: str, left: Sequence[object]) -> Finding:
    if not left:
        return ok(check, "none")
    shown = ", ".join(map(str, left[:_NAMED])) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
    return warning(check, f"{len(left)} {message}: {shown}", CLEAN)


def clean(places: Folders) -> Iterator[str]:
    """Remove what instances that are gone have left; yield each thing that was. OSError."""
    for pid in _clients_left(places):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            yield f"process {pid}, `tmux -C` without a driver"
    ended = set()
    for path in _orphans(places):
        if server := LocalHost({}).listening_pid(path):  # else it has ended meanwhile
            ended.add(server)
            with suppress(ProcessLookupError):
                # tmux ends its server at SIGTERM, and hangs up on what runs in it (tmux.c, server_signal).
                os.kill(server, signal.SIGTERM)
                yield f"the server of {path.stem}"
        path.unlink(missing_ok=True)
    for path in _dead_sockets(places):
        path.unlink(missing_ok=True)
        yield str(path)
    for folder in _folders_left(places, ended):
        shutil.rmtree(folder)
        yield str(folder)


def _dead_sockets(places: Folders) -> list[Path]:
    found = sorted(places.runtime.glob("*.sock"))
    return [path for path in found if not _listens(path) and not _is_owned(places, path.stem)]


def _orphans(places: Folders) -> list[Path]:
    found = sorted(path for path in places.runtime.glob("*.sock") if EPHEMERAL.match(path.stem))
    return [path for path in found if _listens(path) and not _is_owned(places, path.stem)]


def _is_owned(places: Folders, instance: str) -> bool:
    """Whether the process lives that an instance belongs to: its server may be about to start, or to end."""
    owner = EPHEMERAL.match(instance)
    if owner is not None:
        return int(owner[1]) in process_table()
    return bool(holder(replace(places, instance=instance).lock))


def _listens(path: Path) -> bool:
    return LocalHost({}).listening_pid(path) is not None


def _folders_left(places: Folders, ended: Collection[int] = ()) -> list[Path]:
    """Directories for sockets and bodies of commands. `ended`: servers that may not have ended yet, but will."""
    words = served(ended)
    return [
        entry
        for home in dict.fromkeys((places.runtime, places.memory))
        if home.is_dir()
        for entry in sorted(home.iterdir())
        if entry.is_dir() and not entry.is_symlink() and not _in_use(places, entry.name, words)
    ]


def _in_use(places: Folders, instance: str, words: Collection[bytes]) -> bool:
    return _is_owned(places, instance) or is_served(replace(places, instance=instance), words)


def _clients_left(places: Folders) -> list[int]:
    """`tmux -C` clients whose driver is gone."""
    left = _clients_now(places)
    if not left:
        return []
    time.sleep(_LIVES_ON)
    return [pid for pid in _clients_now(places) if pid in left]


def _clients_now(places: Folders) -> list[int]:
    table = process_table()
    return [pid for pid in table if _is_reaper(table[pid].parent) and _is_client(pid, places.runtime)]


def _is_reaper(pid: int) -> bool:
    """Whether a process is the one that takes in the children of those that have ended."""
    return pid == 1 or read_proc(pid, "comm") == b"systemd\n"


def _is_client(pid: int, runtime: Path) -> bool:
    words = read_proc(pid, "cmdline").split(b"\0")
    return (
        # A server has the arguments of the client that started it; they differ in the name that each gives itself.
        read_proc(pid, "comm") == _CLIENT
        and b"-C" in words
        and any(word.startswith(bytes(runtime) + b"/") and word.endswith(b".sock") for word in words)
    )
