"""What the numbers were made on, and when."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import muxwire

ROOT = Path(__file__).resolve().parent.parent
# What a change of makes the commit that is named a lie.
MEASURED = ("src", "bench")


def machine() -> dict[str, str]:
    """Versions, commit, date and hardware; what is not known is left out."""
    processors = Path("/proc/cpuinfo").read_text().splitlines()
    found = {
        "muxwire": muxwire.__version__,
        "commit": commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "tmux": said("tmux", "-V").removeprefix("tmux "),
        "Python": platform.python_version(),
        "node": said("node", "--version").removeprefix("v"),
        "bash": said("bash", "-c", "echo $BASH_VERSION"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": next((line.partition(":")[2].strip() for line in processors if line.startswith("model name")), ""),
        "cores": str(os.cpu_count() or ""),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
    }
    return {name: value for name, value in found.items() if value}


def commit() -> str:
    """The commit, and whether what is measured differs from it; nothing where there is no git."""
    name = said("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    changed = said("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no", "--", *MEASURED)
    return f"{name} with changes" if name and changed else name


def said(*argv: str) -> str:
    """What a program prints; nothing if it is not here or fails."""
    if shutil.which(argv[0]) is None:
        return ""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.strip() if done.returncode == 0 else ""
