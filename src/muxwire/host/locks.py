"""One writer per instance: an OS lock on a file of its state directory, which dies with the process that holds it.

flock(2), not fcntl(2): the lock belongs to the open file, so it can be shared with a child. The watchdog holds it as
well, so that no other process becomes the owner while the `tmux -C` of a killed one is still being ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, final

import anyio

from muxwire.errors import InstanceUnavailable
from muxwire.host.processes import started

if TYPE_CHECKING:
    from pathlib import Path

# A watchdog needs a tenth of a second; on a machine that swaps, seconds.
_WATCHDOG_SECONDS = 10.0
# Between two checks of a lock whose holder has died: nothing reports a lock's end.
_LOOK_SECONDS = 0.01


@final
class InstanceLock:
    """The lock of one instance, held once `take` has returned true.

    A child that has `descriptor` holds it too.
    """

    def __init__(self, path: Path, socket: Path | None = None) -> None:
        """Say where its file is, which is made when it is first tried, and where the instance's server listens."""
        self._path = path
        self._socket = str(socket or "")
        self.held = False
        self.descriptor = -1

    def take(self) -> bool:
        if not self.held:
            if self.descriptor < 0:
                try:
                    self.descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                except OSError as error:
                    raise InstanceUnavailable(
                        f"cannot use the lock {self._path}: {error.strerror}",
                        remedy="if it is a symbolic link, or belongs to another user, remove it",
                    ) from error
            if not locked(self.descriptor):
                return False
            self.held = True
            with suppress(OSError):  # a full disk: the text is for `named_server` alone
                os.ftruncate(self.descriptor, 0)
                os.pwrite(
                    self.descriptor, json.dumps(named_process(os.getpid()) | {"socket": self._socket}).encode(), 0
                )
        return self.held

    async def take_soon(self) -> bool:
        """Take the lock; false if a living process has it, and stays.

        The watchdog of one that has ended is waited for; InstanceUnavailable if that takes longer.
        """
        deadline = time.monotonic() + _WATCHDOG_SECONDS
        while not self.take():
            if named_server(self._path)[0]:
                return False
            if time.monotonic() > deadline:
                raise InstanceUnavailable(
                    f"the watchdog of the last owner has not finished within {_WATCHDOG_SECONDS:g} s",
                    remedy="call again",
                )
            await anyio.sleep(_LOOK_SECONDS)
        return True

    def leave(self) -> None:
        """Note that the holder is about to end: a process that comes now waits for the end of the holder's watchdog."""
        if self.held:
            with suppress(OSError):
                os.ftruncate(self.descriptor, 0)

    def release(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor, self.held = -1, False


def locked(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the lock of an open file, if no other process has one that excludes it; return whether it was taken."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def named_process(pid: int) -> dict[str, Any]:
    """What distinguishes a process from a later one with the same id: for a file that `named_server` reads."""
    return {"pid": pid, "started": started(pid)}


def named_server(path: Path) -> tuple[int, str]:
    """The id of the process that such a file names, as that of a lock its owner, and the socket there, "" if none.

    0 and "" if that process has ended.
    """
    try:
        found = json.loads(path.read_bytes())
        pid, begun, socket = int(found["pid"]), found["started"], str(found.get("socket", ""))
    except (OSError, ValueError, KeyError, TypeError):  # nothing is written there, or just being written
        return 0, ""
    # Nothing was known of a process whose start was not.
    return (pid, socket) if begun and started(pid) == begun else (0, "")
