"""The supervisor: a small sh that outlives the pane's program and prints X with its exit status."""

from __future__ import annotations

import re

# Traps are caught, not ignored: caught ones are default again in the program, ignored ones would be inherited.
# The subshell keeps "Killed" off the terminal. At the end nothing typed may kill the sleep before X was read, and a
# tty left with `tostop` must not stop the printf. tmux drops what a pane wrote last when its process ends, so the
# supervisor stays until it is dismissed (2147483647 s is the longest sleep that every sleep(1) takes).
_SCRIPT = (
    "%sexec 3>&2 2>/dev/null; trap : INT QUIT TSTP; %s"
    '(exec "$@" 2>&3 3>&-); s=$?; '
    'trap "" INT QUIT TSTP TTOU TTIN; '
    'printf "\\033]7770;X;%%s;%%s\\007" "$0" "$s"; '
    "PATH=$PATH:/usr/bin:/bin; exec sleep 2147483647"
)

# tmux makes a window in its client's size, and gives it another one by a further command. A program that asks once for
# the size must not see the first one. Any change ends the wait: in a person's tmux a border may take one of the rows.
# It is 2 s at most, longer than a round trip. In a subshell, because the program's environment may have variables of
# these names.
_UNTIL_SIZED = (
    "(PATH=$PATH:/usr/bin:/bin n=0; now=$(stty size); first=$now; "
    'while [ "$now" != "%d %d" ] && [ "$now" = "$first" ] && [ "$n" -lt 100 ]; do '
    "n=$((n + 1)); sleep 0.02; now=$(stty size); done); "
)

_NOTE = ": muxwire-tab %s; "
_NOTED = re.compile(_NOTE % r"([\w=-]+)")

# What tmux takes the supervisor for.
SUPERVISOR = "sh"


def supervisor_argv(
    argv: tuple[str, ...], nonce: str, size: tuple[int, int] | None = None, note: str = ""
) -> tuple[str, ...]:
    """Return the argv that runs `argv`, prints X when it ended, and then waits to be dismissed.

    With a size (columns, rows) `argv` begins when the terminal has it. `note`, a word of letters, digits, `_`, `-`
    and `=`, is for `note_in`.
    """
    until_sized = _UNTIL_SIZED % (size[1], size[0]) if size is not None else ""
    return ("/bin/sh", "-c", _SCRIPT % (_NOTE % note if note else "", until_sized), nonce, *argv)


def note_in(command: str) -> str:
    """The note of a supervisor's argv, as tmux prints that (`pane_start_command`); "" if it has none."""
    noted = _NOTED.search(command)
    return noted[1] if noted is not None else ""
