"""Texts name verbs by their ids, and each front end has its own spelling of all of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from muxwire.cli import printing
from muxwire.mcp import registry
from muxwire.verbs.catalogue import VERBS
from muxwire.verbs.words import MENTION, spelled

SOURCE = Path(__file__).resolve().parents[2] / "src" / "muxwire"
IDS = {verb.verb for verb in VERBS}
# Those that can be nothing else in a sentence; `snapshot` is a word.
CERTAIN = re.compile(rf"\b({'|'.join(sorted(one for one in IDS if '_' in one))})\b")
# Front ends speak their own language.
OWN = ("mcp", "cli", "verbs")


def remedies(source: str) -> Iterator[str]:
    """The literal parts of what is given as a `remedy`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "remedy":
            yield from (
                part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )


def test_remedies_mark_the_verbs_that_they_name() -> None:
    found = [
        f"{path}: {text}"
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in OWN
        for text in remedies(path.read_text())
        if CERTAIN.search(re.sub("`[^`]*`", "", text))
    ]
    assert not found


@pytest.mark.parametrize("words", [printing.WORDS, registry.WORDS], ids=["cli", "mcp"])
def test_every_verb_has_its_words(words: dict[str, str]) -> None:
    assert words.keys() == {*IDS, "close_tab.force", "command_result.wait"}


def test_only_verbs_are_replaced() -> None:
    text = "`list_tabs` shows `df -h` and `tmux`; `close_tab.force`"
    assert MENTION.findall(text) == ["list_tabs", "tmux", "close_tab.force"]
    assert spelled(text, printing.WORDS) == "muxwire ls shows `df -h` and `tmux`; muxwire kill -f (or --force)"
    assert spelled(text, registry.WORDS) == "list_tabs shows `df -h` and `tmux`; close_tab and force: true"
