"""What a busy machine, a person at the same tab, and a dying shell do to commands: the acceptance scenarios."""

from __future__ import annotations

import random
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire import TabUnavailable
from muxwire.pane.runner import KEY_LOST
from tests.library.opened import tab_for

if TYPE_CHECKING:
    from muxwire import Terminals

SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")
DEADLINE = 40.0
a_tab = partial(tab_for, DEADLINE)


async def tmux(terminals: Terminals, *words: str) -> tuple[bytes, ...]:
    return await (await terminals.server()).client.command(*words)


@pytest.mark.parametrize("shell", SHELLS)
async def test_the_exit_of_a_shell_is_known_at_once(terminals: Terminals, shell: str) -> None:
    async with a_tab(terminals, shell) as tab:
        result = await tab.execute("exit 3")
        assert (result.exit_code, result.state) == (3, "dead")


async def test_copy_mode_stays_and_nothing_is_blocked(terminals: Terminals) -> None:
    async with a_tab(terminals) as tab:
        await tab.execute("true")
        await tmux(terminals, "copy-mode", "-t", tab.pane_id)
        for command in ("echo fgt:/g", "echo FTt?"):
            assert (await tab.execute(command)).output == command.removeprefix("echo ") + "\n"
        assert await tmux(terminals, "display-message", "-p", "-t", tab.pane_id, "#{pane_in_mode}") == (b"1",)


@pytest.mark.parametrize("shell", SHELLS)
async def test_noise_tears_no_mark(terminals: Terminals, shell: str) -> None:
    async with a_tab(terminals, shell) as tab:
        await tab.execute("sh -c 'while :; do echo noise; done' &")
        fails = "sh -c 'exit 3'" if shell == "fish" else "(exit 3)"
        for _ in range(5):  # `tests/nightly/soak.py` makes more of it
            result = await tab.execute(fails)
            assert result.exit_code == 3, result
            assert set(result.output.split()) <= {"noise"}, result.output[-200:]


@pytest.mark.parametrize("shell", SHELLS)
async def test_tabs_in_parallel_keep_apart(terminals: Terminals, shell: str) -> None:
    dice = random.Random(shell)

    async def work(number: int) -> None:
        async with a_tab(terminals, shell) as tab:
            for turn in range(8):
                first, status = dice.randint(0, 500), dice.randint(0, 255)
                result = await tab.execute(f"echo {number} {turn}; seq {first} {first + 200}; sh -c 'exit {status}'")
                lines = "".join(f"{n}\n" for n in range(first, first + 201))
                assert (result.output, result.exit_code) == (f"{number} {turn}\n{lines}", status)

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(work, number)


@pytest.mark.parametrize("shell", SHELLS)
async def test_answers_of_the_terminal_do_not_reach_the_next_command(terminals: Terminals, shell: str) -> None:
    async with a_tab(terminals, shell) as tab:
        for _ in range(5):
            await tab.execute(r"printf '\033[6n\033[c'")
            assert (await tab.execute("echo hi")).output == "hi\n"


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_person_sees_the_command_as_if_it_was_typed(terminals: Terminals, shell: str) -> None:
    async with a_tab(terminals, shell, PS1="> ") as tab:
        await tab.execute("true")
        lines = ["echo one", "echo two"]
        await tab.execute("\n".join(lines))
        await tab.execute("echo three")
        screen = b"\n".join(await tmux(terminals, "capture-pane", "-p", "-t", tab.pane_id)).decode()
        assert re.search(r"echo one\n> echo two\none\ntwo\n", screen), screen
        assert re.search(r"echo three\nthree\n", screen), screen
        for ours in ("muxwire", "7770", "/c'"):
            assert ours not in screen, screen


async def test_with_an_empty_prompt_nothing_of_ours_goes_to_the_scrollback(
    terminals: Terminals, tmp_path: Path
) -> None:
    (tmp_path / ".bashrc").write_text("PS1=''\n")
    async with a_tab(terminals, "bash", HOME=str(tmp_path)) as tab:
        await tab.execute("echo one")
        taken = await tab.snapshot(scrollback=0)
        assert (taken.scrollback, [line for line in taken.lines if line]) == ((), ["echo one", "one"])


@pytest.mark.parametrize(
    ("shell", "lost"),
    [
        ("bash", "for m in emacs vi-insert vi-command; do bind -m $m -r '\\e\\e[q'; done"),
        ("zsh", "for m in emacs viins vicmd; do bindkey -M $m -r '\\e[7770~'; done"),
        ("fish", "bind -e \\e\\[7770~"),
    ],
)
async def test_commands_are_exact_without_our_key(terminals: Terminals, shell: str, lost: str) -> None:
    async with a_tab(terminals, shell) as tab:
        await tab.execute(lost)
        for number in range(4):
            result = await tab.execute(f"echo {number}; sh -c 'exit {number}'")
            assert (result.output, result.exit_code) == (f"{number}\n", number)
        assert tab.runner._retyped == KEY_LOST  # later commands do not wait for a key that nobody hears
        shown = "\n".join((await tab.snapshot()).lines)
        assert "_mux" not in shown, shown  # nor of the line that names a file, which is longer


async def test_a_full_screen_program_refuses_commands_at_once(terminals: Terminals) -> None:
    async with a_tab(terminals) as tab:
        await tab.execute("less /etc/passwd", timeout=10)
        with pytest.raises(TabUnavailable):
            await tab.execute("echo no", timeout=30)
