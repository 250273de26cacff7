"""Screens of the past, held against tmux's: real programs, each looked at many times while it runs, and again later.

A look at a living pane is tmux's own picture (`capture-pane`), and says at which offset of the log it was taken. The
log is played up to there, and the two are compared row by row.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

from bench.contenders import PATIENCE, clean_environment, temporary_home
from bench.scenario import Report, Scale, Target
from muxwire import open_terminals
from muxwire.values import to_dict

if TYPE_CHECKING:
    from muxwire import Snapshot, Tab, Terminals

COLUMNS, ROWS = 80, 24
# How many moments of each program are compared at the least.
MOMENTS = 20
# Tests hold the replays of real programs to tmux's screens; a short run has to give a table.
PROGRAMS_SHORT = 1
# Between two looks at a program that draws by itself, and how long one that has said all is looked at.
LOOK_SECONDS, QUIET_LOOKS = 0.02, 15
# The share of rows that agree.
SHARE = 0.99

_PROGRESS = r"""
for i in $(seq 300); do
    printf '\r\e[32m%3d%%\e[0m [%-50s]\e[K' $((i/3)) "$(printf "%$((i/6))s" | tr " " "#")"; sleep 0.01
done; echo; cat
"""

# What is typed into each, key by key; `{home}` is a folder of its own.
PROGRAMS: dict[str, tuple[list[str], list[str]]] = {
    "vim": (
        ["vim", "-n", "-u", "NONE", "-N", "-i", "NONE"],
        ["ihello", "Escape", "yy20p", "Ofirst é 終わり end", "Escape", "dd", "10G", "5dd", "u", ":set number", "Enter",
         ":split", "Enter", "G", "o" + "wide " * 30, "Escape", "C-f", ":syntax on", "Enter", "C-w", "c",
         ":e /etc/services", "Enter", "C-f", "C-d", "/tcp", "Enter", "n", ":q!", "Enter"],
    ),
    "less": (
        ["less", "/etc/services"],
        ["Space", "Space", "j", "j", "k", "G", "g", "/tcp", "Enter", "n", "n", "N", "50%", "b", "h", "Space", "q",
         "F", "C-c", "d", "u", "-N", "Enter", "Space", "q"],
    ),
    "htop": (
        ["htop", "-d", "5"],
        ["Down", "Down", "F1", "Down", "F3", "a", "Escape", "F5", "F6", "Escape", "End", "Home", "u", "Escape", "F2",
         "Right", "Escape", "F4", "s", "Escape", "F10"],
    ),
    "top": (
        ["top", "-d", "0.5"],
        ["1", "c", "h", "q", "z", "x", "b", "Down", "Down", "V", "V", "i", "i", "f", "Escape", "q"],
    ),
    "nano": (
        ["nano", "--ignorercfiles", "{home}/notes.txt"],
        ["hello world", "Enter", "é 終わり", "Enter", "x" * 100, "Home", "C-k", "C-u", "C-u", "Enter", "C-w", "hello",
         "Enter", "C-g", "Down", "C-x", "M-#", "M-x", "C-c", "C-x", "n"],
    ),
    "mc": (
        ["mc", "--nosubshell", "/etc", "/"],
        ["Down", "Down", "Tab", "F9", "Right", "Down", "Down", "Right", "Escape", "Escape", "C-s", "u", "s", "Escape",
         "F3", "Escape", "Escape", "F1", "F10", "C-o", "C-o", "F10", "Enter"],
    ),
    "dialog": (
        ["dialog", "--menu", "Pick a fruit", "15", "50", "5", "a", "Apple", "b", "Banane é", "c", "終わり"],
        ["Down", "Down", "Up", "Tab", "Tab", "BTab", "Down", "b", "c", "a", "Enter"],
    ),
    "fzf": (
        ["bash", "-c", "seq 2000 | fzf --no-mouse --multi --reverse --border; cat"],
        ["1", "2", "BSpace", "Down", "Tab", "Down", "Tab", "C-u", "7", "7", "Up", "Up", "PPage", "BSpace", "Down",
         "BTab", "Down", "C-u", "Enter"],
    ),
    "python": (
        [sys.executable, "-I", "-q"],
        ["import sys", "Enter", "for i in range(40): print(i, 'x' * i * 3)", "Enter", "Enter", "help", "Enter",
         "'é終わり' * 15", "Enter", "Up", "Up", "C-a", "print(", "C-e", ")", "Left", "Left", "BSpace", "C-c",
         "help(str)", "Enter", "Space", "Space", "q"],
    ),
    "git log": (
        ["git", "-C", "{home}", "-c", "core.pager=less", "log", "--stat", "--graph", "--color=always"],
        ["Space", "j", "j", "G", "g", "/File", "Enter", "n", "n", "N", "Space", "b", "d", "u", "Right", "Left", "Space",
         "Space", "k", "q"],
    ),
    "bash": (
        ["bash", "--norc"],
        ["echo one two", "Left", "Left", "X", "C-a", "Y", "C-k", "BSpace", "echo " + "long " * 30, "C-a", "C-e", "C-u",
         "ls -la --color=always /etc", "Enter", "clear", "Enter", "seq 100", "Enter", "C-r", "seq", "Right", "C-c",
         "C-l", "tput smcup; seq 5; tput rmcup", "Enter"],
    ),
    # What follows draws by itself.
    "pytest": (
        ["bash", "-c", f"{sys.executable} -m pytest -p no:cacheprovider --color=yes -v {{home}}/test_it.py; cat"], [],
    ),
    "pip": (
        ["bash", "-c",
         f"{sys.executable} -m pip install --no-index --no-deps --target {{home}}/there {{home}}/package; cat"], [],
    ),
    "apt": (["bash", "-c", "apt-get --simulate install --reinstall bash coreutils; apt-cache stats; cat"], []),
    "npm": (["bash", "-c", "cd {home}/node && npm install --no-audit --progress=true ./dependency; cat"], []),
    "progress": (["bash", "-c", _PROGRESS], []),
}  # fmt: skip

_SLOW_TESTS = """
import time, pytest
@pytest.mark.parametrize("number", range(60))
def test_one(number):
    time.sleep(0.02)
    assert number % 17, "a multiple of seventeen"
