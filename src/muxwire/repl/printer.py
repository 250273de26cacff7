"""What writes lines for a person or a pipe: answers always, notifications as long as there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio

from muxwire.repl.showing import BAD, Line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

# What may wait to be written: some screens, for which a terminal takes less time than a key may wait.
ROOM = 300
# Between two writes to a terminal: more often cannot be seen, and each costs a redraw of the prompt.
PAUSE_S = 0.02


@final
class Printer:
    """Takes lines at any time; `run` writes them by `write`."""

    def __init__(
        self, write: Callable[[list[Line]], Awaitable[None]], *, room: int = ROOM, pause: float = PAUSE_S
    ) -> None:
        self._write, self._room, self._pause = write, room, pause
        self._lines: list[Line] = []
        self._left_out = 0  # notifications, since the last line
        self._writing = False
        self._changed = anyio.Event()

    def put(self, lines: Iterable[Line]) -> None:
        """Have these lines written: an answer, an error, a remark."""
        if self._left_out:
            text = (
                f"… {self._left_out} notifications came too fast to be shown (:filter shows fewer, :record keeps all)"
            )
            self._lines.append(((BAD, text),))
            self._left_out = 0
        self._lines.extend(lines)
        self._wake()

    def offer(self, lines: Iterable[Line]) -> None:
        """Have these lines written if there is room: a notification."""
        if len(self._lines) < self._room:
            self.put(lines)
        else:
            self._left_out += 1

    @property
    def half_full(self) -> bool:
        return len(self._lines) > self._room // 2

    async def flushed(self) -> None:
        while self._lines or self._writing:
            await self._changed.wait()

    async def run(self) -> None:
        while True:
            while not self._lines:
                await self._changed.wait()
            self.put(())
            lines, self._lines, self._writing = self._lines, [], True
            await self._write(lines)
            self._writing = False
            self._wake()
            await anyio.sleep(self._pause)

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
