"""Bells in a pane's output: every BEL that is not the end of an OSC, whatever the chunks it arrives in."""

from __future__ import annotations

import re
from typing import final

# What begins, ends or cancels a string; see pane/text.py for the state machine that this is a part of.
_TOKEN = re.compile(rb"\x1b[\]PX^_k]|[\x07\x18\x1a\x1b]")
_CANCEL = (b"\x18", b"\x1a", b"\x1b")


@final
class BellScanner:
    """Finds bells in a stream; `offset` is that of the next byte to be fed."""

    __slots__ = ("_held", "_string", "offset")

    def __init__(self, start: int = 0) -> None:
        self.offset = start
        self._held = b""  # an ESC at the end of a chunk
        self._string = b""  # the byte that introduced the string we are in

    def feed(self, data: bytes) -> list[int]:
        """Take the next bytes; return the offsets behind the bells among them."""
        if not self._string and not self._held and b"\x07" not in data and b"\x1b" not in data:
            self.offset += len(data)
            return []
        base = self.offset - len(self._held)
        held = self._held + data
        self.offset += len(data)
        self._held = b"\x1b" if held.endswith(b"\x1b") else b""
        bells = []
        for token in _TOKEN.finditer(held, 0, len(held) - len(self._held)):
            if token[0] == b"\x07":
                if not self._string:
                    bells.append(base + token.end())
                elif self._string == b"]":
                    self._string = b""
            elif len(token[0]) > 1:
                self._string = token[0][1:]
            elif token[0] in _CANCEL:
                self._string = b""
        return bells
