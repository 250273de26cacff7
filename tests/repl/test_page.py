"""The REPL's page says what the REPL does: its words, and the session that it shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from subprocess import CompletedProcess

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


def bare(line: str) -> str:
    """A line without what is another one each time: numbers, times, ids, the folder."""
    line = re.sub(r"[0-9a-f]{16}", "ID", re.sub(r" in /\S+,", " in FOLDER,", line))  # an id may have digits only
    return re.sub(r"(?<!exit code )\b\d+(\.\d+)?\b", "N", line)


def test_every_word_is_on_the_page() -> None:
    rows = [row.replace("\\|", "|") for row in re.findall(r"^\| `(:[^`]+)` \|", PAGE, re.MULTILINE)]
    assert rows == [f"{name} {follows}".rstrip() for name, (follows, _, _) in WORDS.items()]


def test_the_session_goes_as_the_page_says(script: Callable[..., CompletedProcess[str]]) -> None:
    lines = session()
    typed = [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]
    assert len(typed) == 4
    said = [bare(line) for line in script(*typed).stdout.splitlines()]
    for line in (bare(line) for line in lines if not line.startswith(PROMPT)):
        assert line in said, line
        del said[: said.index(line) + 1]
