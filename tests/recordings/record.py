"""Makes the recordings: `python -m tests.recordings.record [SHELL ...]` records every row on a real tmux, for minutes.

A recording that does not replay at once is made again: a moment lay so near to a limit that two readings of the clock
were on both sides of it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

import muxwire
from tests.library.shells.rows import MISSES, ROWS
from tests.library.test_exec_cases import run_row
from tests.recordings.recorder import Recorder
from tests.recordings.replay import Difference, Replay, Unknown
from tests.recordings.situations import SITUATIONS, Situation
from tests.recordings.tape import keep
from tests.users import RC_FILES, environ_of, short_folder, write_rc_files

if TYPE_CHECKING:
    from muxwire import Tab, Terminals
    from tests.recordings.tape import Tape

CORPUS = Path(__file__).parent / "corpus"
_HERE = str(Path(__file__).parents[2])
SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")
# So many exec cases in one tab, where they leave it as it was.
_TOGETHER = 8
# The exec cases in which a driver sees something of its own: those that leave the shell as it was, those with keys, and
# those that change the shell.
CASES = frozenset((
    "echo", "no-trailing-newline", "exit-42", "killed-by-signal-9", "unterminated-osc", "alt-screen", "reset-ris",
    "fake-osc-marker", "comment-only", "multi-line-two-commands", "unclosed-dquote", "unclosed-heredoc",
    "trailing-backslash", "param-error-expansion", "wait-for-job", "program-leaves-bracketed-paste-and-mouse",
    "cat-stdin", "read-builtin", "password-prompt", "python-repl", "nested-bash-norc", "nested-same-shell-inherits",
    "ctrl-c-in-loop", "ctrl-c-builtin-loop", "ctrl-c-program-handles", "ctrl-c-mid-list", "ctrl-backslash", "ctrl-z",
    "echoctl-human-types-during-run", "nested-env-i-bash", "typeahead-while-running", "stty-raw-program",
    "set-v", "set-e-then-false", "vi-mode-fish", "exit-3", "exec-program", "shell-kills-itself", "unset-prompt-command",
    "prompt-command-overwritten", "prompt-command-prints", "huge-prompt", "zsh-rprompt", "fish-prompt-redefined",
    "stty-echo-off", "exec-redirect-stdout", "builtin-shadowed-printf", "background-prints-later", "job-done-notice",
    "human-half-typed-line", "terminal-query-junk", "trap-exit", "trap-debug", "zsh-precmd-prints", "transient-prompt",
    "empty-prompt", "stty-raw-left-behind", "stty-no-isig",
))  # fmt: skip
# What of a case makes its tab one that no other case gets.
_OWN = ("setup", "env", "status")
_TRIES = 3


def rows(shell: str) -> list[dict[str, Any]]:
    """The exec cases of a shell that are recorded: those that share a tab, and then the others."""
    its = (row for row in ROWS if shell in row["shells"] and row["name"] in CASES)
    kept = (row for row in its if (shell, row["name"]) not in MISSES)
    return sorted(kept, key=lambda row: any(key in row for key in _OWN))


class Session:
    """One shell's rows, each in a tab that is recorded."""

    def __init__(self, terminals: Terminals, folder: Path, shell: str, recorder: Recorder) -> None:
        self._terminals = terminals
        self._folder = folder
        self._shell = shell
        self._path = shutil.which(shell)
        self._recorder = recorder
        self._shared: dict[str, Tab] = {}
        self.kept: list[list[str]] = []

    async def exec_cases(self) -> None:
        for number, row in enumerate(rows(self._shell)):
            if number % _TOGETHER == 0:
                await self._close()
            self._recorder.title = f"{self._shell}: {row['name']}"
            before = len(self._recorder.tapes)
            try:
                await run_row(self._terminals, self._shared, self._folder, self._shell, row, shell=self._path)
            except BaseException as error:  # noqa: BLE001 - a case that fails here is for its own test
                print(f"{self._recorder.title}: {type(error).__name__}: {error}")
            if len(self._recorder.tapes) == before:
                self._recorder.tapes[-1].header["title"] += f", {row['name']}"
        await self._close()
        tapes, self._recorder.tapes = self._recorder.tapes, []
        for tape in tapes:
            self._keep(tape)

    async def situation(self, one: Situation) -> None:
        for _ in range(_TRIES):
            self._recorder.title = f"{self._shell}: {one.name}"
            name = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}.get(self._shell, ".shrc")
            file = self._folder / "home" / name
            file.write_text(RC_FILES.get(name, "PS1='$ '\n") + one.rc)
            env = one.env | ({"ENV": str(file)} if name == ".shrc" else {})
            tab = await self._terminals.create_tab(shell=self._path, cwd="/", env=env)
            for failed in await one.happens(tab, self._shell):
                print(f"{self._shell}: {failed}")
            await tab.close(force=True)
            (tape,) = self._recorder.tapes
            self._recorder.tapes.clear()
            if self._keep(tape):
                break

    def _keep(self, tape: Tape) -> bool:
        """Keep a recording that replays, and say so of one that does not."""
        lines = tape.lines()
        if any(_HERE in line for line in lines):
            print(f"  not kept: {tape.header['title']}: it names a place of this machine")
            return False
        try:
            Replay([json.loads(line) for line in lines]).run()
        except (Difference, Unknown) as error:
            print(f"  not kept: {type(error).__name__}: {error}"[:600])
            return False
        self.kept.append(lines)
        return True

    async def _close(self) -> None:
        for tab in self._shared.values():
            await tab.close(force=True)
        self._shared.clear()


async def record(shell: str) -> None:
    with short_folder() as folder:
        write_rc_files(folder / "home")
        environ = environ_of(folder / "home", runtime=folder / "run") | {"LOGNAME": "root"}
        recorder = Recorder()
        with recorder.recording():
            async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as terminals:
                session = Session(terminals, folder, shell, recorder)
                await session.exec_cases()
                for one in SITUATIONS:
                    if shell in one.shells:
                        await session.situation(one)
    keep(CORPUS / f"{shell}.jsonl.xz", session.kept)
    size = (CORPUS / f"{shell}.jsonl.xz").stat().st_size
    print(f"{shell}: {len(session.kept)} recordings, {size} bytes")


async def main(shells: list[str]) -> None:
    for shell in shells or SHELLS:
        await record(shell)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
