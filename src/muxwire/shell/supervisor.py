"""The supervisor: a small sh that outlives the pane's program and prints X with its exit status."""

from __future__ import annotations

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
