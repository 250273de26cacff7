"""How long a caller waits for tmux's answer: a tmux that is stopped, or hangs, says nothing and closes nothing.

One task watches over all waits of a connection. It is set to the first of them, and not moved when that one is
answered: so it wakes once in ten seconds while commands are sent, and never when nobody waits.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Protocol, final

import anyio

from muxwire.errors import TmuxSilent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# tmux answers in a millisecond, on a machine that swaps in seconds.
ANSWER_SECONDS = 10.0
# Who asks a tmux that is known to be silent waits no longer than a busy one that was continued takes.
SILENT_SECONDS = 1.0


def unexplained() -> TmuxSilent:
    """What is said where nobody knows which process it is."""
    return TmuxSilent(
        "tmux does not answer", remedy="check whether it is stopped (`kill -CONT`) or the machine has no time for it"
    )


class Wait(Protocol):
    waits_until: float  # on the monotonic clock

    def give_up(self) -> None:
        """Wait no longer."""


@final
class Patience:
    """Ends the waits for answers that do not come. The commands keep their places: an answer may still come."""

    def __init__(self, sent: Sequence[Wait]) -> None:
        """`sent` are the commands without a whole answer, the oldest first."""
        self.explain: Callable[[], TmuxSilent] = unexplained
        self.seconds = ANSWER_SECONDS
        self._sent = sent
        self._silent: Wait | None = None  # the oldest one, when we last gave up
        self._wakes_at = math.inf
        self._woken = anyio.Event()

    @property
    def silent(self) -> bool:
        """Whether a wait was given up, and tmux has not answered anything since."""
        return self._silent is not None and bool(self._sent) and self._sent[0] is self._silent

    def until(self) -> float:
        """When the wait that begins now ends at the latest, on the monotonic clock."""
        due = time.monotonic() + (SILENT_SECONDS if self.silent else self.seconds)
        if due < self._wakes_at:
            self._wakes_at = due
            self._woken.set()
        return due

    async def watch(self) -> None:
        """Give up what is not answered in time: a task that runs as long as the connection."""
        while True:
            await self._sleep()
            now = time.monotonic()
            waits = [one for one in self._sent if one.waits_until < math.inf]
            if waits and now - self._wakes_at > SILENT_SECONDS:
                # It is we who stood still: what tmux said meanwhile is read first.
                self._wakes_at = now + SILENT_SECONDS
            elif any(one.waits_until <= now for one in waits):
                self._silent = self._sent[0]
                self._wakes_at = math.inf
                for one in waits:  # none is answered before the oldest
                    one.give_up()
            else:
                self._wakes_at = min((one.waits_until for one in waits), default=math.inf)

    async def _sleep(self) -> None:
        while (left := self._wakes_at - time.monotonic()) > 0:
            self._woken = anyio.Event()
            with anyio.move_on_after(left):
                await self._woken.wait()
