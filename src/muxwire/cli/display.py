"""What of a program's bytes may go to a person's terminal, which is not the one that the program writes to."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, final

from muxwire.vt.sequences import SequenceSplitter

if TYPE_CHECKING:
    from muxwire.vt.sequences import Kind

# The control characters (ECMA-48) that go to a terminal: bell, backspace, tab, line ends. The terminal would answer
# ENQ, and SO and SI change its character set for good.
_CONTROLS = "\a\b\t\n\v\f\r"
# ECMA-48 8.3, by final byte: insert, move, erase, delete, scroll, repeat, colours. Others make the terminal answer (c,
# n, x, t), or set a mode; so do sequences with a private prefix or an intermediate byte.
_CSI_FINALS = "@ABCDEFGHIJKLMPSTXZ`abdefm"
_PARAMETERS = "0123456789;:"
# A hyperlink (OSC 8): the terminal answers nothing. It ends with its text, by one that names no address.
_HYPERLINK, _LINK_ENDS = "8;", "8;;"
# DECSET and DECRST of the alternate screen (xterm's control sequences).
_ALTERNATE = frozenset(("47", "1047", "1049"))


@final
class Display:
    """Takes output in pieces, cut anywhere, and gives what may go to a terminal: text, and what colours or places it.

    The output holds questions to the terminal, whose answers would be typed into the shell that reads next, and orders
    that outlive the output: modes, titles, the clipboard (OSC 52). What a program draws on the alternate screen is left
    out (`on_alternate`: it draws there now). A pipe and a file get every byte.
    """

    def __init__(self) -> None:
        self.on_alternate = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._splitter = SequenceSplitter()
        self._styled = self._linked = False

    def take(self, data: bytes) -> bytes:
        parts = self._splitter.feed(self._decoder.decode(data))
        return "".join(self._shown(kind, part) for kind, part in parts).encode("utf-8", "surrogateescape")

    def end(self) -> bytes:
        """What ends a colour and a link that the output has left on."""
        return (b"\x1b[m" if self._styled else b"") + (b"\x1b]8;;\x1b\\" if self._linked else b"")

    def _shown(self, kind: Kind, part: str) -> str:
        if kind == "csi" and part[0] == "?" and part[-1] in "hl" and not _ALTERNATE.isdisjoint(part[1:-1].split(";")):
            self.on_alternate = part[-1] == "h"
        if self.on_alternate:
            return ""
        if kind == "text":
            return part
        if kind == "control":
            return part if part in _CONTROLS else ""
        if kind == "csi" and part[-1] in _CSI_FINALS and not part[:-1].strip(_PARAMETERS):
            self._styled = part not in ("m", "0m") if part[-1] == "m" else self._styled
            return f"\x1b[{part}"
        if kind == "osc" and part.startswith(_HYPERLINK):
            self._linked = part != _LINK_ENDS
            return f"\x1b]{part}\x1b\\"
        return ""
