"""How much came in the last seconds, in a few counters."""

from __future__ import annotations

from collections import deque
from typing import final

# What a person means by "now", and a little more to compare it with.
KEPT_SECONDS = 10


@final
class Rate:
    """Counts amounts by the second in which they came, for the last KEPT_SECONDS; times are seconds of any clock."""

    __slots__ = ("_seconds", "total")

    def __init__(self) -> None:
        self.total = 0
        self._seconds: deque[tuple[int, int]] = deque(maxlen=KEPT_SECONDS + 1)

    def add(self, amount: int, now: float) -> None:
        """Count `amount`."""
        self.total += amount
        second = int(now)
        if self._seconds and self._seconds[-1][0] == second:
            amount += self._seconds.pop()[1]
        self._seconds.append((second, amount))

    def per_second(self, now: float, seconds: int = KEPT_SECONDS) -> float:
        """The mean of the last whole `seconds` before this one."""
        this = int(now)
        return sum(amount for second, amount in self._seconds if this - seconds <= second < this) / seconds
