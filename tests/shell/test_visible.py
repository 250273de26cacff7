"""What is seen of a log: whole, and in pieces that must give the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings, strategies as st

from muxwire.shell import SHELLS, TYPED_LINES, typed_lines
from muxwire.shell.marks import MARK_MAX
from muxwire.shell.typed_lines import typed_lines_of
from muxwire.shell.visible import (
    HIDDEN_MAX,
    REDRAW_MAX,
    SEQUENCE_END,
    alternate_at,
    known_from,
    lookahead,
    lookbehind,
    visible,
    visible_range,
    visible_slice,
)
from muxwire.vt.text import strip_ansi

ID = b"0123456789abcdef"
TYPED = (b" __muxwire_c", b" __muxwire_c; x", b"\xc3\xa9typed")


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


def test_a_session_looks_as_if_the_command_had_been_typed() -> None:
    redraw = ACCEPTED + b"\r\n\x1b[1A\x1b[3G\x1b[J" + T
    log = PROMPT + b"$ " + TYPED[0] + redraw + b"echo hi\r\n" + START + b"hi\r\n" + END + PROMPT + b"$ "
    assert visible(log, TYPED) == b"$ echo hi\r\nhi\r\n$ "
    assert visible(log, ()) == b"$ " + TYPED[0] + b"\r\n\x1b[1A\x1b[3G\x1b[Jecho hi\r\nhi\r\n$ "


@pytest.mark.parametrize(
    "drawn",
    [
        b' \\. "$ \b_ \b_muxwire"',  # ksh
        b' \\. "$__mux \rwire"',  # bash at the right edge
        b' \\. "$__mux\r\nwire"',
        b' \\. \x1b[33m"$__mux\x1b[1;33mwire"\x1b[0m',
        b' \\. "$__muxwire"\x1b[16D \\. "$__muxwire"\x1b[?2004l',
    ],
)
def test_a_line_may_be_drawn_by_an_editor(drawn: bytes) -> None:
    typed = (b' \\. "$__muxwire"',)
    assert visible(PROMPT + b"$ " + drawn + b"\r\n" + ACCEPTED + T + b"ls\r\n" + START, typed) == (
        b"$ " + (b"\x1b[16D" if b"[16D" in drawn else b"") + b"ls\r\n"
    )


@given(st.lists(st.sampled_from((*TYPED, *(b" __muxw", b"ire_c", b"typed", b"; x", b" ", b"\r", b"\x1b[K", b"\n")))))
@example([TYPED[0], b" __muxw", b"\x1b[K", b"ire_c"])
def test_the_last_line_is_the_last_that_fits(pieces: list[bytes]) -> None:
    data, lines = b"".join(pieces), typed_lines_of(TYPED)
    drawn = typed_lines._drawn(lines.exact)
    fits = [found.span() for at in range(len(data)) if (found := drawn.match(data, at))]
    assert lines.last_drawn(data, 0, len(data)) == (fits[-1] if fits else None)


def test_a_line_that_is_drawn_as_it_was_typed_needs_no_pattern_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[bytes, ...]]()
    compiled = typed_lines._drawn

    def noted(lines: tuple[bytes, ...]) -> re.Pattern[bytes]:
        asked.append(lines)
        return compiled(lines)

    monkeypatch.setattr(typed_lines, "_drawn", noted)
    monkeypatch.setattr(typed_lines, "_heads", typed_lines._heads.__wrapped__)  # other tests may have filled its cache
    line = SHELLS["bash"].typed_line
    text = b"$ " + line + b"\r\n\x1b[?2004l\r" + ACCEPTED + b"\x1b[1A\x1b[3G\x1b[J"
    assert typed_lines_of(TYPED_LINES).last_drawn(text, 0, len(text)) == (2, 2 + len(line))
    assert max(map(len, (one for lines in asked for one in lines))) < len(line)


def test_a_line_drawn_at_its_longest() -> None:
    drawn = (b"\x1b[" + b"3" * 16 + b"m") * 4
    log = b"$ " + drawn.join(bytes([byte]) for byte in TYPED[0]) + b"x" * REDRAW_MAX + T + b"end"
    assert visible(log, TYPED) == b"$ end"
    assert b"".join(in_pieces(log, 100)) == b"$ end"


def test_the_prompt_stays_where_the_line_was_echoed_before_it() -> None:
    log = TYPED[0] + b"\r\n" + PROMPT + b"$ " + TYPED[0] + ACCEPTED + b"\r\n" + T + b"ls"
    assert visible(log, TYPED) == b"\r\n$ ls"
    log = PROMPT + b"^[[7770~$ " + TYPED[0] + b"\r\n" + T + b"ls"
    assert visible(log, (*TYPED, b"^[[7770~")) == b"$ ls"


@pytest.mark.parametrize("between", [START, END, PROMPT, mark(b"X;" + ID + b";0"), b"x" * (REDRAW_MAX + 1)])
def test_without_its_t_mark_only_the_line_goes(between: bytes) -> None:
    seen = visible(b"$ " + TYPED[0] + b"\r\n" + between + b"out" + T + b"end", TYPED)
    assert seen == b"$ \r\n" + (between if between.startswith(b"x") else b"") + b"outend"


def test_the_longest_redraw() -> None:
    assert visible(TYPED[0] + b"x" * REDRAW_MAX + T + b"end", TYPED) == b"end"


def test_a_typed_line_inside_a_mark_is_the_marks() -> None:
    log = mark(b"P;" + ID + b";1;2;0;/" + TYPED[0] + b";" + ID) + b"$ "
    assert visible(log + TYPED[0] + T + b"ls", TYPED) == b"$ ls"
    assert visible(log + b"text" + T, TYPED) == b"$ text"


def test_a_mark_ends_a_sequence_that_was_begun() -> None:
    seen = visible(b"a\x1b]0;open" + END + b"b\x1b[1mc", TYPED, joint=SEQUENCE_END)
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
    assert visible(log, TYPED) == seen
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
        (B + ON + b"line" + OFF + GIVEN_UP + ON + b"~", b"", True),
    ],
)
def test_lines_of_ours_change_no_screen(before: bytes, after: bytes, alternate: bool | None) -> None:
    assert alternate_at(before + after, len(before), TYPED) is alternate


def test_what_is_too_long_for_lines_of_ours_is_shown() -> None:
    text = b"x" * (HIDDEN_MAX - len(B) + 1)
    assert visible(B + text + T, TYPED) == text


def test_a_line_of_ours_is_held_back_until_it_has_ended() -> None:
    log = b"$ " + B + b"line"
    assert visible_slice(log, 0, 0, 1000, TYPED, final=False) == (b"$ ", 2)
    assert visible_range(log, 0, 0, len(log), TYPED, grows=True) == b"$ "
    assert visible_slice(log, 0, 0, 1000, TYPED, final=False, typed_from=len(log)) == (b"$ line", len(log))
    more = log + b"x" * (HIDDEN_MAX + 100)
    assert visible_slice(more, 0, 0, 100, TYPED, final=False)[0].startswith(b"$ line")


@pytest.mark.parametrize(
    ("unfinished", "shown"),
    [
        (b"text" + PROMPT[:-1], b"text"),
        (b"text\x1b]77", b"text"),
        (b"text\xe2\x9b", b"text"),
        (b"text\r", b"text"),
        (b"text" + TYPED[0][:5], b"text"),
        (b"text" + TYPED[0] + b"\r\n\x1b[A", b"text"),
        (b"text" + TYPED[0][:5] + b"\x1b[3", b"text"),
        (b"text" + TYPED[0][:5] + b" ", b"text"),
        (b"text" + TYPED[0][:5] + b" \b" + TYPED[0][5:8] + b"\x1b", b"text"),
        (b"text" + TYPED[0][:5] + b" \b" + TYPED[0][5:] + b"more", b"text"),
        (b"text\x1b[1", b"text\x1b[1"),
        (b"text\xff", b"text\xff"),
    ],
)
def test_an_unfinished_token_is_held_back(unfinished: bytes, shown: bytes) -> None:
    seen, after = visible_slice(unfinished, 100, 100, 1000, TYPED, final=False)
    assert seen == shown
    assert visible_slice(unfinished, 100, after, 1000, TYPED, final=False) == (b"", after)
    rest, end = visible_slice(unfinished, 100, after, 1000, TYPED, final=True)
    assert end == 100 + len(unfinished)
    assert seen + rest == visible(unfinished, TYPED)


@pytest.mark.parametrize(
    "ended", [b"$ ", b"name: \r\n", b"text" + TYPED[0][:5], b"text" + TYPED[0], b"text" + TYPED[0] + b"\r\n"]
)
def test_nothing_is_held_back_for_a_line_that_nobody_has_typed(ended: bytes) -> None:
    shown = visible(ended, TYPED)
    end = 100 + len(ended)
    assert visible_slice(ended, 100, 100, 1000, TYPED, final=False, typed_from=end) == (shown, end)
    assert visible_range(ended, 100, 100, end, TYPED, grows=True, typed_from=end) == shown


def test_a_typed_line_is_held_back_from_where_it_was_typed() -> None:
    prompt, drawn = b"$ ", b" \x1b[m" + TYPED[0][1:] + b"\r\n"
    log = prompt + drawn + ACCEPTED + T + b"ls\r\n"
    for end in range(len(prompt), log.index(T)):
        seen = visible_slice(log[:end], 0, 0, 1000, TYPED, final=False, typed_from=len(prompt))
        assert seen == (prompt, len(prompt))
    assert visible_slice(log, 0, len(prompt), 1000, TYPED, final=False) == (b"ls\r\n", len(log))


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_characters_and_line_ends_are_never_split(limit: int) -> None:
    pieces = in_pieces("aé\r\n⛄\r\n😀\r".encode(), limit)
    assert all(piece.decode() == piece.decode("utf-8", "strict") for piece in pieces)
    assert not any(piece.endswith(b"\r") for piece in pieces[:-1])


def in_pieces(log: bytes, limit: int, start: int = 0) -> list[bytes]:
    """Read as a reader of a closed log does: no more context than is asked for."""
    before, after = lookbehind(TYPED), lookahead(TYPED)
    pieces = []
    while start < len(log):
        base, end = max(0, start - before), min(len(log), start + limit + after)
        piece, following = visible_slice(log[base:end], base, start, limit, TYPED, final=end == len(log))
        assert following > start
        pieces.append(piece)
        start = following
    return pieces


PIECES = st.sampled_from(
    [
        PROMPT, ACCEPTED, START, END, T, B, MORE, GIVEN_UP, B[:-1], *TYPED,
        PROMPT[:-2], T[:-1], TYPED[1][:-1], b"\xc3", b"\r", b"\r\n", b"\n",
        b"$ ",
        "⛄".encode(), "😀é".encode(), b"\x1b[1;31m", b"\x1b]0;title\x07", b"\x1b]0;", b"\x1b[", b"\xc2", b"\x9b1m",
        b"\x98",
        TYPED[0][:6], TYPED[0][6:], b" \b", b"\x1b[3", b"\xe2\x9b", b"text", b"0;", ID + b"\x07", b"\x1b",
        mark(b"P;" + ID + b";1;2;0;/" + TYPED[0] + T + b";" + ID),
    ]
)  # fmt: skip
LOGS = st.lists(PIECES, max_size=16).map(b"".join)


@given(log=LOGS, limit=st.integers(1, 60))
def test_pieces_give_the_whole(log: bytes, limit: int) -> None:
    assert b"".join(in_pieces(log, limit)) == visible(log, TYPED)


@given(log=LOGS, start=st.integers(0, 400))
def test_a_piece_from_anywhere_is_the_rest_of_the_whole(log: bytes, start: int) -> None:
    rest = b"".join(in_pieces(log, 7, start=start))
    assert visible(log, TYPED).endswith(rest)
    head = visible_head(log, start)
    assert head + rest == visible(log, TYPED)


def visible_head(log: bytes, start: int) -> bytes:
    """What is seen of the bytes before `start`, by taking from the whole what the rest gives."""
    whole = visible(log, TYPED)
    rest = b"".join(in_pieces(log, 10_000, start=start))
    return whole[: len(whole) - len(rest)]


@settings(max_examples=60)
@given(log=LOGS, filler=st.integers(0, 400), limit=st.integers(1, 300))
def test_context_is_as_long_as_it_says(log: bytes, filler: int, limit: int) -> None:
    """Marks and redraws of the greatest length, so that too short a context would show."""
    long_mark = mark(b"E;" + ID + b";0;" + b"d" * (MARK_MAX - 200) + b";" + ID)
    log = log + long_mark + b"y" * filler + TYPED[0] + b"x" * (REDRAW_MAX - 20) + log + T + log
    log += long_mark + b"y" * filler + B + b"x" * (HIDDEN_MAX - filler) + T + log
    assert b"".join(in_pieces(log, 1 + limit * 30)) == visible(log, TYPED)


def test_the_context_tells_a_directory_from_a_typed_line() -> None:
    name = b"d" * (MARK_MAX - 200) + TYPED[0]
    log = mark(b"E;" + ID + b";0;" + name + b";" + ID) + b"shown" * 700 + T + b"end"
    assert b"".join(in_pieces(log, 100)) == b"shown" * 700 + b"end"


@given(log=LOGS, sizes=st.lists(st.integers(1, 30), min_size=1))
def test_a_log_that_grows_is_shown_exactly(log: bytes, sizes: list[int]) -> None:
    shown = b""
    position = end = turn = 0
    while end < len(log):
        end = min(len(log), end + sizes[turn % len(sizes)])
        turn += 1
        piece, position = visible_slice(log[:end], 0, position, 20, TYPED, final=False)
        shown += piece
    shown += b"".join(in_pieces(log, 50, start=position))
    assert shown == visible(log, TYPED)


def test_the_end_of_a_log_of_short_commands_needs_little_before_it() -> None:
    """Wherever the end begins: half of such a log is marks, so it often begins within one."""
    prompt = PROMPT + b"$ " + TYPED[0] + ACCEPTED + b"\r\n" + T + b"true\r\n"
    command = prompt + START + END
    log, near = command * 200, 2 * len(command)
    for index in range(len(log) - len(command), len(log)):
        assert known_from(log, index, index - near) >= index - near
    opened = END[:-1] + START + b"seen" + END  # a directory that has not ended may hold all that follows
    assert known_from(opened, len(opened) - 1, 1) == 0


def test_a_line_is_found_without_a_look_for_each_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read of a log has one look for each command; short commands have most of their bytes in one."""
    monkeypatch.setattr(typed_lines, "_has_head", lambda *_: pytest.fail("each line is looked for"))
    line = SHELLS["bash"].typed_line
    text = b"$ " + line + b"\r\n\x1b[?2004l\r" + ACCEPTED + b"\x1b[1A\x1b[3G\x1b[J"
    assert typed_lines_of(TYPED_LINES).last_drawn(text, 0, len(text)) == (2, 2 + len(line))
