"""Lines come out whole, whatever the cuts."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from muxwire.mcp.line_reader import LineBuffer, LineTooLong

LIMIT = 20


def lines_of(buffer: LineBuffer) -> list[bytes]:
    found: list[bytes] = []
    while True:
        try:
            line = buffer.next_line()
        except LineTooLong:
            line = b"<too long>"
        if line is None:
            return found
        found.append(line)


@given(st.lists(st.binary(max_size=2 * LIMIT).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.data())
def test_any_cut_gives_the_same_lines(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    buffer = LineBuffer(LIMIT)
    found: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        buffer.feed(stream[start:end])
        found += lines_of(buffer)
    assert found == [line if len(line) <= LIMIT else b"<too long>" for line in lines]
    assert len(buffer) == 0


def test_a_long_line_is_not_kept() -> None:
    buffer = LineBuffer(LIMIT)
    for _ in range(100):
        buffer.feed(b"x" * LIMIT)
        assert buffer.next_line() is None
        assert len(buffer) <= 2 * LIMIT
    buffer.feed(b"\nnext\n")
    with pytest.raises(LineTooLong):
        buffer.next_line()
    assert buffer.has_line()
    assert buffer.next_line() == b"next"
