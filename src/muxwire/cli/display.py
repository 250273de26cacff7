"""What of a log may go to a terminal again: text, and what colours or places it.

A log holds questions to the terminal, whose answers would be typed into the shell that reads next, and orders that
outlive the log: modes, titles, the clipboard (OSC 52). A pipe and a file get every byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.vt.sequences import SequenceSplitter

if TYPE_CHECKING:
    from muxwire.vt.sequences import Kind

# ECMA-48: bell, backspace, tab, line ends. ENQ asks, SO and SI change the character set for good.
_CONTROLS = "\a\b\t\n\v\f\r"
# ECMA-48 8.3, by final byte: insert, move, erase, delete, scroll, repeat, colours. The rest asks (c, n, x, t), or sets
# a mode; so does what has a private prefix or an intermediate byte.
_CSI_FINALS = "@ABCDEFGHIJKLMPSTXZ`abdefm"
_PARAMETERS = "0123456789;:"
# A hyperlink asks nothing and ends with its text.
_HYPERLINK = "8;"


@final
class Display:
    """Takes a log in pieces, cut anywhere, and gives what may be shown of it."""

    def __init__(self) -> None:
        self._splitter = SequenceSplitter()

    def take(self, text: str) -> str:
        return "".join(_shown(kind, part) for kind, part in self._splitter.feed(text))


def _shown(kind: Kind, part: str) -> str:
    if kind == "text":
        return part
    if kind == "control":
        return part if part in _CONTROLS else ""
    if kind == "csi":
        return f"\x1b[{part}" if part[-1] in _CSI_FINALS and not part[:-1].strip(_PARAMETERS) else ""
    return f"\x1b]{part}\x1b\\" if kind == "osc" and part.startswith(_HYPERLINK) else ""
