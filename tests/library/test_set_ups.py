"""What a shell says by itself: a table of prompts that people have, and of shells inside ssh.

What hooks print for the line that muxwire typed is not seen: it is about that line.
"""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.library.opened import tab_for
from tests.sshd import ssh_server
from tests.users import keep_fish_quiet

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from muxwire import Terminals

DEADLINE = 40.0
a_tab = partial(tab_for, DEADLINE)
NAMES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}

# The shell, its file, the size of its window, and what a person sees after `echo one` and `echo two`.
SET_UPS: Mapping[str, tuple[str, str, tuple[int, int], tuple[str, ...]]] = {
    "zsh, a transient prompt": (
        "zsh",
        "zle-line-finish() { PROMPT='t> '; zle reset-prompt; }\nzle -N zle-line-finish\nprecmd() PROMPT=$'at\\n> '\n",
        (80, 24),
        ("at", "> echo one", "one", "at", "> echo two", "two", "at", ">"),
    ),
    "zsh, a hook that prints before a command": (
        "zsh", "PROMPT='> '\npreexec() { print runs }\n", (80, 24),
        ("> echo one", "one", "> echo two", "two", ">"),
    ),
    "fish, a hook that prints before a command": (
        "fish",
        "set -U fish_greeting; function fish_prompt; echo -n '> '; end\nfunction b -e fish_preexec; echo runs; end\n",
        (80, 24),
        ("> echo one", "one", "> echo two", "two", ">"),
    ),
    "bash, a PS0 of several lines": (
        "bash", "PS1='> '\nPS0='$(printf \"%0170d\" 7)\\n'\n", (80, 24),
        ("> echo one", "one", "> echo two", "two", ">"),
    ),
    "zsh, a window of 20 columns and 5 rows": (
        "zsh", "PROMPT='> '\n", (20, 5), ("> echo one", "one", "> echo two", "two", ">"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SET_UPS)
async def test_a_command_is_seen_as_if_it_had_been_typed(terminals: Terminals, tmp_path: Path, name: str) -> None:
    shell, text, size, expected = SET_UPS[name]
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"no {shell}")
    file = tmp_path / NAMES[shell]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    keep_fish_quiet(tmp_path)
    tab = await terminals.create_tab(shell=program, size=size, env={"HOME": str(tmp_path)})
    for word in ("one", "two"):
        assert (await tab.execute(f"echo {word}")).output == f"{word}\n"
    lines: list[str] = []
    with anyio.move_on_after(1):
        while lines != [*expected[-size[1] :]]:
            lines = [line.rstrip() for line in (await tab.snapshot()).lines if line.strip()]
            await tab.pane.stream.changed_within(0.05)
    assert lines == [*expected[-size[1] :]]


async def test_a_line_of_ours_that_is_drawn_out_of_sight_is_on_no_snapshot(
    terminals: Terminals, tmp_path: Path
) -> None:
    """In a window so small that there is no room for it, zsh draws it on the alternate screen."""
    if (zsh := shutil.which("zsh")) is None:
        pytest.skip("no zsh")
    (tmp_path / ".zshrc").write_text("PROMPT='> '\n")
    tab = await terminals.create_tab(shell=zsh, size=(20, 5), env={"HOME": str(tmp_path)})
    seen: list[bool] = []
    await tab.execute("true")
    for _ in range(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tab.execute, "sleep 0.01")
            for _ in range(10):
                seen.append((await tab.snapshot()).alternate_screen)
                await tab.pane.stream.changed_within(0.001)
    assert not any(seen)


@pytest.mark.parametrize("command", ["bash --norc", "cd / && bash --norc"])
async def test_a_shell_in_a_shell_over_ssh_takes_commands(terminals: Terminals, tmp_path: Path, command: str) -> None:
    with ssh_server(tmp_path) as ssh:
        async with a_tab(terminals) as tab:
            await tab.execute(f"ssh -q -tt {' '.join(ssh)} 127.0.0.1 bash --norc", timeout=DEADLINE)
            assert (await tab.execute("echo one")).output == "one\n"
            await tab.execute(command, timeout=3, on_timeout="leave")
            for word in ("two", "three"):
                assert (await tab.execute(f"echo {word}", timeout=3)).output == f"{word}\n"
            await tab.execute("exit", timeout=3)
            assert (await tab.execute("echo four", timeout=3)).output == "four\n"
