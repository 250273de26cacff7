"""The transport in memory behaves as a pipe does."""

from __future__ import annotations

import anyio

from tests.doubles.transports import MemoryTransport


async def test_what_was_fed_is_received_whole() -> None:
    transport = MemoryTransport()
    transport.feed(b"a")
    transport.feed(b"b")
    transport.feed_eof("over")
    assert await transport.receive() == b"ab"
    assert await transport.receive() == b""
    assert await transport.receive() == b""
    assert transport.ending() == "over"


async def test_a_full_pipe_takes_nothing_until_there_is_room() -> None:
    transport = MemoryTransport(room=2)
    assert transport.send_nowait(b"abc") == 2
    assert transport.send_nowait(b"c") == 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transport.send, b"cdef")
        await anyio.wait_all_tasks_blocked()
        assert transport.sent == b"ab"
        transport.make_room(3)
        await transport.wait_sent(b"cde")
        transport.make_room(None)
    assert transport.sent == b"abcdef"


async def test_closing_ends_both_directions() -> None:
    transport = MemoryTransport(room=0)
    heard: list[bytes] = []

    async def hear() -> None:
        heard.append(await transport.receive())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hear)
        tasks.start_soon(transport.send, b"x")
        await anyio.wait_all_tasks_blocked()
        await transport.aclose()
    assert heard == [b""]
    assert transport.send_nowait(b"x") == 0
