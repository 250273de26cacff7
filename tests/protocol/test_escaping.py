"""The octal escapes of %output undo exactly, whatever the bytes."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from muxwire.protocol.escaping import escape, unescape, without_cut_escape


def test_bytes_are_escaped_as_tmux_does() -> None:
    assert escape(b"a\\\r\n\x00\x1f \x7f\x80\xff") == b"a\\134\\015\\012\\000\\037 \x7f\x80\xff"


@example(bytes(range(256)))
@example(b"".join(b"0%c7" % byte for byte in range(256)))
@given(st.binary())
def test_any_bytes_come_back(data: bytes) -> None:
    assert unescape(escape(data)) == data


def test_text_without_a_backslash_is_not_copied() -> None:
    data = "naïve ✓".encode()
    assert unescape(data) is data


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (b"\\", b"\\"),
        (b"a\\0", b"a\\0"),
        (b"\\x41", b"A"),  # Python's own escape; tmux writes no such thing, so any reading will do
        (b"\\n\\012", b"\\n\n"),
        (b"\\q", b"\\q"),
        (b"\\777\\101", b"\\777A"),
        (b"\\18", b"\\18"),
    ],
)
def test_what_tmux_cannot_have_sent_is_no_error(wire: bytes, expected: bytes) -> None:
    assert unescape(wire) == expected


@pytest.mark.parametrize("cut", [b"", b"\\", b"\\0", b"\\01"])
def test_an_escape_that_the_end_cut_is_dropped(cut: bytes) -> None:
    assert without_cut_escape(b"a\\012" + cut) == b"a\\012"
