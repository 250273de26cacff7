"""What belongs to one client of an instance; everything else belongs to the instance, which its clients share."""

from __future__ import annotations

from typing import TYPE_CHECKING, final
from weakref import WeakSet

if TYPE_CHECKING:
    from muxwire.tabs.tab import Tab


@final
class Seat:
    """A client of an instance: which tabs it used and made.

    It is passed as an argument, and never kept where a task would inherit it from the call that happened to start it.
    """

    def __init__(self, *, stays: bool = True, idle: float = 0.0) -> None:
        """`stays`: the tabs that it used are its own; a client that comes for one call uses what others used.

        `idle`: the seconds without use after which the tabs that it makes are closed, 0 for never.
        """
        self.stays = stays
        self.idle = idle
        self.used: dict[str, None] = {}  # the keys of tabs on all machines, the one last used at the end
        self.made: WeakSet[Tab] = WeakSet()
