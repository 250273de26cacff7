"""Bells and titles in a pane's output, whatever the chunks they arrive in.

A bell is every BEL that does not end an OSC. A title is what OSC 0 or 2 sets (xterm, "Operating System Commands").
"""

from __future__ import annotations

import re
from typing import Literal, final

from muxwire.values import dataclass

# What begins, ends or cancels a string; see vt/text.py for the state machine that this is a part of.
_TOKEN = re.compile(rb"\x1b[\]PX^_k]|[\x07\x18\x1a\x1b]")
# What a chunk with neither in it does not hold; colours alone cost one search.
_MAY_HOLD = re.compile(rb"\x07|\x1b[\]PX^_k]")
# An OSC of a private number that came whole, as every command's marks do: neither a bell nor a title.
_PRIVATE = re.compile(rb"\x1b\]7770;[^\x07\x1b\x18\x1a]*\x07")
_CANCEL = (b"\x18", b"\x1a", b"\x1b")
_TITLE = (b"0;", b"2;")
# A title bar has room for a line; of a longer title the beginning is enough.
TITLE_MAX = 512


@final
@dataclass(frozen=True, slots=True)
class Signal:
    """A bell or a title, and the offset after it; `text` is the title as UTF-8 bytes, which nobody promises."""

    kind: Literal["bell", "title"]
    end: int
    text: bytes = b""


@final
class BellScanner:
    """Finds bells and titles in a stream; `offset` is that of the next byte to be fed."""

    __slots__ = ("_collected", "_held", "_string", "offset")

    def __init__(self, start: int = 0) -> None:
        self.offset = start
        self._held = b""  # an ESC at the end of a chunk
        self._string = b""  # the byte that introduced the string we are in
        self._collected = b""  # what that string held so far, if it may be a title

    def feed(self, data: bytes) -> list[Signal]:
        if not (self._string or self._held or data.endswith(b"\x1b")) and _holds_none(data):
            self.offset += len(data)
            return []
        base = self.offset - len(self._held)
        held = self._held + data
        self.offset += len(data)
        self._held = b"\x1b" if held.endswith(b"\x1b") else b""
        end = len(held) - len(self._held)
        found: list[Signal] = []
        at = 0  # where the string's text continues
        for token in _TOKEN.finditer(held, 0, end):
            if self._string == b"]" and token[0][0] in b"\x07\x1b":  # any ESC: to tmux it ends an OSC as ST does
                self._collect(held[at : token.start()])
                self._title(base + token.end(), found)
            elif token[0] == b"\x07" and not self._string:
                found.append(Signal("bell", base + token.end()))
            self._step(token[0])
            at = token.end()
        if self._string == b"]":
            self._collect(held[at:end])
        return found

    def _step(self, token: bytes) -> None:
        if len(token) > 1:
            self._string, self._collected = token[1:], b""
        elif token in _CANCEL or (token == b"\x07" and self._string == b"]"):
            self._string = b""

    def _collect(self, piece: bytes) -> None:
        self._collected += piece[: TITLE_MAX + len(_TITLE[0]) - len(self._collected)]

    def _title(self, end: int, found: list[Signal]) -> None:
        if self._collected.startswith(_TITLE):
            found.append(Signal("title", end, self._collected[len(_TITLE[0]) :]))


def _holds_none(data: bytes) -> bool:
    # By memchr first: ten times the speed of the pattern, for output without any escape.
    if b"\x1b" not in data and b"\x07" not in data:
        return True
    return _MAY_HOLD.search(_PRIVATE.sub(b"", data)) is None
