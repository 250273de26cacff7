"""Splits what a terminal gets into text, control characters and sequences, however it is cut.

The state machine is that of `vt/text.py` (ECMA-48, DEC's VT500), for characters in place of bytes. Strings (DCS, APC,
PM, SOS, titles) are passed over; the text of an OSC is handed on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, final

from muxwire.vt.text import SEQUENCE_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

# `text`; `control`: one character; `escape`: intermediates and final byte; `csi`: from the byte after `ESC [` to the
# final byte; `osc`: what stands between its introducer and its end.
Kind = Literal["text", "control", "escape", "csi", "osc"]

# Sequences with more bytes of parameters are passed over. tmux takes 64 bytes (input.c; INPUT_PARAM_MAX is 24 of them).
_PARAMETERS_MAX = 256
# A person reads no more of a title.
_OSC_MAX = 4096

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|(?P<control>[\x00-\x17\x19\x1c-\x1f])"
    r"|\x1b\[(?P<csi>[\x20-\x3f]{0,64}[\x40-\x7e])"
    # what introduces a string (P X ] ^ _ k) or a CSI is no final byte
    r"|\x1b(?P<escape>[\x20-\x2f]{1,8}[\x30-\x7e]|[\x30-\x4f\x51-\x57\x59\x5a\\`-jl-~])"
)
_STRING_END = re.compile(r"[\x1b\x18\x1a\x9c]")
_OSC_END = re.compile(r"[\x07\x1b\x18\x1a\x9c]")
_GROUND, _ESCAPE, _CSI, _OSC, _STRING = range(5)
_STATE_OF = {
    "\x1b": _ESCAPE, "\x90": _STRING, "\x98": _STRING, "\x9b": _CSI, "\x9d": _OSC, "\x9e": _STRING, "\x9f": _STRING,
}  # fmt: skip
_STATE_BEHIND_ESCAPE = {"[": _CSI, "]": _OSC} | dict.fromkeys("PX^_k", _STRING)


@final
class SequenceSplitter:
    """Keeps what has begun in one chunk and continues in the next."""

    __slots__ = ("_begun", "_budget", "_state")

    def __init__(self) -> None:
        self._state = _GROUND
        self._begun = ""  # of the sequence at hand
        self._budget = 0  # how much longer a string may get

    def feed(self, data: str) -> Iterator[tuple[Kind, str]]:
        """Yield what the next characters bring, in order."""
        position, match = 0, _TOKEN.match
        while position < len(data):
            if self._state == _GROUND:
                found = match(data, position)
                if found is None:
                    self._enter(_STATE_OF.get(data[position], _GROUND))
                    position += 1
                else:
                    position = found.end()
                    kind = found.lastgroup
                    yield kind, found[kind]  # type: ignore[misc, index]  # the pattern's groups are the kinds
            elif self._state in (_OSC, _STRING):
                begin, position = position, self._string_end(data, position)
                if self._state == _OSC:
                    self._begun += data[begin:position][: _OSC_MAX - len(self._begun)]
                if position < len(data) or not self._budget:
                    if self._state == _OSC:
                        yield "osc", self._begun
                    ended_by = data[position : position + 1] if self._budget else ""
                    position += len(ended_by)
                    self._enter(_ESCAPE if ended_by == "\x1b" else _GROUND)
            else:
                step = self._step(data[position])
                position += self._state != _GROUND or data[position] < "\x80"
                if step is not None:
                    yield step

    def _enter(self, state: int) -> None:
        self._state, self._begun, self._budget = state, "", SEQUENCE_MAX

    def _string_end(self, data: str, position: int) -> int:
        bound = min(len(data), position + self._budget)
        found = (_OSC_END if self._state == _OSC else _STRING_END).search(data, position, bound)
        end = found.start() if found else bound
        self._budget -= end - position
        return end

    def _step(self, character: str) -> tuple[Kind, str] | None:
        """Take one character of an escape sequence or a CSI; one beyond ASCII ends it and is no part of it."""
        if character < "\x20" and character not in "\x1b\x18\x1a":
            return "control", character
        if "\x20" <= character < ("\x40" if self._state == _CSI else "\x30"):
            # an overlong one stays overlong, and its final byte does nothing
            self._begun += character if len(self._begun) <= _PARAMETERS_MAX else ""
            return None
        if character == "\x7f":
            return None
        state, begun = self._state, self._begun
        if character < "\x20" or character >= "\x80":
            self._enter(_ESCAPE if character == "\x1b" else _GROUND)
            return None
        if state == _ESCAPE and not begun and character in _STATE_BEHIND_ESCAPE:
            self._enter(_STATE_BEHIND_ESCAPE[character])
            return None
        self._enter(_GROUND)
        return ("csi" if state == _CSI else "escape", begun + character) if len(begun) <= _PARAMETERS_MAX else None
