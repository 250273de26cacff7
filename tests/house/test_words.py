"""The documentation is short and in plain words; so are help texts, error messages and tool descriptions.

`python tests/house/test_words.py` prints the words of each page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\|.*\n?", re.MULTILINE)
# Made by a program: the first as a whole, of the second the tables.
MEASURED, MADE = "benchmarks.md", "reference.md"
# What somebody reads in two hours; code blocks and tables that a program makes are not counted.
ALL_WORDS = 24_000
# What somebody reads before the first change, with everything that is in it.
DESIGN_WORDS = 4_000

# Metaphors, and the words that tmux, POSIX and MCP have in their place.
PLAIN = {
    r"roads?": "approach",
    r"faces?": "front end",
    r"guests?": "follower",
    r"folders?": "directory",
    r"time-outs?": "timeout",
    r"(go|goes|going|went|gone) on": "continue",
    r"tells|told|telling": "report, state, show",
    r"beside|(?<!too far )behind": "next to, after, over",  # tmux's own word is let through
    r"doubts?": "fallback",
    r"settle[sd]?": "wait, end",
    r"teeth|by heart|taken up|climbs?": "a plain word",
    r"nobody|somebody|whoever|exclude each other": "what is not done, or by which program or person",
    r"a look|look(s|ed|ing)? at": "snapshot, check",
}
BANNED = re.compile(rf"\b(?:{'|'.join(PLAIN)})\b", re.IGNORECASE)


def words_of(path: Path) -> int:
    """How many words of a page count."""
    text = FENCE.sub("", path.read_text())
    return len((TABLE.sub("", text) if path.name == MADE else text).split())


def banned(text: str) -> list[str]:
    """The words of `text` that are not used."""
    return [found.group() for found in BANNED.finditer(text)]


def messages(source: str) -> Iterator[tuple[int, str]]:
    """The sentences in the code that a person or a model may read, with their lines: texts that are no docstrings."""
    tree = ast.parse(source)
    documentation = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or node in documentation:
            continue
        if isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def test_the_documentation_is_short() -> None:
    assert sum(words_of(page) for page in PAGES if page.name != MEASURED) <= ALL_WORDS


def test_the_design_is_short() -> None:
    assert len((ROOT / "docs" / "design.md").read_text().split()) <= DESIGN_WORDS


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted((ROOT / "docs").glob("packages/**/*.md"))], ids=lambda page: page.name
)
def test_pages_use_plain_words(page: Path) -> None:
    assert not banned(page.read_text())


def test_messages_use_plain_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {word!r}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for line, text in messages(path.read_text())
        for word in banned(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text", ["ten roads", "It goes on.", "a time-out", "Behind ssh", "look at it", "it told us"])
def test_a_metaphor_is_seen(text: str) -> None:
    assert banned(text)
    assert list(messages(f"'''A folder.'''\nprint({text!r})")) == [(2, text)]


def test_plain_words_are_let_through() -> None:
    assert not banned("It continues; a surface, a timeout, broad, looks like a prompt, a directory and a snapshot")


if __name__ == "__main__":
    for page in PAGES:
        print(f"{words_of(page):6} {page.relative_to(ROOT)}")
