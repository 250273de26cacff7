"""The screen of everyday sequences, whatever the chunks; doubt about all others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muxwire.vt.capture import Ink, Loaded, Wraps, captured, ink, wrapped_rows
from muxwire.vt.cells import PLAIN, Cell, Style, runs, styled, text_of
from muxwire.vt.grid import Row
from muxwire.vt.screen import Screen


def screen_of(data: bytes, columns: int = 10, count: int = 4) -> Screen:
    screen = Screen(columns, count)
    screen.feed(data)
    return screen


def lines_of(screen: Screen) -> list[str]:
    return [text_of(row.cells) for row in screen.grid.rows]


@pytest.mark.parametrize(
    ("data", "lines", "cursor"),
    [
        (b"ab\r\nc", ["ab", "c", "", ""], (1, 1)),
        (b"0123456789", ["0123456789", "", "", ""], (10, 0)),
        (b"0123456789a", ["0123456789", "a", "", ""], (1, 1)),
        ("012345678終".encode(), ["012345678", "終", "", ""], (2, 1)),
        ("a終終\x1b[1;3Hx".encode(), ["a x終", "", "", ""], (3, 0)),
        (b"\x1b[2;3r\x1b[2;2Habc\x1bc\x1b8x", ["x", "", "", ""], (1, 0)),
        (b"\x1b#8\x1b[2J\x1b[3G\x1bHa\x1b[2Zb\t\tc", ["b a     c", "", "", ""], (9, 0)),
        ("e\u0301x".encode(), ["e\u0301x", "", "", ""], (2, 0)),
        (b"a\r\nb\r\nc\r\nd\r\ne", ["b", "c", "d", "e"], (1, 3)),
        (b"1\r\n2\r\n3\x1b[2;3r\x1b[3;1H\nx", ["1", "3", "x", ""], (1, 2)),
        (b"abc\x1b[2D\x1b[K\x1b[2;3Hx\x1b[1J", ["", "", "", ""], (3, 1)),
        (b"abc\x1b[1G\x1b[4hx\x1b[4l\x1b[P", ["xbc", "", "", ""], (1, 0)),
        (b"\x1b(0qx\x1b(Bq", ["─│q", "", "", ""], (3, 0)),
        (b"main\x1b[?1049h\x1b[Halt\x1b[?1049l!", ["main!", "", "", ""], (5, 0)),
        (b"\x1b]0;t\x07\x1bPq\x1b\\\x1b]7770;P;x\x07\x1b[>4;2m\x1b[?2004h\x1b[2 qok", ["ok", "", "", ""], (2, 0)),
    ],
)
def test_everyday_sequences(data: bytes, lines: list[str], cursor: tuple[int, int]) -> None:
    for screen in (screen_of(data), Screen(10, 4)):
        if screen.grid.x == screen.grid.y == 0 and lines_of(screen) == [""] * 4:
            for byte in data:
                screen.feed(bytes((byte,)))
        assert not screen.unsure
        assert lines_of(screen) == lines
        assert (screen.grid.x, screen.grid.y) == cursor


@pytest.mark.parametrize(
    "data",
    [b"\x1b[!p", b"\x1b[?3h", b"\x1b[1;1;2;2$z", "👩\u200d💻".encode(), b"\x1b]0;" + b"x" * 9000, b"\xff",
     "🇩🇪".encode(), "✌️".encode(), "é\x1b[2b".encode(), b"\x1b[3\nC", "終\x1b[1;2H\x1b[K".encode(),
     "終\x1b[1;2Hx".encode(), b"ab\x1b[1G\x1b[9@", b"0123456789a\x1b[2;3r\x1b[2T", b"\x1b[1;1;1;1" + b";1" * 30 + b"m"],
)  # fmt: skip
def test_doubt(data: bytes) -> None:
    assert screen_of(data).unsure


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_leave_a_screen_of_the_same_size(data: bytes) -> None:
    screen = screen_of(data)
    assert len(screen.grid.rows) == 4
    assert all(len(row.cells) == 10 for row in screen.grid.rows)
    assert 0 <= screen.grid.x <= 10
    assert 0 <= screen.grid.y < 4


_PIECES = [
    "a", "終", "e\u0301", "0123456789", "\r", "\n", "\x08", "\t", "\x1b[2J", "\x1b[K", "\x1b[1K", "\x1b[3;4H",
    "\x1b[2;3r", "\x1b[L", "\x1b[2M", "\x1b[3P", "\x1b[2@", "\x1b[4X", "\x1bM", "\x1b7", "\x1b[4h", "\x1b[4l",
    "\x1b[?7l", "\x1b[?7h", "\x1b[2S", "\x1b[T", "\x1b[9C", "\x1b[3D", "\x1b[2A", "\x1b[?1049h",
    "\x1b[?1049l", "\x1b[3b", "\x1b[41m", "\x1b[m",
]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=40), st.integers(1, 9))
def test_the_picture_does_not_depend_on_the_cuts(pieces: list[str], size: int) -> None:
    data = "".join(pieces).encode()
    whole, cut = screen_of(data), Screen(10, 4)
    for at in range(0, len(data), size):
        cut.feed(data[at : at + size])
    # A screen that is unsure is shown to nobody: what it makes of the rest does not matter. Half of a wide character
    # overwritten is a doubt only until its other half is.
    unsure = whole.unsure or cut.unsure
    assert unsure or [row.cells for row in whole.grid.rows] == [row.cells for row in cut.grid.rows]
    assert all(len(row.cells) == 10 for row in whole.grid.rows)
    assert unsure or (whole.grid.x, whole.grid.y) == (cut.grid.x, cut.grid.y)


def test_styles() -> None:
    assert styled(PLAIN, "1;31;48;5;200") == Style(fg="red", bg="colour200", bold=True)
    assert styled(PLAIN, "38:2::1:2:3;4:3") == Style(fg="#010203", underline=True)
    assert styled(PLAIN, "38;2;1;2;3;97;58;5;9") == Style(fg="brightwhite")
    assert styled(Style(bold=True, dim=True, fg="red"), "22;39") == PLAIN
    assert styled(Style(bold=True), "") == PLAIN
    assert styled(Style(fg="red"), "38;5;300") == PLAIN
    assert styled(PLAIN, "38;2;1;2;300") == Style(bold=True, dim=True)
    assert styled(PLAIN, "48:5:12") == Style(bg="brightblue")
    assert styled(Style(underline=True), "4:9;4:0:1") == Style(underline=True)
    screen = screen_of(b"a\x1b[7mbc\x1b[m \x1b[44m\x1b[K")
    assert [run.told() for run in runs([row.cells for row in screen.grid.rows])] == [
        {"y": 0, "x": 1, "length": 2, "reverse": True},
        {"y": 0, "x": 4, "length": 6, "bg": "blue"},
    ]


STATE = Loaded(4, 3, 2, 2, False, True, True, False, False, 0, 2, frozenset((2,)))


NEW = Ink(PLAIN, 0, (False, False))


def loaded(lines: list[bytes], before: bytes, *, known: Ink | None = NEW) -> Screen:
    screen = Screen(1, 1)
    read = captured(lines, STATE.columns, joined=True)
    screen.load(read.rows, STATE, before, ink(before, known), certain=read.certain)
    return screen


def test_a_captured_screen_goes_on_with_the_pen_of_the_output() -> None:
    screen = loaded([b"abcd\x1b[31mef", b"x"], b"\x1b[0m\x1b[1m")
    assert lines_of(screen) == ["abcd", "ef", "x"]
    assert [row.wrapped for row in screen.grid.rows] == [True, False, False]
    screen.feed(b"y")
    assert screen.grid.rows[2].cells[2].style == Style(bold=True)
    assert not screen.unsure


@pytest.mark.parametrize(
    ("before", "shown"),
    [(b"\x1b[0;3", "y"), (b"\x1b]0;ti", ""), ("é".encode()[:1], None), (b"\x1b", None), (b"\x1b]0;t\x07", "1my")],
)
def test_a_captured_screen_goes_on_in_the_middle_of_a_sequence(before: bytes, shown: str | None) -> None:
    screen = loaded([b"", b"", b""], before)
    assert screen.in_string == (before == b"\x1b]0;ti")
    screen.feed(b"1my" if shown is not None else {b"\x1b": b"[1my", "é".encode()[:1]: "é".encode()[1:]}[before])
    expected = shown if shown is not None else "é" if before[0] > 0x7F else "y"
    assert "".join(lines_of(screen)).strip() == expected


def test_what_the_output_says_of_the_next_character() -> None:
    assert ink(b"", NEW) == NEW
    assert ink(b"abc", None) is None
    red = Ink(Style(fg="red"), 0, (False, None))
    assert ink(b"abc\r\n", red) == red
    assert ink(b"\x1b(0\x1b[31m\x0e", NEW) == Ink(Style(fg="red"), 1, (True, False))
    assert ink(b"\x1b(0\x1b[31m\x0e\x1b(B\x1b[m\x0f\x1b)0", None) == Ink(PLAIN, 0, (False, True))
    assert ink(b"\x1b[m\x1b[31m\x1b8", NEW) is None
    assert ink(b"\x1b[31m\x1b8\x1b[m\x1b[32m", NEW) == Ink(Style(fg="green"), 0, (False, False))
    assert ink(b"\x1b[m\x0e", None) is None
    assert loaded([b"", b"", b""], b"abc", known=None).unsure
    screen = loaded([b"", b"", b""], b"\x1b[m", known=None)
    assert not screen.unsure
    screen.feed(b"\x0e")
    assert screen.unsure


def test_rows_by_which_nobody_else_can_cut() -> None:
    rows = [b"abcd", b"ef", b"", b"x"]
    assert wrapped_rows(rows, [b"abcdef", b"", b"x"]) == Wraps([True, False, False, False], certain=True)
    assert wrapped_rows(rows, rows) == Wraps([False] * 4, certain=True)
    # A wrapped row whose next one is empty: a line less, and nobody knows which.
    assert wrapped_rows(rows, [b"abcd", b"ef", b"x"]) == Wraps([False] * 4, certain=False)
    assert wrapped_rows([b"ab", b"", b"", b"cd", b"e"], [b"ab", b"", b"cde"]) == Wraps(
        [False, False, False, True, False], certain=False
    )
    assert wrapped_rows(rows, [b"abcd", b"zz", b"x"]) == Wraps([False] * 4, certain=False)
    assert not wrapped_rows(rows, rows[:3]).certain
    assert not captured(["✌a".encode()], 4, joined=True).certain
    assert captured(["終a\x0eq\x0f".encode()], 4, joined=True).rows[0].cells == [
        Cell("終", PLAIN), Cell("", PLAIN), Cell("a", PLAIN), Cell("─", PLAIN),
    ]  # fmt: skip
    assert Row([]).wrapped is False


def zones_of(screen: Screen) -> list[tuple[int, int, int, str]]:
    return [(run.y, run.x, run.length, run.zone) for run in runs([row.cells for row in screen.grid.rows]) if run.zone]


def test_cells_say_what_they_belong_to() -> None:
    marks = b"\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07a\x1b[1mb\r\n\x1b]133;D;0\x07c"
    screen = screen_of(marks)
    assert zones_of(screen) == [
        (0, 0, 2, "prompt"), (0, 2, 2, "input"), (1, 0, 1, "output"), (1, 1, 1, "output"),
    ]  # fmt: skip
    ours = b"\x1b]7770;P;0;1;2;3;/;0\x07$ \x1b]7770;T;x\x07ls\r\n\x1b]7770;S;x\x07a\x1b]7770;E;x;0;/;x\x07"
    assert [zone for *_, zone in zones_of(screen_of(ours))] == ["prompt", "input", "output"]
    # A line editor that draws its prompt anew makes no input of it.
    assert zones_of(screen_of(marks[:17] + b"\r$ x"))[0] == (0, 0, 2, "prompt")
