"""Which prompts of a tab are remembered, without a terminal: as many as there is room for."""

from __future__ import annotations

from muxwire.shell.redraw import REMEMBERED_PROMPTS, PromptColumns


def test_the_oldest_prompt_goes_for_a_new_one_only() -> None:
    prompts, drawn = PromptColumns(), [b"%d$ " % number for number in range(REMEMBERED_PROMPTS)]
    for prompt in drawn:
        prompts.remember(prompt, len(prompt))
    prompts.remember(drawn[-1], 1)  # measured anew, after a change of the size
    assert [prompt in prompts for prompt in drawn] == [True] * REMEMBERED_PROMPTS
    assert prompts.column(drawn[-1]) == 1
    prompts.remember(b"new$ ", 5)
    assert [prompt in prompts for prompt in drawn] == [False] + [True] * (REMEMBERED_PROMPTS - 1)
