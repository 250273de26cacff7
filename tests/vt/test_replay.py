"""The screen of bytes that have passed: what pyte does not do by itself, and that nothing at all is raised."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from muxwire.vt.replay import Player, ReplayScreen

COLUMNS, ROWS = 10, 4


def screen_of(*pieces: bytes) -> ReplayScreen:
    screen = ReplayScreen(COLUMNS, ROWS)
    player = Player(screen)
    for piece in pieces:
        player.feed(piece)
    return screen


def rows_of(*pieces: bytes) -> list[str]:
    screen = screen_of(*pieces)
    return [screen.buffer[y].text().rstrip() for y in range(ROWS)]


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"a\x1b[3bc", ["aaaac"]),  # REP
        (b"1\r\n2\r\n3\x1b[S", ["2", "3"]),  # SU
        (b"1\r\n2\x1b[T", ["", "1", "2"]),  # SD
        (b"abcdefghi\x1b[Zx", ["abcdefghx"]),  # CBT
        (b"abc\x1b[H\x1b[2P", ["c"]),
        (b"abc\x1b[H\x1b[2@x", ["x abc"]),
        (b"abc\x1b[2D\x1b[X", ["a c"]),
        (b"abc\x1b[1K", [""]),
        (b"abc\x1b[1;2H\x1b[K", ["a"]),
        (b"ab\x1b7cd\x1b8X\x1b8Y", ["abYd"]),  # a saved cursor is restored as often as one likes
        (b"ab\x1b[scd\x1b[uX", ["abXd"]),
        (b"\x1b(0lqk\x1b(Blqk", ["┌─┐lqk"]),
        (b"main\x1b[?1049hother\x1b[?1049l!", ["main!"]),
        (b"main\x1b[?1049hother", ["    other"]),
        (b"0123456789ab", ["0123456789", "ab"]),
        (b"\x1b[?7l0123456789ab", ["012345678b"]),
        (b"0123456789\x1b[?7lab", ["0123456789"]),
        ("\x1b[?7l012345678世".encode(), ["012345678"]),
        (b"0123456789ab\x1b[4h\x1b[1;10Hxy", ["012345678x", "yb"]),  # a row that wraps moves nothing
        (b"0123456789\x1b[1;8H\x1b[3@x", ["0123456x89"]),  # nothing is left to move
        (b"0123456789\x1b[1;6H\x1b[4@", ["01234 6785"]),  # what lies between stays
        (b"0123456789\x1b[1;10H\x1b[9@", ["012345678"]),
        ("世世x\x1b[1;2H\x1b[K".encode(), ["世"]),  # erasures cut a wide character
        ("世世x\x1b[1;4H\x1b[Pa".encode(), ["世世a"]),
        (b"0123456789\x1b[d\x1b[2X", ["0123456789"]),  # VPA stays behind the last column
        (b"0\x1b7\r\n\x1b[2;3r\x1b8x", ["0x"]),  # DECRC leaves the region
        (b"0123456789\tx", ["0123456789", "x"]),  # after the last column nothing moves, and nothing is deleted
        (b"0123456789\x1b[P\x1b[@\x1b[Xx", ["0123456789", "x"]),
        ("012345678世x".encode(), ["012345678", "世x"]),  # a wide character has no room
        ("世界\rx".encode(), ["x 界"]),
        ("世界\x1b[1;4Hx".encode(), ["世 x"]),
        ("e\u0301x".encode(), ["e\u0301x"]),
        (b"a\tb\rX", ["X\tb"]),
        (b"a\tb\x1b[1;4HX", ["a  X    b"]),  # a tab that was drawn over is blanks
        (b"a\x1bPq;1\x1b\\b\x1b_G\x1b\\c\x1b^p\x1b\\d\x1bXs\x1b\\e\x1bkt\x1b\\f", ["abcdef"]),
        (b"a\x1b[>4;2mb\x1b[?25$pc\x1b[!pd\x1b[1 qe\x1b[38:2::1:2:3mf\x1b#8"[:-3] + b"g", ["abcdefg"]),
        (b"a\x1b[1;2;3;4Bb\x1b[5;6;7;8;9Hc\x1b[1;2;3H", ["a", " b", "", "     c"]),  # surplus parameters
        (b"ab\x1b[1\b;\x182Hc", ["ac;2Hc"[:1] + "2Hc"]),  # a control in a sequence is obeyed, CAN ends it
        (b"a\x1b[99999999999999999999Cb", ["a        b"]),
    ],
)
def test_what_a_sequence_does(data: bytes, rows: list[str]) -> None:
    assert rows_of(data) == rows + [""] * (ROWS - len(rows))


def test_rows_know_whether_the_terminal_wrapped_them() -> None:
    screen = screen_of(b"0123456789ab\r\nc")
    assert [screen.buffer[y].wrapped for y in range(3)] == [True, False, False]
    assert not screen_of(b"0123456789ab\x1b[H\x1b[2K").buffer[0].wrapped
    assert not screen_of(b"0123456789ab\x1b[H\x1b[10P").buffer[0].wrapped
    assert screen_of(b"\x1b[4;1H\x1b[44m0123456789ab").buffer[2].wrapped  # the empty row that comes ends no wrap
    assert screen_of(b"\x1b[2;1H0123456789ab\x1b[4;1H\x1b[2M").buffer[1].wrapped  # one row is there to delete


def test_a_row_that_wraps_at_the_bottom_gets_no_background() -> None:
    row = screen_of(b"\x1b[4;1H\x1b[44m0123456789a\x1b[m").row(3)
    assert row[0].style.bg
    assert not row[1].style.bg


def test_what_tmux_leaves_in_halves_or_where_it_was_is_a_guess() -> None:
    cut = screen_of("世世x\x1b[1;2H\x1b[K".encode())
    cut.resize(ROWS, COLUMNS - 1)
    assert cut.guessed
    assert not screen_of("世世x\x1b[1;2H\x1b[K".encode()).guessed
    assert screen_of(b"a\r\nb\x1b[3;4r\x1b[4L").guessed  # IL outside of the region
    assert not screen_of(b"a\r\nb\x1b[3;4r\x1b[1L").guessed


@pytest.mark.parametrize(
    ("data", "sizes", "rows", "cursor"),
    [
        ("0123456789" * 3 + "\r\n$ ", [(30, 4)], ["0123456789" * 3, "$"], (2, 1)),
        ("0123456789" * 3 + "\r\n$ ", [(30, 4), (10, 4)], ["0123456789", "$"], (2, 1)),
        # Rows above the screen become more in a narrower one, and all of them come back.
        ("1\r\n" + "0123456789" * 5 + "\r\n$ ", [(5, 4), (5, 9)], ["01234", "56789"] * 4 + ["$"], (2, 8)),
        # One column is left and the last row begins with a wide character: a line of its own, and the cursor too high.
        ("0123456789abcdefghi終x\r\n$ ", [(20, 4)], ["0123456789abcdefghi", "終x", "$"], (3, 1)),
        ("0123456789abcdefghi終x\r\n$ ", [(20, 4), (40, 4)], ["0123456789abcdefghi", "終x", "$"], (3, 1)),
        ("0123456789abcdefghi終x\r\n$ ", [(21, 4)], ["0123456789abcdefghi終", "x", "$"], (2, 2)),
        ("a\tb\r\n$ ", [(6, 4)], ["  b", "$"], (2, 1)),  # a tab is cut
        # What was erased, or deleted, is laid out too: its row is two rows, and the first one is above the screen.
        ("0123456\r\x1b[3C\x1b[K", [(5, 4)], [], (0, 0)),
        ("0123456\r\x1b[3C\x1b[K\x1b[2K\rx", [(5, 4)], ["x"], (1, 0)),
        ("0123\r\x1b[2P", [(5, 4)], [], (0, 0)),
        ("0123\r\x1b[@", [(5, 4)], [], (0, 0)),
        # The first row continues one above the screen, until something is put between them.
        ("a" * 35 + "\r\nb\r\nc", [(50, 4)], ["a" * 35, "b", "c"], (1, 2)),
        ("a" * 35 + "\r\nb\r\nc\x1b[H\x1b[2K", [(50, 4)], ["", "a" * 5, "b", "c"], (0, 0)),
        ("a" * 35 + "\r\nb\r\nc\x1b[H\x1bM", [(50, 4)], ["", "a" * 10, "a" * 5, "b"], (0, 0)),
        ("a" * 35 + "\r\nb\r\nc\x1b[H\x1b[L", [(50, 4)], ["", "a" * 10, "a" * 5, "b"], (0, 0)),
        ("a" * 35 + "\r\nb\r\nc\x1b[?1049hx\x1b[?1049l", [(50, 4)], ["a" * 20, "a" * 15, "b", "c"], (1, 3)),
    ],
)
def test_rows_are_laid_out_for_another_width_as_tmux_does_it(
    data: str, sizes: list[tuple[int, int]], rows: list[str], cursor: tuple[int, int]
) -> None:
    screen = screen_of(data.encode())
    for columns, lines in sizes:
        screen.resize(lines, columns)
    shown = ["".join(cell.text for cell in screen.row(y)).rstrip() for y in range(screen.lines)]
    assert shown == rows + [""] * (screen.lines - len(rows))
    assert (screen.cursor.x, screen.cursor.y) == cursor


def test_the_alternate_screen_is_laid_out_once_more_when_it_is_left_at_another_width() -> None:
    """As in tmux: what it showed does not fit then, and a part of it goes above the main screen."""
    screen = screen_of(b"1\r\n2\r\n3\r\n4\r\n5\r\n$ \x1b[?1049h")
    screen.resize(4, 20)
    Player(screen).feed(b"a" * 70 + b"\x1b[?1049l")
    screen.resize(8, 20)
    rows = [screen.buffer[y].text().rstrip() for y in range(8)]
    assert rows == ["1", "2", "  " + "a" * 18, "a" * 20, "3", "4", "5", "$"]
    assert (screen.cursor.x, screen.cursor.y) == (2, 7)


def test_the_title_is_kept() -> None:
    assert screen_of(b"\x1b]2;now\x07\x1b]52;c;aGk=\x07").title == "now"


PIECES = st.sampled_from(
    [b"\x1b[", b"\x1b]", b"\x1bP", b"\x1b", b"\x9b", "\u009b".encode(), b"?", b"1049", b"h", b"l", b";", b"5", b"3",
     b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[2;3r", b"\x1b[4h", b"\x1b[?6h", b"\x1b[?7l", b"\x1b[?5h", b"\x1b[?3h",
     b"\x1b#8", b"\x1bc", b"\x1b7", b"\x1b8", b"\x1bM", b"\x1bD", b"\x0e", b"\x1b(0", b"\x1b)0", b"\t", b"\b", b"\r",
     b"\n", b"\x18", b"\x07", b"\x1b\\", b"\x1b[J", b"\x1b[1J", b"\x1b[2J", b"\x1b[K", b"\x1b[9999b", b"\x1b[3g",
     b"\x1b[48;5;1m", b"\x1b[38;2;1;2m", b"\x1b[48;5;999m", b"abc", b"0123456789abc", "世".encode(), "é".encode(),
     "\u0301".encode(), "\U0001f469\u200d\U0001f469".encode(), b"\xe4\xb8", b"\xff"]
    + [b"\x1b[%d%c" % (count, final) for count in (0, 2, 99) for final in b"@ABCDEFGHILMPSTXZabdefgsu`"]
)  # fmt: skip
STREAMS = st.one_of(st.lists(PIECES, max_size=40).map(b"".join), st.binary(max_size=200))


def state(screen: ReplayScreen) -> object:
    rows = [(dict(row), row.wrapped) for row in (screen.buffer[y] for y in range(ROWS))]
    return rows, screen.cursor.x, screen.cursor.y, screen.alternate, screen.title


@given(data=STREAMS, cuts=st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_any_bytes_cut_anywhere_give_the_same_screen(data: bytes, cuts: list[int]) -> None:
    pieces, position, turn = [], 0, 0
    while position < len(data):
        pieces.append(data[position : position + cuts[turn % len(cuts)]])
        position += len(pieces[-1])
        turn += 1
    whole = screen_of(data)
    assert state(screen_of(*pieces)) == state(whole)
    assert 0 <= whole.cursor.y < ROWS
    assert 0 <= whole.cursor.x <= COLUMNS
    assert all(0 <= x < COLUMNS for y in range(ROWS) for x in whole.buffer[y])
