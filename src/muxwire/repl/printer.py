"""Lines to the terminal or a pipe, in their order, never holding up the reader of the connection.

What is put here waits in memory until the writer, a task of its own, has taken it. If notifications come faster than
they can be written, the newest are left out and counted; answers and errors are always kept.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, final

import anyio

from muxwire.repl.showing import BAD, Line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

# Some screens of a terminal: nobody reads more, and a terminal takes a tenth of a second for them.
ROOM = 1000
# Lines written at once: a terminal that is asked to show more is busy for longer than a key may wait.
BATCH = 200
# Between two writes to a terminal: more often than this nobody sees, and each costs a redraw of the prompt.
PAUSE_S = 0.02


@final
class Printer:
    """Takes lines at any time; `run` writes them by `write`."""

    def __init__(
        self, write: Callable[[Sequence[Line]], Awaitable[None]], *, room: int = ROOM, pause: float = PAUSE_S
    ) -> None:
        self.left_out = 0  # notifications, since the start
        self._write = write
        self._room = room
        self._pause = pause
        self._lines: deque[Line] = deque()
        self._gap = 0  # notifications left out since the last line
        self._filled = anyio.Event()
        self._empty = anyio.Event()
        self._empty.set()

    def put(self, lines: Iterable[Line]) -> None:
        """Have these lines written: an answer, an error, a remark."""
        self._close_gap()
        self._lines.extend(lines)
        self._wake()

    def offer(self, lines: Sequence[Line]) -> None:
        """Have these lines written if there is room: a notification."""
        if len(self._lines) >= self._room:
            self._gap += 1
            self.left_out += 1
            return
        self._close_gap()
        self._lines.extend(lines)
        self._wake()

    async def flushed(self) -> None:
        """Return when all that was put here has been written."""
        self._close_gap()
        await self._empty.wait()

    async def run(self) -> None:
        while True:
            await self._filled.wait()
            self._filled = anyio.Event()
            while self._lines or self._gap:
                if not self._lines:
                    self._close_gap()
                batch = [self._lines.popleft() for _ in range(min(BATCH, len(self._lines)))]
                await self._write(batch)
                await anyio.sleep(self._pause if self._lines else 0)
            self._empty.set()

    def _close_gap(self) -> None:
        if self._gap:
            text = f"… {self._gap} notifications came too fast to be shown (:filter shows fewer, :record keeps all)"
            self._gap = 0
            self._lines.append(((BAD, text),))
            self._wake()

    def _wake(self) -> None:
        if self._lines:
            if self._empty.is_set():
                self._empty = anyio.Event()
            self._filled.set()
