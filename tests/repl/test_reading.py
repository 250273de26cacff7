"""What is typed at the REPL becomes the arguments that tmux would have read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muxwire.errors import InvalidArgument
from muxwire.protocol.commands import command, command_list
from muxwire.repl.reading import Unfinished, read_commands, sent_command

ARGUMENT = st.binary().map(lambda data: data.replace(b"\0", b""))
ARGUMENTS = st.lists(ARGUMENT, max_size=4).map(lambda rest: (b"name", *rest))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("  \n \n", []),
        ("list-windows -a", [((b"list-windows", b"-a"),)]),
        ("a ; b;c", [((b"a",), (b"b",), (b"c",))]),
        ("a 'x y'\"z\" \\; b", [((b"a", b"x yz", b";", b"b"),)]),
        ("a\nb 1\n", [((b"a",),), ((b"b", b"1"),)]),
        ("a 'two\nlines'", [((b"a", b"two\nlines"),)]),
        ("a \\\n b", [((b"a", b"b"),)]),
        (r'a "\e[1m\101\u00e9\"\$"', [((b"a", "\x1b[1mAé\"$".encode()),)]),
        (r"a '\e'", [((b"a", rb"\e"),)]),
        ("# a comment\nlist-keys # and one behind", [((b"list-keys",),)]),
        ("display -p #{pane_id} #S", [((b"display", b"-p", b"#{pane_id}", b"#S"),)]),
        ("display -p x#{?a b,c;d,#{e}}y", [((b"display", b"-p", b"x#{?a b,c;d,#{e}}y"),)]),
        ("new -c ~ $HOME", [((b"new", b"-c", b"~", b"$HOME"),)]),
        ("bind x { a '}' ; b\n  c }", [((b"bind", b"x", b"a '}' ; b ; c"),)]),
        ("if -F 1 { if -F 1 { a } { b } } { c }", [((b"if", b"-F", b"1", b"if -F 1 { a } { b }", b"c"),)]),
    ],
)  # fmt: skip
def test_text_is_read_as_tmux_reads_it(text: str, lines: list[object]) -> None:
    assert read_commands(text) == lines


@pytest.mark.parametrize("text", ["a 'x", 'a "x', 'a "x\\"', "a { b", "a #{b", 'a { "}'])
def test_an_open_quote_asks_for_more(text: str) -> None:
    with pytest.raises(Unfinished):
        read_commands(text)


def test_a_stray_brace_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="closes nothing"):
        read_commands("a } b")


@given(st.lists(ARGUMENTS, min_size=1, max_size=3))
def test_what_the_client_writes_is_read_back(commands: list[tuple[bytes, ...]]) -> None:
    made = command_list(*commands)
    assert read_commands(made.line) == [tuple(commands)]
    assert sent_command(made.line) == made


def test_a_line_on_the_wire_has_as_many_blocks_as_tmux_gives() -> None:
    branches = command("if-shell", "-F", "1", "display-message -p a", "display-message -p b")
    assert sent_command(branches.line) == branches
    assert sent_command(b"") is None
    assert sent_command(b"# nothing") is None
    odd = sent_command(b"display-message 'open")
    assert odd is not None
    assert len(odd.silent) == 1
