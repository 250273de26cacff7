"""Who typed a line: the rules, row by row."""

from __future__ import annotations

import math

import pytest

from muxwire.shell.authors import TYPED_AHEAD, Author, Elsewhere, LineSeen, by_keys, without_mark

NEVER = -math.inf
# The prompt before the line came at 100, the line before it was accepted at 90.
PROMPT, LAST = 100.0, 90.0
SOON, LATE = PROMPT + TYPED_AHEAD / 2, PROMPT + 10


def seen(
    now: float, *, ours: float = NEVER, keys: float = NEVER, command: float = NEVER, last: Author | None = None
) -> LineSeen:
    return LineSeen(now, PROMPT, ours, Elsewhere(keys, command), last, LAST)


@pytest.mark.parametrize(
    ("line", "author"),
    [
        pytest.param(seen(LATE), None, id="nobody of muxwire has typed"),
        pytest.param(seen(LATE, ours=105), "keys", id="here, since the prompt"),
        pytest.param(seen(LATE, keys=105), "other", id="elsewhere, since the prompt"),
        pytest.param(seen(LATE, ours=105, keys=106), "other", id="both: the later one pressed Enter"),
        pytest.param(seen(LATE, ours=106, keys=105), "keys", id="both, the other way round"),
        pytest.param(seen(LATE, ours=95, keys=95), None, id="both into what ran before the prompt"),
        pytest.param(seen(SOON, ours=95), "keys", id="here, ahead of the prompt"),
        pytest.param(seen(SOON, keys=95), "other", id="elsewhere, ahead of the prompt"),
        pytest.param(seen(SOON, keys=80), None, id="elsewhere, for an earlier line"),
        pytest.param(seen(SOON, keys=80, last="other"), "other", id="the second of several lines"),
        pytest.param(seen(SOON, ours=80, keys=70, last="keys"), "keys", id="the second of ours"),
        pytest.param(seen(SOON, keys=80, last="execute"), None, id="after a command"),
        pytest.param(seen(SOON, last="person"), None, id="after a line of a person"),
        pytest.param(seen(LATE, command=105), None, id="a command is known by its mark"),
    ],
)
def test_a_line_of_keys(line: LineSeen, author: Author | None) -> None:
    assert by_keys(line) == author


@pytest.mark.parametrize(
    ("line", "attended", "author"),
    [
        pytest.param(seen(LATE), True, "person", id="a person is there"),
        pytest.param(seen(LATE), False, "unknown", id="nobody is there"),
        pytest.param(seen(LATE, command=105), True, "other", id="a command whose mark is late"),
        pytest.param(seen(LATE, command=PROMPT - TYPED_AHEAD / 2), True, "other", id="it saw the prompt before us"),
        pytest.param(seen(LATE, command=95), True, "person", id="a command before the prompt"),
        pytest.param(seen(LATE, keys=95), False, "unknown", id="keys before the prompt"),
    ],
)
def test_a_line_without_a_mark(line: LineSeen, attended: bool, author: Author) -> None:
    assert without_mark(line, attended=attended) == author
