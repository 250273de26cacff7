"""No file carries what belongs to one machine, one sitting or another day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# `.git` is a file in a linked worktree, and names the directory of the repository.
SKIPPED = frozenset((".git", "build", "dist"))

NEVER = {
    "work left for another day is an issue, not a comment": r"\b(TODO|FIXME|XXX|HACK)\b",
    "a path of one machine": r"(?<![\w.~$}])/(root|work|workspace|opt/(?!homebrew)\w+|(home|Users)/\w+)/",
    "how a file came to be is for the history": r"(?i)\b(generated|written) (by|with) (an )?(ai|llm)\b|co-authored-by:",
}
DOCUMENT = re.compile(r"(?<![\w*{}])(?:[\w.-]+/)*[\w.-]+\.md\b")


def text_files() -> Iterator[Path]:
    """Every file of the project that is not packed; what tools leave behind lies in folders that begin with a dot."""
    for entry in sorted(ROOT.iterdir()):
        if entry.name in SKIPPED:
            continue
        if entry.is_file():
            yield entry
        elif entry.name == ".ci" or not entry.name.startswith("."):
            found = (path for path in sorted(entry.rglob("*")) if path.is_file() and path.suffix != ".xz")
            yield from (path for path in found if "__pycache__" not in path.parts)


def breaches(name: str, text: str, documents: frozenset[str]) -> Iterator[str]:
    """What `text` must not say: a forbidden pattern, or the name of a document that the project does not hold."""

    def at(found: re.Match[str]) -> str:
        line = text.count("\n", 0, found.start()) + 1
        return f"{name}:{line} {found.group()!r}"

    for reason, pattern in NEVER.items():
        yield from (f"{at(found)}: {reason}" for found in re.finditer(pattern, text))
    for found in DOCUMENT.finditer(text):
        if found.group().rsplit("/")[-1] not in documents:
            yield f"{at(found)}: no such file in the project"


def test_no_file_speaks_of_elsewhere() -> None:
    known = frozenset(path.name for path in text_files() if path.suffix == ".md")
    found = [
        breach
        for path in text_files()
        if path != Path(__file__)  # which has to name what it forbids
        for breach in breaches(str(path.relative_to(ROOT)), path.read_bytes().decode("utf-8", "replace"), known)
    ]
    assert not found, "\n".join(found)
