"""Whose each cell is, by the marks in the output; never an exception, whatever the bytes and wherever they are cut."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from muxwire.vt.zone_replay import Replay, has_marks, newest_zone


def zones_of(screen: Replay) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for y in range(screen.lines):
        for zone, cells in groupby(screen.row(y), key=lambda cell: cell[1]):
            if zone:
                found.append((zone, "".join(text for text, _ in cells)))
    return found


def played(data: bytes, columns: int = 10, lines: int = 4) -> Replay:
    screen = Replay(columns, lines)
    screen.feed(data)
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
    screen = Replay(10, 4)
    for at in range(0, len(data), size):
        screen.feed(data[at : at + size])
    assert [screen.row(y) for y in range(4)] == [played(data).row(y) for y in range(4)]
    assert [text for text, _ in screen.row(2)][:4] == ["c", "終", "", "x"]


@settings(deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=30), st.from_regex(rb"\x1b[\[\]P#(][?>]?[0-9;]{0,9}[ -~]")), max_size=20))
@example([b"\x1b[?9J", b"\x1b[1;1;1;1A", b"\x1b[?1;2J"])
def test_any_bytes_are_taken(pieces: list[bytes]) -> None:
    screen = Replay(10, 4)
    for piece in pieces:
        screen.feed(piece)
    screen.feed(b"\x18\x1b\\\x1bcok")
    assert (screen.columns, screen.lines) == (10, 4)
    assert all(len(screen.row(y)) == 10 for y in range(4))


def test_the_newest_mark() -> None:
    assert newest_zone(MARKS) == ""
    assert newest_zone(MARKS[:-12]) == "output"
    assert newest_zone(b"\x1b]133;A\x07$ \x1b]133;X\x07") == "prompt"
    assert newest_zone(b"\x1b]0;133;A\x07") is None
    assert has_marks(MARKS)
    assert not has_marks(b"\x1b]0;133;A\x07")
