"""The code of scripts that ran in a tab, kept beside its log: `pane-@N.script-ID.py` goes when `pane-@N.log` goes.

So a `script_path` of an earlier result can be read as long as the output of that script can be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from pathlib import Path

_SCRIPT = re.compile(r"(?P<stem>.+)\.script-[0-9a-f]+\.[a-z]+\Z")


def script_path(log: Path, name: str) -> Path:
    """Return where the script `script-ID.SUFFIX` of the tab with that log is kept."""
    return log.with_name(f"{log.stem}.{name}")


def log_of_script(entry: os.DirEntry[str] | Path) -> str | None:
    """Return the name of the log that a script's file belongs to; None if it is no script's."""
    found = _SCRIPT.match(entry.name)
    return f"{found['stem']}.log" if found is not None else None
