"""One task ends all timed waits of an instance: a cancel scope for each wait takes longer than most waits do."""

from __future__ import annotations

import math
import time
from operator import itemgetter
from typing import TYPE_CHECKING, final

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


@final
class Deadlines:
    """Sets events that were not set in time.

    One task sleeps until the first of them is due, so it may wake once for a wait that has ended. It ends when no wait
    is left.
    """

    def __init__(self, spawn: Callable[[Callable[[], Awaitable[object]]], None]) -> None:
        """`spawn` starts a task that outlives the call."""
        self._spawn = spawn
        self._due: dict[anyio.Event, float] = {}
        self._wakes_at = math.inf
        self._earlier: anyio.Event | None = None  # set to wake the task before `_wakes_at`; None: there is no task

    async def wait(self, event: anyio.Event, seconds: float) -> None:
        """Return when `event` is set, which it is after `seconds` at the latest. Each wait has an event of its own."""
        due = self._due[event] = time.monotonic() + seconds
        if self._earlier is None:
            self._earlier = anyio.Event()
            self._spawn(self._ring)
        elif due < self._wakes_at:
            self._earlier.set()
        try:
            await event.wait()
        finally:
            self._due.pop(event, None)

    async def _ring(self) -> None:
        try:
            while self._due:
                now = time.monotonic()
                for event in [one for one, due in sorted(self._due.items(), key=itemgetter(1)) if due <= now]:
                    del self._due[event]
                    event.set()
                self._wakes_at = min(self._due.values(), default=now)
                self._earlier = anyio.Event()
                with anyio.move_on_after(self._wakes_at - now):
                    await self._earlier.wait()
        finally:
            self._earlier, self._wakes_at = None, math.inf