"""


@final
@dataclass
class Agreement:
    """What was compared of one program."""

    moments: int = 0
    whole: int = 0
    rows: int = 0
    same: int = 0
    cells: int = 0
    same_cells: int = 0
    cursors: int = 0
    differences: list[str] = field(default_factory=list)

    def compare(self, was: Snapshot, replayed: Snapshot) -> None:
        """Count one moment."""
        assert (was.source, replayed.source) == ("tmux", "replay")
        rows = list(zip_longest(was.lines, replayed.lines, fillvalue=""))
        same = sum(one == other for one, other in rows) + was.rows - len(rows)
        self.moments += 1
        self.rows += was.rows
        self.same += same
        self.whole += same == was.rows
        self.cursors += was.cursor == replayed.cursor
        looks, others = _looks(was), _looks(replayed)
        self.cells += was.cols * was.rows
        self.same_cells += was.cols * was.rows - sum(
            looks.get(at) != others.get(at) for at in looks.keys() | others.keys()
        )
        self.differences += [
            f"at {was.next_byte}, row {y}: {one!r} was {other!r}" for y, (one, other) in enumerate(rows) if one != other
        ]


def _looks(picture: Snapshot) -> dict[tuple[int, int], object]:
    runs = (run for run in picture.cells or () if to_dict(run.style))
    return {(run.y, x): run.style for run in runs for x in range(run.x, run.x + run.length)}


def prepare(home: Path) -> None:
    """Make what the programs work on."""
    (home / "test_it.py").write_text(_SLOW_TESTS)
    package = home / "package"
    package.mkdir()
    (package / "pyproject.toml").write_text('[project]\nname = "one"\nversion = "1"\n')
    dependency = home / "node" / "dependency"
    dependency.mkdir(parents=True)
    (dependency.parent / "package.json").write_text('{"name": "one", "version": "1.0.0"}\n')
    (dependency / "package.json").write_text('{"name": "two", "version": "1.0.0"}\n')


async def commits(home: Path, environ: dict[str, str]) -> None:
    """A history for `git log`."""
    one = 'echo "$i é" >"File $i"; git add "File $i"; git commit -qm "Add $i"'
    names = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    script = f"git init -q . && for i in $(seq 40); do {one}; done"
    await anyio.run_process(["sh", "-c", script], cwd=home, env={**environ, **names})


async def agreement_of(name: str, terminals: Terminals, home: Path, *, short: bool) -> Agreement:
    """Run one program, look at it as it draws, and compare each look with a later replay."""
    command, keys = PROGRAMS[name]
    command = [word.replace("{home}", str(home)) for word in command]
    # It starts at a word of ours: the window has its size by then. What it leaves on the screen stays.
    start = ["bash", "-c", 'read -rs; "$@"; cat', "-", *command]
    tab = await terminals.create_tab(command=start, size=(COLUMNS, ROWS), cwd=home)
    looks: dict[int, Snapshot] = {}
    await tab.send_keys(["Enter"])
    await _look(tab, looks)
    for key in keys[: MOMENTS // 4] if short else keys:
        await tab.send_keys([key])
        await _look(tab, looks)
    await _look(tab, looks, patience=1.0)
    found = Agreement()
    for at, was in looks.items():
        found.compare(was, await tab.snapshot(cells=True, at_byte=at))
    await tab.close(force=True)
    return found


async def _look(tab: Tab, looks: dict[int, Snapshot], *, patience: float = 0.0) -> None:
    """Take pictures until nothing has come for a while."""
    quiet = 0
    with anyio.move_on_after(PATIENCE):
        while quiet < QUIET_LOOKS + patience / LOOK_SECONDS:
            picture = await tab.snapshot(cells=True)
            if picture.next_byte == tab.next_byte:  # of what came meanwhile nobody knows how much the picture shows
                quiet = quiet + 1 if picture.next_byte in looks else 0
                looks[picture.next_byte] = picture
            await tab.pane.stream.changed_within(LOOK_SECONDS)


async def run(scale: Scale) -> Report:
    """How much of a replay is what tmux showed."""
    found: dict[str, Agreement] = {}
    with temporary_home() as name:
        home = Path(name)
        prepare(home)
        environ = clean_environment(home)
        await commits(home, environ)
        async with open_terminals(environ=environ, state_dir=home / "state") as terminals:
            for program, (command, _) in islice(PROGRAMS.items(), scale.of(len(PROGRAMS), PROGRAMS_SHORT)):
                if shutil.which(program.split()[0]) or program in ("progress", "pytest", "pip") or command[0] == "bash":
                    with suppress(TimeoutError):
                        found[program] = await agreement_of(program, terminals, home, short=scale.short)
    if os.environ.get("MUXWIRE_SHOW_DIFFERENCES"):
        for program, one in found.items():
            print(*(f"{program}: {text}" for text in one.differences), sep="\n", file=sys.stderr)
    rows, same = sum(one.rows for one in found.values()), sum(one.same for one in found.values())
    return Report(
        "replay",
        f"Screens of the past of {COLUMNS} x {ROWS}, and what tmux showed",
        ("program", "moments", "whole screens %", "rows %", "styles %", "cursors %"),
        tuple(
            (program, one.moments, 100 * one.whole / one.moments, 100 * one.same / one.rows,
             100 * one.same_cells / one.cells, 100 * one.cursors / one.moments)
            for program, one in found.items()
        ),
        (Target("rows of replays that are what tmux showed", 100 * same / rows, 100 * SHARE, "%", at_least=True),),
    )  # fmt: skip
