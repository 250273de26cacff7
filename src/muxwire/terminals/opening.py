"""Who we are in an instance that others may use too: its owner, or a guest."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

from muxwire.errors import InstanceUnavailable, InvalidArgument
from muxwire.terminals.access import Access
from muxwire.terminals.lock import take_or_join

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.terminals.folders import Folders

# A name is part of paths, and the socket's has room for a hundred bytes.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}\Z")
# What an instance without a name is called: it has an owner already, the process of that number.
_EPHEMERAL = re.compile(r"e[0-9]+-[0-9a-f]{6}\Z")
# A server in good health accepts at once; a hung one must not hold us.
_CONNECT_SECONDS = 2.0


def checked_instance(name: str) -> str:
    """The name of an instance; InvalidArgument for one that cannot be part of a path."""
    if _NAME.match(name) is None:
        raise InvalidArgument(
            f"{name!r} cannot be the name of an instance", remedy="use up to 32 letters, digits, '-' and '_'"
        )
    return name


async def open_access(folders: Folders) -> Access:
    """Become the owner of an instance, or its guest if it has one; InstanceUnavailable.

    An instance without a name belongs to the process that made it, and has guests only while it runs.
    """
    if _EPHEMERAL.match(folders.instance):
        if not server_runs(folders.socket_path):
            raise InstanceUnavailable(
                f"the instance {folders.instance} does not run", remedy="`muxwire ls` shows those that do"
            )
        return Access("guest", lasting=True)
    folders.prepare()
    lock = await take_or_join(folders.lock)
    return Access("guest" if lock is None else "owner", lasting=True, lock=lock)


def server_runs(path: Path) -> bool:
    """Whether somebody listens at a socket: the file of a server that is gone stays where it was."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_SECONDS)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
