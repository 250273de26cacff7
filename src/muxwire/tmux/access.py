"""How a process stands to the tmux server that it uses: owner of the instance, follower, or at a person's server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

from muxwire.errors import InstanceUnavailable
from muxwire.host.folders import how_to_use
from muxwire.host.locks import named_server

if TYPE_CHECKING:
    from muxwire.host.folders import Folders
    from muxwire.host.locks import InstanceLock

# The owner writes the logs and reattaches every tab; a follower executes and reads next to it; a server that a person
# runs is adopted: nothing of it is changed.
Role = Literal["owner", "follower", "adopted"]


@final
class Access:
    """`persistent`: the tmux server outlives us. `lock`: that of a named instance, whose holder is the owner.

    A follower becomes the owner when it gets the lock.
    """

    def __init__(
        self, *, persistent: bool, lock: InstanceLock | None = None, follower: bool = False, adopted: bool = False
    ) -> None:
        self.persistent = persistent
        self.lock = lock
        self._follower = follower
        self._adopted = adopted

    async def settle(self, folders: Folders) -> None:
        """Before the server is started or attached to: become its owner if nobody else is.

        InstanceUnavailable, also if the instance's server listens elsewhere: nobody would own the one here, and both
        would write the same logs.
        """
        if self.lock is None:
            return
        folders.prepare()
        held = await self.lock.take_soon()
        pid, noted = named_server(folders.server)
        there = noted if held else self.lock.socket_of_holder()
        if folders.differs(there):
            self.lock.give_back()
            raise InstanceUnavailable(
                f"the instance {folders.instance} is in use with its socket at {there}, not at {folders.socket_path}"
                + (f"; its tmux server is process {pid}" if pid else ""),
                remedy=f"{how_to_use(Path(there).parent)}; or choose another name",
            )

    @property
    def role(self) -> Role:
        """How we stand to the server now; before the lock was tried, how we would."""
        refused = self.lock is not None and self.lock.refused
        if self._adopted:
            return "adopted"
        return "follower" if self._follower or refused else "owner"

    @property
    def owns_persistent(self) -> bool:
        """Whether we are the owner of a named instance: the logs are ours now, and another process's after us."""
        return self.lock is not None and self.lock.held
