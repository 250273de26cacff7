"""The SDK's server of muxwire's tools, for the transports of the SDK: in memory, and HTTP."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, TextContent

from muxwire.library.terminals import Terminals
from muxwire.mcp.handlers import built, connected
from muxwire.mcp.lifespan import LazyTerminals
from muxwire.mcp.offer import Connection
from muxwire.mcp.server import offered


def text_of(result: CallToolResult) -> str:
    """The only block of a result."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def build_server(open_terminals: Callable[[], AbstractAsyncContextManager[Terminals]]) -> Server[Connection]:
    """Return a server; each of its connections opens the terminals for itself."""
    return built(offered(), lambda: connected(LazyTerminals(open_terminals)))
