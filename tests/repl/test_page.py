"""The REPL's page says what the REPL does: its words, and the session that it shows."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path

from muxwire.repl.session import WORDS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "repl.md").read_text()
# Set in by a prompt, or by the seconds of a notification, whose place and time nobody can foretell.
PROMPT, NOTIFICATION = "tmux> ", re.compile(r"\+[0-9.]+ ")
# A line of the terminal that is longer goes on in the next.
FULL_LINE = 115


def session() -> list[str]:
    """The lines of the session on a terminal, without its greeting; what was too wide for the page is left out."""
    _, block = PAGE.split("```text\ninstance ", 1)
    lines = block.split("\n```", 1)[0].splitlines()[1:]
    return [line for at, line in enumerate(lines) if not (NOTIFICATION.match(line) or _goes_on(lines, at))]


def _goes_on(lines: list[str], number: int) -> bool:
    """Whether a line is the rest of a notification: it follows one that fills its line."""
    before = list(takewhile(lambda line: not line.startswith(PROMPT), reversed(lines[:number])))
    return bool(before) and bool(NOTIFICATION.match(before[0])) and len(before[0]) > FULL_LINE


def test_every_word_is_on_the_page() -> None:
    rows = [row.replace("\\|", "|") for row in re.findall(r"^\| `(:[^`]+)` \|", PAGE, re.MULTILINE)]
    assert rows == [f"{name} {follows}".rstrip() for name, (follows, _, _) in WORDS.items()]
