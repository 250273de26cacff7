"""Lines are the same however the bytes are cut, and the open one is bounded."""

from __future__ import annotations

from hypothesis import given, strategies as st

from muxwire.protocol.lines import LineBuffer


def test_lines_come_when_they_are_complete() -> None:
    lines = LineBuffer()
    assert lines.feed(b"one\ntw") == [b"one"]
    assert lines.feed(b"o") == []
    assert lines.feed(b"\n\nfour") == [b"two", b""]
    assert lines.close() == b"four"
    assert lines.close() == b""


@given(st.lists(st.text("ab\n").map(str.encode)))
def test_cuts_do_not_matter(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    lines = LineBuffer()
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    assert [*found, lines.close()] == whole.split(b"\n")


def test_an_open_line_outgrows_the_bound() -> None:
    lines = LineBuffer(max_line_bytes=4)
    lines.feed(b"12345678\n1234")
    assert not lines.too_long
    lines.feed(b"5")
    assert lines.too_long
