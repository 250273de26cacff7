"""A tab that a test opens for itself."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from muxwire import Tab, Terminals


@asynccontextmanager
async def tab_for(seconds: float, terminals: Terminals, shell: str = "bash", **env: str) -> AsyncIterator[Tab]:
    """A tab of one's own, to be done with within so many seconds."""
    made = await terminals.create_tab(shell=shutil.which(shell), cwd="/", env=env)
    try:
        with anyio.fail_after(seconds):
            yield made
    finally:
        await made.close(force=True)
