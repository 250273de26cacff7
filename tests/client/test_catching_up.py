"""A caller may read the connection itself for a moment: nothing is lost by it, and nobody else is held up."""

from __future__ import annotations

import anyio
import pytest

from muxwire.client.client import ControlClient
from muxwire.ids import pane_id
from muxwire.testing import MemoryTransport, open_private_tmux

pytestmark = pytest.mark.anyio

PANE = pane_id("%1")
# Seconds that no test here needs: it ends as soon as what it waits for is there.
LONG = 20.0


async def test_what_is_there_is_taken_without_a_turn_of_the_loop() -> None:
    transport, seen = MemoryTransport(), bytearray()
    async with ControlClient(transport) as client:
        client.attach_pane(PANE, seen.extend)
        transport.feed(b"%output %1 one\n%outp")
        client.catch_up(lambda: b"one" in seen, LONG)
        assert seen == b"one"
        transport.feed(b"ut %1 two\n")
        client.catch_up(lambda: b"two" in seen, LONG)
        assert seen == b"onetwo"


async def test_it_leaves_the_pipe_alone_while_others_wait() -> None:
    transport, seen = MemoryTransport(), bytearray()
    async with ControlClient(transport) as client:
        client.attach_pane(PANE, seen.extend)
        client.waiters = 2
        transport.feed(b"%output %1 one\n")
        client.catch_up(lambda: bool(seen), LONG)
        assert not seen


async def test_an_answer_of_a_real_tmux_is_taken_by_the_caller_and_the_reader_goes_on() -> None:
    with anyio.fail_after(LONG):
        async with open_private_tmux() as tmux:
            for number in range(20):
                (pending,) = tmux.client.submit(("display-message", "-p", f"answer {number}"))
                tmux.client.catch_up(lambda: pending.done, LONG)  # noqa: B023 - it is called before the next round
                assert pending.result() == (b"answer %d" % number,)
                assert await tmux.client.command("display-message", "-p", "more") == (b"more",)


async def test_the_end_of_the_stream_is_left_to_the_reader() -> None:
    with anyio.fail_after(LONG):
        async with open_private_tmux() as tmux:
            tmux.client.submit(("kill-server",))
            tmux.client.catch_up(lambda: False, LONG)
            tmux.client.catch_up(lambda: False, LONG)
            await tmux.client.wait_closed()
