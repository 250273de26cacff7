"""What is typed before the prompt is there is echoed by the terminal and by the line editor: neither is an answer."""

from __future__ import annotations

import pytest

from muxwire import Tab
from tests.deadline import DEADLINE

EDITORS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", [*EDITORS, "dash", "ksh"])
async def test_the_echo_of_what_was_typed_before_the_first_prompt_is_no_answer(tab: Tab) -> None:
    begun = await tab.start_process("read go; echo up\r", append_newline=False, ready="up", ready_timeout=1.5)
    assert begun.ready is False, begun
    begun = await tab.start_process("\r", append_newline=False, ready="up", ready_timeout=DEADLINE)
    assert begun.ready


@pytest.mark.parametrize(
    "keys",
    [
        ["sleep 0.2", "Enter", "sleep 0.2; echo sec''ond; sh -c 'exit 7'", "Enter"],
        ["sleep 0.2\nsleep 0.2; echo sec''ond; sh -c 'exit 7'\n"],
        ["read go", "Enter", "text", "Enter", "echo sec''ond; sh -c 'exit 7'", "Enter"],
    ],
)
@pytest.mark.parametrize("shell", [*EDITORS, "dash", "ksh"])
async def test_the_answer_to_several_lines_comes_when_all_have_run(tab: Tab, keys: list[str]) -> None:
    await tab.execute("true")
    told = await tab.send_keys(keys, wait=DEADLINE)
    assert (told.outcome, told.exit_code, told.note, "second" in told.output) == ("ended", 7, "", True), told
