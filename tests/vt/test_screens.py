"""Which screen was shown at each offset, in whatever pieces the bytes came."""

from __future__ import annotations

import pytest

from muxwire.vt.screens import ScreenSwitches

ON, OFF = b"\x1b[?1049h", b"\x1b[?1049l"
DATA = b"text" + ON + b"drawn" + OFF + b"\x1b[?25h more \x1b[?1;47h drawn \x1b[?12;1047;25l end"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 100])
def test_switches_are_seen_in_any_pieces(size: int) -> None:
    screens = ScreenSwitches(0)
    for begin in range(0, len(DATA), size):
        screens.feed(begin, DATA[begin : begin + size])
    shown = "".join("a" if screens.at(offset) else "m" for offset in range(len(DATA) + 1))
    again = DATA.index(b"\x1b[?1;47h") + 8
    last = DATA.index(b" end")
    assert shown == "m" * 12 + "a" * 13 + "m" * (again - 25) + "a" * (last - again) + "m" * (len(DATA) + 1 - last)


def test_what_was_not_seen_is_not_known() -> None:
    screens = ScreenSwitches(1000)
    assert screens.at(1000) is None
    screens.feed(1000, ON)
    assert (screens.at(1007), screens.at(1008), screens.at(5000)) == (None, True, True)
    assert screens.at(5000, since=1009) is False  # a command that began later begins with text
    screens.left(2000)
    screens.left(3000)
    assert (screens.at(1999), screens.at(2000), screens.at(3000)) == (True, False, False)
    screens.lose()
    assert screens.at(5000) is None
