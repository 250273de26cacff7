"""What a wrapped command may ask for beyond being exact, and what a person at the same prompt notices of it."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from muxwire import shell as shell_package
from muxwire.host import shells
from muxwire.shell import foreign_wrap
from muxwire.shell.foreign import foreign_command
from muxwire.shell.listener import ForegroundShell
from tests.library.shells.pty_shell import DEADLINE, EXECUTABLES, Opener

STATUS = {"fish": b"$status"}
# The id of another probe, and the token of another shell.
OTHER, AFTER = "fedcba9876543210", "fedcba9876543211"


@pytest.mark.parametrize("name", EXECUTABLES)
def test_env_and_cwd_hold_for_one_command(start: Opener, folder: Path, name: str) -> None:
    session = start(name)
    status = STATUS.get(name, b"$?")
    odd = folder / "it's $odd"
    odd.mkdir()

    session.execute(b"false")
    apart = session.execute(b"echo " + status + b"; pwd; sh -c 'echo $ONE'", env={"ONE": "a'b\\ \"$x`é"}, cwd=str(odd))
    after = session.execute(b'echo "<$ONE>"; pwd')

    assert apart.output == f"1\n{odd}\na'b\\ \"$x`é\n".encode()
    assert apart.cwd == str(folder / "home").encode()
    assert after.output == f"<>\n{folder}/home\n".encode()


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_bad_cwd_runs_nothing(start: Opener, name: str) -> None:
    session = start(name)

    outcome = session.execute(b"echo run by mistake", cwd="/nowhere at all")

    assert outcome.exit_code == 1
    assert b"/nowhere at all" in outcome.output
    assert b"run by mistake" not in outcome.output
    assert session.execute(b"pwd").output == str(session.tab_folder.parent / "home").encode() + b"\n"


@pytest.mark.parametrize("name", EXECUTABLES)
def test_exit_in_a_command_with_its_own_env_ends_only_the_command(start: Opener, name: str) -> None:
    session = start(name)
    leaves = b"function leaves; exit 7; end" if name == "fish" else b"leaves() { exit 7; }"
    session.execute(leaves)

    outcome = session.execute(b"echo a; leaves; echo b", env={"ONE": "1"})

    assert (outcome.output, outcome.exit_code) == (b"a\n", 7)
    assert session.execute(b"echo ok").output == b"ok\n"


@pytest.mark.parametrize("name", EXECUTABLES)
def test_what_a_command_with_its_own_env_sets_ends_with_it(start: Opener, name: str) -> None:
    session = start(name)
    sets = b"set mine 1" if name == "fish" else b"mine=1"
    before = session.execute(b"pwd").output

    session.execute(sets + b"; cd /", env={"ONE": "1"})

    assert session.execute(b'echo "<$mine$ONE>"; pwd').output == b"<>\n" + before


def test_fish_returns_to_its_directory_after_an_interrupt(start: Opener) -> None:
    session = start("fish")
    home = str(session.tab_folder.parent / "home").encode()

    _, first = session.start(b"while true; end", cwd="/")
    session.wait_mark(first, time.monotonic() + DEADLINE, lambda mark: mark.kind == "S")
    session.type(b"\x03")
    prompt = session.prompt(first)

    assert prompt.fields.split(b";")[4] == home
    assert session.execute(b"pwd").output == home + b"\n"


@pytest.mark.parametrize("name", EXECUTABLES)
@pytest.mark.parametrize("length", [1, 5000])
def test_the_redraw_is_printed_verbatim_before_the_start_mark(start: Opener, name: str, length: int) -> None:
    session = start(name)
    redraw = b"\x1b[A\x1b[5G\x1b[J" + b'it\'s "100%" \\n $HOME `x` !1 \xc3\xa9' * length + b"\n"
    mark = b"\x1b]7770;T;0123456789abcdef\x07"

    first = len(session.marks)
    outcome = session.execute(b"echo hi", redraw=redraw + mark)
    starts = next(mark for mark in session.marks[first:] if mark.kind == "S")

    shown = redraw.replace(b"\n", b"\r\n") + mark
    assert bytes(session.data[: starts.start]).endswith(shown)
    assert outcome.output == b"hi\n"


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_foreign_shell_takes_variables_a_directory_and_a_file(
    start: Opener, folder: Path, name: str, long: bool
) -> None:
    session = start("bash")
    nested = {"bash": "bash --norc", "zsh": "zsh -f", "busybox": "busybox sh"}.get(name, name)
    _, first = session.start(nested.encode())
    session.wait_mark(first, time.monotonic() + DEADLINE, lambda mark: mark.kind == "S")
    session.until_quiet(2.0)
    there, fish = folder / "it's there", name == "fish"
    there.mkdir()
    asks = b'echo "$VALUE" $' + (b"status" if fish else b"?") + b"; pwd; sh -c 'exit 5'" + b" # long" * (2000 * long)
    wrapped = foreign_command(
        asks, OTHER, ForegroundShell(shells.shell_for(name), 2, fish=fish, status=4), b"", session.tab_folder,
        {"VALUE": "it's \\ $x"}, str(there),
    )  # fmt: skip
    assert bool(wrapped.files) == long
    for file, content in wrapped.files:
        (session.tab_folder / file).write_bytes(content)
    for command_id, typed in (
        (OTHER, wrapped.typed),
        (AFTER, b"".join(foreign_wrap(b"pwd", AFTER, fish=fish, forget=name))),
    ):
        first = len(session.marks)
        session.type(typed)
        begin = session.wait_mark(first, time.monotonic() + DEADLINE, lambda mark: mark.kind == "S")
        end = session.wait_mark(first, time.monotonic() + DEADLINE, lambda mark: mark.kind == "E")
        output = bytes(session.data[begin.end : end.start])
        if command_id == OTHER:
            assert output == b"it's \\ $x 4\r\n" + os.fsencode(there) + b"\r\n"
            assert end.fields.startswith(OTHER.encode() + b";5;")
        else:
            assert os.fsencode(there) not in output
        session.until_quiet(1.0)
    if name == "bash":  # as without a start-up file, it keeps lines that begin with a space
        at = len(session.data)
        session.type(b"history\r")
        session.until_quiet(1.0)
        assert b"history" in session.data[at:]
        assert b"muxwire" not in session.data[at:]


def test_an_unfinished_line_in_zsh_is_left_and_comes_back(start: Opener) -> None:
    session = start("zsh")
    session.type(b"echo 'open\r")
    session.until_quiet(1.0)

    first, second = session.execute(b"echo hi"), session.execute(b"echo hi")
    session.drain(0.1)
    seen = session.typed(b"'")

    assert (first.output, second.output) == (b"hi\n", b"hi\n")
    assert b"open\r\n" in seen


@pytest.mark.parametrize(("mode", "keys"), [("emacs", (b"\x1b#", b"\x18c")), ("vi", (b"\x1b#",))])
def test_a_comment_that_a_person_makes_of_a_line_is_theirs(
    start: Opener, folder: Path, mode: str, keys: tuple[bytes, ...]
) -> None:
    binds = r"""bind 'set comment-begin #"\'; bind -m emacs '"\C-xc": insert-comment'"""
    (folder / "home" / ".bashrc").write_text(f"{binds}\nset -o {mode}\nHISTCONTROL=\n")
    session = start("bash")
    for key in keys:
        assert session.execute(b"echo ours").output == b"ours\n"
        first = len(session.marks)
        session.type(b"echo theirs")
        session.drain(0.1)
        session.type(key)
        session.prompt(first)

    session.execute(b"echo ours")
    listed = session.execute(b"history").output.decode()
    assert re.findall(r"^ +[0-9]+  (.*)\n", listed, re.MULTILINE) == ['#"\\echo theirs'] * len(keys)


