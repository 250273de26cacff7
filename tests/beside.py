"""What goes on beside a test, until it has its result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio

Result = TypeVar("Result")


@asynccontextmanager
async def beside(
    call: Callable[..., Awaitable[Result]], *arguments: Any, **options: Any
) -> AsyncIterator[list[Result]]:
    """Make that call beside the block, which ends when it has returned: then the list has its result."""
    found: list[Result] = []

    async def run() -> None:
        found.append(await call(*arguments, **options))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        yield found
