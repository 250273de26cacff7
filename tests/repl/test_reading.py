"""What is typed at the REPL becomes the arguments that tmux would have read."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from muxwire.errors import InvalidArgument
from muxwire.protocol.commands import command, command_list
from muxwire.repl.tmux_parser import Unfinished, is_unfinished, read_commands, sent_command, split_entries

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


WORDS = [
    "plain",
    "'single $X ~ \\n'", '"double \\e \\t \\101 \\" \\\\ \\$"', "mixed'a b'\"c d\"e", "\\;", "esc\\ aped", "a{b",
    r'"\u00e9\U0001F600"', '""', r"back\\slash", "'two\nlines'", "#x' y'"[2:], '"#{pane_id}"', "-flag", "a=b,c",
]  # fmt: skip


def test_tmux_itself_reads_the_same(tmp_path: Path) -> None:
    """The reference is tmux's own parser, reading a file."""
    socket = Path(tempfile.mkdtemp(prefix="mw")) / "s"
    tmux = ["tmux", "-u", "-S", str(socket), "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "cat"], check=True)
    try:
        for word in WORDS:
            line = f"set-buffer -b x -- x{word} ; save-buffer -b x {tmp_path / 'saved'}"
            (tmp_path / "file").write_text(f"{line}\n")
            subprocess.run([*tmux, "source-file", str(tmp_path / "file")], check=True)
            ((setting, _),) = read_commands(line)
            assert (tmp_path / "saved").read_bytes() == setting[-1], word
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
        shutil.rmtree(socket.parent)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a\nb", ["a", "b"]),
        ("a 'x\ny'\n:exec it's\nb", ["a 'x\ny'", ":exec it's", "b"]),
        ("\n  :help \n\n", [":help"]),
        ("a 'x\n:no word'", ["a 'x\n:no word'"]),
    ],
)
def test_a_paste_is_cut_into_what_is_run(text: str, entries: list[str]) -> None:
    assert split_entries(text) == entries


def test_a_paste_that_is_not_whole_is_refused() -> None:
    with pytest.raises(Unfinished):
        split_entries("a\nb 'x")
    assert is_unfinished("b 'x")
    assert is_unfinished("b \\") is False
    assert not is_unfinished("b }")
