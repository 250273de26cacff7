"""Lines are the same however the bytes are cut, and the open one is bounded."""

from __future__ import annotations

from hypothesis import given, strategies as st

from muxwire.protocol.lines import LineBuffer


@given(st.lists(st.text("ab\n").map(str.encode)))
def test_each_line_comes_when_it_is_complete(chunks: list[bytes]) -> None:
    lines, found, fed = LineBuffer(), list[bytes](), b""
    for chunk in chunks:
        found += lines.feed(chunk)
        fed += chunk
        assert found == fed.split(b"\n")[:-1]
    assert (lines.close(), lines.close()) == (fed.split(b"\n")[-1], b"")


def test_an_open_line_outgrows_the_bound() -> None:
    lines = LineBuffer(max_line_bytes=4)
    lines.feed(b"12345678\n1234")
    assert not lines.too_long
    lines.feed(b"5")
    assert lines.too_long
