"""The picture is tmux's: real programs are played, and every look is compared with capture-pane of the same moment."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from muxwire.library.terminals import Terminals
from tests.library.screens.agreeing import agree

COLUMNS, ROWS = 80, 24

PROGRESS = r"""
for i in 1 2 7 50 99 100; do
    printf '\r\e[32m%3d%%\e[0m [%-50s]\e[K' $i $(head -c $((i/2)) /dev/zero | tr '\0' '#'); done
printf '\n\e[1A\e[38;5;200mx\e[48;2;1;2;3my\e[m\n'; cat
"""
CONTROLS = r"""
printf 'abc\tdef\bX\r\n\e(0lqqk\e(B plain\e[3;5HY\e[2Kgone\e[4h\e[1Gins\e[4l\e7\e[20;20Hfar\e8back'
printf '\e[5;10r\e[10;1Hbottom\n\n\e[5;1H\eMtop\e[r\e[12;1Habcdef\e[3D\e[2P\e[@\e[2X\e[15;1Hr\e[5b'
printf '\e[?1049halt\e[2;2Hscreen\e[?1049lmain\e[22;1H\e[2L\e[3S\e[1T\e[M\e[?7lxxx\e[24;78Habcdefg\e[?7h'; cat
"""

# Each step is what is typed; after each, the screens are compared.
PROGRAMS: dict[str, tuple[list[str], list[list[str]]]] = {
    "bash": (
        ["bash", "--norc"],
        [["echo one two", "Left", "Left", "X"], ["C-a", "Y"], ["C-k", "BSpace"], ["echo " + "long " * 30], ["C-u"],
         ["ls -la /etc", "Enter"], ["clear", "Enter"], ["printf '\\e[5;10Hhere\\e[2;3r\\e[1;1H'", "Enter"]],
    ),
    "python": (
        [sys.executable, "-I", "-q"],
        [["import sys", "Enter"], ["for i in range(40): print(i, 'x' * i * 3)", "Enter", "Enter"], ["help", "Enter"],
         ["'é終わり' * 15", "Enter"]],
    ),
    "less": (
        ["less", "/etc/services"],
        [["Space"], ["j", "j", "k"], ["G"], ["g"], ["/tcp", "Enter"], ["n", "N"], ["50%"], ["b"], ["h"], ["q"]],
    ),
    "vim": (
        ["vim", "-n", "-u", "NONE", "-N", "-i", "NONE"],
        [["ihello", "Escape"], ["yy20p"], ["Ofirst é 終わり end", "Escape"], ["dd"], ["10G", "5dd"], ["u"],
         [":set number", "Enter"], [":split", "Enter"], ["G", "o" + "wide " * 30, "Escape"], ["C-f"],
         [":syntax on", "Enter"], ["C-w", "c"], [":!echo shell", "Enter"], ["Enter"]],
    ),
    # Both ask for the next figures after a minute only.
    "top": (["top", "-d", "60"], [["1"], ["c"], ["h"], ["q"], ["z"], ["q"]]),
    "htop": (["htop", "-d", "600"], [["Down"], ["F1"], ["Down"], ["F3", "a"], ["Escape"], ["F5"], ["F10"]]),
    "dialog": (
        ["dialog", "--menu", "Pick a fruit", "15", "50", "5", "a", "Apple", "b", "Banane é", "c", "終わり"],
        [["Down"], ["Down"], ["Tab"], ["BTab"], ["Enter"]],
    ),
    "nano": (
        ["nano", "--ignorercfiles", "notes.txt"],
        [["hello world"], ["Enter", "é 終わり", "Enter"], ["x" * 100], ["Home", "C-k"], ["C-w", "hello", "Enter"],
         ["C-g"], ["C-x"], ["C-x"], ["n"]],
    ),
    "mc": (
        ["mc", "--nosubshell", "/etc", "/"],
        [["Down", "Down"], ["Tab"], ["F9"], ["Right"], ["Down"], ["Escape", "Escape"], ["C-s", "us"], ["F10"],
         ["Enter"]],
    ),
    "fzf": (
        ["bash", "-c", "seq 200 | fzf --no-mouse --multi --reverse --border; cat"],
        [["1"], ["2"], ["BSpace"], ["Down", "Tab"], ["Down", "Tab"], ["C-u"], ["Enter"]],
    ),
    "wide": (
        ["bash", "--norc", "-c", "printf '%s\\n' $(seq 30 | sed 's/.*/終わりab/' | tr -d '\\n') 'a終'; cat"],
        [["終" * 45], ["Enter"], ["e\u0301" * 5 + "|", "Enter"]],
    ),
    "progress": (["bash", "--norc", "-c", PROGRESS], [["done", "Enter"]]),
    "controls": (["bash", "--norc", "-c", CONTROLS], [["x", "Enter"]]),
}  # fmt: skip


# The Debian package of a program, where it has another name.
PACKAGES = {"top": "procps"}


@pytest.mark.parametrize("name", PROGRAMS)
async def test_the_picture_is_tmuxs(terminals: Terminals, tmp_path: Path, name: str) -> None:
    command, steps = PROGRAMS[name]
    program = name if shutil.which(name) or name in PACKAGES else command[0]
    if shutil.which(command[0]) is None or (name == "fzf" and shutil.which(name) is None):
        pytest.skip(f"needs {program}, of the package {PACKAGES.get(program, program)}")
    # It starts at a word of ours: the window has its size by then.
    start = ["bash", "-c", 'read -rs; "$@"; cat', "-", *command]
    tab = await terminals.create_tab(command=start, size=(COLUMNS, ROWS), cwd=tmp_path)
    await tab.send_keys(["Enter"])
    await agree(terminals, tab)
    for keys in steps:
        await tab.send_keys(keys)
        await agree(terminals, tab)
