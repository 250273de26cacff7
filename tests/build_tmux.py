"""Builds versions of tmux from a clone of its source: `python -m tests.build_tmux 3.4 3.7c` prints where they are.

`MUXWIRE_TMUX_SOURCE` is the path of the clone (https://github.com/tmux/tmux), which stays as it is. Needed beside it: a
C compiler, make, autoconf, automake, pkg-config, bison, and the headers of libevent and ncurses. What was built once
stays in `MUXWIRE_TMUX_BUILT`, by default a folder of temporary files.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

NEEDED = ("git", "cc", "make", "autoconf", "automake", "pkg-config")
LIBRARIES = ("libevent_core", "ncurses")
# The steps of tmux's README; the last one takes a minute on one slow processor.
STEPS = (("sh", "autogen.sh"), ("sh", "configure", "--quiet"), ("make", "-s"))
STEP_SECONDS = 900


def cannot() -> str:
    """Why nothing can be built here; "" if it can."""
    if not os.environ.get("MUXWIRE_TMUX_SOURCE"):
        return "MUXWIRE_TMUX_SOURCE names no clone of tmux's source"
    if missing := [program for program in NEEDED if shutil.which(program) is None]:
        return f"to build tmux takes {', '.join(missing)}"
    if not (shutil.which("bison") or shutil.which("yacc")):
        return "to build tmux takes bison"
    known = subprocess.run(["pkg-config", "--exists", *LIBRARIES], check=False)
    return "to build tmux takes the headers of libevent and ncurses" if known.returncode else ""


def build(version: str) -> Path:
    """Return the program of that version, called `tmux`; it is built if it never was. CalledProcessError."""
    home = Path(os.environ.get("MUXWIRE_TMUX_BUILT") or Path(tempfile.gettempdir()) / f"tmux-built-{os.getuid()}")
    program = home / version / "tmux"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["git", "-C", os.environ["MUXWIRE_TMUX_SOURCE"], "archive", version], stdout=subprocess.PIPE, check=True
    )
    with tempfile.TemporaryDirectory(dir=home) as name:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as source:
            source.extractall(name, filter="data")
        for step in STEPS:
            subprocess.run(
                step, cwd=name, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=STEP_SECONDS, check=True
            )
        # Whole or not at all: somebody else may be looking for it.
        Path(name, "tmux").rename(program)
    return program


if __name__ == "__main__":
    if reason := cannot():
        sys.exit(reason)
    for wanted in sys.argv[1:]:
        print(build(wanted))
