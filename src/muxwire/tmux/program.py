"""Which tmux program to run: the one on PATH, or the one that a running server was started from.

tmux's own protocol is not a promise: that of 3.6 is another one than that of 3.5a, and a client that is newer than
its server, or older, waits for ever. So after an upgrade a server that still runs is talked to with its own program,
which the kernel keeps for as long as the server lives, also when the file is gone.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.errors import TmuxUnavailable
from muxwire.host.locks import named_process, named_server

if TYPE_CHECKING:
    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.host.local import LocalHost


MINIMUM_VERSION = (3, 3)
# Package managers, in the order in which they are looked for.
_MANAGERS = {
    "apt-get": ("apt-get update", "apt-get install -y tmux"),
    "dnf": ("dnf install -y tmux",),
    "apk": ("apk add tmux",),
    "pacman": ("pacman -S tmux",),
    "zypper": ("zypper install tmux",),
}
_VERSION = re.compile(r"(?:next-)?(\d+)\.(\d+)")
# `tmux -V` only prints.
_VERSION_SECONDS = 2.0


def how_to_install(host: Host) -> str:
    manager = next((name for name in _MANAGERS if host.which(name)), "")
    if not manager:
        return "install tmux 3.3 or newer with the system's package manager"
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"install tmux 3.3 or newer: {' && '.join(sudo + command for command in _MANAGERS[manager])}"


def program_for(pid: int | None, host: LocalHost) -> str:
    """The tmux to talk to that server with, or to start one with; TmuxUnavailable if there is none."""
    found = host.which("tmux")
    if pid:
        found = host.running_program(pid, found)
    if found is None:
        raise TmuxUnavailable("tmux is not installed, or not on PATH", remedy=how_to_install(host))
    return found


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


def read_version(text: str, host: Host) -> tuple[int, int]:
    found = _VERSION.match(text)
    # A build from git calls itself `next-3.8` or `master`: newer than every numbered release.
    version = (int(found[1]), int(found[2])) if found else (99, 0)
    if version < MINIMUM_VERSION:
        raise TmuxUnavailable(f"tmux {text} is too old, 3.3 is needed", remedy=how_to_install(host))
    return version


# The server of a named instance whose socket was removed while it ran.
#
# When the user's last login ends, systemd removes /run/user/UID (pam_systemd(8)); others clean up /tmp. The server and
# its panes run on, but no client can connect. tmux makes its socket anew when it gets SIGUSR1 (tmux(1) DESCRIPTION);
# the id of its process is kept in the instance's state directory, and where it listens.

# tmux needs a millisecond; on a machine with much to do, some hundred. One that is stopped does nothing.
_BACK_SECONDS = 2.0
_LOOK_SECONDS = 0.005


def note_server(folders: Folders, pid: int, host: LocalHost) -> None:
    """Keep the id of the server's process. On a full disk it is not kept, and a lost socket stays lost."""
    server = named_process(pid) | {"socket": str(folders.socket_path)}
    with suppress(OSError):
        host.replace_file(folders.server, json.dumps(server).encode())


def server_pid(folders: Folders, host: LocalHost) -> int | None:
    """As `Host.listening_pid` of the instance's socket, which the server makes anew if it was removed."""
    found = host.listening_pid(folders.socket_path)
    if found is not None:
        return found
    pid, socket = named_server(folders.server)
    if not pid or folders.socket_path.exists() or folders.differs(socket):
        return None
    folders.prepare()
    host.signal_process(pid, signal.SIGUSR1)
    deadline = time.monotonic() + _BACK_SECONDS
    while (found := host.listening_pid(folders.socket_path)) is None and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    return found
