"""When a terminal went to its alternate screen and back, by the bytes that it got."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from typing import Final, final

from muxwire.vt.text import WholeSequences

# DECSET and DECRST of the modes 47, 1047 and 1049, alone or among others (xterm's control sequences), but for the
# letter that ends them.
SWITCH: Final = r"\x1b\[\?(?:[0-9]{0,5};){0,16}(?:1049|1047|47)(?:;[0-9]{0,5}){0,16}"
SWITCH_MAX: Final = 3 + 16 * 6 + 4 + 16 * 6 + 1  # bytes of one, with the most numbers
ANY_SWITCH: Final = rf"{SWITCH}([hl])"
SWITCH_BEGIN: Final = b"\x1b[?"
_SWITCH: Final = re.compile(ANY_SWITCH.encode())
# Each switch contains one of these, and other output seldom does: quicker to look for than the whole expression.
_LONG, _SHORT = b"1049", b"47"
# So many are remembered: a program that goes there and back once a second, for an hour.
_KEPT: Final = 4096


def on_alternate(data: bytes) -> bool | None:
    """Whether a terminal shows the alternate screen after `data`; None if nothing in it says so."""
    if _LONG not in data and _SHORT not in data:
        return None
    at = data.rfind(SWITCH_BEGIN)
    while at >= 0:
        if (switch := _SWITCH.match(data, at)) is not None:
            return switch[1] == b"h"
        at = data.rfind(SWITCH_BEGIN, 0, at)
    return None


@final
class ScreenSwitches:
    """Knows for each offset which screen was shown. Each byte is looked at once; `at` may be called in any thread."""

    def __init__(self, start: int) -> None:
        """What was written before the offset `start` is not known; before 0 there is nothing, on the main screen."""
        self._found: list[tuple[int, bool]] = [(0, False)] if start == 0 else []
        self._sequences = WholeSequences()

    def feed(self, begin: int, data: bytes) -> None:
        """Take the bytes that came next, which begin at that offset."""
        if b"\x1b" not in data and not self._sequences.held:
            return
        end = begin + len(data)
        data = self._sequences.feed(data)
        if b"?" in data and (_LONG in data or _SHORT in data):
            base = end - self._sequences.held_back - len(data)
            self._found += [(base + switch.end(), switch[1] == b"h") for switch in _SWITCH.finditer(data)]
            if len(self._found) > 2 * _KEPT:
                self._found = self._found[-_KEPT:]

    def lose(self) -> None:
        """What comes next is not known: nothing said before holds after it."""
        self._found, self._sequences = [], WholeSequences()

    def left(self, offset: int) -> None:
        """A shell is at its prompt there: what follows is text, also where a killed program left that screen on."""
        if self._found and self._found[-1][0] and self.at(offset):  # nearly always nothing was switched yet
            insort(self._found, (offset, False))

    def at(self, offset: int, since: int = 0) -> bool | None:
        """Whether the alternate screen was shown at that offset; None if it is not known.

        What was done before `since` does not count: a command begins on the main screen, as far as its text goes.
        """
        found = self._found
        index = bisect_right(found, (offset, True)) - 1
        if index < 0:
            return None
        switched, on = found[index]
        return on and switched >= since
