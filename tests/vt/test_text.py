"""strip_ansi: what a terminal would have drawn, whatever the chunks."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from muxwire.vt.text import AnsiStripper, strip_ansi, text_of, undo_onlcr


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        (b"plain \xc3\xa9\xe2\x9b\x84\xf0\x9f\x98\x80", b"plain \xc3\xa9\xe2\x9b\x84\xf0\x9f\x98\x80"),
        (b"a\tb\r\nc\rd\n", b"a\tb\r\nc\rd\n"),
        (b"a\x00b\x07c\x08d\x0e\x0f\x7fe\x18\x1a", b"abcde"),
        (b"\x1b[31mred\x1b[0m", b"red"),
        (b"\x1b[38:2::1:2:3m\x1b[?2004h\x1b[>4;1m\x1b[1 qx\x1b[!p", b"x"),
        (b"\x1b[3\n1mx", b"\n1mx"),  # a control ends a CSI: two programs wrote at once
        (b"\x1b[3\x181mx", b"1mx"),
        (b"\x1b[3\x1b[1mx", b"x"),
        (b"\x1b[3\xc3\xa9", b"\xc3\xa9"),
        (b"\x1b[" + b"1;" * 500 + b"mx", b"x"),
        (b"\x1b]0;title\x07x", b"x"),
        (b"\x1b]0;title\x1b\\x", b"x"),
        (b"\x1b]8;;http://a/\xc3\xa9\x1b\\link\x1b]8;;\x1b\\", b"link"),
        (b"\x1b]0;a\nb\tc\x07x", b"x"),
        (b"\x1b]0;open\x1b[1mx", b"x"),
        (b"\x1b]0;open\x18x", b"x"),
        (b"\x1bP1;2q#0~\x07~\x1b\\x", b"x"),
        (b"\x1b_apc\x1b\\x\x1b^pm\x1b\\y\x1bXsos\x1b\\z\x1bktitle\x1b\\.", b"xyz."),
        (b"\x1b(B\x1b)0\x1b%G\x1b#8\x1b=\x1b>\x1b7\x1b8\x1bMx", b"x"),
        (b"\x1b( \x1b[1mx", b"x"),
        (b"\x1b\xc3\xa9", b"\xc3\xa9"),
        (b"\xc2\x9b31mx\x9b1m", b"\xc2\x9b31mx\x9b1m"),  # no C1 control is one as another byte than `ESC [`
        (b"\xe6\x9b\xb8\x90\x9d", b"\xe6\x9b\xb8\x90\x9d"),
        (b"x\x1b", b"x"),
        (b"x\x1b[1", b"x"),
        (b"x\x1b]0;t", b"x"),
        (b"x\xc2", b"x\xc2"),
        (b"\x1b]0;t\xc2", b""),
        (b"\x1b[1\xc2", b"\xc2"),
        (b"\x1bPq\x18x\x1bPq\x1ay", b"xy"),
    ],
)
def test_examples(raw: bytes, plain: bytes) -> None:
    assert (strip_ansi(raw), in_chunks(raw, list(range(len(raw))))) == (plain, plain)


def test_text_in_text_out() -> None:
    assert strip_ansi("\x1b[1mé\ud800") == "é\ud800"


def test_a_string_of_any_length_is_none_of_the_text() -> None:
    """A picture (sixel, OSC 1337) may have some MiB."""
    raw = b"before\n\x1b]1337;File=:" + b"x" * (3 << 20) + b"\x07\x1bPq" + b"~-\n" * (1 << 20) + b"\x1b\\after\n"
    assert strip_ansi(raw) == b"before\nafter\n"
    assert in_chunks(raw, list(range(0, len(raw), 65536))) == b"before\nafter\n"
    stripper = AnsiStripper()
    stripper.feed(raw[: len(raw) // 3])
    assert len(stripper.held) < 10_000  # not all of it is kept


def test_hostile_input_takes_linear_time() -> None:
    """Each would take minutes if anything were scanned again for every sequence."""
    for unit in (b"\x1b", b"\x1b[", b"\x1b]", b"\x1b[1", b"\x1b(", b"\x1bP\x1b", b"\x1b]\x18"):
        strip_ansi(unit * (1_000_000 // len(unit)))


def test_undo_onlcr() -> None:
    assert undo_onlcr(b"a\r\nb\rc\n\r\r\n") == b"a\nb\rc\n\r\n"


@given(
    st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"", b"\xc3", b"\xa9", b"\xf0\x9f", b"\x98\x80", b"\xff"]))
)
def test_text_in_parts_is_that_of_the_whole(parts: list[bytes]) -> None:
    whole = undo_onlcr(b"".join(parts)).decode("utf-8", "replace")
    assert text_of(parts) == whole
    assert parts == []  # nothing holds them any more


def in_chunks(raw: bytes, cuts: list[int]) -> bytes:
    stripper = AnsiStripper()
    edges = [0, *sorted(cuts), len(raw)]
    chunks = [raw[edges[i] : edges[i + 1]] for i in range(len(edges) - 1)]
    return b"".join(map(stripper.feed, chunks))


BYTES = st.lists(
    st.sampled_from(
        [b"\x1b", b"[", b"]", b"P", b"k", b"\\", b"\x07", b"\x18", b"\n", b"\r", b"\x00", b"\x7f", b" ", b"(", b"0",
         b";", b"m", b"\xc2", b"\x80", b"\x9b", b"\x9c", b"\x9d", b"\xc3\xa9", b"\xe2\x9b\x84", b"text", b"\x1b[1;31m"]
    ),
    max_size=24,
).map(b"".join)  # fmt: skip


@given(raw=BYTES | st.binary(max_size=40), data=st.data())
def test_chunks_do_not_matter(raw: bytes, data: st.DataObject) -> None:
    whole = strip_ansi(raw)
    assert in_chunks(raw, list(range(len(raw)))) == whole
    assert in_chunks(raw, data.draw(st.lists(st.integers(0, len(raw)), max_size=5))) == whole
