"""Which matches on a screen are new, row by row."""

from __future__ import annotations

import re

import pytest

from muxwire.vt.drawn import NewMatches, Picture, picture, rows_of, shows_typed, stands

ROWS, COLUMNS = 6, 20


def seen(*lines: str, alternate: bool = False, above: int = 0) -> Picture:
    return Picture(lines, tuple(range(len(lines))), ROWS, alternate, (0, 0), above, 0)


def spans(shown: Picture, wanted: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(re.escape(wanted), shown.text)]


A_MENU = ("== menu ==", "start", "stop")

NEW = [
    ("a row that is new", "", [seen("one"), seen("one", "two")], "two", True),
    ("a row that stood there", "", [seen("one"), seen("one", "two")], "one", False),
    ("the same row once more", "", [seen("> "), seen("> a", "> ")], "> ", True),
    ("the same row, scrolled", "", [seen(*"abcde", "hit"), seen(*"bcde", "hit", "x", above=1)], "hit", False),
    ("scrolled, and once more", "", [seen(*"abcde", "hit"), seen(*"bcde", "hit", "hit", above=1)], "hit", True),
    ("erased at the top", "", [seen("hit", "> "), seen("hit", "> ", above=2)], "hit", False),
    ("an old row that looks like an echo", "up\n", [seen("is up"), seen("is up", "> up")], "up", False),
    ("scrolled away whole", "", [seen("hit", *"bcdef"), seen("hit", *"uvwxy", above=9)], "hit", True),
    ("the same place of another text", "", [seen("load 10%"), seen("load 20%")], "load", False),
    ("what is new in an old row", "", [seen("load 10%"), seen("load 20%")], "20%", True),
    ("the end of a number that stood there", "", [seen(" 301/301 -"), seen(" 1/301 -")], "1/301", True),
    ("a word whose beginning is looked for", "", [seen(" ready -"), seen("| ready -")], "ready", False),
    ("a prompt behind which somebody types", "", [seen("a:/$"), seen("a:/$ls")], "$", False),
    ("away and back", "", [seen(*A_MENU), seen("wait"), seen(*A_MENU)], "menu", True),
    ("a program's own screen", "", [seen("menu"), seen(*A_MENU, alternate=True)], "menu", True),
    ("the main screen again", "", [seen("hit"), seen("x", alternate=True), seen("hit")], "hit", False),
    ("a main screen that was never seen", "", [seen("x", alternate=True), seen("hit")], "hit", False),
    ("new below it", "", [seen("x", alternate=True), seen("hit"), seen("hit", "hit")], "hit", True),
    ("the echo", "say hello\n", [seen("> "), seen("> say hello")], "hello", False),
    ("the answer below the echo", "say hello\n", [seen("> "), seen("> say hello", "hello")], "hello", True),
    ("twice in the echo", "no no\n", [seen("> "), seen("> no no")], "no", False),
    ("the echo in a box that breaks it", "please say hello\n", [seen(), seen("| > please say |", "| hello |")], "hello",
     False),
    ("an answer that begins as the line ends", "say hello\n", [seen("> "), seen("> done", "hello")], "hello", True),
    ("drawn once more, a row further down", "", [seen("hit", "> "), seen("x", "hit", "> ")], "hit", False),
    ("two typed lines", "one\ntwo\n", [seen(), seen("> one", "> two")], "two", False),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "pictures", "wanted", "is_new"), [row[1:] for row in NEW], ids=[r[0] for r in NEW])
def test_what_is_new(typed: str, pictures: list[Picture], wanted: str, is_new: bool) -> None:
    news = NewMatches(typed)
    first, *others = pictures
    news.begin(first, spans(first, wanted))
    found = [news.next(other, spans(other, wanted)) for other in others]
    assert [bool(one) for one in found[:-1]] == [False] * len(found[:-1])
    assert bool(found[-1]) is is_new


def test_rows_of_a_screen_are_its_text() -> None:
    assert rows_of(("", " a  ", "", "~", "~", "~", "~", " b", "", ""), 100) == "\n a\n\n~\n~\n~\n~\n b"
    assert rows_of([letter * 10 for letter in "abcdef"], 44).split("\n") == [
        "aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", "[2 rows]", "ffffffffff",
    ]  # fmt: skip


BOX = seen("╭────────╮", "│ >      │", "╰────────╯")


@pytest.mark.parametrize(
    ("before", "after", "typed", "shown"),
    [
        (BOX, seen("╭────────╮", "│ > fix  │", "│ it     │", "╰────────╯"), "fix it", True),
        (BOX, BOX, "fix it", False),
        (BOX, seen("│ >[2 lines]│"), "fix\nit", False),
        (seen("> fix it", "> "), seen("> fix it", "> "), "fix it", False),
        (seen("> fix it", "> "), seen("> fix it", "> fix it"), "fix it", True),
        (seen("> "), seen("<box has the end of all>"), "a long text\nof which a box has the end of all", True),
        (seen("> "), seen(">   "), "  ", False),
    ],
)
def test_what_was_typed_is_known_on_the_screen(before: Picture, after: Picture, typed: str, shown: bool) -> None:
    assert shows_typed(before, after, typed) == shown


@pytest.mark.parametrize(
    ("lines", "cursor", "typed", "there"),
    [
        (("> mend the parser",), (17, 0), "mend the parser", True),
        (("> mend the parser", ""), (2, 1), "mend the parser", True),  # its box has a second row now
        (("> mend the parser", ""), (0, 1), "mend the parser", False),  # a line that was taken
        (("> mend the parser", "> "), (2, 1), "mend the parser", False),
        (("> mend the", "  parser   |"), (8, 1), "mend the parser", True),
        (("> 漢字漢字 |",), (6, 0), "漢字", True),
        (("> 漢字漢字 |",), (2, 0), "漢字", False),
        (("> x",), (3, 0), "", False),
    ],
)
def test_a_text_stands_where_its_program_edits_it(
    lines: tuple[str, ...], cursor: tuple[int, int], typed: str, there: bool
) -> None:
    seen = picture(lines, (), size=(COLUMNS, ROWS), cursor=cursor, visible=False, alternate=False, above=0, end=0)
    assert seen.cursor is None
    assert stands(seen, typed) is there


@pytest.mark.parametrize(
    ("lines", "wrapped", "cursor", "shown"),
    [
        ([">"], [], (2, 0), ("> ",)),
        (["a", "", ">"], [], (2, 2), ("a", "", "> ")),
        (["a"], [], (3, 4), ("a", "", "", "", "   ")),
        (["漢字>"], [], (6, 0), ("漢字> ",)),
        (["x" * 25, "y"], [0], (7, 1), ("x" * 25 + "  ", "y")),  # a row that was wrapped counts as one
        (["abc"], [], (1, 0), ("abc",)),  # within the text
    ],
)
def test_the_cursor_ends_its_row(
    lines: list[str], wrapped: list[int], cursor: tuple[int, int], shown: tuple[str, ...]
) -> None:
    """A prompt's blank that was drawn by a move is there."""
    made = picture(lines, wrapped, size=(COLUMNS, ROWS), cursor=cursor, visible=True, alternate=False, above=0, end=0)
    assert (made.lines, made.starts[:2]) == (shown, ((0, 2) if wrapped else (0, 1))[: len(made.starts)])
