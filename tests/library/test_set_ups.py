"""What a shell says by itself: a table of prompts that people have, and of shells inside ssh.

What hooks print for the line that muxwire typed is not seen: it is about that line.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from muxwire import Terminals
from tests.users import keep_fish_quiet

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
