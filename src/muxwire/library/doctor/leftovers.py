"""What instances that have ended left behind: found, and removed by `muxwire doctor --clean`.

What belongs to an instance that runs is never named: a server that answers, an owner that lives, or a server whose
socket was removed: it makes that anew when an instance looks for it.
"""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from muxwire.client.watchdog import process_table
from muxwire.host.folders import EPHEMERAL
from muxwire.host.local import LocalHost
from muxwire.host.locks import named_server
from muxwire.instance.orphans import is_of_our_namespace, is_served, served
from muxwire.library.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from muxwire.host.folders import Folders

CLEAN = "muxwire doctor --clean"
# A line of a report names so many.
_NAMED = 3


def leftovers(places: Folders) -> Finding:
    """Servers without the process that should have ended them, sockets without a server, directories."""
    left = [path.name for path in (*_orphans(places), *_dead_sockets(places), *_folders_left(places))]
    if not left:
        return Finding("leftovers", "ok", "none")
    return Finding(
        "leftovers",
        "warning",
        f"{len(left)} of instances that have ended: {', '.join(left[:_NAMED])}"
        + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""),
        CLEAN,
    )


def clean(places: Folders) -> Iterator[str]:
    """Remove what instances that are gone have left; yield each thing that was. OSError."""
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
    return [
        path
        for path in sorted(places.runtime.glob("*.sock"))
        if LocalHost({}).listening_pid(path) is None and not _is_owned(places, path.stem)
    ]


def _orphans(places: Folders) -> list[Path]:
    """Servers of our PID namespace whose process has ended; InstanceUnavailable where that cannot be known.

    Those of another one may be in use: the processes there have other numbers here, or none.
    """
    LocalHost({}).check_proc()
    return [
        path
        for path in sorted(places.runtime.glob("*.sock"))
        if EPHEMERAL.match(path.stem)
        and is_of_our_namespace(LocalHost({}).listening_pid(path) or 0)
        and not _is_owned(places, path.stem)
    ]


def _is_owned(places: Folders, instance: str) -> bool:
    """Whether the process lives that an instance belongs to: its server may be about to start, or to end."""
    owner = EPHEMERAL.match(instance)
    if owner is not None:
        return int(owner[1]) in process_table()
    return named_server(replace(places, instance=instance).lock)[0] > 0


def _folders_left(places: Folders, ended: Collection[int] = ()) -> list[Path]:
    """Directories for sockets and bodies of commands. `ended`: servers that may not have ended yet, but will."""
    words = served(ended)
    return [
        entry
        for home in dict.fromkeys((places.runtime, places.memory))
        if home.is_dir()
        for entry in sorted(home.iterdir())
        if entry.is_dir() and not entry.is_symlink()
        if not (_is_owned(places, entry.name) or is_served(replace(places, instance=entry.name), words))
    ]
