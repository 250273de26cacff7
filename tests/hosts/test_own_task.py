"""Under asyncio an instance may be left by another task than entered it; whatever ends it is heard of."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.errors import ungrouped
from muxwire.instance.own_task import in_own_task
from muxwire.library.block import tasks_of_block
from tests.hosts.scenario import environ, use_tabs

# Seconds that no test here needs.
LONG = 20.0


@asynccontextmanager
async def block(events: list[str], fails: anyio.Event | None = None) -> AsyncIterator[str]:
    """A block with a task of its own, which may fail."""

    async def fail(when: anyio.Event) -> None:
        await when.wait()
        raise OSError("the reader died")

    async with anyio.create_task_group() as tasks:
        if fails is not None:
            tasks.start_soon(fail, fails)
        events.append("entered")
        try:
            yield "value"
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            events.append("left")
            tasks.cancel_scope.cancel()


async def test_each_cell_of_a_notebook_is_a_task() -> None:
    with anyio.fail_after(LONG), tempfile.TemporaryDirectory(prefix="mw") as made:
        folder = Path(made)
        opening = muxwire.open_terminals(state_dir=folder / "state", environ=environ(folder))
        terminals = await asyncio.create_task(opening.__aenter__())
        socket = terminals.folders.socket_path
        await asyncio.create_task(use_tabs(terminals))
        assert socket.exists()
        await asyncio.create_task(opening.__aexit__(None, None, None))
        assert not socket.exists()


async def test_an_instance_that_was_started_and_forgotten_ends_with_the_loop() -> None:
    with tempfile.TemporaryDirectory(prefix="mw") as made:
        folder = Path(made)

        async def forget() -> Path:
            terminals = await muxwire.start(state_dir=folder / "state", environ=environ(folder))
            await terminals.create_tab()
            return terminals.folders.socket_path

        socket = await asyncio.to_thread(asyncio.run, forget())
        assert not socket.exists()


@pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt])
def test_under_trio_a_block_is_needed_which_the_end_of_the_program_leaves_as_it_is(end: type[BaseException]) -> None:
    async def use() -> None:
        with pytest.raises(muxwire.InvalidArgument, match="asyncio"):
            await muxwire.start()
        async with tasks_of_block():
            with ungrouped():
                async with anyio.create_task_group():
                    raise end

    with pytest.raises(end):
        anyio.run(use, backend="trio")


async def test_an_entry_that_is_cancelled_leaves_nothing_behind() -> None:
    events: list[str] = []

    @asynccontextmanager
    async def slow() -> AsyncIterator[None]:
        events.append("entered")
        try:
            await anyio.sleep_forever()
            yield
        finally:
            events.append("left")

    with anyio.move_on_after(0) as scope:
        async with in_own_task(slow()):
            pass
    assert scope.cancelled_caught
    assert events in ([], ["entered", "left"])


async def test_a_block_that_fails_interrupts_who_entered_it() -> None:
    events, fails = list[str](), anyio.Event()

    async def wait() -> None:
        async with in_own_task(block(events, fails)):
            fails.set()
            await anyio.sleep_forever()

    with anyio.fail_after(LONG), pytest.raises(ExceptionGroup) as caught:
        await wait()
    assert caught.group_contains(OSError, match="the reader died")
    assert events == ["entered", "left"]
    assert not asyncio.current_task().cancelling()  # type: ignore[union-attr]
