"""The text that a person would have read of an output."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from muxwire.vt import readable as module
from muxwire.vt.readable import (
    continued,
    few_empty_lines,
    first_switch,
    lines_before,
    may_switch,
    needs_playing,
    opened,
    readable,
    switches,
    without_drawing,
)
from muxwire.vt.screens import on_alternate
from muxwire.vt.text import strip_ansi

COLUMNS = 20


def read(text: str) -> str:
    return readable(text, (COLUMNS, 6)).text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("ab\bc", "ac"),
        ("N\bNA\bA\r\n", "NA\n"),
        ("_\bu_\bn", "un"),
        ("".join(f"\r{n} %" for n in range(301)) + "\r\n", "300 %\n"),
        ("100 %\r10 %\r\n", "10 %%\n"),  # nothing erased the rest
        ("100 %\r\x1b[K10 %\r\nend", "10 %\nend"),
        ("100 %\r     \r10 %\r\n", "10 %\n"),
        ("a\r\r\nb\r\r\r\nc\r", "a\nb\nc"),
        ("\x1b[31mred\x1b[m\x1b[K\r\nplain  \r\n", "red\nplain  \n"),  # a blank at a line's end is kept
        ("a\r\nb\r\nc\r\n\x1b[3A\x1b[KA\r\n\x1b[KB\r\n\x1b[KC\r\nend", "A\nB\nC\nend"),
        ("one\r\ntwo\r\n\x1b[H\x1b[2J\x1b[3Jthree\r\n", "one\ntwo\nthree\n"),  # cleared, and read before
        ("\x1b[2J\x1b[Hx", "x"),
        # clear: terminfo's of xterm, vt100 and tmux, and a reset; what was readable stays, one line too
        *(
            (f"one\r\n{clear}two\r\n{clear}three\r\n", "one\ntwo\nthree\n")
            for clear in ("\x1b[H\x1b[2J", "\x1b[H\x1b[J", "\x1b[H\x1b[J\x1b[3J", "\x1b[H\x1b[2J\x1b[3J", "\x1bc")
        ),
        ("$ ls\r\x1b[J$ ls\r\na\r\n", "$ ls\na\n"),  # a prompt that is drawn again is one
        ("x" * 50 + "\b\b!", "x" * 48 + "!x"),  # longer than the screen: one line all the same
        ("x" * 50 + "\r\nab\bc", "x" * 50 + "\nac"),
        ("".join(f"{n}\r\n" for n in range(50)) + "\x1b[A!\r\n", "".join(f"{n}\n" for n in range(49)) + "!9\n"),
        ("out%" + " " * (COLUMNS - 1) + "\r \r\r\x1b[J% ls\r\n", "out%\n% ls\n"),  # zsh's PROMPT_SP
        ("out⏎" + " " * (COLUMNS - 1) + "\r⏎ \r\x1b[2K> ls\r\n", "out⏎\n> ls\n"),  # fish's
        ("%" + " " * (COLUMNS - 1) + "\r \r\r\x1b[J% ls\r\n", "% ls\n"),
        ("a\tb\r\nX\bY\tZ\r\n", "a\tb\nY       Z\n"),  # a tab is one where nothing was drawn over
        ("\x1b(0lqk\x1b(B\r\n", "┌─┐\n"),
        ("a\x1b]0;t\r\nx\x07b\x1bPq\b\x1b\\c\r\n", "abc\n"),  # nothing within a string is obeyed
        ("a\x1b]0;open\x18b\bc", "ac"),
        ("a\x1b]1337;File=:" + "x" * (2 << 20) + "\x07b\bc", "ac"),  # a picture
        ("ab\x1b[9999999999D\x1b[?5A\x1b[1;2A\x1b[3J\x1b[!p\x1b[38:2::1m\x9b1m\x05\bc", "ab1c"),  # unknown, or too long
        ("b$ ", "b$ "),
        ("b$ ec\bcho  ", "b$ echo  "),
        ("世界\b\b!", "世!"),
        ("\x1b[1;2r\x1b[2;1Ha\r\nb\r\nc\x1b[r\x1b[9;1H\r\nend", None),
    ],
)
def test_what_was_read(output: str, text: str | None) -> None:
    if text is not None:
        assert read(output) == text
    else:  # a scrolling region: nothing is lost
        assert [line for line in read(output).split("\n") if line] == ["a", "b", "c", "end"]


def apt(rows: int, steps: int) -> tuple[str, list[str]]:
    """What apt prints with its bar in the last row, below a region in which all else scrolls; and its lines."""
    lines = [f"step {n}" for n in range(steps)] + [f"Unpacking {n} ..." for n in range(steps)] + ["done"]
    begin = f"\r\n\x1b7\x1b[0;{rows - 1}r\x1b8\x1b[1A"
    end = f"\r\n\x1b7\x1b[0;{rows}r\x1b8\x1b[1A\x1b[J"
    drawn = [
        f"\x1b7\x1b[{rows};0f\x1b[42m\x1b[30mProgress: [{n:3}%]\x1b[49m\x1b[39m [{'#' * n:.<40}] \x1b8{line}\r\n"
        for n, line in enumerate(lines[steps:-1])
    ]
    return "".join((*(f"{line}\r\n" for line in lines[:steps]), begin, *drawn, end, "done\r\n")), lines


@pytest.mark.parametrize("rows", [24, 30, 43, 60])
@pytest.mark.parametrize("steps", [5, 40, 100])
def test_a_bar_below_a_region_costs_no_line(rows: int, steps: int) -> None:
    output, lines = apt(rows, steps)
    assert [line for line in readable(output, (80, rows)).text.split("\n") if line] == lines
    # The same for a reader that begins in the middle, and is told what lasts.
    cut = output.index("\n", 2 * len(output) // 3) + 1
    text = readable(opened(output[:cut].encode(), rows).decode() + output[cut:], (80, rows)).text
    assert [line for line in text.split("\n") if line] == [line for line in lines if f"{line}\r\n" in output[cut:]]


@pytest.mark.parametrize(
    ("text", "alternate", "left"),
    [
        ("plain\n", False, "plain\n"),
        ("a\x1b[31m\x1b[?1049h\x1b[2Jdrawn\x1b[?1049lb\n", False, "a\x1b[31mb\n"),
        ("a\x1b[?1049hdrawn", False, "a"),
        ("drawn\x1b[?1049lb", True, "b"),
        ("drawn", True, ""),
    ],
)
def test_drawing_is_left_out_and_the_rest_stays_raw(text: str, alternate: bool, left: str) -> None:
    found = without_drawing(text, alternate=alternate)
    assert (found.text, found.left_out) == (left, left != text)


def test_at_most_two_empty_lines_in_a_row() -> None:
    assert few_empty_lines("\n\n\n\na\n\n\nb\n\n\n\n\nc\n\n\n\n") == "\n\na\n\n\nb\n\n\nc\n\n\n"
    assert few_empty_lines("a\nb\n") == "a\nb\n"


def test_the_alternate_screen_is_left_out_and_named() -> None:
    found = readable("before\r\n\x1b[?1049h\x1b[2;3Hvim\r\n~\x1b[?1049lafter\r\n")
    assert (found.text, "alternate screen" in found.note) == ("before\nafter\n", True), found
    assert readable("before\r\n\x1b[?1049;25hvim").text == "before\n"
    assert readable("vim\x1b[?1049lafter", alternate=True).text == "after"
    assert not readable("before\r\nafter").note


def test_what_is_too_long_is_stripped_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PLAYED_MAX", 100)
    found = readable("ab\bc\r\n" * 100)
    assert found.text.startswith("ac\nac\n")
    assert ("abc\n" in found.text, found.unplayed, "500 characters" in found.note) == (True, 600 - 100, True), found


@pytest.mark.parametrize(
    "text", ["plain\r\n", "\x1b[1mbold\x1b[0m\x1b[K\r\n", "\x1b]0;t\x07\x1b[?25l", "é\r\r\n", "a\r"]
)
def test_nothing_is_played_where_nothing_moves(text: str) -> None:
    assert not needs_playing(text)


PIECES = st.sampled_from(
    ["a", "word ", "\r\n", "\r", "\b", "\t", "世", "e\u0301", "x" * 25, "\x1b[K", "\x1b[J", "\x1b[2K", "\x1b[A",
     "\x1b[2B", "\x1b[5G", "\x1b[H", "\x1b[2J", "\x1b[31m", "\x1b]0;t\x07", "\x1b[P", "\x1b[3X", "\x1bM", "\n"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=60).map("".join)


@given(text=TEXTS)
@example(text="\t\t\ta\ta")
def test_playing_only_what_needs_it_is_playing_all(text: str) -> None:
    # Two lines apart, so that some of it is not played; a screen is as high as the text, so that nothing is ambiguous.
    text = "ab\bc\r\n" + "\r\n" * 15 + text + "\r\n" * 15 + "ab\bc\r\n" + text
    lone = "\n" in text.replace("\r\n", "")  # a line end without CR begins no line: what is stripped knows no column
    if not lone and not any(sequence in text for sequence in ("\x1b[H", "\x1b[2J", "\x1b[J")):
        found, played = (one.split("\n") for one in (read(text), module._play(text, (COLUMNS, 6))))
        if "\t" in text:  # a tab that reaches the margin is blanks where it was played, or nothing
            assert ["".join(line.split()) for line in found] == ["".join(line.split()) for line in played]
        else:
            assert list(map(str.rstrip, found)) == list(map(str.rstrip, played))


# Pieces of sequences, whole and torn, with any parameters: whatever the terminal got, something can be read of it.
ODD = st.sampled_from([*"\x1b[]()078DEMcHrfJKLXP@ABdsuhl;?9\r\n\b\t\v\x0e漢a ", "\x1b[", "\x1b[?7", "9" * 5000, "\x9b"])


@given(text=st.text() | st.lists(ODD, max_size=40).map("".join), size=st.sampled_from([(200, 50), (2, 2), (1, 1)]))
def test_any_text_is_read(text: str, size: tuple[int, int]) -> None:
    found = readable(text, size).text
    if not needs_playing(text):  # but for blanks at the ends of lines, and empty lines beyond two
        said, plain = (
            [line.rstrip() for line in one.replace("\r", "").split("\n") if line.strip()]
            for one in (found, strip_ansi(text))
        )
        assert said == plain


@pytest.mark.parametrize(
    ("before", "piece", "more"),
    [
        ("b$ ", "echo hi\r\nhi\r\n", "echo hi\nhi\n"),
        ("b$ ", "\rb$ echo hi\r\n", "echo hi\n"),  # drawn again: once
        ("10 %", "\r20 %", "\n20 %"),  # drawn over since: on a line of its own
        ("a\r\nb\r\n", "\x1b[2AA\r\n\n", "A\nb\n"),
        ("whole\r\n", "next\r\n", "next\n"),
        ("tail   ", "\x1b[K\r\n", "\n"),
        ("a\x1b[3", "1mb", "b"),  # a sequence that was cut
        ("", "a", "a"),
    ],
)
def test_a_piece_goes_on_with_what_was_read(before: str, piece: str, more: str) -> None:
    assert continued(before, piece, (COLUMNS, 50)).text == more


@pytest.mark.parametrize(
    ("before", "lasts"),
    [
        (b"a\x1b]1337;File=", b"\x1b]"),
        (b"a\x1bPq" + b"-\n" * 9, b"\x1bP"),
        (b"a\x1b]0;t\x07b", b""),
        (b"a\x1b[1mb", b""),
        (b"\x1b[0;23ra", b"\x1b[0;23r"),
        (b"\x1b[0;23ra\x1b[0;24rb", b""),
        (b"\x1b[0;23ra\x1b[rb", b""),
        (b"\x1b[2;9ra\x1b]0;", b"\x1b[2;9r\x1b]"),
    ],
)
def test_what_lasts_of_what_came_before(before: bytes, lasts: bytes) -> None:
    assert opened(before, 24) == lasts


@given(
    st.lists(st.sampled_from([b"", b"text", b"\x1b", b"[?", b"1049", b"25;", b"h", b"l", b"\x1b[?2004h", b"\x1b[?47l"]))
)
def test_a_switch_of_the_screen_is_found_in_parts_as_in_the_whole(parts: list[bytes]) -> None:
    assert switches(parts) == (first_switch(b"".join(parts)) is not None)
    assert may_switch(parts) == (b"\x1b[?" in b"".join(parts))


@pytest.mark.parametrize(("before", "lines", "first"), [(b"1\n2\n3\n4", 1, 4), (b"1\n2\n3\n", 1, 4), (b"1\n2", 5, 0)])
def test_where_the_lines_before_a_piece_begin(before: bytes, lines: int, first: int) -> None:
    assert lines_before(before, lines) == first


@pytest.mark.parametrize(
    ("before", "alternate"),
    [
        (b"x", None),
        (b"\x1b[?1049lx\x1b[?1049h", True),
        (b"\x1b[?1049hx\x1b[?1049l", False),
        (b"\x1b[?1049;25hx\x1b[?25l", True),  # among other modes
        (b"\x1b[?1049hx\x1b[?25;47l 47\x1b[?2004h", False),
        (b"\x1b[?;1049h", True),  # an empty number is 0
        (b"\x1b[?1049 47", None),
    ],
)
def test_on_which_screen_a_piece_begins(before: bytes, alternate: bool | None) -> None:
    assert on_alternate(before) is alternate
