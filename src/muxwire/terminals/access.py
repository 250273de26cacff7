"""How a process stands to the tmux server that it uses: owner of the instance, guest, or at a person's server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

if TYPE_CHECKING:
    from muxwire.terminals.lock import InstanceLock

# The owner writes the logs and takes up every tab; a guest executes and reads beside it; a server that a person runs
# is adopted: nothing of it is changed.
Role = Literal["owner", "guest", "adopted"]


@final
@dataclass(frozen=True, slots=True)
class Access:
    """`lasting`: the tmux server outlives us. `lock` is held by the owner of a named instance."""

    role: Role
    lasting: bool
    lock: InstanceLock | None = None


EPHEMERAL = Access("owner", lasting=False)
