"""`muxwire serve`, whose control connection may carry more output than a tmux of this machine can pass on.

While the program of a tab has written FLOOD and not yet OVER, what tmux says is followed by output of that pane, at
`RATE`. All that muxwire does with output is done with it; screens are tmux's own, which knows nothing of it.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, final

import anyio

from muxwire.library.opening import open_terminals
from muxwire.mcp import serve

if TYPE_CHECKING:
    from muxwire.client.transport import Transport

FLOOD, OVER = b"FLOOD", b"OVER"
# Bytes of the pane a second; more than any tmux passes on.
RATE = 25_000_000
# As much as one read of a full pipe, in lines as tmux writes them of a terminal of 200 columns.
ROW = b"x" * 199
LINE = (ROW + rb"\015\012") * 40
PIECE_BYTES = 1 << 20
PAUSE_SECONDS = 0.01


@final
class Flooded:
    """A transport that passes everything on, and adds output after whole lines."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._open = b""  # a line whose end is not here yet
        self._in_block = False
        self._pane = b""  # the one whose program writes the flood
        self._begun = 0.0
        self._added = 0

    async def receive(self) -> bytes:
        while True:
            data = b""
            with anyio.move_on_after(PAUSE_SECONDS if self._pane else math.inf):
                data = await self._transport.receive()
                if not data:
                    return b""
            if passed := self._kept(data) + self._more():
                return passed

    def receive_soon(self, seconds: float) -> bytes:
        return self._kept(self._transport.receive_soon(seconds))

    def _kept(self, data: bytes) -> bytes:
        """What can be passed on: whole lines while something is added, else all of it."""
        *lines, self._open = (self._open + data).split(b"\n")
        for line in lines:
            if line.startswith((b"%begin ", b"%end ", b"%error ")):
                self._in_block = line.startswith(b"%begin ")
            elif line.startswith(b"%output ") and not self._in_block:
                if FLOOD in line and not self._pane:
                    self._pane, self._begun, self._added = line.split(b" ", 2)[1], time.monotonic(), 0
                elif OVER in line:
                    self._pane = b""
        return b"".join(line + b"\n" for line in lines)

    def _more(self) -> bytes:
        owed = (time.monotonic() - self._begun) * RATE - self._added
        count = int(min(owed, PIECE_BYTES) / (len(ROW) + 2) / 40)
        if self._in_block or not self._pane or count < 1:
            return b""
        self._added += count * 40 * (len(ROW) + 2)
        return (b"%output " + self._pane + b" " + LINE + b"\n") * count

    def note_read(self, size: int, *, answers: bool) -> None:
        self._transport.note_read(size, answers=answers)

    def send_nowait(self, data: bytes) -> int:
        return self._transport.send_nowait(data)

    async def send(self, data: bytes) -> None:
        await self._transport.send(data)

    async def aclose(self) -> None:
        await self._transport.aclose()

    def ending(self) -> str:
        return self._transport.ending()


if __name__ == "__main__":
    anyio.run(partial(serve, partial(open_terminals, wrap=Flooded)))
