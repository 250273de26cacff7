"""The supervisor: a small sh that outlives the pane's program and prints X with its exit status."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

# Traps are caught, not ignored: caught ones are default again in the program, ignored ones would be inherited.
# The subshell keeps "Killed" off the terminal. At the end nothing typed may kill the sleep before X was read, and a
# tty left with `tostop` must not stop the printf. tmux drops what a pane wrote last when its process ends, so the
# supervisor stays until it is dismissed (2147483647 s is the longest sleep that every sleep(1) takes).
_SCRIPT = (
    "exec 3>&2 2>/dev/null; trap : INT QUIT TSTP; "
    '(exec "$@" 2>&3 3>&-); s=$?; '
    'trap "" INT QUIT TSTP TTOU TTIN; '
    'printf "\\033]7770;X;%s;%s\\007" "$0" "$s"; '
    "PATH=$PATH:/usr/bin:/bin; exec sleep 2147483647"
)

# What tmux takes the supervisor for.
SUPERVISOR = "sh"


def supervisor_argv(argv: tuple[str, ...], nonce: str) -> tuple[str, ...]:
    """Return the argv that runs `argv`, prints X when it ended, and then waits to be dismissed."""
    return ("/bin/sh", "-c", _SCRIPT, nonce, *argv)


def supervisor_waits(pid: int) -> bool:
    """Whether the supervisor of that number has seen its program end: it has become the sleep of its last line."""
    if os.path.exists("/proc/self/comm"):  # noqa: PTH110
        try:
            return Path("/proc", str(pid), "comm").read_text() == "sleep\n"
        except OSError:
            return False
    answer = subprocess.run(["/bin/ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return answer.stdout.strip().rpartition("/")[2] == "sleep"
