"""One task reads what comes: a fault in what takes it ends the block, and a flood and its end lose nothing."""

from __future__ import annotations

from unittest.mock import Mock

import anyio
import pytest

from muxwire.ids import pane_id
from tests.deadline import DEADLINE
from tests.doubles.private import open_private_tmux

# Beyond what counts as a flood, and beyond one read.
MUCH = 4 << 20


async def test_a_fault_in_what_takes_it_ends_the_block_and_not_in_silence() -> None:
    async def serve() -> None:
        async with open_private_tmux() as tmux:
            fails = Mock(side_effect=ValueError("no use for it"))
            tmux.client._on_notification = fails  # of the test's own making: nobody else's callback fails
            await tmux.client.command("new-window", "-d")
            await tmux.client.wait_closed()

    with pytest.raises(ExceptionGroup) as caught:
        await serve()
    assert caught.group_contains(ValueError, match="no use for")


async def test_what_turns_into_a_flood_and_back_is_all_there() -> None:
    async with open_private_tmux() as tmux:
        heard, ended = bytearray(), anyio.Event()

        def feed(data: bytes) -> None:
            heard.extend(data)
            if heard.endswith(b"end\n"):
                ended.set()

        program = f"stty -opost; head -c {MUCH} /dev/zero | tr '\\0' x; echo end; exec sleep 60"
        (pane,) = await tmux.client.command("new-window", "-d", "-P", "-F", "#{pane_id}", program)
        tmux.client.attach_pane(pane_id(pane.decode()), feed)
        await ended.wait()
        assert heard == b"x" * MUCH + b"end\n"
        assert await tmux.client.command("display-message", "-p", "calm") == (b"calm",)


async def test_who_polls_in_a_flood_gets_the_answer() -> None:
    """What reads a flood waits between two reads, and an answer would wait with it."""
    async with open_private_tmux() as tmux:
        heard = 0
        flooded = anyio.Event()

        def feed(data: bytes) -> None:
            nonlocal heard
            heard += len(data)
            if heard > MUCH:
                flooded.set()

        (pane,) = await tmux.client.command("new-window", "-d", "-P", "-F", "#{pane_id}", "exec yes")
        tmux.client.attach_pane(pane_id(pane.decode()), feed)
        await flooded.wait()
        (answer,) = tmux.client.submit(("display-message", "-p", "calm"))
        tmux.client.poll_until(lambda: answer.done, DEADLINE)
        assert answer.done
