"""A command's output as a person would have read it, line by line as it comes."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, final

from muxwire.vt.readable import Readable, continued, lines_before, on_alternate, readable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# A line may be drawn over for hours: from here on only what it shows now is kept of it.
_LINE_MAX = 64 << 10
_ON_ALTERNATE = b"\x1b[?1049h"


@final
class PlainOutput:
    """Takes the output of `Tab.execute`; a line is written when it has ended, or when the command waits for input."""

    def __init__(self, columns: int, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._columns = columns
        self._write = write
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._before = ""  # a screen of lines that were written
        self._line = ""  # what was not
        self.note = ""  # what there is to say in the end

    async def take(self, data: bytes) -> None:
        """Take the next bytes, CR LF as LF."""
        self._line += self._decoder.decode(data).replace("\n", "\r\n")
        whole = self._line.rfind("\n") + 1
        if whole:
            await self._show(whole)
        if len(self._line) > _LINE_MAX:
            self._line = readable(self._line, columns=self._columns).text.replace("\n", "\r\n")

    async def flush(self) -> None:
        """Write the last line as it is now."""
        await self._show(len(self._line))

    async def _show(self, size: int) -> None:
        piece, self._line = self._line[:size], self._line[size:]
        text: Readable = continued(self._before, piece, columns=self._columns)
        self.note = text.note or self.note
        known = (self._before + piece).encode("utf-8", "replace")
        begin = max(lines_before(known), len(known) - _LINE_MAX)
        inside = _ON_ALTERNATE if on_alternate(known[:begin]) else b""
        self._before = (inside + known[begin:]).decode("utf-8", "replace")
        if text.text:
            await self._write(text.text.encode("utf-8", "replace"))
