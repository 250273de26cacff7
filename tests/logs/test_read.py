"""Reading logs: the last lines against the whole, pieces against the whole, grep against a list of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from muxwire.errors import InvalidArgument
from muxwire.host.patterns import Pattern
from muxwire.logs import grep as log_grep, read as log_read
from muxwire.logs.grep import Search, last_matches
from muxwire.logs.read import LogPiece, View, last_lines, read_range, read_raw
from muxwire.results import LogMatch, LogTail
from muxwire.shell.visible import visible, visible_range
from muxwire.vt.text import strip_ansi

ID = b"0123456789abcdef"
END = b"\x1b]7770;E;" + ID + b";0;/tmp;" + ID + b"\x07"
START = b"\x1b]7770;S;" + ID + b"\x07"
T = b"\x1b]7770;T;" + ID + b"\x07"
B = b"\x1b]7770;B;" + ID + b";1\x07"
VIEW = View(final=True)

PIECES = st.sampled_from(
    [
        b"a",
        b"match",
        b"\r\n",
        b"\n",
        b"\n\n",
        "é".encode(),
        b"\x1b[1m",
        b"\r",
        END,
        START,
        B,
        b" _mxw_c",
        T,
        END[:-1],
        END[-18:],
        b"\xe2\x9b",
    ]
)
LOGS = st.lists(PIECES, max_size=20).map(b"".join)
on_a_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_read, "_BLOCK_FIRST", 3)
    monkeypatch.setattr(log_read, "_BLOCK_MAX", 11)
    monkeypatch.setattr(log_read, "_NEAR", 2 * len(END))


def seen_lines(log: bytes) -> list[str]:
    seen = visible(log).replace(b"\r\n", b"\n").decode("utf-8", "replace")
    return re.findall(r"[^\n]*\n|[^\n]+", seen)


def pieces(path: Path, size: int, view: View) -> Iterator[LogPiece]:
    """What one reads who reads on until there is no more to be shown."""
    piece = LogPiece(b"", 0, 0, False, 0)
    while not piece.eof:
        before, piece = piece, read_range(path, piece.next_offset, size, view)
        assert piece.eof or piece.next_offset > before.next_offset
        yield piece


@pytest.mark.usefixtures("small_blocks")
@on_a_file
@given(log=LOGS, lines=st.integers(0, 8))
def test_the_last_lines(path: Path, log: bytes, lines: int) -> None:
    path.write_bytes(log)
    view = View(final=True)
    every = seen_lines(log)
    tail = last_lines(path, lines, view)
    expected = every[max(0, len(every) - lines) :]
    assert tail.content == "".join(expected)
    assert (tail.returned_lines, tail.truncated, tail.next_byte) == (len(expected), len(every) > lines, len(log))


@on_a_file
@given(log=LOGS, start=st.integers(0, 30), size=st.integers(1, 30))
def test_pieces_of_a_closed_log(path: Path, log: bytes, start: int, size: int) -> None:
    path.write_bytes(log)
    view = View(final=True)
    assert b"".join(piece.data for piece in pieces(path, size, view)) == visible(log)
    assert read_range(path, len(log) + start, size, view).data == b""
    assert read_raw(path, start, start + size) == log[start : start + size]


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        (b"a\r\n$ ", "a\n$ "),  # the blank may begin a typed line, and ends a prompt
        (b"a\r\n" + END[:-5], "a\n"),
        (b"a\r\n\xe2\x9b", "a\n"),
        (b"50%\r", "50%\r"),
    ],
)
def test_the_end_of_a_growing_log(path: Path, log: bytes, shown: str) -> None:
    path.write_bytes(log)
    assert last_lines(path, 10, View()).content == shown


def test_eof_is_when_no_more_can_be_shown(path: Path) -> None:
    path.write_bytes("a⛄\r\n$ ".encode())
    assert [piece.data.decode() for piece in pieces(path, 2, View(typed_from=7))] == ["a", "⛄", "\r\n", "$"]
    assert read_range(path, 7, 2, View(typed_from=7)) == LogPiece(b"", 7, 8, True, 0)
    assert read_range(path, 7, 2, VIEW) == LogPiece(b" ", 8, 8, True, 0)


def test_a_line_without_end_is_cut(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_read, "TAIL_BYTES_MAX", 1000)
    path.write_bytes(b"first\n" + b"x" * 500_000)
    tail = last_lines(path, 1, VIEW)
    assert (tail.content, tail.returned_lines, tail.truncated) == ("x" * 1000, 1, True)


def test_several_holes(path: Path) -> None:
    path.write_bytes(b"one\n" + bytes(6) + b"two\n" + bytes(6) + b"three\n" + bytes(4))
    records = '{"offset": 24, "size": 100}\n{"offset": 4, "size": 6}\ngarbage\n{"offset": 14, "size": 6}\n{"offset": 3'
    path.with_suffix(".gaps").write_text(records)
    path.write_bytes(path.read_bytes()[:20] + b"tail" + bytes(4))
    assert last_lines(path, 10, VIEW).content == "one\ntwo\ntail"
    assert last_lines(path, 2, VIEW) == LogTail("two\ntail", 2, True, 28)
    found = list(pieces(path, 100, VIEW))
    assert [piece.data for piece in found] == [b"one\n", b"two\n", b"tail", b""]
    assert sum(piece.dropped for piece in found) == 16


def test_a_mark_is_not_looked_for_across_a_hole(path: Path) -> None:
    path.write_bytes(END[:10] + bytes(5) + END[10:])
    path.with_suffix(".gaps").write_text('{"offset": 10, "size": 5}\n')
    assert (read_range(path, 0, 100, View()).data, read_range(path, 10, 100, VIEW).data) == (END[:10], END[10:])


@pytest.mark.usefixtures("small_blocks")
@on_a_file
@given(
    log=LOGS,
    lines=st.integers(1, 8),
    before=st.integers(0, 3),
    after=st.integers(0, 3),
    pattern=st.sampled_from(["mat+ch", "match"]),
)
def test_grep(path: Path, log: bytes, lines: int, before: int, after: int, pattern: str) -> None:
    check_grep(path, log, lines, before, after, pattern)


@on_a_file
@given(
    block=st.sampled_from([3, 20, 60, 1000]),
    log=st.lists(st.sampled_from(["match", *"abcdefghij"]), max_size=40),
    lines=st.integers(1, 12),
    before=st.integers(0, 3),
    after=st.integers(0, 3),
    pattern=st.sampled_from(["mat+ch", "match"]),
)
def test_grep_context(
    path: Path, block: int, log: list[str], lines: int, before: int, after: int, pattern: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_read, "_BLOCK_FIRST", block)
        patch.setattr(log_read, "_BLOCK_MAX", block)
        check_grep(path, "\r\n".join(log).encode(), lines, before, after, pattern)


def check_grep(path: Path, log: bytes, lines: int, before: int, after: int, pattern: str) -> None:
    path.write_bytes(log)
    every = [line.removesuffix("\n") for line in seen_lines(log)]
    matches = [number for number, line in enumerate(every) if "match" in strip_ansi(line)]
    shown = sorted({n for m in matches for n in range(max(0, m - before), min(len(every), m + after + 1))})
    kept = shown[-lines:]
    expected: list[str] = []
    for number in kept:
        if expected and (before or after) and number - 1 not in kept:
            expected.append("--\n")
        expected.append(every[number] + "\n")
    found = last_matches(path, Search(Pattern(pattern), before, after), lines, VIEW)
    assert found.content == "".join(expected)
    assert (found.returned_lines, found.truncated) == (len(kept), len(shown) > len(kept))
    assert [match.line for match in found.matches] == [number + 1 for number in kept if number in matches]
    for match in found.matches:
        before_it = visible_range(log, 0, 0, match.byte, grows=False)
        assert match.line == before_it.count(b"\n") + 1
        assert before_it[-1:] in (b"", b"\n")


VIM = b"one\r\n\x1b[?1049h\x1b[Hdrawn\r\nneedle\r\n"


@pytest.mark.parametrize("block", [3, 9, 1000])
@pytest.mark.parametrize("as_read", [False, True])
@pytest.mark.parametrize(
    ("log", "lines", "needles"),
    [
        (VIM + b"\x1b[?1049lneedle\r\nlast\r\n", ["one", "needle", "last"], [(2, 5)]),
        (VIM, ["one"], []),  # it is still there
        (VIM + b"more\r\n" * 9, ["one"], []),
        (VIM + b"\x1b[?47lx\r\n\x1b[?47hneedle\r\n", ["one", "x"], []),
        (b"needle\r\nx", ["needle", "x"], [(1, 0)]),
        (b"", [], []),
    ],
)
def test_drawing_is_left_out(
    path: Path,
    block: int,
    as_read: bool,
    log: bytes,
    lines: list[str],
    needles: list[tuple[int, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_read, "_BLOCK_FIRST", block)
    monkeypatch.setattr(log_read, "_BLOCK_MIN", block)
    monkeypatch.setattr(log_read, "_BLOCK_MAX", block)
    path.write_bytes(log)
    view = View(final=True, drawing=False)
    tail = last_lines(path, 10, view, as_read=as_read)
    assert tail.content.splitlines() == lines
    assert bool(tail.note) is (b"\x1b" in log)
    assert last_lines(path, 1, view, as_read=as_read).content.splitlines() == lines[-1:]
    found = last_matches(path, Search(Pattern("needle")), 10, view, as_read=as_read)
    assert [(match.line, match.byte) for match in found.matches] == needles
    assert bool(found.note) is (b"\x1b" in log)
    if not as_read:
        assert b"drawn" not in log or "drawn" in last_lines(path, 100, VIEW).content


@pytest.mark.parametrize(
    ("log", "line", "byte"),
    [
        (b"one\r\n10%\r20%\rneedle\r\nlast\r\n", 2, 5),
        (b"one\r\nhayy\x08\x08\x08\x08needle\r\n", 2, 5),
        (b"vim\r\n\x1b[?1049ha\r\nb\r\n\x1b[?1049lleft\r\nneedle\r\n", 3, 33),  # what was left out has lines too
        (b"a: wait\r\nb: wait\r\n\x1b[2A\x1b[2Kneedle\r\n\n", 1, 18),  # drawn over the first line, by the third
    ],
)
def test_where_a_line_lies_that_was_played(path: Path, log: bytes, line: int, byte: int) -> None:
    path.write_bytes(log)
    assert last_matches(path, Search(Pattern("needle")), 5, VIEW, as_read=True).matches == (LogMatch(byte, line),)


def test_a_part_of_a_log(path: Path) -> None:
    path.write_bytes(b"match 1\r\nmatch 2\r\nx\r\nmatch 3\r\nmatch 4\r\n")
    part = View(final=True, within=(9, 30))
    assert last_lines(path, 9, part) == LogTail("match 2\nx\nmatch 3\n", 3, False, 30, 9)
    assert last_lines(path, 2, part).truncated
    assert last_lines(path, 9, part, as_read=True).content == "match 2\nx\nmatch 3\n"
    found = last_matches(path, Search(Pattern("match")), 9, part)
    assert (found.content, found.truncated) == ("match 2\nmatch 3\n", False)
    assert found.matches == (LogMatch(9, 1), LogMatch(21, 3))
    assert last_lines(path, 9, View(final=True, within=(100, 90))).content == ""


def test_numbers_are_left_out_rather_than_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"hay\n" * 100_000 + b"needle\nneedle\n")
    assert last_matches(path, Search(Pattern("needle")), 1, VIEW).matches == (LogMatch(400_007, 100_002),)
    monkeypatch.setattr(log_grep, "COUNT_SECONDS", 0)
    assert last_matches(path, Search(Pattern("needle")), 1, VIEW).matches == (LogMatch(400_007, None),)


def test_grep_reads_through_colours(path: Path) -> None:
    path.write_bytes(b"\x1b[31mer\x1b[1mror\x1b[0m: x\r\nother\n\r\x1b[?2004lrepl: 42\r\n")
    assert last_matches(path, Search(Pattern("^repl: 42$")), 5, VIEW).returned_lines == 1
    assert last_matches(path, Search(Pattern("^error: x$")), 5, VIEW).content == "\x1b[31mer\x1b[1mror\x1b[0m: x\n"
    assert last_matches(path, Search(Pattern("^error: x$")), 5, VIEW, as_read=True).content == "error: x\n"


def test_grep_in_lines_of_any_length(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_grep, "_LINE_MAX", 100_000)
    monkeypatch.setattr(log_grep, "TAIL_BYTES_MAX", 20)  # after which no more are shown
    path.write_bytes(b"a needle\nneedle" + b"x" * 3_000_000 + b"\nshort needle\n")
    found = last_matches(path, Search(Pattern("needle")), 5, VIEW)
    assert found.returned_lines == 2
    assert found.content.endswith("short needle\n")


@pytest.mark.parametrize("pattern", ["needle", "need+le"])
def test_grep_says_that_it_did_not_look_at_all(path: Path, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_grep, "GREP_SECONDS", 0)
    path.write_bytes(b"needle\n" + b"hay\n" * 100_000)
    found = last_matches(path, Search(Pattern(pattern)), 5, VIEW)
    assert (found.content, found.truncated) == ("", True)
    assert found.note.endswith(f"before byte {found.next_byte}")


@pytest.mark.parametrize("pattern", ["(", "*", "a{99999999999999999999}", "[z-a]"])
def test_a_bad_pattern(path: Path, pattern: str) -> None:
    path.write_bytes(b"x\n")
    with pytest.raises(InvalidArgument, match="not a valid regular expression"):
        last_matches(path, Search(Pattern(pattern)), 5, VIEW)
