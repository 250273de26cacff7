"""Which tmux program to run: the one on PATH, or the one that a running server was started from.

tmux's own protocol is promised to nobody: that of 3.6 is another one than that of 3.5a, and a client that is newer than
its server, or older, waits for ever. So after an upgrade a server that still runs is talked to with its own program,
which the kernel keeps for as long as the server lives, also when the file is gone.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import struct
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.errors import TmuxUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MINIMUM_VERSION = (3, 3)
INSTALL = "install tmux 3.3 or newer (apt-get install tmux, brew install tmux)"
_VERSION = re.compile(r"(?:next-)?(\d+)\.(\d+)")
# A server in good health accepts at once; a hung one must not hold us.
_CONNECT_SECONDS = 2.0
# `tmux -V` only prints.
_VERSION_SECONDS = 2.0
# unix(7): struct ucred, three numbers, the process first. macOS has LOCAL_PEERPID in <sys/un.h> instead.
_UCRED = struct.Struct("3i")
_SOL_LOCAL, _LOCAL_PEERPID = 0, 2


def find_tmux(environ: Mapping[str, str]) -> str:
    """The tmux on PATH; TmuxUnavailable if there is none."""
    found = shutil.which("tmux", path=environ.get("PATH"))
    if found is None:
        raise TmuxUnavailable("tmux is not installed, or not on PATH", remedy=f"{INSTALL}, then try again")
    return found


def program_for(pid: int | None, environ: Mapping[str, str]) -> str:
    """The tmux to talk to that server with, or to start one with; TmuxUnavailable if there is none."""
    own = f"/proc/{pid}/exe" if pid else ""
    try:
        found = find_tmux(environ)
    except TmuxUnavailable:
        if os.access(own, os.X_OK):
            return own
        raise
    with suppress(OSError):  # no server, no /proc, or not ours to look at
        if os.access(own, os.X_OK) and not os.path.samestat(os.stat(own), os.stat(found)):  # noqa: PTH116
            return own
    return found


def server_runs(path: Path) -> bool:
    """Whether somebody listens at a socket: the file of a server that is gone stays where it was."""
    return server_pid(path) is not None


def server_pid(path: Path) -> int | None:
    """The process that listens at a socket; None if there is none, 0 if the kernel does not tell which."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_SECONDS)
        try:
            probe.connect(str(path))
        except OSError:
            return None
        with suppress(OSError):
            if hasattr(socket, "SO_PEERCRED"):
                answer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
                return int(_UCRED.unpack(answer)[0])
            return probe.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
    return 0


def program_version(tmux: str) -> str:
    """What a tmux says of its version, `3.5a`; "" if it does not."""
    try:
        done = subprocess.run(
            [tmux, "-V"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_SECONDS, check=False, env={}
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    name, _, version = done.stdout.decode("utf-8", "replace").strip().partition(" ")
    return version if name == "tmux" else ""


def read_version(text: str) -> tuple[int, int]:
    """The version that a tmux says it has; TmuxUnavailable if it is too old."""
    found = _VERSION.match(text)
    # A build from git calls itself `next-3.8` or `master`: newer than all that has a number.
    version = (int(found[1]), int(found[2])) if found else (99, 0)
    if version < MINIMUM_VERSION:
        raise TmuxUnavailable(f"tmux {text} is too old, 3.3 is needed", remedy=INSTALL)
    return version
