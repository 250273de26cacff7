"""The reader of escape sequences in bytes: where each begins and ends, and plain text without any.

ESC begins a sequence wherever it stands, CAN and SUB end one (ECMA-48; Paul Williams's chart of DEC's VT500). As in
xterm and tmux BEL ends an OSC, and `ESC k` begins a title. C1 controls count as such in their 7-bit form (`ESC [`)
only: as other bytes they are text of some encoding, and tmux takes none. A control character within a CSI ends it.
"""

from __future__ import annotations

import codecs
import re
from typing import final, overload

# What belongs to the ESC before it, as far as it goes: a CSI, an OSC, another string (DCS, SOS, PM, APC, `ESC k`), a
# sequence with intermediate bytes, any other.
BEHIND_ESCAPE = (
    r"(?:\[[\x20-\x3f]*[\x40-\x7e]?"
    r"|\][^\x07\x18\x1a\x1b]*\x07?"
    r"|[PX^_k][^\x18\x1a\x1b]*"
    r"|[\x20-\x2f]+[\x30-\x7e]?"
    r"|[\x30-\x7e])?"
)
_SEQUENCE = re.compile(rb"\x1b" + BEHIND_ESCAPE.encode())
# What may go on in the next bytes.
_BEGUN = re.compile(rb"\x1b(?:\[[\x20-\x3f]*|\][^\x07\x18\x1a\x1b]*|[PX^_k][^\x18\x1a\x1b]*|[\x20-\x2f]*)\Z")
# So much is held of a string without an end, of which a title or a hyperlink is the longest that matters.
_HELD_MAX = 4096
# What goes from plain text: control characters besides tab, line feed and carriage return.
_UNSEEN = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r") + b"\x7f"


def undo_onlcr(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def text_of(parts: list[bytes]) -> str:
    """The same as `undo_onlcr(b"".join(parts)).decode("utf-8", "replace")`, and lets go of each part when it is read.

    `str.format` makes one text that grows in place. To join the texts of the parts would hold all of them beside it.
    """
    if len(parts) == 1:
        return undo_onlcr(parts.pop()).decode("utf-8", "replace")
    parts.reverse()
    return ("{}" * len(parts)).format(*[_NextText(parts)] * len(parts))


@final
class _NextText:
    """Formats as the text of the last of some parts, and removes that."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = b""  # a CR, until it is known what comes after it

    def __format__(self, _spec: str) -> str:
        data = self._held + self._parts.pop()
        self._held = b"\r" if data.endswith(b"\r") and self._parts else b""
        data = undo_onlcr(data[: len(data) - len(self._held)])
        return self._decoder.decode(data, final=not self._parts)


@overload
def strip_ansi(data: str) -> str: ...
@overload
def strip_ansi(data: bytes) -> bytes: ...
def strip_ansi(data: str | bytes) -> str | bytes:
    """Return the text of a whole output: sequences, also one that has no end, and control characters go."""
    if isinstance(data, str):
        return strip_ansi(data.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    return (_SEQUENCE.sub(b"", data) if b"\x1b" in data else data).translate(None, _UNSEEN)


def one_line(text: str) -> str:
    """`text` without what may move a person's cursor, where one line is shown: what a program chose may hold that."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def begun(data: bytes) -> int:
    """Where the sequence begins that `data` ends within; its length if there is none."""
    at = data.rfind(b"\x1b")
    return at if at >= 0 and _BEGUN.match(data, at) else len(data)


class WholeSequences:
    """Gives on the chunks that it is fed, but for a sequence that has begun, which it holds until it is whole."""

    __slots__ = ("held", "held_back")

    def __init__(self) -> None:
        self.held = b""  # its first bytes
        self.held_back = 0  # how many bytes came after those that `feed` has returned, if it has returned any

    def feed(self, data: bytes) -> bytes:
        data = self.held + data
        end = begun(data)
        self.held, self.held_back = data[end:][:_HELD_MAX], len(data) - end
        return data[:end]


@final
class AnsiStripper(WholeSequences):
    """As `strip_ansi`, for output that comes in chunks, which may be cut anywhere."""

    __slots__ = ()

    def feed(self, data: bytes) -> bytes:
        return strip_ansi(super().feed(data))
