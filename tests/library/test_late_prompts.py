"""Prompts that take their time: what a person sees is the prompt, the readable command and its output, as ever.

Each screen is asked of tmux by a client of its own, row by row, and compared with what a person's own typing leaves.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.errors import TabUnavailable
from muxwire.tabs import tab as tab_module
from tests.deadline import DEADLINE
from tests.library.opened import SHELLS
from tests.users import keep_fish_quiet, needs

# They give back what was half typed.
SET_ASIDE = ("bash", "zsh", "fish")
SCREEN = (100, 40)
# Between two looks at a screen: each starts a process, which takes the processor from the shell that is looked at.
LOOK_SECONDS = 0.05
END = "mw> "  # every prompt below ends so
LOOPS = {"fish": "for i in 1 2\n  echo $i\nend"}
LONG = " ".join(f"word{number}" for number in range(30))
BRANCH = "$(git rev-parse --abbrev-ref HEAD)"


def posix(before: str, prompt: str, shell: str) -> str:
    """The start-up file of a shell like sh, with a program that runs before each prompt where the shell has a hook."""
    if shell == "zsh":
        return f"setopt promptsubst\nPROMPT='{prompt}'\nprecmd() {{ {before} }}\n"
    hook = f"PROMPT_COMMAND='{before}'\n" if shell == "bash" else ""
    return f"{hook}PS1='{prompt}'\n"


# What makes a prompt late, for a shell: its start-up file, and the prompt's rows.
LATE: dict[str, Callable[[str], tuple[str, list[str]]]] = {
    "program before": lambda shell: (
        f"function fish_prompt; sleep 0.1; echo -n '{END}'; end\n"
        if shell == "fish"
        else posix("sleep 0.1", f"$(sleep 0.1){END}", shell),
        [END],
    ),
    "program in it": lambda shell: (
        f"function fish_prompt; echo -n (sleep 0.2; echo '{END}'); end\n"
        if shell == "fish"
        else posix(":", f"$(sleep 0.2){END}", shell),
        [END],
    ),
    # Longer than a program that a person runs is waited for.
    "long": lambda shell: (
        f"function fish_prompt; sleep 0.4; echo -n (sleep 0.5; echo '{END}'); end\n"
        if shell == "fish"
        else posix("sleep 0.4", f"$(sleep 0.5){END}", shell),
        [END],
    ),
    "git": lambda shell: (
        f'function fish_prompt; set -l dirty (git status --porcelain); echo -n ({BRANCH[2:-1]})"$dirty {END}"; end\n'
        if shell == "fish"
        else posix("git status >/dev/null", f"{BRANCH}$(git status --porcelain) {END}", shell),
        [f"trunk {END}"],
    ),
    "in pieces": lambda shell: (
        f"function fish_prompt; echo one; sleep 0.1; echo -n '{END}'; end\n"
        if shell == "fish"
        else posix("printf one; sleep 0.1; echo", f"$(sleep 0.05){END}", shell),
        ["one", END] if shell in ("bash", "zsh", "fish") else [END],
    ),
    "never the same": lambda shell: (
        f"function fish_prompt; random; sleep 0.03; echo -n '{END}'; end\n"
        if shell == "fish"
        else posix("sleep 0.03", f"$(sleep 0.01; date +%N)\n{END}", shell),
        ["*", END],
    ),
    "quick": lambda shell: (
        f"function fish_prompt; echo -n '{END}'; end\n" if shell == "fish" else posix(":", END, shell),
        [END],
    ),
    # Not late, but something of its own at each line.
    "a transient prompt": lambda _: (
        "zle-line-finish() { PROMPT='t> '; zle reset-prompt; }\nzle -N zle-line-finish\nprecmd() PROMPT=$'at\\nmw> '\n",
        ["at", END],
    ),
    "a hook that prints before a command": lambda shell: (
        f"function fish_prompt; echo -n '{END}'; end\nfunction b -e fish_preexec; echo runs; end\n"
        if shell == "fish"
        else f"setopt warn_nested_var\nPROMPT='{END}'\npreexec() {{ print runs }}\n",
        [END],
    ),
    "a PS0 of several lines": lambda _: (f"PS1='{END}'\nPS0='$(printf \"%0170d\" 7)\\n'\n", [END]),
}
NAMES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}


@final
@dataclass(frozen=True, slots=True)
class Screen:
    """A tab and the tmux client that looks at it."""

    tab: Tab
    tmux: tuple[str, ...]
    prompt: list[str]

    async def rows(self) -> list[str]:
        """The rows that are not empty."""
        done = await anyio.run_process([*self.tmux, "capture-pane", "-p", "-t", self.tab.pane_id])
        return [row.rstrip() for row in done.stdout.decode().split("\n") if row.strip()]

    async def type(self, text: str) -> None:
        """Type as a person does, and wait for the echo."""
        before = await self.rows()
        await anyio.run_process([*self.tmux, "send-keys", "-t", self.tab.pane_id, "-l", text])
        while await self.rows() == before:
            await anyio.sleep(LOOK_SECONDS)

    async def shows(self, entries: list[tuple[str, str]], last: str = "") -> None:
        """The screen is, as soon as it is, these commands and their outputs, and the prompt with `last` behind it."""
        wanted = [
            line[at : at + SCREEN[0]].rstrip()
            for command, output in entries
            for line in "\n".join((*self.prompt, command.replace("\n", "\n> "), output))
            .replace(f"{END}\n", END)
            .split("\n")
            for at in range(0, len(line), SCREEN[0])
        ]
        wanted += [row.rstrip() for row in [*self.prompt[:-1], self.prompt[-1] + last]]
        shown: list[str] = []
        with anyio.move_on_after(DEADLINE / 4):
            while not same(shown := await self.rows(), wanted):
                await anyio.sleep(LOOK_SECONDS)
        assert same(shown, wanted), "\n".join(shown)


def same(shown: list[str], wanted: list[str]) -> bool:
    return len(shown) == len(wanted) and all(b in ("*", a) for a, b in zip(shown, wanted, strict=True))


@asynccontextmanager
async def late_screen(terminals: Terminals, home: Path, shell: str, kind: str) -> AsyncIterator[Screen]:
    """A new tab, where git asks in a repository, whose prompt is late."""
    needs(shell)
    text, prompt = LATE[kind](shell)
    start = home / NAMES.get(shell, ".shrc")
    start.parent.mkdir(parents=True, exist_ok=True)
    start.write_text("set -g fish_greeting\n" + text if shell == "fish" else text)
    repository = home / "repository"
    repository.mkdir()
    if kind == "git":
        git = ["git", "-C", str(repository), "-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run([*git, "init", "-q", "-b", "trunk"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    keep_fish_quiet(home)
    theirs = {"HOME": str(home), "ENV": str(home / ".shrc")}
    tab = await terminals.create_tab(shell=shutil.which(shell), cwd=str(repository), size=SCREEN, env=theirs)
    try:
        with anyio.fail_after(DEADLINE):
            while (await tab.execute("stty size")).output != f"{SCREEN[1]} {SCREEN[0]}\n":
                pass
            await tab.execute("clear")
            yield Screen(tab, ("tmux", "-u", "-S", str(terminals.folders.socket_path)), prompt)
    finally:
        await tab.close(force=True)


# Shells with a hook that runs before a prompt; one that says when a line is accepted, one that also draws its prompt
# itself, and one that says nothing. What is not named here is tried in every shell.
TRIED_IN = {
    "program before": ("bash", "zsh", "fish"),
    "in pieces": ("bash", "zsh", "fish"),
    "long": ("bash", "fish", "dash"),
    "a transient prompt": ("zsh",),
    "a hook that prints before a command": ("zsh", "fish"),
    "a PS0 of several lines": ("bash",),
}


@pytest.mark.parametrize(("kind", "shell"), [(kind, shell) for kind in LATE for shell in TRIED_IN.get(kind, SHELLS)])
async def test_nothing_of_ours_stays_beside_a_prompt(
    terminals: Terminals, tmp_path: Path, kind: str, shell: str
) -> None:
    """Nor of what a person has half typed, which shells that can set it aside bring back."""
    async with late_screen(terminals, tmp_path, shell, kind) as screen:
        entries: list[tuple[str, str]] = []
        for command, output in (
            ("echo first", "first\n"),
            ("true", ""),
            ("seq 3", "1\n2\n3\n"),
            (LOOPS.get(shell, "for i in 1 2\ndo\n  echo $i\ndone"), "1\n2\n"),
            (f"echo {LONG}", f"{LONG}\n"),
            ("echo 漢字 é", "漢字 é\n"),
            ("echo last", "last\n"),
        ):
            result = await screen.tab.execute(command)
            assert (result.output, result.exit_code) == (output, 0)
            entries.append((command, output))
        await screen.shows(entries)
        await screen.type("echo whole and more")
        for word in ("second", "third"):
            assert (await screen.tab.execute(f"echo {word}")).output == f"{word}\n"
            entries.append((f"echo {word}", f"{word}\n"))
            await screen.shows(entries, "echo whole and more" if shell in SET_ASIDE else "")


async def test_a_prompt_that_does_not_come_is_refused_in_time_and_said_why(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that waits only until its command is typed waits for the prompt as long as its own time lasts."""
    monkeypatch.setattr(tab_module, "TURN_SECONDS", 0.05)
    results, told, slow = [], anyio.Event(), tmp_path / "slow"

    async def typed_only() -> None:
        results.append(await tab.execute("echo typed", async_=True, timeout=DEADLINE))
        told.set()

    slow.touch()
    await tab.execute(f"PROMPT_COMMAND+='; [ ! -e {slow} ] || sleep 30'")
    async with anyio.create_task_group() as tasks:
        for number in range(2):
            with pytest.raises(
                TabUnavailable, match="does not wait at its prompt: sleep runs, started by its prompt or"
            ) as refused:
                await tab.execute("echo no", timeout=0.5)
            assert refused.value.state == "busy"
            if not number:
                tasks.start_soon(typed_only)
        slow.unlink()  # bash begins the prompt once more
        await tab.send_keys(["C-c"])
        assert (await tab.execute("echo yes")).output == "yes\n"
        await told.wait()  # the outputs of both may come at once, and this task be the first that goes on
        assert (await tab.command_result(results[0].command_id)).output == "typed\n"
