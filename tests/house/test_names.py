"""Files have names that say what they hold, and a first line that says why they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# Names that say nothing, so that everything ends up in them.
SAYS_NOTHING = re.compile(r"(^|_)(utils?|helpers?|common|managers?|base|misc|stuff)(_|$)")

# Copies of other projects' interfaces, under the names that those have.
STAND_INS = "stand_ins"


def test_every_file_is_well_named_and_says_why_it_exists() -> None:
    found = []
    for path in sorted(path for folder in ("src", "tests", "bench") for path in (ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT)
        said = [part for part in name.with_suffix("").parts if SAYS_NOTHING.search(part)]
        if said and STAND_INS not in name.parts:
            found.append(f"{name}: {said} does not say what is inside")
        first = (ast.get_docstring(ast.parse(path.read_text()), clean=True) or "").split("\n")[0]
        if len(first.split()) < 3:  # a name said again is no reason to exist
            found.append(f"{name}: the first line of the docstring gives the file's one reason")
    assert not found, "\n".join(found)
