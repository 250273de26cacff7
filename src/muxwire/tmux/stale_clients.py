"""Control clients whose driver is dead: tmux waits for them for ever, and freezes every pane (B2).

The watchdog ends ours. Should it have been killed together with us, the next owner finds our client here: each says in
an option of the server which process drives it.
"""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muxwire.tmux.server import TmuxServer

_OPTION = "@muxwire-client-"
_LINE = re.compile(rb"@muxwire-client-([0-9]+) \"?([0-9]+) ([^\"]+)\"?\Z")


async def sign_client(server: TmuxServer) -> None:
    us = f"{os.getpid()} {server.host.started(os.getpid())}"
    await server.client.command("set-option", "-s", f"{_OPTION}{server.process.pid}", us)


async def kill_stale_clients(server: TmuxServer) -> None:
    rows = await server.client.command("list-clients", "-F", "#{client_pid} #{client_control_mode}")
    attached = {int(pid) for pid, _, control in (row.partition(b" ") for row in rows) if control == b"1"}
    for line in await server.client.command("show-options", "-s"):
        found = _LINE.match(line)
        if found is None or server.host.started(int(found[2])) == found[3].decode():
            continue
        client = int(found[1])
        if client in attached and client != server.process.pid:
            # detach-client cannot end it: its output has nowhere to go.
            server.host.signal_process(client, signal.SIGKILL)
        await server.client.command("set-option", "-s", "-u", f"{_OPTION}{client}")


async def a_size_counts(server: TmuxServer) -> bool:
    """Whether a person's terminal is attached whose size the windows follow."""
    rows = await server.client.command("list-clients", "-F", "#{client_control_mode} #{client_flags}")
    return any(row.startswith(b"0") and b"ignore-size" not in row for row in rows)
