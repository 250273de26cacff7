"""The server of a named instance whose socket was removed while it ran.

Where nobody stays logged in, systemd removes /run/user/UID (pam_systemd(8)); others clean up /tmp. The server and its
panes run on, but nobody can connect. tmux makes its socket anew when it gets SIGUSR1 (tmux(1) DESCRIPTION); the id of
its process is kept in the instance's state directory, and where it listens.
"""

from __future__ import annotations

import json
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.host.locks import named_process, named_server

if TYPE_CHECKING:
    from muxwire.host.folders import Folders
    from muxwire.host.host import Host

# tmux needs a millisecond; on a machine with much to do, some hundred. One that is stopped does nothing.
_BACK_SECONDS = 2.0
_LOOK_SECONDS = 0.005


def note_server(folders: Folders, pid: int, host: Host) -> None:
    """Keep the id of the server's process. On a full disk it is not kept, and a lost socket stays lost."""
    noted, socket = named_server(folders.server)
    if noted != pid or not socket:
        with suppress(OSError):
            server = named_process(pid) | {"socket": str(folders.socket_path)}
            host.replace_file(folders.server, json.dumps(server).encode())


def server_pid(folders: Folders, host: Host) -> int | None:
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
