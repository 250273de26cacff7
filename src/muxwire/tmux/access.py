"""How a process stands to the tmux server that it uses: owner of the instance, guest, or at a person's server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, final

if TYPE_CHECKING:
    from muxwire.host.folders import Folders
    from muxwire.host.locks import InstanceLock

# The owner writes the logs and takes up every tab; a guest executes and reads beside it; a server that a person runs
# is adopted: nothing of it is changed.
Role = Literal["owner", "guest", "adopted"]


@final
class Access:
    """`lasting`: the tmux server outlives us. `lock`: that of a named instance, whose holder is the owner.

    A guest becomes the owner when it gets the lock.
    """

    def __init__(
        self, *, lasting: bool, lock: InstanceLock | None = None, guest: bool = False, adopted: bool = False
    ) -> None:
        self.lasting = lasting
        self.lock = lock
        self._guest = guest
        self._adopted = adopted

    async def settle(self, folders: Folders) -> None:
        """Before the server is started or attached to: become its owner if nobody else is. InstanceUnavailable."""
        if self.lock is not None:
            folders.prepare()
            await self.lock.take_soon()

    @property
    def role(self) -> Role:
        """How we stand to the server now; before the lock was tried, how we would."""
        refused = self.lock is not None and self.lock.refused
        if self._adopted:
            return "adopted"
        return "guest" if self._guest or refused else "owner"

    @property
    def hands_over(self) -> bool:
        """Whether the logs are ours and somebody else's after us."""
        return self.lock is not None and self.lock.held
