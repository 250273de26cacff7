"""What a shell of ours is besides exact: the user's own shell, with nothing of ours to be seen in it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muxwire.terminals import shells

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.terminals.shells.pty_shell import DEADLINE, Deadline, PtyShell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXECUTABLES = ("bash", "zsh", "fish", "dash", "ksh", "busybox")
POSIX = tuple(name for name in EXECUTABLES if name != "fish")
STATUS = {"fish": b"$status"}
Opener = "Callable[..., PtyShell]"


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mw") as name:
        root = Path(name)
        shells.install(root / "integration")
        # fish would write completions for every manual page into a home that has none.
        (root / "home/.local/share/fish/generated_completions").mkdir(parents=True)
        (root / "home/.config/fish").mkdir(parents=True)
        yield root


@pytest.fixture
def start(folder: Path) -> Iterator[Opener]:
    opened: list[PtyShell] = []

    def open_shell(name: str, *, login: bool = False, first_prompt: bool = True, **extra: str) -> PtyShell:
        executable = shutil.which(name)
        if executable is None:
            pytest.skip(f"{name} is not installed")
        tab = folder / f"tab{len(opened)}"
        tab.mkdir()
        env = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], "TERM": "screen", "LANG": "C.UTF-8"}
        session = PtyShell(executable, folder / "integration", tab, env | extra, login=login)
        opened.append(session)
        if first_prompt:
            session.prompt()
        return session

    yield open_shell
    for session in opened:
        session.close()


def typed(session: PtyShell, line: bytes) -> bytes:
    """What a person sees who types `line` and Enter, up to the next prompt."""
    first, before = len(session.marks), len(session.data)
    session.type(line + b"\r")
    session.prompt(first)
    return bytes(session.data[before:])


@pytest.mark.parametrize("name", EXECUTABLES)
def test_nothing_of_ours_is_exported(start: Opener, name: str) -> None:
    session = start(name)

    seen = session.execute(b"env").output

    assert b"muxwire" not in seen.lower().replace(str(session.tab_folder).encode(), b"")
    assert b"\nENV=" not in seen
    assert b"ZDOTDIR=" not in seen


RC = {
    "bash": (".bashrc", "mine=rc"),
    "zsh": (".zshrc", "mine=rc"),
    "fish": (".config/fish/config.fish", "set -g mine rc"),
}


@pytest.mark.parametrize("name", EXECUTABLES)
def test_the_users_own_start_up_file_is_read(start: Opener, folder: Path, name: str) -> None:
    path, text = RC.get(name, (".shinit", "mine=rc"))
    (folder / "home" / path).write_text(text + "\n")
    extra = {} if name in RC else {"ENV": str(folder / "home" / path)}

    session = start(name, **extra)

    assert session.execute(b"echo $mine").output == b"rc\n"
    if extra:
        assert session.execute(b"sh -c 'echo $ENV'").output.decode() == extra["ENV"] + "\n"


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_login_shell_reads_the_profile(start: Opener, folder: Path, name: str) -> None:
    path = {"bash": ".bash_profile", "zsh": ".zprofile", "fish": ".config/fish/config.fish"}.get(name, ".profile")
    line = "status is-login; and set -g mine login" if name == "fish" else "mine=login"
    (folder / "home" / path).write_text(line + "\n")

    session = start(name, login=True)

    assert session.execute(b"echo $mine").output == b"login\n"


def test_zsh_honours_the_users_zdotdir(start: Opener, folder: Path) -> None:
    own = folder / "own"
    own.mkdir()
    (own / ".zshenv").write_text("one=env\n")
    (own / ".zshrc").write_text("two=rc\n")

    session = start("zsh", ZDOTDIR=str(own))

    assert session.execute(b"echo $one $two; sh -c 'echo $ZDOTDIR'").output == f"env rc\n{own}\n".encode()


def test_zsh_prompts_though_the_rc_file_resets_the_hooks(start: Opener, folder: Path) -> None:
    (folder / "home/.zshrc").write_text("precmd_functions=() preexec_functions=() zshaddhistory_functions=()\n")

    session = start("zsh")

    assert session.execute(b"echo hi").output == b"hi\n"
    assert session.execute(b"echo hi").output == b"hi\n"


def test_zsh_heals_hooks_that_a_command_took_away(start: Opener) -> None:
    session = start("zsh")

    session.execute(b"precmd_functions=()")

    assert session.execute(b"echo hi").output == b"hi\n"


def test_bash_with_a_readonly_prompt_command_works_without_prompt_marks(start: Opener, folder: Path) -> None:
    (folder / "home/.bashrc").write_text("readonly PROMPT_COMMAND\nPS1='ready> '\n")
    session = start("bash", first_prompt=False)
    end = time.monotonic() + DEADLINE
    while b"ready> " not in session.data:
        assert session.read(end)

    command_id, first = session.start(b"echo hi; false", nested=True)
    end_mark = session.wait_mark(first, end, lambda mark: mark.kind == "E")

    assert end_mark.fields.startswith(command_id.encode() + b";1;")


def remembered(session: PtyShell, name: str) -> bytes:
    """What the shell's own history files hold after the shell has ended."""
    session.type(b"exit\r")
    session.wait_mark(0, time.monotonic() + DEADLINE, lambda mark: mark.kind == "X")
    home = session.tab_folder.parent / "home"
    files = [path for path in home.rglob("*history*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files)


@pytest.mark.parametrize("name", EXECUTABLES)
def test_our_commands_are_not_in_the_history(start: Opener, folder: Path, name: str) -> None:
    extra = {"HISTFILE": str(folder / "home/.zsh_history"), "HISTSIZE": "99", "SAVEHIST": "99"} if name == "zsh" else {}
    session = start(name, **extra)
    typed(session, b"echo human")

    for _ in range(2):
        session.execute(b"echo agent")
        session.drain(0.05)
    listed = session.execute({"zsh": b"fc -l", "dash": b"true"}.get(name, b"history")).output
    kept = remembered(session, name)

    if name not in {"ksh", "busybox"}:  # they know no way to keep a line out of the list, only out of the file
        assert b"muxwire" not in listed
    assert b"muxwire" not in kept
    assert b"agent" not in kept
    if name in {"bash", "zsh", "fish"}:
        assert b"echo human" in kept


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

    outcome = session.execute(b"echo ran", cwd="/nowhere at all")

    assert outcome.exit_code == 1
    assert b"/nowhere at all" in outcome.output
    assert b"ran" not in outcome.output
    assert session.execute(b"pwd").output == str(session.tab_folder.parent / "home").encode() + b"\n"


@pytest.mark.parametrize("name", POSIX)
def test_exit_in_a_command_with_its_own_env_ends_only_the_command(start: Opener, name: str) -> None:
    session = start(name)

    outcome = session.execute(b"echo a; exit 7", env={"ONE": "1"})

    assert (outcome.output, outcome.exit_code) == (b"a\n", 7)
    assert session.execute(b"echo ok").output == b"ok\n"


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


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_tty_left_raw_is_repaired_on_request(start: Opener, name: str) -> None:
    session = start(name)
    session.execute(b"stty -isig; false")

    outcome = session.execute(b"echo " + STATUS.get(name, b"$?") + b"; stty -a", repair_tty=True)

    assert outcome.output.startswith(b"1\n")
    assert re.search(rb"\sisig icanon", outcome.output)


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_nested_shell_is_reached_without_integration(start: Opener, name: str) -> None:
    session = start("bash")
    nested = {"bash": "bash --norc", "zsh": "zsh -f", "busybox": "busybox sh"}.get(name, name)
    outer_id, outer_first = session.start(nested.encode())
    session.wait_mark(outer_first, time.monotonic() + DEADLINE, lambda mark: mark.kind == "S")
    session.until_quiet(2.0)
    outer, session.shell = session.shell, shells.shell_for(shutil.which(name) or name) or session.shell

    for status in (0, 3):
        command_id, first = session.start(b"echo 'it''s'; sh -c 'exit %d'" % status, nested=True)
        deadline = time.monotonic() + DEADLINE
        begin = session.wait_mark(first, deadline, lambda mark: mark.kind == "S")
        end = session.wait_mark(first, deadline, lambda mark: mark.kind in "ED")
        assert bytes(session.data[begin.end : end.start]) == b"its\r\n"
        assert end.fields.startswith(b"%b;%d;" % (command_id.encode(), status))
        session.until_quiet(1.0)
    session.type(b"exit 9\r")
    session.shell = outer

    assert session.finish(outer_id, outer_first, time.monotonic() + DEADLINE, ()).exit_code == 9


@pytest.mark.parametrize("name", EXECUTABLES)
def test_what_a_person_types_is_marked_as_accepted(start: Opener, name: str) -> None:
    session = start(name)
    first = len(session.marks)

    typed(session, b"echo human")

    kinds = [mark.kind for mark in session.marks[first:]]
    assert ("C" in kinds) == session.shell.has_accept_mark
    assert "S" not in kinds


def test_zsh_gives_half_typed_text_back(start: Opener) -> None:
    session = start("zsh")
    session.type(b"echo half")
    session.until_quiet(1.0)

    outcome = session.execute(b"echo hi")
    session.drain(0.1)
    first = len(session.marks)
    session.type(b" typed\r")
    session.prompt(first)

    assert outcome.output == b"hi\n"
    assert b"\r\nhalf typed\r\n" in re.sub(rb"\x1b\]7770;[^\x07]*\x07", b"", bytes(session.data))


def test_an_unfinished_line_in_zsh_is_left_and_comes_back(start: Opener) -> None:
    session = start("zsh")
    session.type(b"echo 'open\r")
    session.until_quiet(1.0)

    first, second = session.execute(b"echo hi"), session.execute(b"echo hi")
    session.drain(0.1)
    seen = typed(session, b"'")

    assert first.status == "not_started"
    assert second.output == b"hi\n"
    assert b"open\r\n" in seen


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_the_private_key_works_in_vi_command_mode(start: Opener, name: str) -> None:
    session = start(name)
    session.execute(b"set -o vi" if name == "bash" else b"bindkey -v")
    session.type(b"echo junk\x1b")
    session.drain(0.6)  # the line editor must have taken the ESC for a key of its own

    assert session.execute(b"echo hi").output == b"hi\n"
    assert session.execute(b"echo hi").output == b"hi\n"


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_directory_name_may_hold_anything(start: Opener, name: str) -> None:
    session = start(name)
    odd = session.tab_folder / "a;b\x07c\nd e\x1b]7770;P;0"
    odd.mkdir()

    outcome = session.execute(b"cd " + bytes(odd.parent) + b"/a*")

    assert outcome.cwd == bytes(odd)


@pytest.mark.parametrize("name", EXECUTABLES)
def test_marks_are_not_torn_by_other_writers(start: Opener, name: str) -> None:
    session = start(name)
    noise = b"sh -c 'while :; do echo noise; done' &"

    session.execute(noise)
    for _ in range(3 if session.shell.settle_after_prompt else 10):
        command_id, first = session.start(b"sh -c 'exit 3'")
        end = session.wait_mark(first, time.monotonic() + DEADLINE, lambda mark: mark.kind == "E")
        session.prompt(first)
        assert end.fields.startswith(command_id.encode() + b";3;")


def test_a_debug_trap_survives(start: Opener) -> None:
    session = start("bash")

    session.execute(b"trap 'traced=1' DEBUG")
    session.drain(0.05)
    seen = typed(session, b"trap -p DEBUG")  # bash hides it from a sourced file, so a person asks

    assert b"\x07trap -- 'traced=1' DEBUG\r\n" in seen


def test_integration_files_are_private(folder: Path) -> None:
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (folder / "integration").iterdir()}

    assert modes == {0o600}
    assert stat.S_IMODE((folder / "integration").stat().st_mode) == 0o700


def test_shells_are_known_by_their_executable() -> None:
    names = {path: shells.shell_for(path) for path in ("/bin/bash", "-zsh", "/usr/bin/busybox", "/bin/tcsh", "python3")}

    assert [shell.name if shell else None for shell in names.values()] == ["bash", "zsh", "ash", None, None]


def test_the_default_shell_is_the_users_if_we_know_it(folder: Path) -> None:
    path = os.environ["PATH"]

    assert shells.default_shell({"SHELL": "/bin/sh", "PATH": path}) in {"/bin/sh", shutil.which("bash")}
    assert shells.default_shell({"SHELL": str(folder / "zsh"), "PATH": path}) == shutil.which("bash")
    assert shells.default_shell({"PATH": str(folder)}) == "/bin/sh"


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_foreign_shell_takes_typed_lines(start: Opener, name: str) -> None:
    session = start("bash")
    nested = {"bash": "bash --norc", "zsh": "zsh -f", "busybox": "busybox sh"}.get(name, name)
    _, first = session.start(nested.encode())
    session.wait_mark(first, time.monotonic() + DEADLINE, lambda mark: mark.kind == "S")
    session.until_quiet(2.0)
    deadline = time.monotonic() + DEADLINE
    session.type(shells.probe("0123456789abcdef"))
    session.wait_mark(first, deadline, lambda mark: mark.kind == "H")
    session.until_quiet(1.0)

    command = b"echo \"it's\" '$x' \\\\; sh -c 'exit 5' # " + b"x" * 3000
    first = len(session.marks)
    for line in shells.foreign_wrap(command, "0123456789abcdef", fish=name == "fish"):
        session.type(line)
    begin = session.wait_mark(first, deadline, lambda mark: mark.kind == "S")
    end = session.wait_mark(first, deadline, lambda mark: mark.kind == "E")

    assert bytes(session.data[begin.end : end.start]) == b"it's $x \\\r\n"
    assert end.fields.startswith(b"0123456789abcdef;5;")


@pytest.mark.parametrize(("command", "status"), [(("sh", "-c", "exit 4"), 4), (("sh", "-c", "kill -9 $$"), 137)])
def test_the_supervisor_tells_the_status_and_stays(start: Opener, command: tuple[str, ...], status: int) -> None:
    session = start("bash")
    argv = shells.supervisor_argv(command, "f" * 16)

    outcome = session.start(b" ".join(b"'" + arg.replace("'", "'\\''").encode() + b"'" for arg in argv))
    end = session.wait_mark(outcome[1], time.monotonic() + DEADLINE, lambda mark: mark.kind == "X")

    assert end.fields == b"%b;%d" % (b"f" * 16, status)


def test_a_deadline_tells_what_came(start: Opener) -> None:
    session = start("bash")

    with pytest.raises(Deadline, match="no mark"):
        session.wait_mark(len(session.marks), time.monotonic(), lambda mark: mark.kind == "X")
