"""A caller may read the connection itself for a moment: nothing is lost by it, and nobody else is held up."""

from __future__ import annotations

from muxwire.client.client import ControlClient
from muxwire.ids import pane_id
from tests.deadline import DEADLINE
from tests.doubles.transports import MemoryTransport

PANE = pane_id("%1")


async def test_what_is_there_is_taken_without_a_turn_of_the_loop() -> None:
    transport, seen = MemoryTransport(), bytearray()
    async with ControlClient(transport) as client:
        client.attach_pane(PANE, seen.extend)
        transport.feed(b"%output %1 one\n%outp")
        client.poll_until(lambda: b"one" in seen, DEADLINE)
        assert seen == b"one"
        transport.feed(b"ut %1 two\n")
        client.poll_until(lambda: b"two" in seen, DEADLINE)
        assert seen == b"onetwo"
