"""The tasks of a block in which an instance is open."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.abc import TaskGroup


@asynccontextmanager
async def tasks_of_block() -> AsyncIterator[TaskGroup]:
    """A task group that is cancelled at the end of the block. An error of the block is raised as it is, in no group."""
    failure: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks
        # All but a cancellation, which belongs to a group: raised again below, outside of the one that would wrap it.
        except (Exception, KeyboardInterrupt, SystemExit, GeneratorExit) as error:  # noqa: BLE001
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
