"""Which event loop runs the current task: some things need asyncio's own, where anyio has no counterpart."""

from __future__ import annotations

import asyncio  # only to name its loop, and what its tasks are cancelled with

import anyio


def asyncio_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop of the current task if that is asyncio's; None under trio, also within asyncio's loop."""
    if anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        return asyncio.get_running_loop()
    return None
