"""The server of a named instance whose socket was removed while it ran.

Where nobody stays logged in, systemd removes /run/user/UID (pam_systemd(8)); others clean up /tmp. The server and its
panes run on, but nobody can connect. tmux makes its socket anew when it gets SIGUSR1 (tmux(1) DESCRIPTION), and which
process it is stands in the instance's state directory.
"""

from __future__ import annotations

import json
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muxwire.host.folders import Folders
    from muxwire.host.host import Host

# tmux needs a millisecond; on a machine with much to do, some hundred. One that is stopped does nothing.
_BACK_SECONDS = 2.0
_LOOK_SECONDS = 0.005


def note_server(folders: Folders, pid: int, host: Host) -> None:
    """Write down which process serves the instance. Never fails: it is a help, not the job."""
    text = json.dumps({"pid": pid, "started": host.started(pid)}).encode()
    with suppress(OSError):
        if not folders.server.exists() or folders.server.read_bytes() != text:
            host.replace_file(folders.server, text)


def server_pid(folders: Folders, host: Host) -> int | None:
    """As `Host.listening_pid` of the instance's socket, which the server makes anew if it was removed."""
    found = host.listening_pid(folders.socket_path)
    if found is not None:
        return found
    try:
        noted = json.loads(folders.server.read_bytes())
        pid, begun = int(noted["pid"]), str(noted["started"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if folders.socket_path.exists() or not begun or host.started(pid) != begun:
        return None
    folders.prepare()
    host.signal_process(pid, signal.SIGUSR1)
    deadline = time.monotonic() + _BACK_SECONDS
    while (found := host.listening_pid(folders.socket_path)) is None and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    return found
