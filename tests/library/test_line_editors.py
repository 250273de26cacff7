"""Plugins of line editors, which a person has for the lines that a person types."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire import Terminals
from tests.deadline import DEADLINE
from tests.library.opened import tab_for

# As zsh-syntax-highlighting and fast-syntax-highlighting do: a function of that name, and what is too long is left out.
HIGHLIGHTS = r"""
_zsh_highlight() {
  [[ -n ${ZSH_HIGHLIGHT_MAXLENGTH:-} ]] && (( $#BUFFER > ZSH_HIGHLIGHT_MAXLENGTH )) && return
  print -r -- "$BUFFER" >>~/highlighted
}
zle -N zle-line-finish _zsh_highlight
"""


@pytest.mark.parametrize(("limit", "value"), [("", ""), ("ZSH_HIGHLIGHT_MAXLENGTH=300", "300"), ("setopt nounset", "")])
async def test_plugins_of_zsh_highlight_what_a_person_types_and_no_line_of_ours(
    terminals: Terminals, tmp_path: Path, limit: str, value: str
) -> None:
    (tmp_path / ".zshrc").write_text(f"{HIGHLIGHTS}{limit}\n")
    async with tab_for(terminals, "zsh", HOME=str(tmp_path)) as tab:
        for _ in range(2):
            assert (await tab.execute('echo "<${ZSH_HIGHLIGHT_MAXLENGTH-}>"')).output == f"<{value}>\n"
            assert (await tab.send_keys(["echo theirs", "Enter"], wait=DEADLINE)).outcome == "ended"
    assert (tmp_path / "highlighted").read_text() == "echo theirs\n" * 2
