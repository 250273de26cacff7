"""MCP clients of an owner: each `muxwire serve --name` passes the bytes of one on."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from muxwire.cli.command_line import command_line, verb_first
from muxwire.cli.serve import offered_options
from muxwire.mcp.connection import serve_connection
from muxwire.mcp.lifespan import LazyTerminals
from muxwire.mcp.server import offered

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    from muxwire.library.terminals import Terminals
    from muxwire.mcp.offer import Offer

    Serving = Callable[[Terminals, socket.socket], Awaitable[None]]


@lru_cache(maxsize=16)  # the parser alone takes longer than the rest of a handshake
def read_serve(*words: str) -> tuple[Serving, float]:
    """What serves a client of `muxwire serve` with these words, and after how many idle seconds its tabs are closed.

    MuxwireError for a wrong command line.
    """
    arguments = command_line("serve").parse_args(verb_first(words))
    return partial(_serve_agent, offered(**offered_options(arguments))), arguments.close_idle or 0.0


async def _serve_agent(offer: Offer, terminals: Terminals, connection: socket.socket) -> None:
    """Serve MCP on a connection until its client hangs up."""
    # What an agent has left running goes on when it ends. For the moment in which its calls are cancelled, a call that
    # another agent cancels would leave its command too.
    lazy = LazyTerminals(lambda: nullcontext(terminals), lambda: terminals if terminals.runs else None)
    with ExitStack() as left:
        await serve_connection(
            offer, lazy, connection.fileno(), connection.fileno(), partial(terminals.leave_running, left)
        )
