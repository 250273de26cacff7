"""The MCP server: what it offers, and the lifetime of the terminals, over stdio."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING

from muxwire.mcp.channel import CAPABILITY
from muxwire.mcp.instructions import INSTRUCTIONS, without_unavailable
from muxwire.mcp.lifespan import LazyTerminals
from muxwire.mcp.offer import Offer
from muxwire.mcp.profiles import PROFILES
from muxwire.mcp.registry import Catalogue, select
from muxwire.mcp.stdio import run_on_stdio
from muxwire.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from muxwire.library.terminals import Terminals
    from muxwire.mcp.stdio import OnSignal

    OpenTerminals = Callable[[], AbstractAsyncContextManager[Terminals]]


async def serve(
    open_terminals: OpenTerminals,
    on_signal: OnSignal,
    *,
    toolsets: Iterable[str] | None = None,
    read_only: bool = False,
    channel: bool = False,
    profile: str = "",
) -> None:
    """Serve MCP on stdin and stdout until the client goes away or a signal comes.

    `open_terminals` is called at the first tool call, not before, and left when the server ends. `on_signal` is given
    what is to be called, in the event loop, when a signal comes that ends the server. With `channel` the end
    of a command that was left running is sent into the session (channel.py). `profile`: tools in the shapes of another
    program, in place of muxwire's (profiles.py).
    Raises InvalidArgument for an unknown toolset.
    """
    terminals = LazyTerminals(open_terminals)

    def end() -> None:
        if terminals.opened is not None:
            terminals.opened.leave_running()

    offer = offered(toolsets=toolsets, read_only=read_only, channel=channel, profile=profile)
    await run_on_stdio(offer, terminals, end, on_signal)
    if terminals.is_overdue:
        # To return now would cancel every task that has not ended, in the middle of its clean-up, and each would write
        # an error to stderr.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)


def offered(
    *, toolsets: Iterable[str] | None = None, read_only: bool = False, channel: bool = False, profile: str = ""
) -> Offer:
    """Return what a server offers. Raises InvalidArgument for an unknown toolset."""
    tools = PROFILES[profile] if profile else select(TOOLS, toolsets=toolsets, read_only=read_only)
    catalogue = Catalogue(tools)
    instructions = None if profile else without_unavailable(INSTRUCTIONS, catalogue)
    return Offer(catalogue, instructions, {CAPABILITY: {}} if channel else {})
