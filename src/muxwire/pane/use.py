"""Since when nobody uses a pane: noted where it is used, at the price of a number and a time, and it wakes nobody."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    import anyio


@final
class Use:
    """The calls that use a pane, as a context manager for each; its output is the stream's to know."""

    __slots__ = ("_calls", "_last", "woken")

    def __init__(self) -> None:
        self._calls = 0
        self._last = time.monotonic()
        self.woken: anyio.Event | None = None  # of who waits until the pane is unused for long enough

    def __enter__(self) -> None:
        self._calls += 1

    def __exit__(self, *_: object) -> None:
        self._calls -= 1
        self.note()

    def note(self) -> None:
        """It was used just now: by a short call, by a person, by what runs in it."""
        self._last = time.monotonic()

    @property
    def last(self) -> float:
        """When it was used last, on the monotonic clock; infinity while a call uses it."""
        return math.inf if self._calls else self._last

    def over(self) -> None:
        """The pane is gone: nobody waits for it any longer."""
        if self.woken is not None:
            self.woken.set()
