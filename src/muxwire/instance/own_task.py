"""Lets a block be entered in one task and left in another, as fixtures of pytest-asyncio and notebook cells do.

anyio wants a task group to be left by the task that entered it. So under asyncio a task of its own enters and leaves
the block. Trio has no task outside of a caller's nursery, and its users know to stay in one task.
"""

from __future__ import annotations

import asyncio  # anyio has no task that outlives the block in which it was started
import math
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Generic, TypeVar, final

import anyio

from muxwire.client.transport import asyncio_loop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

T = TypeVar("T")


@asynccontextmanager
async def in_own_task(block: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """As `async with block`, but any task may leave it. Under asyncio no error of the body is raised inside `block`.

    If `block` ends by itself, with an error of one of its own tasks, the task that entered it is cancelled, and leaving
    it raises that error: as an anyio task group does.
    """
    if asyncio_loop() is None:
        async with block as value:
            yield value
        return
    owner = OwnTask(block)
    value = await owner.enter()
    try:
        yield value
    finally:
        await owner.leave()


@final
class OwnTask(Generic[T]):
    """The task that enters a block and leaves it, and the task that had it entered. Under asyncio only."""

    def __init__(self, block: AbstractAsyncContextManager[T]) -> None:
        self._block = block
        self._value: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._left = asyncio.Event()
        self._entrant = asyncio.current_task()
        self._interrupted = False  # whether we have cancelled the task that entered
        self._task = asyncio.create_task(self._own(), name="muxwire instance")

    async def _own(self) -> None:
        async with self._block as value:
            self._value.set_result(value)
            await self._left.wait()

    @property
    def ended(self) -> bool:
        return self._task.done()

    async def enter(self, *, tied: bool = True) -> T:
        """Return what the block gives; raise why it could not be entered.

        `tied`: if the block ends by itself, the caller's task is cancelled. Leaving the block raises why it ended.
        """
        try:
            await asyncio.wait((self._task, self._value), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._task.cancel()
            await self._ended()
            raise
        if not self._value.done():
            await self._task
        if tied:
            self._task.add_done_callback(self._interrupt)
        return self._value.result()

    async def leave(self, seconds: float = math.inf) -> None:
        """Leave the block; raise what ended it before, TimeoutError if it has to be cancelled after so long."""
        self._left.set()
        await self._ended(seconds)
        if not self._task.done():
            self._task.cancel()
            raise TimeoutError
        if self._interrupted and (task := asyncio.current_task()) is self._entrant and task is not None:
            task.uncancel()
        self._task.result()

    def _interrupt(self, _task: asyncio.Task[None]) -> None:
        if not self._left.is_set() and self._entrant is not None:
            self._interrupted = self._entrant.cancel()  # False if it has ended

    async def _ended(self, seconds: float = math.inf) -> None:
        with anyio.move_on_after(seconds, shield=True):
            await asyncio.wait((self._task,))
