"""The directories of an instance, before one is started: whether they can be ours alone, and have room."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.host.folders import PRIVATE_FOLDER, SOCKET_PATH_LIMIT
from muxwire.library.doctor.finding import Finding, broken, ok, warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muxwire.host.folders import Folders

# An ephemeral instance is called `e<pid>-<6 hex>`; process ids have up to seven digits.
_LONGEST_USUAL_NAME = len("e4194304-abcdef")
# The logs of a busy hour; and the bodies of commands, of which each tab has one at a time.
_STATE_BYTES = 200_000_000
_MEMORY_BYTES = 10_000_000
_GROUP_AND_OTHERS = 0o077
# pam_systemd(8).
_RUNTIME_HOMES = Path("/run/user")
_MB = 1_000_000


def runtime_variable(environ: Mapping[str, str], homes: Path = _RUNTIME_HOMES) -> Finding:
    """Whether every program of this user looks for instances in the same place; `homes` is where logins make theirs."""
    given, usual = environ.get("XDG_RUNTIME_DIR", ""), homes / str(os.getuid())
    if given and not Path(given).is_dir():
        said = f"XDG_RUNTIME_DIR={given} is no directory; another is used, and what was started elsewhere is not seen"
    elif not given and usual.is_dir():
        said = f"XDG_RUNTIME_DIR is not set, and {usual} is there: instances that were started with it are not seen"
    else:
        return ok("XDG_RUNTIME_DIR", given or "not set")
    there = f"export XDG_RUNTIME_DIR={usual}" if usual.is_dir() else "unset XDG_RUNTIME_DIR"
    return warning("XDG_RUNTIME_DIR", said, there)


def folders(places: Folders) -> Iterator[Finding]:
    """Each directory: ours, private, writable; or that it can be made."""
    yield folder("runtime directory", places.runtime, "XDG_RUNTIME_DIR")
    if places.memory != places.runtime:
        yield folder("memory directory", places.memory, "XDG_RUNTIME_DIR")
    yield folder("state directory", places.state, "MUXWIRE_STATE_DIR", private=False)


def folder(check: str, path: Path, variable: str, *, private: bool = True) -> Finding:
    """One directory; with `private` its mode is made 0700 at every start, so another mode is only worth a word."""
    elsewhere = f"point {variable} at a directory of your own"
    try:
        found = path.lstat()
    except FileNotFoundError:
        return _to_be_made(check, path, elsewhere)
    except OSError as error:
        return broken(check, f"{path}: {error.strerror}", elsewhere)
    if not stat.S_ISDIR(found.st_mode):
        return broken(check, f"{path} is not a directory (a link is not followed)", f"rm {path}")
    if found.st_uid != os.getuid():
        return broken(check, f"{path} belongs to user {found.st_uid}", elsewhere)
    if not os.access(path, os.W_OK | os.X_OK):
        return broken(check, f"{path} cannot be written to", f"chmod u+rwx {path}, or {elsewhere}")
    if private and found.st_mode & _GROUP_AND_OTHERS:
        mode = stat.S_IMODE(found.st_mode)
        return warning(check, f"{path} is open to others ({mode:04o})", f"chmod {PRIVATE_FOLDER:o} {path}")
    return ok(check, str(path))


def _to_be_made(check: str, path: Path, elsewhere: str) -> Finding:
    parent = next(parent for parent in path.parents if parent.exists())
    if not parent.is_dir():
        return broken(check, f"{path} cannot be made: {parent} is no directory", elsewhere)
    if not os.access(parent, os.W_OK | os.X_OK):
        return broken(check, f"{path} cannot be made: {parent} cannot be written to", elsewhere)
    return ok(check, f"{path}, which the first start makes")


def socket_path(places: Folders) -> Finding:
    room = SOCKET_PATH_LIMIT - len(os.fsencode(places.runtime)) - len("/.sock")
    if room < _LONGEST_USUAL_NAME:
        said = f"{places.runtime} leaves {max(room, 0)} bytes of a socket's path for the name of an instance"
        return broken("socket path", said, "set XDG_RUNTIME_DIR to a shorter path")
    return ok("socket path", f"a name may have {room} bytes")


def room(places: Folders) -> Iterator[Finding]:
    yield _room("room for logs", places.state, _STATE_BYTES, "make room, or point MUXWIRE_STATE_DIR at another disk")
    yield _room("room for commands", places.memory, _MEMORY_BYTES, "make room, or point XDG_RUNTIME_DIR elsewhere")


def _room(check: str, path: Path, wanted: int, remedy: str) -> Finding:
    where = next((parent for parent in (path, *path.parents) if parent.exists()), path)
    try:
        usage = shutil.disk_usage(where)
    except OSError as error:
        return broken(check, f"{where}: {error.strerror}", remedy)
    said = f"{usage.free / _MB:,.0f} MB free at {where}"
    if usage.free == 0:
        return broken(check, said, remedy)
    return warning(check, said, remedy) if usage.free < wanted else ok(check, said)
