"""What tmux 3.4 puts before a `$`, taken off again: but not from what a pane or a buffer holds."""

from __future__ import annotations

import pytest

from muxwire.protocol.commands import command, command_list, typed_line
from muxwire.protocol.escaping import undo_dollars


@pytest.mark.parametrize(("told", "meant"), [
    (rb"x\$HOME", b"x$HOME"),
    (rb"\${HOME} \$_x $1 $", b"${HOME} $_x $1 $"),
    (rb"a\\$b", rb"a\$b"),  # the text held a backslash itself
    (rb"\$1 \\ \x", rb"\$1 \\ \x"),
])  # fmt: skip
def test_the_text_that_was_meant(told: bytes, meant: bytes) -> None:
    assert undo_dollars([told, b""]) == (meant, b"")


def test_which_blocks_hold_bytes_of_others() -> None:
    assert command("show-options", "-gv", "@a").raw == frozenset()
    assert not any(typed_line(line, b"s").raw for line in (b"list-panes -a", b"send-keys -t %1 cat ; run 'case a'"))
    for line in (b"capture-p -p", b"display x ; capturep -p", b"{ capture-pane }", b"show-b", b"showb", b"lsp -F '#T'"):
        assert typed_line(line, b"s").raw
    assert command("capture-pane", "-p").raw == {0}
    branches = ("if-shell", "-F", "1", "display-message -p x", "display-message -p y")
    assert command_list(branches, ("capture-pane", "-p"), ("list-windows",), ("show-buffer",)).raw == {2, 5}
