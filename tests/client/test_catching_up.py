"""A caller may read the connection itself for a moment: nothing is lost by it, and nobody else is held up."""

from __future__ import annotations

import os
import time

import pytest

from muxwire.client.client import ControlClient
from muxwire.ids import pane_id
from tests.doubles.private import PrivateTmux, open_private_tmux
from tests.doubles.transports import MemoryTransport

PANE = pane_id("%1")
# Seconds that no test here needs: it ends as soon as what it waits for is there.
LONG = 20.0


async def test_what_is_there_is_taken_without_a_turn_of_the_loop() -> None:
    transport, seen = MemoryTransport(), bytearray()
    async with ControlClient(transport) as client:
        client.attach_pane(PANE, seen.extend)
        transport.feed(b"%output %1 one\n%outp")
        client.poll_until(lambda: b"one" in seen, LONG)
        assert seen == b"one"
        transport.feed(b"ut %1 two\n")
        client.poll_until(lambda: b"two" in seen, LONG)
        assert seen == b"onetwo"


async def test_it_leaves_the_pipe_alone_while_others_wait() -> None:
    transport, seen = MemoryTransport(), bytearray()
    async with ControlClient(transport) as client:
        client.attach_pane(PANE, seen.extend)
        client.waiters = 2
        transport.feed(b"%output %1 one\n")
        client.poll_until(lambda: bool(seen), LONG)
        assert not seen


async def test_an_answer_of_a_real_tmux_is_taken_by_the_caller_and_the_reader_goes_on() -> None:
    async with open_private_tmux() as tmux:
        for number in range(20):
            (pending,) = tmux.client.submit(("display-message", "-p", f"answer {number}"))
            tmux.client.poll_until(lambda: pending.done, LONG)  # noqa: B023 - it is called before the next round
            assert pending.result() == (b"answer %d" % number,)
            assert await tmux.client.command("display-message", "-p", "more") == (b"more",)


async def later(tmux: PrivateTmux, seconds: float) -> bytearray:
    """What a pane writes that says something after so many seconds, and nothing before."""
    seen, script = bytearray(), f"sleep {seconds}; echo late; exec tail -f /dev/null"
    (row,) = await tmux.client.command("new-window", "-d", "-P", "-F", "#{pane_id}", script)
    tmux.client.attach_pane(pane_id(row.decode()), seen.extend)
    return seen


async def test_what_comes_later_is_waited_for_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    monkeypatch.setattr(os, "sched_yield", lambda: looks.append(time.monotonic()))
    async with open_private_tmux() as tmux:
        seen = await later(tmux, 1)
        begun = time.process_time()
        tmux.client.poll_until(lambda: b"late" in seen, LONG)
        assert b"late" in seen
        assert looks
        assert time.process_time() - begun < 0.5  # it would be a second, if it had gone on to look


async def test_the_end_of_the_stream_is_left_to_the_reader() -> None:
    async with open_private_tmux() as tmux:
        tmux.client.submit(("kill-server",))
        tmux.client.poll_until(lambda: False, LONG)
        tmux.client.poll_until(lambda: False, LONG)
        await tmux.client.wait_closed()
