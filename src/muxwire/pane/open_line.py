"""How much of a line a terminal in line mode already holds: what is too much of one it drops, without a word.

The kernel gives no number (FIONREAD counts finished lines only), so what we typed is counted. A person's keys are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

from muxwire.errors import InvalidArgument

if TYPE_CHECKING:
    from muxwire.host.host import TtyModes

# Linux keeps 4096 bytes of a line that a canonical-mode program has not ended, the line end among them (MAX_CANON).
LINE_MAX = 4095

# What hands a line over or throws it away: CR, LF, C-d, C-c, C-\, C-z, C-u (termios(3), as every system sets it).
_ENDS = re.compile(rb"[\r\n\x03\x04\x15\x1a\x1c]")
_ERASE = b"\x7f"


@final
class OpenLine:
    """The unfinished line of one pane's terminal."""

    def __init__(self) -> None:
        self._held = 0

    def check(self, data: bytes, modes: TtyModes | None, *, begun: bool = False) -> None:
        """Refuse what a program that reads by lines would lose: InvalidArgument. `begun`: earlier keys are typed."""
        if modes is None or not modes.icanon:
            return
        longest = max(self._lengths(data))
        if longest > LINE_MAX:
            before = "what came before it was typed; send" if begun else "send"
            raise InvalidArgument(
                f"a line of {longest} bytes: the program reads by lines, and its terminal keeps {LINE_MAX} of one",
                remedy=f"{before} shorter lines, or write the text to a file and have the program read that",
            )

    def typed(self, data: bytes, modes: TtyModes | None) -> None:
        if modes is None or not modes.icanon:
            self._held = 0
            return
        last = _ENDS.split(data)[-1]
        self._held = max(0, self._lengths(data)[-1] - last.count(_ERASE))

    def _lengths(self, data: bytes) -> list[int]:
        """How long each line becomes, at most."""
        lengths = [len(piece) - piece.count(_ERASE) for piece in _ENDS.split(data)]
        lengths[0] += self._held
        return lengths
