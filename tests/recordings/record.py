"""Makes the recordings: `python -m tests.recordings.record [SHELL ...]`, on a real tmux; every shell takes minutes.

With `--changed` only those are made anew that do not replay, and those made that are not there.

A recording that does not replay at once is made again: a moment lay so near to a limit that two readings of the clock
were on both sides of it.
"""

from __future__ import annotations

import functools
import json
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

import muxwire
from muxwire import Tab, Terminals
from muxwire.errors import MuxwireError
from tests.library.opened import SHELLS
from tests.library.shells.rows import MISSES, ROWS
from tests.library.test_exec_cases import run_row
from tests.recordings.recorder import Recorder
from tests.recordings.replay import Difference, Replay, Unknown
from tests.recordings.situations import SITUATIONS, Situation
from tests.recordings.tape import keep, texts_in
from tests.users import RC_FILES, environ_of, short_folder, write_rc_files

CORPUS = Path(__file__).parent / "corpus"
_HERE = str(Path(__file__).parents[2])
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
# Of a difference.
_SAID = 400


def rows(shell: str) -> list[dict[str, Any]]:
    """The exec cases of a shell that are recorded: those that share a tab, and then the others."""
    its = (row for row in ROWS if shell in row["shells"] and row["name"] in CASES)
    kept = (row for row in its if (shell, row["name"]) not in MISSES)
    return sorted(kept, key=lambda row: any(key in row for key in _OWN))


@dataclass(frozen=True)
class Session:
    """One shell's rows, each in a tab that is recorded."""

    terminals: Terminals
    folder: Path
    shell: str
    recorder: Recorder

    async def exec_cases(self, chosen: list[dict[str, Any]]) -> list[list[str]]:
        recorder, path, shared = self.recorder, shutil.which(self.shell), dict[str, Tab]()
        for row in chosen:
            recorder.title = f"{self.shell}: {row['name']}"
            before = len(recorder.tapes)
            try:
                await run_row(self.terminals, shared, self.folder, self.shell, row, shell=path)
            except (AssertionError, MuxwireError, TimeoutError) as error:  # a case that fails here is for its own test
                print(f"{recorder.title}: {type(error).__name__}: {error}")
            if len(recorder.tapes) == before:
                recorder.tapes[-1].header["title"] += f", {row['name']}"
        for tab in shared.values():
            await tab.close(force=True)
        return self._taken()

    async def situation(self, one: Situation) -> list[list[str]]:
        self.recorder.title = f"{self.shell}: {one.name}"
        name = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}.get(self.shell, ".shrc")
        file = self.folder / "home" / name
        file.write_text(RC_FILES.get(name, "PS1='$ '\n") + one.rc)
        env = one.env | ({"ENV": str(file)} if name == ".shrc" else {})
        tab = await self.terminals.create_tab(shell=shutil.which(self.shell), cwd="/", env=env)
        for failed in await one.happens(tab, self.shell):
            print(f"{self.shell}: {failed}")
        await tab.close(force=True)
        return self._taken()

    def _taken(self) -> list[list[str]]:
        """The newest recordings; none, if one of them is not to be kept."""
        taken = [tape.lines() for tape in self.recorder.tapes]
        self.recorder.tapes.clear()
        return taken if all(map(is_good, taken)) else []


def is_good(lines: list[str]) -> bool:
    """Whether a recording replays, and names no place of this machine; say so if not."""
    recording = [json.loads(line) for line in lines]
    if any(_HERE in line for line in lines):
        print(f"  not kept: {recording[0]['title']}: it names a place of this machine")
        return False
    try:
        Replay(recording).run()
    except (Difference, Unknown) as error:
        print(f"  not kept: {type(error).__name__}: {error}"[:_SAID])
        return False
    return True


def groups(shell: str) -> list[list[dict[str, Any]]]:
    """The exec cases that are recorded together: those that leave their tab as it was, and each of the others."""
    chosen = rows(shell)
    shared = [row for row in chosen if not any(key in row for key in _OWN)]
    together = [shared[at : at + _TOGETHER] for at in range(0, len(shared), _TOGETHER)]
    return together + [[row] for row in chosen[len(shared) :]]


async def record(shell: str, *, changed: bool) -> None:
    file = CORPUS / f"{shell}.jsonl.xz"
    wanted = {row["name"] for row in rows(shell)} | {one.name for one in SITUATIONS if shell in one.shells}
    before = texts_in(file) if changed else []
    kept = [one for one in before if wanted.issuperset(_names(one)) and is_good(one)]
    there = {name for one in kept for name in _names(one)}
    made: list[list[str]] = []
    with short_folder() as folder:
        write_rc_files(folder / "home")
        environ = environ_of(folder / "home", runtime=folder / "run") | {"LOGNAME": "root"}
        recorder = Recorder()
        with recorder.recording():
            async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as terminals:
                session = Session(terminals, folder, shell, recorder)
                for group in groups(shell):
                    if missing := [row for row in group if row["name"] not in there]:
                        made += await _tried(functools.partial(session.exec_cases, missing))
                for one in SITUATIONS:
                    if shell in one.shells and one.name not in there:
                        made += await _tried(functools.partial(session.situation, one))
    keep(file, kept + made)
    print(f"{shell}: {len(made)} recordings made, {len(kept)} kept, {file.stat().st_size} bytes")


async def _tried(make: Callable[[], Awaitable[list[list[str]]]]) -> list[list[str]]:
    for _ in range(_TRIES):
        if made := await make():
            return made
    return []


def _names(recording: list[str]) -> list[str]:
    """The situation of a recording, or its exec cases."""
    title = str(json.loads(recording[0])["title"]).partition(": ")[2]
    return [title] if any(one.name == title for one in SITUATIONS) else title.split(", ")


async def main(words: list[str]) -> None:
    changed, shells = "--changed" in words, [word for word in words if word in SHELLS]
    if len(shells) == 1:
        await record(shells[0], changed=changed)
        return
    command = [sys.executable, "-u", "-m", "tests.recordings.record", *(["--changed"] if changed else [])]
    async with anyio.create_task_group() as tasks:  # most of it is waiting
        for shell in shells or SHELLS:
            tasks.start_soon(functools.partial(anyio.run_process, [*command, shell], stdout=None, stderr=None))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
