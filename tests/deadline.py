"""How long tests wait for what comes, and for what nothing tells of."""

from __future__ import annotations

from collections.abc import Callable

import anyio

# Seconds that no test needs: what is waited for comes earlier, on a busy machine too.
DEADLINE = 60.0
_LOOK_SECONDS = 0.005


async def until(condition: Callable[[], object]) -> None:
    """Return when that holds, of which no event tells: another process has done it."""
    with anyio.fail_after(DEADLINE):
        while not condition():
            await anyio.sleep(_LOOK_SECONDS)
