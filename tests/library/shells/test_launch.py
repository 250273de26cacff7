"""How a shell starts: as the user's own, with nothing of ours to be seen in it or kept by it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from muxwire import shell as shell_package
from muxwire.host import shells
from tests.library.shells.pty_shell import DEADLINE, EXECUTABLES, Opener, PtyShell


@pytest.mark.parametrize("name", EXECUTABLES)
def test_nothing_of_ours_is_exported(start: Opener, name: str) -> None:
    session = start(name)

    seen = session.execute(b"env").output

    ours = re.sub(rb"^path=.*$", b"", seen.lower(), flags=re.MULTILINE)  # may hold a clone of this project
    assert b"muxwire" not in ours.replace(str(session.tab_folder).encode(), b"")
    assert b"\nENV=" not in seen
    assert b"ZDOTDIR=" not in seen


RC = {
    "bash": (".bashrc", "mine=rc$TMUX"),
    "zsh": (".zshrc", "mine=rc$TMUX"),
    "fish": (".config/fish/config.fish", "set -g mine rc$TMUX"),
}


@pytest.mark.parametrize("name", EXECUTABLES)
def test_the_users_own_start_up_file_is_read(start: Opener, folder: Path, name: str) -> None:
    path, text = RC.get(name, (".shinit", "mine=rc$TMUX"))
    (folder / "home" / path).write_text(text + "\n")
    extra: dict[str, Any] = {} if name in RC else {"ENV": str(folder / "home" / path)}

    session = start(name, **extra, TMUX="/own", TMUX_PANE="%1", MUXWIRE_TMUX="x")

    # It may start a tmux where there is no TMUX. After it there is none, so a tmux of the user's can be started.
    assert session.execute(b"echo $mine; env | grep TMUX").output == b"rc/own\n"
    if extra:
        assert session.execute(b"sh -c 'echo $ENV'").output.decode() == extra["ENV"] + "\n"


@pytest.mark.parametrize("name", EXECUTABLES)
def test_a_login_shell_reads_the_profile(start: Opener, folder: Path, name: str) -> None:
    path = {"bash": ".bash_profile", "zsh": ".zprofile", "fish": ".config/fish/config.fish"}.get(name, ".profile")
    line = "status is-login; and set -g mine login" if name == "fish" else "mine=login"
    (folder / "home" / path).write_text(line + "\n")

    session = start(name, login=True)

    assert session.execute(b"echo $mine").output == b"login\n"


def test_a_login_bash_is_one(start: Opener, folder: Path) -> None:
    home = folder / "home"
    (home / ".bash_profile").write_text("shopt -q login_shell && mine=login\nset +o | grep posix\n")
    (home / ".bash_logout").write_text("echo left >left\n")
    session = start("bash", login=True)

    assert b"set +o posix\r\n" in session.data
    assert session.execute(b'echo "$mine"; shopt -q login_shell; echo $?').output == b"login\n0\n"
    assert session.execute(b"cd && logout").status == "shell_exited"
    assert (home / "left").read_text() == "left\n"


# What POSIX mode, by way of which it starts, has a hand in.
BASH_STATE = """
{ shopt; set -o; trap -p; for v in ENV HISTFILE MAILCHECK POSIXLY_CORRECT SHELLOPTS BASHOPTS; do declare -p $v; done
} >~/state 2>&1
[ -z "$BY_ITSELF" ] || exit 0
"""


@pytest.mark.parametrize("extra", [{}, {"ENV": "/mine"}, {"HISTFILE": "/mine", "MAILCHECK": "7"}])
def test_a_login_bash_finds_all_as_if_started_by_itself(start: Opener, folder: Path, extra: dict[str, Any]) -> None:
    home = folder / "home"
    (home / ".bash_profile").write_text(BASH_STATE)
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "screen", "BY_ITSELF": "1"} | extra
    on_a_tty = ["script", "-q", "-c", "exec bash -l -i", "/dev/null"]
    subprocess.run(on_a_tty, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    plain = (home / "state").read_text()

    start("bash", login=True, **extra)

    assert (home / "state").read_text() == plain


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


def remembered(session: PtyShell, name: str) -> bytes:
    """What the shell's own history files hold after the shell has ended."""
    session.type(b"exit\r")
    session.wait_mark(0, time.monotonic() + DEADLINE, lambda mark: mark.kind == "X")
    home = session.tab_folder.parent / "home"
    files = [path for path in home.rglob("*history*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files)


@pytest.mark.parametrize("name", EXECUTABLES)
def test_our_commands_are_not_in_the_history(start: Opener, folder: Path, name: str) -> None:
    extra: dict[str, Any] = (
        {"HISTFILE": str(folder / "home/.zsh_history"), "HISTSIZE": "99", "SAVEHIST": "99"} if name == "zsh" else {}
    )
    session = start(name, **extra)
    session.typed(b"echo human")

    for _ in range(2):
        session.execute(b"echo agent")
        session.drain(0.05)
    listed = session.execute({"zsh": b"fc -l", "dash": b"true"}.get(name, b"history")).output
    kept = remembered(session, name)

    if name not in {"ksh", "busybox"}:  # they know no way to keep a line out of the list, only out of the file
        assert b"_mux" not in listed
    assert b"_mux" not in kept
    assert b"agent" not in kept
    if name in {"bash", "zsh", "fish"}:
        assert b"echo human" in kept


def test_a_start_up_file_that_keeps_lines_with_a_space_keeps_none_of_ours(start: Opener, folder: Path) -> None:
    """As bash-preexec, which changes HISTCONTROL at the first prompt."""
    once = "keeps() { HISTCONTROL=ignoredups; keeps() { :; }; }"
    (folder / "home/.bashrc").write_text(f"{once}\nPROMPT_COMMAND=keeps\n")
    session = start("bash")
    session.execute(b"echo agent")
    session.typed(b"echo human")

    listed = session.execute(b"history").output
    kept = remembered(session, "bash")

    assert b"_mux" not in listed + kept
    assert b"echo human" in kept


# What ble.sh is to us: a line editor that takes readline's keys, and keeps stderr.
BLE = """
BLE_VERSION=0.4.0
ble-attach() { _ble_attached=1; exec 9>&2 2>/dev/null; bind '"\\e[}": kill-whole-line'; }
ble-detach/impl() { _ble_attached=; exec 2>&9 9>&-; }
"""


@pytest.mark.parametrize("attaches", ["ble-attach", "PROMPT_COMMAND=ble-attach"])
def test_a_line_editor_of_its_own_stays_out(start: Opener, folder: Path, attaches: str) -> None:
    (folder / "home/.bashrc").write_text(BLE + attaches)
    session = start("bash")

    for command in (b"echo out; echo err >&2", b"ble-attach; echo out; echo err >&2"):
        assert session.execute(command).output == b"out\nerr\n"


def test_integration_files_are_private(folder: Path) -> None:
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (folder / "integration").iterdir()}

    assert modes == {0o600}
    assert stat.S_IMODE((folder / "integration").stat().st_mode) == 0o700


def test_shells_are_known_by_their_executable() -> None:
    names = {path: shells.shell_for(path) for path in ("/bin/bash", "-zsh", "/usr/bin/busybox", "/bin/tcsh", "python3")}

    assert [shell.name if shell else None for shell in names.values()] == ["bash", "zsh", "ash", None, None]


def test_a_program_that_is_not_known_is_no_shell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bash").mkdir()
    monkeypatch.chdir(folder / "bash")
    assert shells.shell_for("") is None


def test_the_default_shell_is_the_users_if_we_know_it(folder: Path) -> None:
    path = os.environ["PATH"]

    assert shells.default_shell({"SHELL": "/bin/sh", "PATH": path}) in {"/bin/sh", shutil.which("bash")}
    assert shells.default_shell({"SHELL": str(folder / "zsh"), "PATH": path}) == shutil.which("bash")
    assert shells.default_shell({"PATH": str(folder)}) == "/bin/sh"


@pytest.mark.parametrize(("command", "status"), [(("sh", "-c", "exit 4"), 4), (("sh", "-c", "kill -9 $$"), 137)])
def test_the_supervisor_tells_the_status_and_stays(start: Opener, command: tuple[str, ...], status: int) -> None:
    session = start("bash")
    argv = shell_package.supervisor_argv(("sh", "-c", '${MUXWIRE_NONCE+false} && exec "$@"', "sh", *command), "0" * 16)

    outcome = session.start(
        b"MUXWIRE_NONCE="
        + b"f" * 16
        + b" "
        + b" ".join(b"'" + arg.replace("'", "'\\''").encode() + b"'" for arg in argv)
    )
    end = session.wait_mark(outcome[1], time.monotonic() + DEADLINE, lambda mark: mark.kind == "X")

    assert end.fields == b"%b;%d" % (b"f" * 16, status)
