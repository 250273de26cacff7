"""Recording a tab as an asciicast: what it showed at which moment, for players.

The format is asciinema's asciicast v2: a header line, then one line for each event, `[SECONDS, CODE, DATA]`. A
recording begins with a picture of the screen, so it may begin at any time; so does what comes after a change of size,
since terminals differ in what they make of the lines that they show.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, final

import anyio

from muxwire.errors import TabUnavailable

if TYPE_CHECKING:
    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.screens import Look

VERSION = 2
# What a player shows as one step.
_CHUNK = 64 << 10
# The last picture takes a ms, but to write it may take for ever: the reader of the recording may have stopped.
_LAST_SECONDS = 2.0
# Players measure in seconds; a millionth of one is all that the clock knows.
_TIME_DIGITS = 6

Write = Callable[[bytes], Awaitable[None]]


@final
class Recorder:
    """Records one tab; `record` returns when the tab's program has ended."""

    def __init__(self, terminals: Terminals, tab: Tab, write: Write) -> None:
        self._terminals = terminals
        self._tab = tab
        self._write = write
        self._begin = time.monotonic()
        self._size: tuple[int, ...] = (0, 0)
        self._next_byte = 0
        self.events = 0

    @property
    def seconds(self) -> float:
        return round(time.monotonic() - self._begin, _TIME_DIGITS)

    async def record(self, *, title: str = "", idle_limit: float | None = None, duration: float = math.inf) -> None:
        """Write the header and the events of `duration` seconds.

        Raises what `write` raises, TabUnavailable for a dead tab.
        """
        look = await self._tab.view.look()
        self._begin = time.monotonic()
        self._size = columns, rows = look.said[:2]
        head: dict[str, object] = {"version": VERSION, "width": columns, "height": rows}
        head |= {"timestamp": int(time.time()), "title": title or self._tab.name}
        if idle_limit is not None:
            head["idle_time_limit"] = idle_limit
        await self._write(json.dumps(head).encode() + b"\n")
        await self._event("o", painted(look))
        self._next_byte = look.end
        try:
            with anyio.move_on_after(duration):
                await self._follow()
        finally:
            # A log is not read to its end while that may be half a line end, or half of a line that muxwire typed: so
            # a last picture shows what is not in the recording yet.
            if self._tab.next_byte > self._next_byte and not self._tab.pane.session.dead:
                with anyio.move_on_after(_LAST_SECONDS, shield=True):
                    await self._event("o", painted(await self._tab.view.look()))

    async def _follow(self) -> None:
        while True:
            chunk = await self._terminals.stream_logs(
                self._tab.key, from_byte=self._next_byte, max_bytes=_CHUNK, wait=math.inf
            )
            self._next_byte = chunk.next_byte
            if chunk.chunk:
                await self._event("o", chunk.chunk)
                await self._check_size()
            if chunk.eof and chunk.closed:
                return

    async def _check_size(self) -> None:
        """If the tab has another size now, write that, and the screen as it is since."""
        if self._tab.size != self._size:
            with suppress(TabUnavailable):  # it has ended meanwhile
                look = await self._tab.view.look()
                self._size = columns, rows = look.said[:2]
                await self._event("r", f"{columns}x{rows}")
                await self._event("o", painted(look))
                self._next_byte = max(self._next_byte, look.end)

    async def _event(self, code: Literal["o", "r"], data: str) -> None:
        self.events += 1
        await self._write(json.dumps([self.seconds, code, data], ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def painted(look: Look) -> str:
    """What draws this screen on an empty terminal, and on one that shows something else."""
    columns, _, x, y, alternate, visible, _ = look.said
    return "".join(
        (
            # tmux prints the line drawing set as the second one (SO, SI).
            f"\x1b[0m\x1b)0\x0f\x1b[?1049{'h' if alternate else 'l'}\x1b[H\x1b[2J",
            b"\r\n".join(look.rows).decode("utf-8", "replace"),
            f"\x1b[0m\x1b[{y + 1};{min(x, columns - 1) + 1}H\x1b[?25{'h' if visible else 'l'}",
            f"\x1b]2;{''.join(sign for sign in look.title if sign.isprintable())}\x07",
        )
    )
