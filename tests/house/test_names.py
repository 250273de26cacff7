"""Files have names that say what they hold, and a first line that says why they exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# Names that say nothing, so that everything ends up in them.
SAYS_NOTHING = re.compile(r"(^|_)(utils?|helpers?|common|managers?|base|misc|stuff)(_|$)")

# Copies of other projects' interfaces, under the names that those have.
STAND_INS = "stand_ins"


def name_breaches(name: str) -> Iterator[str]:
    if STAND_INS in Path(name).parts:
        return
    for part in Path(name).with_suffix("").parts:
        if SAYS_NOTHING.search(part):
            yield f"{name}: `{part}` does not say what is inside"


def docstring_breaches(name: str, source: str) -> Iterator[str]:
    first = (ast.get_docstring(ast.parse(source), clean=True) or "").split("\n")[0]
    if len(first.split()) < 3:  # a name said again is no reason to exist
        yield f"{name}: the first line of the docstring gives the file's one reason"


def test_every_file_is_well_named_and_says_why_it_exists() -> None:
    found = []
    for path in sorted(path for folder in ("src", "tests", "bench") for path in (ROOT / folder).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        found += [*name_breaches(name), *docstring_breaches(name, path.read_text())]
    assert not found, "\n".join(found)
