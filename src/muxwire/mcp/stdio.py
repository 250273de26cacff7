"""A server on the standard descriptors, and every way of ending it."""

from __future__ import annotations

import gc
import os
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from muxwire.client.transport import asyncio_loop
from muxwire.mcp.channel import Channel
from muxwire.mcp.conversation import Connection, Conversation
from muxwire.mcp.resources import updating
from muxwire.mcp.wire import STDIN, STDOUT, is_pipe, on_ending_signal, open_wire, private_wire

if TYPE_CHECKING:
    import asyncio  # only to name the running loop's type
    from collections.abc import AsyncIterator, Callable
    from types import ModuleType

    from muxwire.mcp.conversation import Offer
    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.mcp.wire import OnEnd, WireReader, WireWriter

# Lines for the SDK that wait while it is imported; beyond these nothing more is read.
WAITING_LINES = 64


@asynccontextmanager
async def connected(
    lazy: LazyTerminals, conversation: Conversation, notify: Callable[..., None] | None
) -> AsyncIterator[Connection]:
    """What runs as long as a connection: its calls and updates.

    With `notify`, which sends a notification, the ends of commands left running are sent into the session.
    """
    ends = Channel(notify or (lambda *_: None))
    lazy.channel = None if notify is None else ends
    try:
        async with (
            updating(lazy) as updates,
            conversation.calls.running(lazy),
            ends.running(),
            anyio.create_task_group() as tasks,
        ):
            connection = Connection(lazy, updates)
            conversation.connected(connection, tasks)
            try:
                yield connection
            finally:
                tasks.cancel_scope.cancel()
    finally:
        await lazy.aclose()


async def run_on_stdio(offer: Offer, lazy: LazyTerminals, on_end: OnEnd) -> None:
    """Serve until stdin ends, stdout is closed, or a signal comes; then close what runs with the server, in order.

    `on_end` is called before the calls that are under way are cancelled.
    """
    loop = asyncio_loop()
    if loop is not None and is_pipe(STDIN) and is_pipe(STDOUT):
        with private_wire() as (reading, writing):
            await run_on_wire(offer, lazy, loop, reading, writing, on_end)
    else:
        await _run_on_anything(offer, lazy, loop, on_end)


async def run_on_wire(
    offer: Offer,
    lazy: LazyTerminals,
    loop: asyncio.AbstractEventLoop,
    reading: int,
    writing: int,
    on_end: OnEnd = lambda: None,
    *,
    direct: bool = True,
) -> None:
    """Serve on two descriptors that can be awaited. Without `direct`, the SDK answers all that it can."""
    conversation = Conversation(offer, direct=direct)
    with (
        open_wire(reading, writing, on_end) as (reader, writer),
        on_ending_signal(loop, lambda _number: reader.end()),
    ):
        async with connected(lazy, conversation, writer.notify if offer.experimental else None) as connection:
            await _converse(offer, conversation, connection, reader, writer)
        await writer.flush()


async def _converse(
    offer: Offer, conversation: Conversation, connection: Connection, reader: WireReader, writer: WireWriter
) -> None:
    """Answer lines until they end; the SDK's server is started for the first that needs it, and ends with them."""
    to_sdk, for_sdk = anyio.create_memory_object_stream[tuple[bytes, object]](WAITING_LINES)
    is_started, is_there = False, anyio.Event()

    async def run_sdk() -> None:
        sdk = await anyio.to_thread.run_sync(_import_sdk, abandon_on_cancel=True)
        gc.freeze()  # some hundred thousand objects, all to stay: to look for garbage among them takes 20 ms of a call
        is_there.set()
        reader.release()

        @asynccontextmanager
        async def lifespan() -> AsyncIterator[Connection]:
            yield connection

        await sdk.run(sdk.built(offer, lifespan), offer, conversation, for_sdk, writer)

    async with for_sdk, to_sdk, anyio.create_task_group() as tasks:
        while (line := await reader.line()) is not None:
            if conversation.take(line, writer):
                continue
            if not is_started:
                is_started = True
                reader.hold()
                for said in conversation.opening():
                    await to_sdk.send((said, None))
                tasks.start_soon(run_sdk)
            writer.unanswered.add(token := object())  # until the SDK has parsed the line: it may be a request
            await to_sdk.send((line, token))
        if is_started and not is_there.is_set():
            tasks.cancel_scope.cancel()
        await to_sdk.aclose()


def _import_sdk() -> ModuleType:
    """Import the SDK in a thread, so that the event loop goes on: it takes 0.4 s."""
    was_enabled = gc.isenabled()
    gc.disable()  # to look for garbage among what is made now, again and again, takes a third of that time
    try:
        from muxwire.mcp import sdk
    finally:
        if was_enabled:
            gc.enable()
    return sdk


async def _run_on_anything(
    offer: Offer, lazy: LazyTerminals, loop: asyncio.AbstractEventLoop | None, on_end: OnEnd
) -> None:
    """Serve through the SDK's threads: terminals and files cannot be awaited.

    `on_end` is called only if a signal comes, not at the end of such an input.

    A thread that reads a terminal cannot be stopped. So after a signal the server is closed in order, and then the
    process dies of that signal as if it had never been caught.
    """
    from mcp.server.stdio import stdio_server

    from muxwire.mcp import sdk

    caught: list[int] = []
    server = sdk.built(offer, lambda: connected(lazy, Conversation(offer), None))
    async with stdio_server() as (reader, writer):
        with anyio.CancelScope() as serving:

            def end(number: int) -> None:
                caught.append(number)
                on_end()
                serving.cancel()

            if loop is None:
                await server.run(reader, writer, sdk.options(server, offer))
            else:
                with on_ending_signal(loop, end):
                    await server.run(reader, writer, sdk.options(server, offer))
        if caught:
            signal.signal(caught[0], signal.SIG_DFL)
            os.kill(os.getpid(), caught[0])
