"""The locale that programs in the panes get, and the limits of the system."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.client.pipes import PIPE_BYTES
from muxwire.library.doctor.finding import Finding, broken, ok, warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# An instance needs about twenty, and each tab one or two more (the log, the probe of its terminal).
_FEW_FILES, _NO_FILES = 256, 64
# A tab is a terminal; a person and other programs have some too.
_FEW_TERMINALS = 32
# It sets a locale and ends.
_SECONDS = 20
_TRY_LOCALE = "import locale; locale.setlocale(locale.LC_ALL, '')"
_UTF8 = ("utf-8", "utf8")

_PIPE_MAX = Path("/proc/sys/fs/pipe-max-size")
_TERMINALS = Path("/proc/sys/kernel/pty")


def locale(environ: Mapping[str, str]) -> Finding:
    """Whether programs in the panes print UTF-8: tmux passes it on whatever they do, but they follow the locale."""
    # locale(7): the first that is set counts.
    name, value = next(
        ((name, environ[name]) for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), ("LANG", "")
    )
    remedy = f"export {name}=C.UTF-8"
    if not value:
        return warning("locale", "none is set: programs in the panes take text for ASCII", remedy)
    if not value.lower().endswith(_UTF8):
        return warning("locale", f"{name}={value} is not UTF-8: programs in the panes may print `?`", remedy)
    # -I: what the caller's Python would import must not matter. The variables of the locale count all the same.
    argv = [sys.executable, "-I", "-c", _TRY_LOCALE]
    done = subprocess.run(argv, env=dict(environ), capture_output=True, timeout=_SECONDS, check=False)
    if done.returncode:
        return warning("locale", f"{name}={value} is not installed on this machine", f"{remedy}, or install it")
    return ok("locale", f"{name}={value}")


def open_files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= _FEW_FILES:
        return ok("open files", "unlimited" if soft == resource.RLIM_INFINITY else str(soft))
    said = f"{soft} at most: each tab takes some, of tmux and of us"
    wanted = "1024" if hard == resource.RLIM_INFINITY or hard > soft else "1024 (as root: the hard limit is too low)"
    level = broken if soft < _NO_FILES else warning
    return level("open files", said, f"ulimit -n {wanted}")


def pipe_size(limit: Path = _PIPE_MAX) -> Finding:
    """How much the pipe from tmux holds while we are busy; `limit` is the file in which Linux says."""
    try:
        largest = int(limit.read_text())
    except (OSError, ValueError):
        return ok("pipe size", "the system's own")
    if largest < PIPE_BYTES:
        said = f"{largest} bytes at most; tmux keeps the rest in its memory while we are busy"
        return warning("pipe size", said, f"sysctl -w fs.pipe-max-size={PIPE_BYTES} (as root)")
    return ok("pipe size", f"{PIPE_BYTES} bytes")


def terminals(folder: Path = _TERMINALS) -> Iterator[Finding]:
    """How many pseudo-terminals are left, where the system says (Linux)."""
    try:
        most, used = int((folder / "max").read_text()), int((folder / "nr").read_text())
    except (OSError, ValueError):
        return
    said = f"{used} of {most} pseudo-terminals are in use"
    remedy = f"close some, or sysctl -w kernel.pty.max={most * 2} (as root)"
    if used >= most:
        yield broken("terminals", said, remedy)
    elif most - used < _FEW_TERMINALS:
        yield warning("terminals", said, remedy)
    else:
        yield ok("terminals", said)
