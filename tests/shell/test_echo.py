"""The echo ends where the answer begins, also while only a part of it is here."""

from __future__ import annotations

import pytest

from muxwire.shell.session import Typed, echo_end

# What was typed, what was shown, and how much of that is the echo.
CASES = [
    ("hello\n", "hello\nhello\n", 6),
    ("hello\n", "secret\n", 0),  # echo is off
    ("hello\n", "hel", None),
    ("hello\n", "hello", None),
    ("hello\n", "hello!\n", 0),
    ("hello\n", "", None),
    ("hello\n", "\nWelcome\n", 0),  # a password: only Enter shows
    ("y", "y", 1),
    ("y", "yes\n", 1),
    ("y", "", None),
    ("yes", "y", None),
    ("yes", "no", 0),
    ("x = 1\nprint(x)\n", "x = 1\nprint(x)\n>>> 1\n", 15),
    ("x = 1\nprint(x)\n", "x = 1\n>>> print(x)\n1\n", 6),
    ("echo hi\n", "echo hiecho hi\n\rhi\n", 15),  # bash, zsh
    ("echo hi\n", "echo hi\r\recho hi\r\n\rhi\n", 18),  # fish
    ("echo hi\n", "echo hiecho", None),
    ("echo hi\n", "echo hi\r", None),
    ("echo hi\n", "echo hi\rprogress 1\rprogress 2", 0),
    ("\n", "\nnext\n", 1),
    ("", "whatever", 0),
]


@pytest.mark.parametrize(("typed", "seen", "end"), CASES)
def test_echoes(typed: str, seen: str, end: int | None) -> None:
    assert echo_end(typed, seen) == end


@pytest.mark.parametrize(("typed", "seen", "end"), [case for case in CASES if case[2] is not None])
def test_what_is_said_early_is_not_taken_back(typed: str, seen: str, end: int) -> None:
    early = {echo_end(typed, seen[:cut]) for cut in range(len(seen))} - {None}
    assert early <= {end}


def test_behind_a_key_that_is_not_text_nothing_is_known() -> None:
    assert Typed.of(7, b"ab\rcd\x1b[Aef\r", at_prompt=False) == Typed(7, "ab\ncd", at_prompt=False, lines=2)
