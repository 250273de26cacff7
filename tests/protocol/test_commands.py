"""A command is one line, of a known number of blocks, or it is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from muxwire.errors import LocalProtocolError
from muxwire.protocol.commands import MAX_COMMAND_BYTES, command, command_list


def test_a_command_is_its_quoted_arguments() -> None:
    made = command("send-keys", "-t", "%1", "-l", b"a b")
    assert made.line == b'send-keys -t "%1" -l "a b"'
    assert made.name == "send-keys"
    assert made.silent == (False,)


def test_a_list_is_answered_by_one_block_each() -> None:
    made = command_list(("refresh-client", "-A", "%1:pause"), ("capture-pane", "-p"), ("display-message", "x"))
    assert made.line == b'refresh-client -A "%1:pause" ; capture-pane -p ; display-message x'
    assert made.silent == (True, False, True)


def test_a_condition_is_answered_by_itself_and_its_branch() -> None:
    assert len(command("if-shell", "-F", "1", "display-message -p a", "display-message -p b").silent) == 2


@pytest.mark.parametrize("arguments", [("display-message", "-p", "x"), (b"display", b"-pt", b"%1"), ("list-windows",)])
def test_commands_that_print_are_not_silent(arguments: tuple[str | bytes, ...]) -> None:
    assert command(*arguments).silent == (False,)


@pytest.mark.parametrize(
    "arguments", [(), ("",), (b"",), (" ",), ("#comment",), ("a b",), (";",), ("a\nb",), ("%if",), (b"\xff",), ("A=b",)]
)
def test_a_line_without_a_command_is_refused(arguments: tuple[str | bytes, ...]) -> None:
    with pytest.raises(LocalProtocolError):
        command(*arguments)


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(LocalProtocolError):
        command_list()


def test_a_line_that_would_freeze_tmux_is_refused() -> None:
    command("set-buffer", b"x" * (MAX_COMMAND_BYTES - 20))
    with pytest.raises(LocalProtocolError, match="freeze"):
        command("set-buffer", b"x" * MAX_COMMAND_BYTES)


@given(st.lists(st.binary().filter(lambda data: b"\0" not in data)))
def test_a_command_is_always_one_line(arguments: list[bytes]) -> None:
    line = command("set-buffer", *arguments).line
    assert b"\n" not in line
    assert b"\r" not in line
