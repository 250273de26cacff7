"""Shells whose line editor is off, or that find the tty raw: commands still run, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire import Tab, Terminals
from tests.deadline import DEADLINE
from tests.library.opened import tab_for

OFF = {"bash": "set +o emacs +o vi", "zsh": "unsetopt zle"}


@pytest.mark.parametrize("shell", OFF)
async def test_commands_run_without_a_line_editor(tab: Tab, shell: str) -> None:
    await tab.execute(OFF[shell])
    for number in range(3):
        result = await tab.execute(f"printf 'a\\n\\n{number}'; (exit {number})")
        assert (result.output, result.exit_code, result.state) == (f"a\n\n{number}", number, "prompt")
    assert (await tab.execute("echo $?")).output == "2\n"


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


async def shown(terminals: Terminals, tab: Tab, prompt: str) -> list[str]:
    """The rows of the screen, once the last one is the prompt."""
    while True:
        rows = [line.rstrip() for line in (await tab.snapshot()).lines]
        if rows[-1] == prompt:
            return rows
        await terminals.wait_for([tab.window_id], idle=0.05, timeout=DEADLINE)


@pytest.mark.parametrize("query", [r"\033[>q", r"\033P$qm\033\134", r"\033P+q544e\033\134", r"\033[c", r"\033[?u"])
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_an_answer_of_the_terminal_that_is_not_read_leaves_nothing(tab: Tab, shell: str, query: str) -> None:
    await tab.execute("echo first")
    for number in range(2):
        await tab.execute(f"printf '{query}'")
        after = await tab.execute(f"echo ok{number}; false")
        assert (after.output, after.exit_code, after.state) == (f"ok{number}\n", 1, "prompt"), after
    # What the kernel echoes of an answer that comes before the editor has the tty stays before the prompt.
    shown = "\n".join((await tab.snapshot()).lines)
    assert "_mux" not in shown, shown
    assert "^[[{" not in shown, shown
