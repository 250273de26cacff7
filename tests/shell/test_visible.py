"""What is seen of a log: whole, and in pieces that must give the same."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from muxwire.shell.visible import (
    HIDDEN_MAX,
    LOOKAHEAD,
    LOOKBEHIND,
    SEQUENCE_END,
    alternate_at,
    visible,
    visible_range,
    visible_slice,
)
from muxwire.vt.text import strip_ansi

ID = b"0123456789abcdef"
TYPED = b" _mxw_c"


def mark(body: bytes) -> bytes:
    return b"\x1b]7770;" + body + b"\x07"


PROMPT = mark(b"P;" + ID + b";1;2;0;/tmp;" + ID)
ACCEPTED = mark(b"C;" + ID + b";1")
START = mark(b"S;" + ID)
END = mark(b"E;" + ID + b";0;/tmp;" + ID)
T = mark(b"T;" + ID)
B = mark(b"B;" + ID + b";1")
MORE = mark(b"B;" + ID + b";2")
GIVEN_UP = mark(b"B;" + ID + b";0")


def ours(typed_at: int) -> bytes:
    """T, for a line that muxwire typed at that offset."""
    return mark(b"T;" + ID + b";%d" % typed_at)


def test_a_session_looks_as_if_the_command_had_been_typed() -> None:
    prompt = PROMPT + b"$ "
    drawn = TYPED + ACCEPTED + b"\r\n\x1b8\x1b[J"
    rest = b"echo hi\r\n" + START + b"hi\r\n" + END + prompt
    assert visible(prompt + drawn + ours(len(prompt)) + rest) == b"$ echo hi\r\nhi\r\n$ "
    # As in the log of an older muxwire.
    assert visible(prompt + drawn + T + rest) == b"$ " + TYPED + b"\r\n\x1b8\x1b[Jecho hi\r\nhi\r\n$ "


@pytest.mark.parametrize(
    ("log", "seen"),
    [
        (b"$ " + TYPED + b"x" * (HIDDEN_MAX - len(TYPED)) + ours(2) + b"end", b"$ end"),
        (b"$ " + b"x" * (HIDDEN_MAX + 1) + ours(2) + b"end", b"$ " + b"x" * (HIDDEN_MAX + 1) + b"end"),
        (b"$ lost" + PROMPT + b"$ again" + ours(2) + b"end", b"$ end"),  # the line was typed once more
        (b"$ " + TYPED + ours(900) + b"end", b"$ " + TYPED + b"end"),  # no T names what comes after it
    ],
)
def test_all_from_where_muxwire_typed_to_its_t_mark_is_cut(log: bytes, seen: bytes) -> None:
    assert visible(log) == seen
    assert b"".join(in_pieces(log, 100)) == seen
    assert visible(log) == visible_slice(b"before" + log, -6, 0, len(log), final=True)[0]


def test_a_mark_ends_a_sequence_that_was_begun() -> None:
    seen = visible(b"a\x1b]0;open" + END + b"b\x1b[1mc", joint=SEQUENCE_END)
    assert strip_ansi(seen) == b"abc"


@pytest.mark.parametrize(
    ("log", "seen"),
    [
        (B + b"a line\r\n" + T + START + b"out", b"$ out"),
        (B + b"a\r\n" + MORE + b"b\r\n" + MORE + b"c\r\n" + T + b"out", b"$ out"),
        (B + b"x" * (HIDDEN_MAX - len(B)) + MORE + b"y" * (HIDDEN_MAX - len(MORE)) + T + b"out", b"$ out"),
        (B + b"probe" + mark(b"H;" + ID + b";';7") + PROMPT + b"$ " + T + b"ls" + B + b"line" + T + b"out", b"$ lsout"),
        (B + b"refused" + GIVEN_UP + b"more" + T, b"$ refusedmore"),
        (B + b"a" + START + b"b" + T, b"$ ab"),
        (B + b"a" + END + b"b" + T, b"$ ab"),
        (b"a" + T + b"b" + T, b"$ ab"),
        (B + b"a" + T + b"b" + T, b"$ b"),
        (MORE + b"a" + T + b"b", b"$ b"),
        (B + b"never taken", b"$ never taken"),
    ],
)
def test_lines_between_b_and_t_are_ours(log: bytes, seen: bytes) -> None:
    log = b"$ " + log
    assert visible(log) == seen
    assert b"".join(in_pieces(log, 100)) == seen


ON, OFF = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.mark.parametrize(
    ("before", "after", "alternate"),
    [
        (b"text", b"", None),
        (ON + b"~", OFF, True),
        (ON + b"~" + OFF, b"", False),
        (B + ON + b"line\r\n", OFF + T + b"out", None),
        (B + ON + b"line\r\n" + OFF + T + b"out", b"", False),
        (OFF + B + ON + b"line\r\n", OFF + T + b"out", False),
        (ON + b"~" + B + ON + b"line\r\n", OFF + T, True),
        (B + ON + b"line\r\n", b"", None),  # it is on its way
        (B + b"line" + T + ON + b"~", OFF, True),
        (b"$ " + ON + b"line\r\n", OFF + ours(2), None),
        (ON + b"~ " + OFF + b"$ " + ON + b"line\r\n", OFF + ours(20), False),
        (B + ON + b"line" + OFF + GIVEN_UP + ON + b"~", b"", True),
    ],
)
def test_lines_of_ours_change_no_screen(before: bytes, after: bytes, alternate: bool | None) -> None:
    assert alternate_at(before + after, 0, len(before)) is alternate


def test_what_is_too_long_for_lines_of_ours_is_shown() -> None:
    text = b"x" * (HIDDEN_MAX - len(B) + 1)
    assert visible(B + text + T) == text


def test_a_line_of_ours_is_held_back_until_it_has_ended() -> None:
    log = b"$ " + B + b"line"
    assert visible_slice(log, 0, 0, 1000, final=False) == (b"$ ", 2)
    assert visible_range(log, 0, 0, len(log), grows=True) == b"$ "
    assert visible_slice(log, 0, 0, 1000, final=False, typed_from=len(log)) == (b"$ line", len(log))
    more = log + b"x" * (HIDDEN_MAX + 100)
    assert visible_slice(more, 0, 0, 100, final=False)[0].startswith(b"$ line")


@pytest.mark.parametrize(
    ("unfinished", "shown"),
    [
        (b"text" + PROMPT[:-1], b"text"),
        (b"text\x1b]77", b"text"),
        (b"text\xe2\x9b", b"text"),
        (b"text\r", b"text"),
        (b"text\x1b[1", b"text\x1b[1"),
        (b"text\xff", b"text\xff"),
    ],
)
def test_an_unfinished_token_is_held_back(unfinished: bytes, shown: bytes) -> None:
    seen, after = visible_slice(unfinished, 100, 100, 1000, final=False)
    assert seen == shown
    assert visible_slice(unfinished, 100, after, 1000, final=False) == (b"", after)
    rest, end = visible_slice(unfinished, 100, after, 1000, final=True)
    assert end == 100 + len(unfinished)
    assert seen + rest == visible(unfinished)


def test_a_typed_line_is_held_back_from_where_it_was_typed() -> None:
    prompt, drawn = b"$ ", b" \x1b[m" + TYPED[1:] + b"\r\n"
    typed = ours(len(prompt))
    log = prompt + drawn + ACCEPTED + typed + b"ls\r\n"
    for end in range(len(prompt), log.index(typed)):
        seen = visible_slice(log[:end], 0, 0, 1000, final=False, typed_from=len(prompt))
        assert seen == (prompt, len(prompt))
    assert visible_slice(log, 0, len(prompt), 1000, final=False) == (b"ls\r\n", len(log))


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_characters_and_line_ends_are_never_split(limit: int) -> None:
    pieces = in_pieces("aé\r\n⛄\r\n😀\r".encode(), limit)
    assert all(piece.decode() == piece.decode("utf-8", "strict") for piece in pieces)
    assert not any(piece.endswith(b"\r") for piece in pieces[:-1])


def in_pieces(log: bytes, limit: int, start: int = 0) -> list[bytes]:
    """Read as a reader of a closed log does: no more context than is asked for."""
    before, after = LOOKBEHIND, LOOKAHEAD
    pieces = []
    while start < len(log):
        base, end = max(0, start - before), min(len(log), start + limit + after)
        piece, following = visible_slice(log[base:end], base, start, limit, final=end == len(log))
        assert following > start
        pieces.append(piece)
        start = following
    return pieces


PIECES = st.sampled_from(
    [
        PROMPT, ACCEPTED, START, END, T, B, MORE, GIVEN_UP, B[:-1], TYPED, ours(4), ours(60), ours(16),
        PROMPT[:-2], T[:-1], ours(7)[:-1], b"\xc3", b"\r", b"\r\n", b"\n",
        b"$ ",
        "⛄".encode(), "😀é".encode(), b"\x1b[1;31m", b"\x1b]0;title\x07", b"\x1b]0;", b"\x1b[", b"\xc2", b"\x9b1m",
        b"\x98",
        TYPED[:6], b" \b", b"\x1b[3", b"\xe2\x9b", b"text", b"0;", ID + b"\x07", b"\x1b",
        mark(b"P;" + ID + b";1;2;0;/" + TYPED + T + b";" + ID),
    ]
)  # fmt: skip
LOGS = st.lists(PIECES, max_size=16).map(b"".join)


@given(log=LOGS, limit=st.integers(1, 60))
def test_pieces_give_the_whole(log: bytes, limit: int) -> None:
    assert b"".join(in_pieces(log, limit)) == visible(log)


@given(log=LOGS, start=st.integers(0, 400))
def test_a_piece_from_anywhere_is_the_rest_of_the_whole(log: bytes, start: int) -> None:
    rest = b"".join(in_pieces(log, 7, start=start))
    assert visible(log).endswith(rest)
    assert rest == b"".join(in_pieces(log, 10_000, start=start))
