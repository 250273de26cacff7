"""One connection, served on any pair of descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread

from muxwire.mcp.wire import open_wire

if TYPE_CHECKING:
    from types import ModuleType

    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.mcp.offer import Offer
    from muxwire.mcp.wire import OnEnd


async def load() -> ModuleType:
    """Import what answers requests, in a thread, so that the event loop goes on: with the SDK it takes 0.3 s."""
    return await anyio.to_thread.run_sync(_handlers, abandon_on_cancel=True)


def _handlers() -> ModuleType:
    from muxwire.mcp import handlers

    return handlers


async def serve_connection(
    offer: Offer, terminals: LazyTerminals, reading: int, writing: int, on_end: OnEnd = lambda: None
) -> None:
    """Serve MCP to one client on two descriptors, until it hangs up or stops reading, or this is cancelled.

    They are pipes or sockets, and may be one socket; they are set not to block, and who calls closes them. Nothing of
    the process is touched: no signal handler, no standard descriptor, and many connections can be served at once. It
    needs asyncio.

    `offer` is what `server.offered` made of the options of `serve`; one can serve many connections. `terminals` belongs
    to this connection: it is opened by the first call that needs it, and closed at the end. When the connection ends,
    the calls that are under way are cancelled, and each is answered with an error. `on_end` is called before that; who
    cancels this does first what `on_end` would do.
    """
    handlers = await load()
    async with open_wire(reading, writing, on_end) as wire:
        await handlers.answer(offer, terminals, wire)
