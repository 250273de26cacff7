"""What muxwire needs of the machine: tmux, a place for logs, the locale, an owner's socket.

What a trial needs is not looked at here: it says itself what is wrong with the runtime directory.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.host.folders import how_to_use, private_folder
from muxwire.host.locks import named_server
from muxwire.library.doctor.finding import Finding
from muxwire.tmux.program import how_to_install, program_for, program_version, read_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muxwire.host.folders import Folders
    from muxwire.host.local import LocalHost

# For a Python that sets the locale and ends.
_LOCALE_SECONDS = 20
_TRY_LOCALE = "import locale; locale.setlocale(locale.LC_ALL, '')"
_UTF8 = ("utf-8", "utf8")


def tmux(host: LocalHost) -> Finding:
    """Whether there is one, and which; TmuxUnavailable."""
    path = program_for(None, host)
    version = program_version(path)
    if not version:
        return Finding("tmux", "broken", f"{path} -V does not say its version", how_to_install(host))
    read_version(version, host)
    return Finding("tmux", "ok", f"tmux {version} at {path}")


def servers_elsewhere(places: Folders) -> Iterator[Finding]:
    """Servers of named instances that run and cannot be connected to: their sockets are in another directory."""
    for path in sorted(places.state.glob("*/server")):
        name, (pid, listens) = path.parent.name, named_server(path)
        if places.differs(listens):
            message = f"the server of {name} (process {pid}) listens at {listens}"
            yield Finding("server elsewhere", "warning", message, how_to_use(Path(listens).parent))


def owners(places: Folders) -> Iterator[Finding]:
    """Whether a process can own named instances here, and which of them have something to say."""
    path = places.runtime / f"doctor.{os.getpid()}.owner"
    if places.runtime.is_dir():
        try:
            with socket.socket(socket.AF_UNIX) as tried:
                tried.bind(str(path))
            # The program of an owner: NixOS, for one, has no /bin/true.
            os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-ISc", ""], os.environ), 0)
        except OSError as error:
            message = f"no process can own a named instance here ({error.strerror}): each verb is a whole muxwire"
            yield Finding("owner", "warning", message, "allow sockets in the runtime directory, and new processes")
        finally:
            path.unlink(missing_ok=True)
    for log in sorted(places.runtime.glob("*.owner.log")):
        if said := log.read_text(errors="replace").strip().splitlines():
            yield Finding("owner", "warning", f"{log.name.partition('.')[0]} has complained: {said[-1]}", f"read {log}")


def state_directory(places: Folders) -> Finding:
    """Whether logs can be written, which no trial shows: it has a directory of its own. InstanceUnavailable."""
    nearest = next(one for one in (places.state, *places.state.parents) if one.exists())
    if nearest == places.state:
        private_folder(places.state, only_ours=False)
    elif not os.access(nearest, os.W_OK | os.X_OK):
        message = f"{places.state} cannot be made: {nearest} is no directory that can be written to"
        return Finding("state directory", "broken", message, "point MUXWIRE_STATE_DIR at a directory of your own")
    return Finding("state directory", "ok", str(places.state))


def locale(environ: Mapping[str, str]) -> Finding:
    """Whether programs in the panes print UTF-8: tmux passes it on whatever they do, but they follow the locale."""
    # locale(7): the first that is set counts.
    name, value = next(
        ((name, environ[name]) for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), ("LANG", "")
    )
    remedy = f"export {name}=C.UTF-8"
    if not value:
        return Finding("locale", "warning", "none is set: programs in the panes treat text as ASCII", remedy)
    if not value.lower().partition("@")[0].endswith(_UTF8):  # `ca_ES.UTF-8@valencia` has a modifier
        return Finding("locale", "warning", f"{name}={value} is not UTF-8: programs in the panes may print `?`", remedy)
    # -I: what the caller's Python would import must not matter. The variables of the locale count all the same.
    argv = [sys.executable, "-I", "-c", _TRY_LOCALE]
    done = subprocess.run(argv, env=dict(environ), capture_output=True, timeout=_LOCALE_SECONDS, check=False)
    if done.returncode:
        return Finding(
            "locale", "warning", f"{name}={value} is not installed on this machine", f"{remedy}, or install it"
        )
    return Finding("locale", "ok", f"{name}={value}")
