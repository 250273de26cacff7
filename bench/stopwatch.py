"""How long a block takes: all times of the bench are taken here, also in processes that have nothing of muxwire."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def timed(found: list[float]) -> Iterator[None]:
    """Add the milliseconds that a block takes, also one that fails."""
    begun = time.perf_counter()
    try:
        yield
    finally:
        found.append((time.perf_counter() - begun) * 1000)
