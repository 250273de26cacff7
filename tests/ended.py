"""Waiting for what nothing reports: the end of other programs' processes, and of what they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from muxwire.client.watchdog import process_table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LOOK_SECONDS = 0.02


async def gone(pids: Iterable[int], *paths: Path) -> None:
    """Return when none of them runs or is there; zombies are what the system has yet to bury."""
    left = set(pids)
    while process_table().keys() & left or any(path.exists() for path in paths):
        await anyio.sleep(_LOOK_SECONDS)
