"""The turn of a pane into which several processes type: it stays with nobody who does not use it."""

from __future__ import annotations

import fcntl
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest

from muxwire.pane.keyboard import TypingLock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

ANOTHER = b"%10d" % 1


class Pane:
    closed, running = False, None


class Client:
    """Answers when `before` has been called."""

    def __init__(self) -> None:
        self.before: Callable[[], None] = lambda: None

    async def command(self, *_arguments: str) -> tuple[bytes, ...]:
        self.before()
        await anyio.lowlevel.checkpoint()
        return (b"",)


@asynccontextmanager
async def turn_of(folder: Path, client: Client) -> AsyncIterator[TypingLock]:
    (folder / "turn").write_bytes(ANOTHER)
    async with anyio.create_task_group() as tasks:
        turn = TypingLock(folder, cast(Any, Pane()), cast(Any, client), cast(Any, tasks.start_soon))
        yield turn
        turn.close()


async def test_a_turn_that_was_given_up_is_free(tmp_path: Path) -> None:
    async with turn_of(tmp_path, Client()) as turn:
        with pytest.raises(anyio.WouldBlock):
            turn.acquire_nowait()
        with anyio.move_on_after(0):
            await turn.acquire()
        other = os.open(tmp_path / "turn", os.O_RDWR)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)


async def test_a_tab_that_ends_while_its_turn_is_taken_is_no_error_of_the_turn(tmp_path: Path) -> None:
    client = Client()
    async with turn_of(tmp_path, client) as turn:
        client.before = turn.close
        await turn.acquire()
