"""How a shell starts: as the user's own, with nothing of ours to be seen in it or kept by it.

And what a command may have for itself: variables and a directory.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from muxwire import Terminals
from tests.deadline import DEADLINE
from tests.library.opened import SHELLS, known_prompt, tab_for
from tests.users import keep_fish_quiet

# The file that a shell reads as it starts, and as a login shell; the others have ENV, and .profile.
FILES = {
    "bash": (".bashrc", ".bash_profile"),
    "zsh": (".zshrc", ".zprofile"),
    "fish": (".config/fish/config.fish", ".config/fish/config.fish"),
}


@pytest.mark.parametrize("login", [False, True])
@pytest.mark.parametrize("shell", SHELLS)
async def test_start__reads_the_users_file_and_exports_nothing(
    terminals: Terminals, tmp_path: Path, shell: str, login: bool
) -> None:
    """The file may start a tmux where there is no TMUX; after it there is none, so that a user can start one."""
    keep_fish_quiet(tmp_path)
    file = tmp_path / FILES.get(shell, (".shinit", ".profile"))[login]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("set -g mine rc$TMUX\n" if shell == "fish" else "mine=rc$TMUX\n")
    extra = {"ENV": str(file)} if file.name == ".shinit" else {}
    async with tab_for(terminals, shell, login=login, HOME=str(tmp_path), **extra) as tab:
        assert (await tab.execute("echo $mine; env | grep TMUX")).output.startswith("rc/")
        names = {line.partition("=")[0] for line in (await tab.execute("env")).output.splitlines()}
        assert not [name for name in names if "MUXWIRE" in name or name in ("TMUX", "ZDOTDIR")]
        assert ("ENV" in names) == bool(extra)


# What POSIX mode, by way of which it starts, has a hand in.
BASH_STATE = """
{ shopt; set -o; trap -p; for v in ENV HISTFILE MAILCHECK POSIXLY_CORRECT SHELLOPTS BASHOPTS; do declare -p $v; done
} >~/state 2>&1
[ -z "$BY_ITSELF" ] || exit 0
"""


@pytest.mark.parametrize("extra", [{}, {"ENV": "/mine"}, {"HISTFILE": "/mine", "MAILCHECK": "7"}])
async def test_login_bash__finds_all_as_if_started_by_itself(
    terminals: Terminals, environ: dict[str, str], tmp_path: Path, extra: dict[str, Any]
) -> None:
    (tmp_path / ".bash_profile").write_text(BASH_STATE)
    env = {"HOME": str(tmp_path), "PATH": environ["PATH"], "TERM": "screen", "BY_ITSELF": "1"} | extra
    on_a_tty = ["script", "-q", "-c", "exec bash -l -i", "/dev/null"]
    subprocess.run(on_a_tty, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    by_itself = (tmp_path / "state").read_text()
    async with tab_for(terminals, "bash", login=True, HOME=str(tmp_path), **extra) as tab:
        await tab.execute("true")
        assert (tmp_path / "state").read_text() == by_itself


async def test_zsh__honours_the_users_zdotdir(terminals: Terminals, tmp_path: Path) -> None:
    (tmp_path / ".zshenv").write_text("one=env\n")
    (tmp_path / ".zshrc").write_text("two=rc\n")
    async with tab_for(terminals, "zsh", ZDOTDIR=str(tmp_path)) as tab:
        assert (await tab.execute("echo $one $two; sh -c 'echo $ZDOTDIR'")).output == f"env rc\n{tmp_path}\n"


# As bash-preexec, which changes HISTCONTROL at the first prompt.
KEEPS = "keeps() { HISTCONTROL=ignoredups; keeps() { :; }; }\nPROMPT_COMMAND=keeps\n"


@pytest.mark.parametrize(("shell", "file"), [*((shell, "") for shell in SHELLS), ("bash", KEEPS)])
async def test_history__has_none_of_our_commands(terminals: Terminals, tmp_path: Path, shell: str, file: str) -> None:
    keep_fish_quiet(tmp_path)
    (tmp_path / ".bashrc").write_text(file)
    zsh = {"HISTFILE": str(tmp_path / ".zsh_history"), "HISTSIZE": "99", "SAVEHIST": "99"}
    kept: dict[str, Any] = zsh if shell == "zsh" else {}
    async with tab_for(terminals, shell, HOME=str(tmp_path), **kept) as tab:
        await known_prompt(tab)
        await tab.send_keys(["echo human", "Enter"], wait=DEADLINE)
        for _ in range(2):
            await tab.execute("echo agent")
        listed = (await tab.execute({"zsh": "fc -l", "dash": "true"}.get(shell, "history"))).output
        await tab.execute("exit")
    text = "".join(path.read_text() for path in tmp_path.rglob("*history*") if path.is_file())
    # ksh and busybox know no way to keep a line out of the list, only out of the file.
    assert "_mux" not in text + (listed if shell not in ("ksh", "busybox") else "")
    assert "agent" not in text
    assert ("echo human" in text) == (shell in ("bash", "zsh", "fish"))


# What ble.sh is to us: a line editor that takes readline's keys, and keeps stderr.
BLE = """
BLE_VERSION=0.4.0
ble-attach() { _ble_attached=1; exec 9>&2 2>/dev/null; bind '"\\e[}": kill-whole-line'; }
ble-detach/impl() { _ble_attached=; exec 2>&9 9>&-; }
"""


@pytest.mark.parametrize("attaches", ["ble-attach", "PROMPT_COMMAND=ble-attach"])
async def test_a_line_editor_of_its_own__stays_out(terminals: Terminals, tmp_path: Path, attaches: str) -> None:
    (tmp_path / ".bashrc").write_text(BLE + attaches)
    async with tab_for(terminals, HOME=str(tmp_path)) as tab:
        for command in ("echo out; echo err >&2", "ble-attach; echo out; echo err >&2"):
            assert (await tab.execute(command)).output == "out\nerr\n"


@pytest.mark.parametrize("shell", SHELLS)
async def test_env_and_cwd__hold_for_one_command(terminals: Terminals, tmp_path: Path, shell: str) -> None:
    status, sets = ("$status", "set mine 1") if shell == "fish" else ("$?", "mine=1")
    odd = tmp_path / "it's $odd"
    odd.mkdir()
    given = {"ONE": "a'b\\ \"$x`é"}
    async with tab_for(terminals, shell) as tab:
        await tab.execute("false")
        apart = await tab.execute(f"echo {status}; pwd; sh -c 'echo $ONE'; {sets}; cd /usr", env=given, cwd=str(odd))
        assert (apart.output, apart.cwd) == (f"1\n{odd}\n{given['ONE']}\n", "/")
        left = await tab.execute("echo a; exit 7", env=given)
        assert (left.output, left.exit_code, left.state) == ("a\n", 7, "prompt")
        assert (await tab.execute('echo "<$mine$ONE>"; pwd')).output == "<>\n/\n"


async def test_fish__returns_to_its_directory_after_an_interrupt(terminals: Terminals) -> None:
    async with tab_for(terminals, "fish") as tab:
        cut = await tab.execute("echo begun; while true; end", cwd="/usr", timeout=1)
        assert (cut.exit_code, cut.cwd) == (130, "/")
        assert (await tab.execute("pwd")).output == "/\n"
