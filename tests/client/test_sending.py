"""What several calls send in one turn of the event loop is written in pieces, whole and in order."""

from __future__ import annotations

import anyio
import pytest

from muxwire.client.client import ControlClient
from tests.doubles.transports import MemoryTransport

# Far more than a piece, as that of fifty calls.
NAMES = [f"name-{number:04}" for number in range(400)]
ALL = b"".join(f"display-message -p {name}\n".encode() for name in NAMES)


def submit_all(client: ControlClient) -> None:
    for name in NAMES:
        client.submit(("display-message", "-p", name))


async def test_what_many_calls_send_is_not_held_back_until_the_end_of_the_turn() -> None:
    transport = MemoryTransport()
    async with ControlClient(transport) as client:
        client.waiters = 2
        client.submit(("display-message", "-p", NAMES[0]))
        assert not transport.sent
        for name in NAMES[1:]:
            client.submit(("display-message", "-p", name))
        assert len(ALL) // 2 < len(transport.sent) < len(ALL)
        assert ALL.startswith(transport.sent)
        await anyio.wait_all_tasks_blocked()
        assert transport.sent == ALL
        transport.feed_eof()


@pytest.mark.parametrize("waiters", [0, 2])
async def test_who_sends_while_a_write_waits_for_room_comes_after_it(waiters: int) -> None:
    transport = MemoryTransport(room=1234)
    async with ControlClient(transport) as client:
        client.waiters = waiters
        submit_all(client)
        await anyio.wait_all_tasks_blocked()
        assert transport.sent == ALL[:1234]
        transport.make_room(None)
        submit_all(client)  # before the write that waits has a turn
        await anyio.wait_all_tasks_blocked()
        assert transport.sent == ALL * 2
        transport.feed_eof()
