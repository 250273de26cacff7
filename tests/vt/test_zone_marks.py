"""Whose each cell is, by the marks in the output, wherever they are cut."""

from __future__ import annotations

from itertools import groupby

import pytest

from muxwire.vt.cells import has_marks, newest_zone
from muxwire.vt.replay import Player, ReplayScreen


def zones_of(screen: ReplayScreen) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for y in range(screen.lines):
        for zone, cells in groupby(screen.row(y), key=lambda cell: cell.zone):
            if zone:
                found.append((zone, "".join(cell.text for cell in cells)))
    return found


def played(data: bytes, columns: int = 10, lines: int = 4) -> ReplayScreen:
    screen = ReplayScreen(columns, lines)
    Player(screen).feed(data)
    return screen


MARKS = b"\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07a\x1b[1mb\r\n\x1b]133;D;0\x07c"


def test_cells_say_whose_they_are() -> None:
    shell = [("prompt", "$ "), ("input", "ls"), ("output", "ab")]
    assert zones_of(played(MARKS)) == shell
    ours = b"\x1b]7770;P;0;1;2;3;/;0\x07$ \x1b]7770;T;x\x07ls\r\n\x1b]7770;S;x\x07a\x1b]7770;E;x;0;/;x\x07"
    assert zones_of(played(ours)) == [("prompt", "$ "), ("input", "ls"), ("output", "a")]
    # A line editor that draws its prompt anew makes no input of it.
    assert zones_of(played(MARKS[:18] + b"\r$ x")) == [("prompt", "$ "), ("input", "x")]
    # What is drawn on the alternate screen is gone when it is left.
    hidden = MARKS[:20] + b"\x1b[?1049h\x1b[Hhidden\x1b[?1049l" + MARKS[20:]
    assert zones_of(played(hidden)) == shell


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_cuts_do_not_matter(size: int) -> None:
    data = MARKS + "\x1b]0;終\x1b\\終x\x1bPq\x1b\\\x1b_y\x1b\\".encode()
    screen = ReplayScreen(10, 4)
    player = Player(screen)
    for at in range(0, len(data), size):
        player.feed(data[at : at + size])
    assert [screen.row(y) for y in range(4)] == [played(data).row(y) for y in range(4)]
    assert [cell.text for cell in screen.row(2)][:4] == ["c", "終", "", "x"]


def test_the_newest_mark() -> None:
    assert newest_zone(MARKS) == ""
    assert newest_zone(MARKS[:-12]) == "output"
    assert newest_zone(b"\x1b]133;A\x07$ \x1b]133;X\x07") == "prompt"
    assert newest_zone(b"\x1b]0;133;A\x07") is None
    assert has_marks(MARKS)
    assert not has_marks(b"\x1b]0;133;A\x07")
