"""Arguments become tokens that tmux's parser reads back. tests/client asks a real tmux."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from muxwire.errors import LocalProtocolError
from muxwire.protocol.commands import quote


@pytest.mark.parametrize(
    ("argument", "token"),
    [
        ("new-window", b"new-window"),
        ("@1", b"@1"),
        ("hub:0.1", b"hub:0.1"),
        ("", b'""'),
        ("%1", b'"%1"'),
        ("a b", b'"a b"'),
        ("#{pane_id}", b'"#{pane_id}"'),
        ("a;", b'"a;"'),
        ('say "$HOME" \\ ~x', b'"say \\"\\$HOME\\" \\\\ \\~x"'),
        ("a\nb\r", b'"a\\012b\\015"'),
        ("é", b'"\\303\\251"'),
        (b"\xff\x7f\x01", b'"\\377\\177\\001"'),
        ("\udcff", b'"\\377"'),
        ("{", b'"{"'),
        ("x=y", b'"x=y"'),
    ],
)
def test_tokens(argument: str | bytes, token: bytes) -> None:
    assert quote(argument) == token


@given(st.binary().filter(lambda data: b"\0" not in data))
def test_a_token_is_printable_ascii(data: bytes) -> None:
    assert all(0x20 <= byte < 0x7F for byte in quote(data))


@pytest.mark.parametrize(("argument", "why"), [("a\0b", "NUL"), (b"\0", "NUL"), ("\ud800", "surrogate")])
def test_what_no_line_can_hold_is_refused(argument: str | bytes, why: str) -> None:
    with pytest.raises(LocalProtocolError, match=why):
        quote(argument)
