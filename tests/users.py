"""The environment of a user who has set nothing up, with the python of the tests first on the path."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def environ_of(home: Path, *, runtime: Path) -> dict[str, str]:
    """What a shell of theirs starts with."""
    return {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "XDG_RUNTIME_DIR": str(runtime),
        "SHELL": shutil.which("bash") or "/bin/sh",
        "LANG": "C.UTF-8",
    }
