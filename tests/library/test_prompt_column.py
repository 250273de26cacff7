"""Where the readable command is shown: behind the prompt, wherever that stands, and whatever was typed behind it."""

from __future__ import annotations

import pytest

from muxwire import Terminals
from tests.library.opened import tab_for

# Opened, typed into at once, and used.
TYPED_AHEAD = 4
OURS = ("eval", "mux", "\\", "{")
# Each shows its prompt where the output ended; zsh and fish begin a new line for it.
PROMPTS = {"bash": "b$ ", "dash": "# ", "ksh": "$ "}


@pytest.mark.parametrize("shell", PROMPTS)
async def test_a_prompt_behind_an_output_without_a_line_end_stays(terminals: Terminals, shell: str) -> None:
    async with tab_for(terminals, shell, PS1=PROMPTS[shell]) as tab:
        for text in ("first", "again"):
            assert (await tab.execute(f"echo {text}")).output == f"{text}\n"
        assert (await tab.execute("printf abc")).output == "abc"
        assert (await tab.execute("echo second")).output == "second\n"
        lines = (await tab.snapshot()).lines
        assert f"abc{PROMPTS[shell]}echo second" in lines, lines
        assert (await tab.execute("echo third")).output == "third\n"
        lines = (await tab.snapshot()).lines
        assert f"{PROMPTS[shell]}echo third" in lines, lines


@pytest.mark.parametrize("before", ["nothing", "a command"])
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash", "ksh", "busybox"])
async def test_keys_at_a_prompt_that_is_still_to_come_leave_no_line_of_ours(
    terminals: Terminals, shell: str, before: str
) -> None:
    for count in range(TYPED_AHEAD):
        async with tab_for(terminals, shell) as tab:
            if before != "nothing":
                await tab.execute("true")
            await tab.send_keys(["echo who"], literal=True)
            assert (await tab.execute(f"echo {count}; :")).output == f"{count}\n"
            lines = [line for line in (await tab.snapshot()).lines if f"echo {count}" in line]
            assert len(lines) == 1, lines
            assert not any(piece in lines[0] for piece in OURS), lines
            assert lines[0].endswith(f" echo {count}; :"), lines
