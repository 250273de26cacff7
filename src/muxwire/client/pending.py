"""One command line that waits for its blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError

if TYPE_CHECKING:
    from muxwire.errors import ConnectionClosed
    from muxwire.protocol.commands import Command
    from muxwire.protocol.events import CommandBlock


@final
class Pending:
    """A sent command. Nobody has to wait for it: its answer keeps its place in the order all the same."""

    __slots__ = ("_event", "_failure", "blocks", "command", "done")

    def __init__(self, command: Command) -> None:
        self.command = command
        self.blocks: list[CommandBlock] = []
        self.done = False
        self._event: anyio.Event | None = None
        self._failure: ConnectionClosed | None = None

    @property
    def failed(self) -> bool:
        """Whether the connection was lost before the answer was whole."""
        return self._failure is not None

    async def wait(self) -> tuple[bytes, ...]:
        """Return the lines of all blocks; CommandError on %error, ConnectionClosed if no answer can come."""
        if not self.done:
            if self._event is None:
                self._event = anyio.Event()
            await self._event.wait()
        return self.result()

    def result(self) -> tuple[bytes, ...]:
        """Return what `wait` would, of a command that is done."""
        if self._failure is not None:
            raise self._failure
        last = self.blocks[-1]
        if last.error:
            raise CommandError(self.command.name, last.output)
        if len(self.blocks) == 1:
            return last.output
        return tuple(line for block in self.blocks for line in block.output)

    def answer(self, block: CommandBlock) -> None:
        """Take a block, and wake the waiter after the last one."""
        self.blocks.append(block)
        if block.last:
            self._finish()

    def fail(self, failure: ConnectionClosed) -> None:
        """End the wait: no answer can come."""
        self._failure = failure
        self._finish()

    def _finish(self) -> None:
        self.done = True
        if self._event is not None:
            self._event.set()
