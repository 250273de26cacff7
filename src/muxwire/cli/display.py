"""What of a program's bytes may go to a person's terminal, which is not the one that the program writes to."""

from __future__ import annotations

import codecs
import re
from typing import final

from muxwire.vt.text import BEHIND_ESCAPE, WholeSequences

# Of the control characters (ECMA-48) bell, backspace, tab and line ends go to a terminal. It would answer ENQ, and SO
# and SI change its character set for good. To some a C1 control in UTF-8 is one.
_TOKEN = re.compile(
    rb"\x1b\[(?P<csi>[\x20-\x3f]*[\x40-\x7e])|\x1b\](?P<link>8;[^\x07\x18\x1a\x1b]*)\x07?|\x1b"
    + BEHIND_ESCAPE.encode()
    + rb"|[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]|\xc2[\x80-\x9f]"
)
# ECMA-48 8.3, by final byte: insert, move, erase, delete, scroll, repeat, colours. Others make the terminal answer (c,
# n, x, t), or set a mode; so do sequences with a private prefix or an intermediate byte.
_CSI_FINALS = b"@ABCDEFGHIJKLMPSTXZ`abdefm"
_PARAMETERS = b"0123456789;:"
# A hyperlink (OSC 8): the terminal answers nothing. It ends with its text, by one that names no address.
_LINK_ENDS = b"8;;"
# DECSET and DECRST of the alternate screen (xterm's control sequences).
_ALTERNATE = frozenset((b"47", b"1047", b"1049"))


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
        self._sequences = WholeSequences()
        self._styled = self._linked = False

    def take(self, data: bytes) -> bytes:
        data = self._sequences.feed(self._decoder.decode(data).encode("utf-8", "surrogateescape"))
        parts, at = list[bytes](), 0
        for found in _TOKEN.finditer(data):
            parts += (b"" if self.on_alternate else data[at : found.start()], self._shown(found["csi"], found["link"]))
            at = found.end()
        parts.append(b"" if self.on_alternate else data[at:])
        return b"".join(parts)

    def end(self) -> bytes:
        """What ends a colour and a link that the output has left on."""
        return (b"\x1b[m" if self._styled else b"") + (b"\x1b]8;;\x1b\\" if self._linked else b"")

    def _shown(self, csi: bytes | None, link: bytes | None) -> bytes:
        if csi and csi[:1] == b"?" and csi[-1:] in b"hl" and not _ALTERNATE.isdisjoint(csi[1:-1].split(b";")):
            self.on_alternate = csi[-1:] == b"h"
        if self.on_alternate:
            return b""
        if csi and csi[-1:] in _CSI_FINALS and not csi[:-1].strip(_PARAMETERS):
            self._styled = csi not in (b"m", b"0m") if csi[-1:] == b"m" else self._styled
            return b"\x1b[" + csi
        if link:
            self._linked = link != _LINK_ENDS
            return b"\x1b]%b\x1b\\" % link
        return b""
