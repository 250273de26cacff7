"""Which marks in an output say whose the text after them is: the prompt's, the input's, a program's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muxwire.vt.cells import Zone

# By our own marks (7770) and by those of shells that speak OSC 133 ("semantic prompts", from FinalTerm).
_ZONES: dict[str, Zone] = {
    "7770;P": "prompt", "7770;T": "input", "7770;C": "output", "7770;S": "output", "7770;E": "", "7770;D": "",
    "7770;X": "", "133;A": "prompt", "133;B": "input", "133;C": "output", "133;D": "",
}  # fmt: skip
_MARK = re.compile(r"7770;[A-Z]|133;[A-D]")


def zone_of(command: str) -> Zone | None:
    """What an OSC says of the text after it; None if it is no such mark."""
    found = _MARK.match(command)
    return _ZONES.get(found[0]) if found else None


def newest_zone(before: bytes) -> Zone | None:
    """What the next character belongs to, by the newest mark; None if there is none."""
    at = len(before)
    while (at := max(before.rfind(b"\x1b]7770;", 0, at), before.rfind(b"\x1b]133;", 0, at))) >= 0:
        zone = zone_of(before[at + 2 : at + 8].decode("ascii", "replace"))
        if zone is not None:
            return zone
    return None


def has_marks(output: bytes) -> bool:
    return b"\x1b]7770;" in output or b"\x1b]133;" in output
