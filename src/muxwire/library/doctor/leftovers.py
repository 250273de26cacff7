"""What instances that are gone have left, and locks of others that hold up every shell; each with its command.

`clean` removes what instances have left. What belongs to an instance that runs is never named: a server that answers,
or an owner that lives.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.client.watchdog import process_table
from muxwire.host.local import LocalHost
from muxwire.host.locks import holder
from muxwire.host.processes import read_proc
from muxwire.library.doctor import Finding, ok, warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muxwire.host.folders import Folders

# As open_terminals names what ends with its process: an ephemeral instance, and its side of a person's server.
_EPHEMERAL = re.compile(r"[ea]([0-9]+)-[0-9a-f]{6}\Z")
_PROC = Path("/proc")
# What a client calls itself (setproctitle in client_main, client.c).
_CLIENT = b"tmux: client\n"
# Seconds that a client without a parent must live on: a server starts by way of a copy of its client, which ends at
# once (daemon in proc.c), and a driver's end takes its client with it.
_LIVES_ON = 0.2
# How long pyenv-rehash waits for its lock; it needs a second for its work.
_REHASH_S = 60
# What rehash makes its lock of, and where the shims are if nothing else is set.
_SHIMS = (
    ("PYENV_ROOT", ".pyenv", ".pyenv-shim", "pyenv-rehash"),
    ("RBENV_ROOT", ".rbenv", ".rbenv-shim", "rbenv-rehash"),
)


# What removes it all, where a line of paths would be too long to read.
CLEAN = "muxwire doctor --clean"


def clean(places: Folders) -> Iterator[str]:
    """Remove what instances that are gone have left; yield each thing that was. OSError."""
    for pid in _clients_left(places):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            yield f"process {pid}, `tmux -C` without a driver"
    for path in _orphans(places):
        if server := LocalHost({}).listening_pid(path):  # else it has ended meanwhile
            with suppress(ProcessLookupError):
                # tmux ends its server at SIGTERM, and hangs up on what runs in it (tmux.c, server_signal).
                os.kill(server, signal.SIGTERM)
                yield f"the server of {path.stem}"
        path.unlink(missing_ok=True)
    for path in _dead_sockets(places):
        path.unlink(missing_ok=True)
        yield str(path)
    for folder in _folders_left(places):
        shutil.rmtree(folder)
        yield str(folder)


def sockets(places: Folders) -> Iterator[Finding]:
    """Sockets at which nobody listens, and ephemeral servers whose owner is gone."""
    dead = _dead_sockets(places)
    if dead:
        said = f"{_counted(dead, 'socket')} at which no server listens: {_names(dead)}"
        yield warning("sockets", said, _removal("rm", dead))
    for path in _orphans(places):
        said = f"the server of {path.stem} runs, and the process that it should have ended with is gone"
        yield warning("orphans", said, f"tmux -S {shlex.quote(str(path))} kill-server")
    if not dead:
        yield ok("sockets", f"{sum(map(_listens, places.runtime.glob('*.sock')))} servers run")


def _dead_sockets(places: Folders) -> list[Path]:
    found = sorted(places.runtime.glob("*.sock"))
    return [path for path in found if not _listens(path) and not _is_owned(places, path.stem)]


def _orphans(places: Folders) -> list[Path]:
    found = sorted(path for path in places.runtime.glob("*.sock") if _EPHEMERAL.match(path.stem))
    return [path for path in found if _listens(path) and not _is_owned(places, path.stem)]


def _removal(command: str, left: list[Path]) -> str:
    return f"{command} {shlex.join(map(str, left))}" if len(left) <= _NAMED else CLEAN


def _is_owned(places: Folders, instance: str) -> bool:
    """Whether the process lives that an instance belongs to: its server may be about to start, or to end."""
    owner = _EPHEMERAL.match(instance)
    if owner is not None:
        return int(owner[1]) in process_table()
    return bool(holder(replace(places, instance=instance).lock))


def _listens(path: Path) -> bool:
    return LocalHost({}).listening_pid(path) is not None


def folders(places: Folders) -> Iterator[Finding]:
    """Directories for sockets and bodies of commands, of instances that do not run."""
    left = _folders_left(places)
    if left:
        said = f"{len(left)} director{'y' if len(left) == 1 else 'ies'} of instances that are gone: {_names(left)}"
        yield warning("directories left", said, _removal("rm -r", left))
    else:
        yield ok("directories left", "none")


def _folders_left(places: Folders) -> list[Path]:
    return [
        entry
        for home in dict.fromkeys((places.runtime, places.memory))
        if home.is_dir()
        for entry in sorted(home.iterdir())
        if entry.is_dir() and not entry.is_symlink() and not _in_use(places, entry.name)
    ]


def _in_use(places: Folders, instance: str) -> bool:
    # `s`: of a server for tabs that an instance on another machine has here (host/scripts/bootstrap.sh).
    sockets = places.runtime / f"{instance}.sock", places.runtime / instance / "s"
    return _is_owned(places, instance) or any(map(_listens, sockets))


def clients(places: Folders) -> Iterator[Finding]:
    """`tmux -C` clients whose driver is gone: tmux waits for them, and freezes every pane that they listen to."""
    left = _clients_left(places)
    if left:
        pids = " ".join(map(str, left))
        said = f"{_counted(left, 'process', 'es')} `tmux -C` without a driver ({pids}), for which panes may stand still"
        yield warning("clients left", said, f"kill -9 {pids}")
    else:
        yield ok("clients left", "none")


def _clients_left(places: Folders) -> list[int]:
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


def shim_locks(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The lock of `pyenv rehash`, which start-up files run: one that is left holds up each shell for a minute."""
    for variable, folder, lock, program in _SHIMS:
        root = Path(environ.get(variable) or Path(environ.get("HOME") or Path.home(), folder))
        path = root / "shims" / lock
        if not path.exists() or _is_held(path, program):
            continue
        said = f"{path} was left by a {program} that was killed: every shell that runs it waits a minute at its start"
        yield warning("shim lock", said, f"rm {shlex.quote(str(path))}")


def _is_held(path: Path, program: str) -> bool:
    """Whether somebody may be at work with a lock."""
    if _PROC.joinpath("self").exists():
        return any(program.encode() in read_proc(pid, "cmdline") for pid in process_table())
    return time.time() - path.stat().st_mtime < _REHASH_S


def _counted(found: Sequence[object], noun: str, plural: str = "s") -> str:
    return f"{len(found)} {noun}{'' if len(found) == 1 else plural}"


# A line of a report names some; the remedy has all.
_NAMED = 3


def _names(paths: list[Path]) -> str:
    shown = ", ".join(path.name for path in paths[:_NAMED])
    return shown + (f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else "")
