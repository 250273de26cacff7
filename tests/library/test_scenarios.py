"""What a busy machine, a person at the same tab, and a dying shell do to commands: the acceptance scenarios."""

from __future__ import annotations

import random

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.pane.runner import KEY_LOST
from tests.library.opened import SHELLS, tab_for


@pytest.mark.parametrize("shell", SHELLS)
async def test_noise_tears_no_mark(tab: Tab, shell: str) -> None:
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
        async with tab_for(terminals, shell) as tab:
            for turn in range(8):
                first, status = dice.randint(0, 500), dice.randint(0, 255)
                result = await tab.execute(f"echo {number} {turn}; seq {first} {first + 200}; sh -c 'exit {status}'")
                lines = "".join(f"{n}\n" for n in (f"{number} {turn}", *range(first, first + 201)))
                assert (result.output, result.exit_code, tab.state) == (lines, status, "prompt")

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(work, number)


@pytest.mark.parametrize(
    ("shell", "lost"),
    [
        ("bash", "for m in emacs vi-insert vi-command; do bind -m $m -r '\\e\\e[q'; done"),
        ("zsh", "for m in emacs viins vicmd; do bindkey -M $m -r '\\e[7770~'; done"),
        ("fish", "bind -e \\e\\[7770~"),
    ],
)
async def test_commands_are_exact_without_our_key(tab: Tab, lost: str) -> None:
    await tab.execute(lost)
    for number in range(4):
        result = await tab.execute(f"echo {number}; sh -c 'exit {number}'")
        assert (result.output, result.exit_code) == (f"{number}\n", number)
    assert tab.runner._retyped == KEY_LOST  # later commands do not wait for a key that nobody hears
    shown = "\n".join((await tab.snapshot()).lines)
    assert "_mux" not in shown, shown  # nor of the line that names a file, which is longer
