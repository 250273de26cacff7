"""Instances without a name whose process was killed together with its watchdog: a later start ends what they left.

The name of such an instance says which process it belongs to (`e<pid>-<hex>`; `a<pid>-<hex>`: what muxwire has for a
person's server).
"""

from __future__ import annotations

import re
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from muxwire.client.liveness import Watchdog
from muxwire.client.watchdog import process_table
from muxwire.host.processes import listening_pid, read_proc, started

if TYPE_CHECKING:
    from collections.abc import Collection

    from muxwire.host.folders import Folders

# What ends with the process of that number: an instance without a name, and what muxwire has for a person's server.
_OF_PROCESS = re.compile(r"[ea]([0-9]+)-[0-9a-f]{6}\Z")
# What a tmux server calls itself (server_start, server.c).
_SERVER = b"tmux: server\n"
# A directory without a server that is younger may be that of an instance which another container is just starting.
_NEW_SECONDS = 60.0


async def end_orphans(places: Folders) -> None:
    """End each server whose process is gone, with all that runs there, and remove its directories and those alone.

    What cannot be proved is left: the number of the process is another's by now, or it is one of another PID namespace,
    as the server then is.
    """
    for name in await anyio.to_thread.run_sync(_undriven, places):
        one = replace(places, instance=name)
        server = listening_pid(one.socket_path)
        if server and is_of_our_namespace(server):
            # It does what the one that was killed would have done.
            watchdog = Watchdog(tmux="tmux", socket=str(one.socket_path), kind="ephemeral")
            watchdog.watch_server(server)
            for folder in one.transient:
                watchdog.watch_folder(str(folder))
            await watchdog.aclose()
        elif server is None:
            await anyio.to_thread.run_sync(_remove, one)


def _undriven(places: Folders) -> list[str]:
    """The instances that have left something, and whose process has ended."""
    left = set()
    for home in {places.runtime, places.memory}:
        with suppress(OSError):
            left |= {entry.name.removesuffix(".sock") for entry in home.iterdir()}
    owners = {name: owner for name in left if (owner := _OF_PROCESS.match(name))}
    return sorted(name for name, owner in owners.items() if not started(int(owner[1])))


def is_of_our_namespace(pid: int) -> bool:
    """Whether the process that started this server would be seen here if it lived (pid_namespaces(7)).

    A `pid` of 0 is that of a server whose process the kernel does not name here, so of another namespace.
    """
    with suppress(OSError):
        return Path(f"/proc/{pid}/ns/pid").readlink() == Path("/proc/self/ns/pid").readlink()
    return False


def _remove(one: Folders) -> None:
    if is_served(one, served()):
        return
    for path in (one.socket_path, *one.transient):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime < _NEW_SECONDS:
                continue
            path.unlink() if path == one.socket_path else shutil.rmtree(path)


def served(ended: Collection[int] = ()) -> set[bytes]:
    """The arguments of all tmux servers but those of `ended`, the paths of their sockets among them.

    One whose socket was removed makes it anew when an instance looks for it.
    """
    running = (pid for pid in process_table() if pid not in ended and read_proc(pid, "comm") == _SERVER)
    return {word for pid in running for word in read_proc(pid, "cmdline").split(b"\0")}


def is_served(one: Folders, words: Collection[bytes]) -> bool:
    """Whether a server of the instance runs, by what `served` found too."""
    # `s`: of a server for tabs that an instance on another machine has here (far/scripts/bootstrap.sh). `owner`: of the
    # process of an instance without a name, whose server may not have been started yet.
    sockets: tuple[Path, ...] = one.socket_path, *(one.runtime / one.instance / name for name in ("s", "owner"))
    return any(listening_pid(path) is not None or bytes(path) in words for path in sockets)
