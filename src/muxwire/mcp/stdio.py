"""A server on the standard descriptors, its early answer to `server/discover`, and every way of ending it.

The SDK (2.3) ties a connection to the protocol of its first request, and then refuses `initialize` after a
`server/discover`: the very sequence by which Copilot CLI and Claude Code probe a server. An answer from here
ties nothing.
"""

from __future__ import annotations

import os
import signal
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import anyio
from mcp import types
from mcp.server.lowlevel import NotificationOptions
from mcp.server.stdio import stdio_server
from mcp.types import methods
from mcp.types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS

from muxwire.client.transport import asyncio_loop
from muxwire.mcp.wire import STDIN, STDOUT, is_pipe, on_ending_signal, open_wire, private_wire

if TYPE_CHECKING:
    import asyncio  # only to name the running loop's type

    from mcp.server.lowlevel import Server

    from muxwire.mcp.calls import DirectCalls
    from muxwire.mcp.wire import OnEnd

# Experimental capabilities, by name.
Experimental = dict[str, dict[str, Any]]

METHOD = "server/discover"
# Tabs come and go; tools and prompts do not.
_NOTIFICATIONS = NotificationOptions(resources_changed=True)


@final
class Discovery:
    """The early answer of one server to probes in the modern protocol; others are the SDK's to answer."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server

    def answer(self, request: types.JSONRPCRequest) -> types.JSONRPCResponse | types.JSONRPCError | None:
        """Return the answer to a probe, None for every other request."""
        if request.method != METHOD:
            return None
        meta = (request.params or {}).get("_meta")
        version = meta.get(types.PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            return None
        if version in MODERN_PROTOCOL_VERSIONS:
            return types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=self._result)
        return types.JSONRPCError(jsonrpc="2.0", id=request.id, error=_unsupported(version))

    @cached_property
    def _result(self) -> dict[str, Any]:
        discovered = types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=self._server.get_capabilities(protocol_version=LATEST_MODERN_VERSION),
            instructions=self._server.instructions,
        )
        dumped = discovered.model_dump(by_alias=True, mode="json", exclude_none=True)
        result = methods.serialize_server_result(METHOD, LATEST_MODERN_VERSION, dumped)
        return result | {"_meta": {types.SERVER_INFO_META_KEY: self._server.server_info_stamp}}


def _unsupported(requested: str) -> types.ErrorData:
    data = types.UnsupportedProtocolVersionErrorData(supported=list(MODERN_PROTOCOL_VERSIONS), requested=requested)
    return types.ErrorData(
        code=types.UNSUPPORTED_PROTOCOL_VERSION,
        message="Unsupported protocol version",
        data=data.model_dump(mode="json"),
    )


async def run_on_stdio(
    server: Server[Any], calls: DirectCalls, on_end: OnEnd, experimental: Experimental | None = None
) -> None:
    """Serve until stdin ends, stdout is closed, or a signal says so; the server's lifespan is left in order.

    `calls` are those of `server`. `on_end` is called before the calls that are under way are cancelled. `experimental`
    are capabilities to declare.
    """
    loop = asyncio_loop()
    if loop is not None and is_pipe(STDIN) and is_pipe(STDOUT):
        with private_wire() as (reading, writing):
            await run_on_wire(server, loop, reading, writing, on_end, calls, experimental)
    else:
        await _run_on_anything(server, loop, on_end, experimental)


async def run_on_wire(
    server: Server[Any],
    loop: asyncio.AbstractEventLoop,
    reading: int,
    writing: int,
    on_end: OnEnd = lambda: None,
    calls: DirectCalls | None = None,
    experimental: Experimental | None = None,
) -> None:
    with (
        open_wire(reading, writing, Discovery(server).answer, on_end, calls) as (reader, writer),
        on_ending_signal(loop, lambda _number: reader.end()),
    ):
        await server.run(reader, writer, server.create_initialization_options(_NOTIFICATIONS, experimental))
        await writer.flush()


async def _run_on_anything(
    server: Server[Any], loop: asyncio.AbstractEventLoop | None, on_end: OnEnd, experimental: Experimental | None
) -> None:
    """Serve through the SDK's threads: terminals and files cannot be awaited.

    Before the calls are cancelled only a signal is reported, not the end of such an input.

    A thread that reads a terminal cannot be stopped. So after a signal the lifespan is left in order, and then
    the process dies of that signal as if it had never been caught.
    """
    caught: list[int] = []
    async with stdio_server() as (read_stream, write_stream):
        with anyio.CancelScope() as serving:

            def end(number: int) -> None:
                caught.append(number)
                on_end()
                serving.cancel()

            options = server.create_initialization_options(_NOTIFICATIONS, experimental)
            if loop is None:
                await server.run(read_stream, write_stream, options)
            else:
                with on_ending_signal(loop, end):
                    await server.run(read_stream, write_stream, options)
        if caught:
            signal.signal(caught[0], signal.SIG_DFL)
            os.kill(os.getpid(), caught[0])
