"""Plain text out of terminal output: escape sequences and control characters go, tabs and line ends stay.

The state machine is the one of DEC's VT500 terminals (ECMA-48, and Paul Williams's chart of it):
ESC begins a sequence in any state, CAN and SUB cancel one, control characters inside a CSI are obeyed, those inside a
string are not. Added to it, as tmux and xterm do: BEL ends an OSC, and `ESC k` begins a title.

C1 controls count as such in their 7-bit form (`ESC [`) and as UTF-8 characters (U+009B). As single bytes they cannot
be distinguished from the text of other encodings, so only CSI is taken, right after an ASCII byte; tmux takes none.
"""

from __future__ import annotations

import codecs
import re
from typing import final, overload

from muxwire.values import pattern

# tmux gives up a string at 1 MiB (input.c, INPUT_BUF_LIMIT); what comes after that is shown, so that a string
# that never ends cannot hide a log for ever.
SEQUENCE_MAX = 1024 * 1024

# What goes from plain text: control characters besides tab, line feed and carriage return.
_UNSEEN = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r") + b"\x7f"
_OBEYED = b"\t\n\r"

_GROUND, _ESCAPE, _INTERMEDIATE, _CSI, _OSC, _STRING = range(6)

_STRING_INTRODUCERS = b"PX^_k"
# A whole CSI of any usual length: nearly every sequence there is. The others go through the state machine.
_USUAL_CSI = rb"\[[\x20-\x3f]{0,64}[\x40-\x7e]"
_USUAL_CSI_RE = pattern(rb"\x1b" + _USUAL_CSI)
# What leaves the ground state: any other ESC, a C1 character, an 8-bit CSI that is not the inside of a character.
_ESC = rb"\x1b(?!" + _USUAL_CSI + rb")"
_ESC_RE = re.compile(_ESC)
_ESC_OR_C1_RE = pattern(_ESC + rb"|\xc2[\x80-\x9f]|\x9b(?<![\x80-\xff]\x9b)")
# From the byte after `ESC [`: parameters and intermediates, well-formed or not, up to the final byte.
_CSI_RE = pattern(rb"[\x20-\x3f]*([\x40-\x7e])?")
_INTERMEDIATE_RE = pattern(rb"[\x20-\x2f]*([\x30-\x7e])?")
# Ends of a string: ESC (of ESC \, or of a new sequence), CAN, SUB, ST as a character; BEL for an OSC.
_STRING_END_RE = pattern(rb"[\x1b\x18\x1a]|\xc2\x9c")
_OSC_END_RE = pattern(rb"[\x07\x1b\x18\x1a]|\xc2\x9c")
_STATE_OF_C1 = {0x90: _STRING, 0x98: _STRING, 0x9B: _CSI, 0x9D: _OSC, 0x9E: _STRING, 0x9F: _STRING}


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
    """Return the text of a whole output; an unfinished sequence at its end goes."""
    if isinstance(data, str):
        return strip_ansi(data.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    stripper = AnsiStripper()
    return stripper.feed(data) + stripper.cancel()


@final
class AnsiStripper:
    """As `strip_ansi`, for output that comes in chunks, which may be cut anywhere.

    `held` is a last byte that the next one decides, or nothing.
    """

    __slots__ = ("_after_high", "_budget", "_leave", "_state", "held")

    def __init__(self) -> None:
        self._state = _GROUND
        self._budget = 0  # how much longer the sequence may get
        self.held = b""  # 0xC2 at the end: it begins a C1 character or an ordinary one
        self._after_high = False  # the byte before was 0x80 or more
        self._leave = _ESC_RE  # what leaves the ground state, in the chunk at hand

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return their text, but for what is held."""
        if self._state == _GROUND and not self.held and data.isascii() and b"\x1b" not in data:
            self._after_high = self._after_high and not data
            return data.translate(None, _UNSEEN)
        # the byte before, as far as it matters
        lookbehind = b"\x80" if self._after_high and not self.held else b""
        data = lookbehind + self.held + data
        position = len(lookbehind)
        if len(data) == position:
            return b""
        self._after_high = data[-1] >= 0x80
        self.held = b""
        if data[-1] == 0xC2:
            self.held, data = b"\xc2", data[:-1]
        self._leave = _ESC_RE if data.isascii() else _ESC_OR_C1_RE
        text: list[bytes] = []
        while position < len(data):
            position = _STEPS[self._state](self, data, position, text)
        return b"".join(text)

    def cancel(self) -> bytes:
        """Leave any sequence, as CAN would; return what was held back."""
        held = b"" if self._state in (_OSC, _STRING) else self.held
        self._state = _GROUND
        self.held = b""
        self._after_high = False
        return held

    def _enter(self, state: int) -> None:
        self._state = state
        self._budget = SEQUENCE_MAX

    def _ground(self, data: bytes, position: int, text: list[bytes]) -> int:
        leave = self._leave.search(data, position)
        run = data[position : leave.start() if leave else len(data)]
        text.append(_USUAL_CSI_RE.sub(b"", run).translate(None, _UNSEEN))
        if leave is None:
            return len(data)
        c1 = data[leave.end() - 1]
        self._enter(_ESCAPE if c1 == 0x1B else _STATE_OF_C1.get(c1, _GROUND))
        return leave.end()

    def _escape(self, data: bytes, position: int, text: list[bytes]) -> int:
        byte = data[position]
        if byte == 0x5B:
            self._state = _CSI
        elif byte == 0x5D:
            self._state = _OSC
        elif byte in _STRING_INTRODUCERS:
            self._state = _STRING
        elif 0x20 <= byte <= 0x2F:
            self._state = _INTERMEDIATE
        elif byte >= 0x30 and byte != 0x7F:
            self._state = _GROUND
            return position + (byte < 0x7F)  # text beyond ASCII is no part of a sequence
        else:
            self._budget -= 1
            self._state = _ESCAPE if self._budget else _GROUND
            self._control(byte, text)
        return position + 1

    def _intermediate(self, data: bytes, position: int, text: list[bytes]) -> int:
        return self._up_to_final(_INTERMEDIATE_RE, data, position, text)

    def _csi(self, data: bytes, position: int, text: list[bytes]) -> int:
        return self._up_to_final(_CSI_RE, data, position, text)

    def _up_to_final(self, pattern: re.Pattern[bytes], data: bytes, position: int, text: list[bytes]) -> int:
        bound = min(len(data), position + self._budget)
        match = pattern.match(data, position, bound)
        last = match.end() if match else position
        self._budget -= last - position
        if (match and match[1]) or not self._budget:
            self._state = _GROUND
        elif last < len(data):
            byte = data[last]
            if byte >= 0x80:
                self._state = _GROUND
                return last
            self._budget -= 1
            self._control(byte, text)
            return last + 1
        return last

    def _control(self, byte: int, text: list[bytes]) -> None:
        if byte == 0x1B:
            self._enter(_ESCAPE)
        elif byte in (0x18, 0x1A):
            self._state = _GROUND
        elif byte in _OBEYED:
            text.append(bytes((byte,)))

    def _string(self, data: bytes, position: int, _text: list[bytes]) -> int:
        bound = min(len(data), position + self._budget)
        match = (_OSC_END_RE if self._state == _OSC else _STRING_END_RE).search(data, position, bound)
        last = match.end() if match else bound
        self._budget -= last - position
        if match and data[last - 1] == 0x1B:
            self._enter(_ESCAPE)
        elif match or not self._budget:
            self._state = _GROUND
        return last


_STEPS = (
    AnsiStripper._ground,  # noqa: SLF001
    AnsiStripper._escape,  # noqa: SLF001
    AnsiStripper._intermediate,  # noqa: SLF001
    AnsiStripper._csi,  # noqa: SLF001
    AnsiStripper._string,  # noqa: SLF001
    AnsiStripper._string,  # noqa: SLF001
)
