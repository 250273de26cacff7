"""What muxwire needs of the machine: tmux, the directories, the locale, an owner's socket."""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.errors import TmuxUnavailable
from muxwire.host.folders import PRIVATE_FOLDER, SOCKET_PATH_LIMIT, how_to_use
from muxwire.host.locks import named_server, owners_killed
from muxwire.library.doctor.finding import Finding, broken, ok, warning
from muxwire.tmux.program import MINIMUM_VERSION, find_tmux, how_to_install

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muxwire.host.folders import Folders
    from muxwire.host.host import Host

# For `tmux -V`, which only prints the version.
_SECONDS = 10
_VERSION = re.compile(r"tmux (?:next-)?(\d+)\.(\d+)")

# An ephemeral instance is called `e<pid>-<6 hex>`; process ids have up to seven digits.
_LONGEST_USUAL_NAME = len("e4194304-abcdef")
_GROUP_AND_OTHERS = 0o077
# pam_systemd(8).
_RUNTIME_HOMES = Path("/run/user")

# For a Python that sets the locale and ends.
_LOCALE_SECONDS = 20
_TRY_LOCALE = "import locale; locale.setlocale(locale.LC_ALL, '')"
_UTF8 = ("utf-8", "utf8")


def tmux(host: Host) -> Finding:
    try:
        path = find_tmux(host)
    except TmuxUnavailable as error:
        return broken("tmux", str(error), error.remedy)
    try:
        answer = subprocess.run([path, "-V"], capture_output=True, text=True, timeout=_SECONDS, check=False, env={})
    except (OSError, subprocess.SubprocessError) as error:
        return broken("tmux", f"{path} -V fails: {error}", how_to_install(host))
    return judged_program(path, answer.stdout.strip() or answer.stderr.strip(), host)


def judged_program(path: str, message: str, host: Host) -> Finding:
    found = _VERSION.match(message)
    if found is None:
        # A build from git calls itself `tmux master`.
        if message.startswith("tmux "):
            return ok("tmux", f"{message} at {path}: newer than every numbered release")
        return broken("tmux", f"{path} -V says {message!r}", how_to_install(host))
    version = (int(found[1]), int(found[2]))
    if version < MINIMUM_VERSION:
        return broken("tmux", f"{message} at {path} is too old", how_to_install(host))
    return ok("tmux", f"{message} at {path}")


def servers_elsewhere(places: Folders) -> Iterator[Finding]:
    """Servers of named instances that run and cannot be connected to: their sockets are in another directory."""
    for path in sorted(places.state.glob("*/server")):
        name, (pid, listens) = path.parent.name, named_server(path)
        if places.differs(listens):
            message = f"the server of {name} (process {pid}) listens at {listens}"
            yield warning("server elsewhere", message, how_to_use(Path(listens).parent))


def owners(places: Folders) -> Iterator[Finding]:
    """Whether a process can own named instances here, and which of them have something to say."""
    path = places.runtime / f"doctor.{os.getpid()}.owner"
    if places.runtime.is_dir():
        try:
            with socket.socket(socket.AF_UNIX) as tried:
                tried.bind(str(path))
            os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        except OSError as error:
            message = f"no process can own a named instance here ({error.strerror}): each verb is a whole muxwire"
            yield warning("owner", message, "allow sockets in the runtime directory, and new processes")
        finally:
            path.unlink(missing_ok=True)
    for log in sorted(places.runtime.glob("*.owner.log")):
        if said := log.read_text(errors="replace").strip().splitlines():
            yield warning("owner", f"{log.name.partition('.')[0]} has complained: {said[-1]}", f"read {log}")
    for lock in sorted(places.state.glob("*/lock")):
        if killed := owners_killed(lock):
            yield ok("owner", f"{lock.parent.name}: {killed} of its owners were killed; what ran in the tabs went on")


def runtime_variable(environ: Mapping[str, str], homes: Path = _RUNTIME_HOMES) -> Finding:
    """Whether every program of this user looks for instances in the same place; `homes` is where logins make it."""
    given, usual = environ.get("XDG_RUNTIME_DIR", ""), homes / str(os.getuid())
    if given and not (Path(given).is_absolute() and Path(given).is_dir()):
        message = f"XDG_RUNTIME_DIR={given} is not the absolute path of a directory, so another one is used; "
        message += "what was started elsewhere is not seen"
    elif not given and usual.is_dir():
        message = f"XDG_RUNTIME_DIR is not set, and {usual} is there: instances that were started with it are not seen"
    else:
        return ok("XDG_RUNTIME_DIR", given or "not set")
    there = f"export XDG_RUNTIME_DIR={usual}" if usual.is_dir() else "unset XDG_RUNTIME_DIR"
    return warning("XDG_RUNTIME_DIR", message, there)


def directories(places: Folders) -> Iterator[Finding]:
    """Each directory: the user's own, private, writable; or that it can be made."""
    yield directory("runtime directory", places.runtime, "XDG_RUNTIME_DIR")
    if places.memory != places.runtime:
        yield directory("memory directory", places.memory, "XDG_RUNTIME_DIR")
    yield directory("state directory", places.state, "MUXWIRE_STATE_DIR", private=False)


def directory(check: str, path: Path, variable: str, *, private: bool = True) -> Finding:
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
        return broken(check, f"{path} cannot be made: {parent} is not a directory", elsewhere)
    if not os.access(parent, os.W_OK | os.X_OK):
        return broken(check, f"{path} cannot be made: {parent} cannot be written to", elsewhere)
    return ok(check, f"{path}, which the first start makes")


def socket_path(places: Folders) -> Finding:
    room = SOCKET_PATH_LIMIT - len(os.fsencode(places.runtime)) - len("/.sock")
    if room < _LONGEST_USUAL_NAME:
        message = f"{places.runtime} leaves {max(room, 0)} bytes of a socket's path for the name of an instance"
        return broken("socket path", message, "set XDG_RUNTIME_DIR to a shorter path")
    return ok("socket path", f"a name may have {room} bytes")


def locale(environ: Mapping[str, str]) -> Finding:
    """Whether programs in the panes print UTF-8: tmux passes it on whatever they do, but they follow the locale."""
    # locale(7): the first that is set counts.
    name, value = next(
        ((name, environ[name]) for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), ("LANG", "")
    )
    remedy = f"export {name}=C.UTF-8"
    if not value:
        return warning("locale", "none is set: programs in the panes treat text as ASCII", remedy)
    if not value.lower().endswith(_UTF8):
        return warning("locale", f"{name}={value} is not UTF-8: programs in the panes may print `?`", remedy)
    # -I: what the caller's Python would import must not matter. The variables of the locale count all the same.
    argv = [sys.executable, "-I", "-c", _TRY_LOCALE]
    done = subprocess.run(argv, env=dict(environ), capture_output=True, timeout=_LOCALE_SECONDS, check=False)
    if done.returncode:
        return warning("locale", f"{name}={value} is not installed on this machine", f"{remedy}, or install it")
    return ok("locale", f"{name}={value}")
