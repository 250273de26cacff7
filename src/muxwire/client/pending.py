"""One command line that waits for its blocks."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, final

import anyio
import anyio.lowlevel

from muxwire.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.client.patience import Patience
    from muxwire.errors import ConnectionClosed
    from muxwire.protocol.commands import Command
    from muxwire.protocol.events import CommandBlock


@final
class Pending:
    """A sent command. Nobody has to wait for it: its answer keeps its place in the order all the same."""

    __slots__ = ("_event", "_failure", "_patience", "_then", "blocks", "command", "done", "waits_until")

    def __init__(self, command: Command, patience: Patience) -> None:
        self.command = command
        self.waits_until = math.inf  # on the monotonic clock; infinity: nobody waits, or for ever
        self._patience = patience
        self._then: Callable[[], None] | None = None
        self.blocks: list[CommandBlock] = []
        self.done = False
        self._event: anyio.Event | None = None
        self._failure: ConnectionClosed | None = None

    @property
    def failed(self) -> bool:
        return self._failure is not None

    async def wait(self) -> tuple[bytes, ...]:
        """Return the lines of all blocks; CommandError on %error, ConnectionClosed if no answer can come.

        TmuxSilent if none came in ten seconds: it may still come.
        """
        if not self.done:
            if self.waits_until == math.inf:
                self.waits_until = self._patience.until()
            await self._changed()
            if not self.done:
                raise self._patience.explain()
        return self.result()

    async def wait_within(self, seconds: float) -> tuple[bytes, ...]:
        """As `wait`, but TmuxSilent if there is no answer after so long."""
        with anyio.move_on_after(seconds):
            return await self.wait()
        await anyio.lowlevel.checkpoint()  # it is we who may have stood still: what is here is read first
        if not self.done:
            raise self._patience.explain()
        return self.result()

    async def settled(self) -> None:
        """Return when the answer is here, or can no longer come, however long that takes."""
        while not self.done:
            await self._changed()

    async def _changed(self) -> None:
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()

    def result(self) -> tuple[bytes, ...]:
        if self._failure is not None:
            raise self._failure
        last = self.blocks[-1]
        if last.error:
            raise CommandError(self.command.name, last.output)
        if len(self.blocks) == 1:
            return last.output
        return tuple(chain.from_iterable(block.output for block in self.blocks))

    def then(self, call: Callable[[], None]) -> None:
        """Have that called, by the reader, when the answer is here or can no longer come: in the order of answers."""
        if self.done:
            call()
        else:
            self._then = call

    def answer(self, block: CommandBlock) -> None:
        """Take a block, and wake the waiter after the last one."""
        self.blocks.append(block)
        if block.last:
            self._finish()

    def fail(self, failure: ConnectionClosed) -> None:
        self._failure = failure
        self._finish()

    def give_up(self) -> None:
        """End the waits for now: tmux is silent."""
        self.waits_until = math.inf
        if self._event is not None:
            self._event.set()
            self._event = None

    def _finish(self) -> None:
        self.done = True
        if self._event is not None:
            self._event.set()
        if self._then is not None:
            self._then()