@pytest.mark.parametrize(
    ("binds", "kept"),
    [
        (r"""bind '"\eP": "theirs"'""", rb'"\eP": "theirs"'),
        (r"""bind '"\C-xe": "\eP"'; bind '"\C-xs": "set comment-begin x"'""", rb'"\eP": ""'),
    ],
)
def test_the_key_with_which_a_terminals_answer_begins_is_a_persons_where_they_bound_it(
    start: Opener, folder: Path, binds: str, kept: bytes
) -> None:
    (folder / "home" / ".bashrc").write_text(f"{binds}\n")
    session = start("bash")

    assert kept in session.execute(b"bind -s").output.splitlines()


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_directory_name_may_hold_anything(start: Opener, name: str) -> None:
    session = start(name)
    odd = session.tab_folder / "a;b\x07c\nd e\x1b]7770;P;0"
    odd.mkdir()

    outcome = session.execute(b"cd " + bytes(odd.parent) + b"/a*")

    assert outcome.cwd == bytes(odd)


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_foreign_shell_takes_typed_lines(start: Opener, name: str) -> None:
    session = start("bash")
    nested = {"bash": "bash --norc", "zsh": "zsh -f", "busybox": "busybox sh"}.get(name, name)
    _, first = session.start(nested.encode())
    session.wait_mark(first, time.monotonic() + DEADLINE, lambda mark: mark.kind == "S")
    session.until_quiet(2.0)
    deadline = time.monotonic() + DEADLINE
    session.type(b"sh -c 'exit 7'\r")
    session.until_quiet(1.0)
    session.type(shell_package.probe("0123456789abcdef"))
    heard = session.wait_mark(first, deadline, lambda mark: mark.kind == "H")
    kind = b"'" if name == "fish" else b"\\"
    assert heard.fields == b"0123456789abcdef;" + kind + b";7;0123456789abcdef"
    session.until_quiet(1.0)
    first = len(session.marks)
    session.type(b"sh -c 'exit 8'" + shell_package.probe(OTHER).replace(b" ", b"; ", 1))
    heard = session.wait_mark(first, deadline, lambda mark: mark.kind == "H")
    assert heard.fields == OTHER.encode() + b";" + kind + b";8;0123456789abcdef"
    session.until_quiet(1.0)

    # What is meant for another shell: nothing of it runs, and it is asked which one this is.
    first, fish = len(session.marks), name == "fish"
    for line in shell_package.foreign_wrap(b"echo ran", OTHER, fish=fish, token=OTHER):
        session.type(line)
    session.until_quiet(1.0)
    session.type(shell_package.foreign_end(OTHER, b"", fish=fish, token=OTHER))
    heard = session.wait_mark(first, deadline, lambda mark: mark.kind in "SEH")
    assert (heard.kind, heard.fields[-17:]) == ("H", b";0123456789abcdef")
    session.until_quiet(1.0)

    command = b"echo \"it's\" '$x' \\\\; sh -c 'exit 5' # " + b"x" * 3000
    first = len(session.marks)
    for line in shell_package.foreign_wrap(command, "0123456789abcdef", fish=fish, token="0123456789abcdef"):
        session.type(line)
    begin = session.wait_mark(first, deadline, lambda mark: mark.kind == "S")
    end = session.wait_mark(first, deadline, lambda mark: mark.kind == "E")

    assert bytes(session.data[begin.end : end.start]) == b"it's $x \\\r\n"
    assert end.fields.startswith(b"0123456789abcdef;5;")
    session.until_quiet(1.0)
    first = len(session.marks)
    session.type(b"sh -c 'exit 6'\r")
    session.until_quiet(1.0)
    session.type(shell_package.foreign_end("0123456789abcdef", b"", fish=fish, token="0123456789abcdef"))
    end = session.wait_mark(first, deadline, lambda mark: mark.kind in "EH")
    assert (end.kind, end.fields[:19]) == ("E", b"0123456789abcdef;6;")


def test_zsh_fails_in_the_words_of_its_prompt(start: Opener) -> None:
    session = start("zsh")

    missing = session.execute(b"# as typed\nno-such-command; cd /nowhere")
    broken = session.execute(b'echo "abc')

    assert missing.output == b"zsh: command not found: no-such-command\ncd: no such file or directory: /nowhere\n"
    assert broken.output == b'zsh: unmatched "\n'


@pytest.mark.parametrize("option", [b"emulate sh", b"emulate ksh", b"setopt ignore_braces", b"setopt noclobber; IFS=/"])
def test_zsh_may_be_told_to_be_another_shell(start: Opener, option: bytes) -> None:
    session = start("zsh")

    session.execute(option)

    assert session.execute(b"echo hi").output == b"hi\n"
    assert session.execute(b"echo hi; false").exit_code == 1
