"""A command is one line, of a known number of blocks, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, strategies as st

from muxwire.errors import LocalProtocolError
from muxwire.protocol.commands import MAX_COMMAND_BYTES, command, command_list, sent_line, typed_line

ARGUMENT = st.binary().map(lambda data: data.replace(b"\0", b""))
ARGUMENTS = st.lists(ARGUMENT, max_size=4).map(lambda rest: (b"name", *rest))


def test_a_command_is_its_quoted_arguments() -> None:
    made = command("send-keys", "-t", "%1", "-l", b"a b")
    assert (made.line, made.name, made.blocks) == (b'send-keys -t "%1" -l "a b"', "send-keys", 1)


def test_a_list_is_answered_by_one_block_each() -> None:
    made = command_list(("refresh-client", "-A", "%1:pause"), ("capture-pane", "-p"), ("display-message", "x"))
    fenced = b"capture-pane -p ; display-message -p muxwire-fence"
    assert (made.line, made.blocks) == (b'refresh-client -A "%1:pause" ; ' + fenced + b" ; display-message x", 4)


@pytest.mark.parametrize(
    "make",
    [
        command,
        *(partial(command, word) for word in ("", b"", " ", "#comment", "a b", ";", "a\nb", "%if", b"\xff", "A=b")),
        command_list,
        *(partial(typed_line, line, b"end") for line in (b"", b"  ", b"a\nb", b"a\0")),
    ],
)
def test_a_line_without_a_command_is_refused_as_is_what_is_not_one_line(make: Callable[[], object]) -> None:
    with pytest.raises(LocalProtocolError):
        make()


def test_a_line_that_would_freeze_tmux_is_refused() -> None:
    command("set-buffer", b"x" * (MAX_COMMAND_BYTES - 20))
    with pytest.raises(LocalProtocolError, match="freeze"):
        command("set-buffer", b"x" * MAX_COMMAND_BYTES)


@given(st.lists(ARGUMENTS, min_size=1, max_size=3))
def test_a_line_that_was_made_is_read_back_with_its_number_of_blocks(commands: list[tuple[bytes, ...]]) -> None:
    made = command_list(*commands)
    again = sent_line(made.line)
    assert (again.line, again.blocks, again.name) == (made.line, made.blocks, made.name)


def test_the_branch_of_an_if_shell_is_a_block_of_its_own_also_when_read_back() -> None:
    made = command_list(("refresh-client", "-A", "%1:pause"), ("if-shell", "-F", "1", "a ; b", "c"))
    assert sent_line(made.line).blocks == made.blocks == 3
