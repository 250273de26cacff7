"""Who typed a line: the rules, row by row."""

from __future__ import annotations

import math

import pytest

from muxwire.shell.authors import TYPED_AHEAD, Author, is_by_keys

# The prompt before the line came at 100, the line before it was accepted at 90.
PROMPT, LAST = 100.0, 90.0
SOON, LATE = PROMPT + TYPED_AHEAD / 2, PROMPT + 10


@pytest.mark.parametrize(
    ("now", "pressed", "last", "ours"),
    [
        pytest.param(LATE, -math.inf, None, False, id="muxwire has typed nothing"),
        pytest.param(LATE, 105, None, True, id="since the prompt"),
        pytest.param(LATE, 95, None, False, id="into what ran before the prompt"),
        pytest.param(SOON, 95, None, True, id="ahead of the prompt"),
        pytest.param(SOON, 80, None, False, id="for an earlier line"),
        pytest.param(SOON, 80, "keys", True, id="the second of several lines"),
        pytest.param(SOON, 80, "execute", False, id="after a command"),
        pytest.param(SOON, -math.inf, "person", False, id="after a line of a person"),
    ],
)
def test_a_line_of_keys(now: float, pressed: float, last: Author | None, ours: bool) -> None:
    assert is_by_keys(now, prompt_time=PROMPT, pressed_at=pressed, last=last, last_time=LAST) is ours
