"""The design's table of what moves a shell says what the code's table does."""

from __future__ import annotations

import re
from pathlib import Path

from muxwire.shell.session_table import SHELL_TABLE, Input, ShellState

DESIGN = Path(__file__).parent.parent.parent / "docs" / "design.md"
INPUTS = {
    "line typed": Input.LINE_TYPED, "`C`": Input.LINE_ACCEPTED, "`S`": Input.OUTPUT_START,
    "`E`": Input.COMMAND_FINISHED, "`P`": Input.PROMPT_START, "`X`": Input.SHELL_EXITED, "pane gone": Input.PANE_CLOSED,
}  # fmt: skip
LIVE = {state.name.lower(): state for state in ShellState if state not in (ShellState.EXITED, ShellState.CLOSED)}


def test_the_states_of_a_shell() -> None:
    text = DESIGN.read_text().partition("| input | new state | not from |\n|---|---|---|\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines()]
    assert [what for what, _, _ in rows] == list(INPUTS)
    for what, new, but in rows:
        stays = set(LIVE) - {"prompt"} if but == "all but prompt" else set(re.findall(r"\w+", but))
        moved = {state: SHELL_TABLE[INPUTS[what]][state].name.lower() for state in LIVE.values()}
        assert moved == {state: name if name in stays else new for name, state in LIVE.items()}, what
