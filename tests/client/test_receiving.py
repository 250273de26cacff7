"""One task reads what comes: a fault in what takes it ends the block, and a flood and its end lose nothing."""

from __future__ import annotations

import time

import anyio
import pytest

from muxwire.client.transport import _FLOOD_READS, TmuxProcess
from muxwire.ids import pane_id
from muxwire.protocol.events import Event
from tests.doubles.private import open_private_tmux

# Seconds that no test here needs: it ends as soon as what it waits for is there.
LONG = 20.0
# Beyond what counts as a flood, and beyond one read.
MUCH = 4 << 20


async def test_a_fault_in_what_takes_it_ends_the_block_and_not_in_silence() -> None:
    def fail(event: Event) -> None:
        raise ValueError(f"no use for {event}")

    async def serve() -> None:
        async with open_private_tmux() as tmux:
            tmux.client._on_notification = fail  # of the test's own making: nobody else's callback fails
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


async def test_big_answers_are_no_flood() -> None:
    """What reads a flood waits a little between two reads; who asks tmux for much is not to wait as well."""
    async with open_private_tmux() as tmux:
        await tmux.client.command("set-buffer", "-b", "big", "--", "x" * 100_000)
        for _ in range(2 * _FLOOD_READS):
            assert await tmux.client.command("show-buffer", "-b", "big") == (b"x" * 100_000,)
        process = tmux.client._transport
        assert isinstance(process, TmuxProcess)
        assert process._full_reads < _FLOOD_READS


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
        tmux.client.poll_until(lambda: answer.done, LONG)
        assert answer.done


async def test_polling_ends_in_time_though_there_is_always_something_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_private_tmux() as tmux:
        monkeypatch.setattr(tmux.client._transport, "receive_soon", lambda _: b"%output %99 x\n")
        given_up = time.monotonic() + LONG / 2
        tmux.client.poll_until(lambda: time.monotonic() > given_up)
        assert time.monotonic() < given_up


async def test_other_tasks_run_while_one_polls_again_and_again() -> None:
    """Each answer comes while its caller polls, so that caller alone would never give the event loop a turn."""
    async with open_private_tmux() as tmux, anyio.create_task_group() as tasks:
        ran = anyio.Event()

        async def other() -> None:
            ran.set()

        tasks.start_soon(other)
        given_up = time.monotonic() + LONG / 2
        while not ran.is_set() and time.monotonic() < given_up:
            (answer,) = tmux.client.submit(("display-message", "-p", "x"))
            await tmux.client.poll(lambda: answer.done)  # noqa: B023 - it is called before the next round
        assert ran.is_set()
