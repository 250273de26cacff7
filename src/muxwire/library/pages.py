"""Pages that show a tab: one file each, which needs no other, and no network. They share the drawing of a terminal."""

from __future__ import annotations

import re
from pathlib import Path

_SHARED = Path(__file__).with_name("page")


def page_of(file: Path) -> str:
    """The page in that file: each line `/* NAME */` gives place to the shared file of that name."""
    return re.sub(
        r"^/\* (terminal\.\w+) \*/\n",
        lambda found: (_SHARED / found[1]).read_text("utf-8"),
        file.read_text("utf-8"),
        flags=re.MULTILINE,
    )
