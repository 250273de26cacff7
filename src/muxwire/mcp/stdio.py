"""A server on the standard descriptors, and every way of ending it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.lowlevel import NotificationOptions
from mcp.server.stdio import stdio_server

from muxwire.client.loops import asyncio_loop
from muxwire.mcp.descriptors import STDIN, STDOUT, is_pipe, on_ending_signal, private_wire
from muxwire.mcp.discovery import Discovery
from muxwire.mcp.wire import open_wire

if TYPE_CHECKING:
    import asyncio  # only to name the running loop's type

    from mcp.server.lowlevel import Server

    from muxwire.mcp.wire import OnEnd

# Tabs come and go; tools and prompts do not.
_NOTIFICATIONS = NotificationOptions(resources_changed=True)


async def run_on_stdio(server: Server[Any], on_end: OnEnd) -> None:
    """Serve until stdin ends, stdout is closed, or a signal says so; the server's lifespan is left in order.

    `on_end` is called before the calls that are under way are cancelled.
    """
    loop = asyncio_loop()
    if loop is not None and is_pipe(STDIN) and is_pipe(STDOUT):
        with private_wire() as (reading, writing):
            await run_on_wire(server, loop, reading, writing, on_end)
    else:
        await _run_on_anything(server, loop, on_end)


async def run_on_wire(
    server: Server[Any], loop: asyncio.AbstractEventLoop, reading: int, writing: int, on_end: OnEnd = lambda: None
) -> None:
    with (
        open_wire(reading, writing, Discovery(server).answer, on_end) as (reader, writer),
        on_ending_signal(loop, lambda _number: reader.end()),
    ):
        await server.run(reader, writer, server.create_initialization_options(_NOTIFICATIONS))
        await writer.flush()


async def _run_on_anything(server: Server[Any], loop: asyncio.AbstractEventLoop | None, on_end: OnEnd) -> None:
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

            options = server.create_initialization_options(_NOTIFICATIONS)
            if loop is None:
                await server.run(read_stream, write_stream, options)
            else:
                with on_ending_signal(loop, end):
                    await server.run(read_stream, write_stream, options)
        if caught:
            signal.signal(caught[0], signal.SIG_DFL)
            os.kill(os.getpid(), caught[0])
