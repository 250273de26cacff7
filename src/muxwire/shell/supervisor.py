"""The supervisor: a small sh that outlives the pane's program and prints X with its exit status.

The tab's nonce reaches it as a variable, which only the same user can read: arguments are public. A shell that we know
takes the variable out of its environment itself, once it has read it; from any other program it is kept. So are TMUX
and TMUX_PANE where they name a server of muxwire's own: what a program starts by tmux is then the person's to see.
"""

from __future__ import annotations

# Traps are caught, not ignored: caught ones are default again in the program, ignored ones would be inherited.
# The subshell keeps "Killed" off the terminal. At the end nothing typed may kill the sleep before X was read, and a
# tty left with `tostop` must not stop the printf. tmux drops what a pane wrote last when its process ends, so the
# supervisor stays until it is dismissed (2147483647 s is the longest sleep that every sleep(1) takes).
_SCRIPT = (
    "exec 3>&2 2>/dev/null; trap : INT QUIT TSTP; %s"
    '(%sexec "$@" 2>&3 3>&-); s=$?; '
    'trap "" INT QUIT TSTP TTOU TTIN; '
    'printf "\\033]7770;X;%%s;%%s\\007" "$MUXWIRE_NONCE" "$s"; unset MUXWIRE_NONCE; '
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

# In the subshell that becomes the program. Where MUXWIRE_TMUX is set, TMUX names a server of muxwire's own.
_KEEP_NONCE = 'unset MUXWIRE_NONCE; [ -z "$MUXWIRE_TMUX" ] || unset TMUX TMUX_PANE MUXWIRE_TMUX; '

# The name by which tmux knows the supervisor (`pane_current_command`).
SUPERVISOR = "sh"


def supervisor_argv(
    argv: tuple[str, ...], label: str, size: tuple[int, int] | None = None, *, takes_nonce: bool = False
) -> tuple[str, ...]:
    """Return the argv that runs `argv`, prints X when it ended, and then waits to be dismissed.

    Its environment must hold MUXWIRE_NONCE. `label` is a word among its arguments by which the pane is found again.
    With a size (columns, rows) `argv` begins when the terminal has it. `takes_nonce`: `argv` starts a shell with our
    integration.
    """
    until_sized = _UNTIL_SIZED % (size[1], size[0]) if size is not None else ""
    return ("/bin/sh", "-c", _SCRIPT % (until_sized, "" if takes_nonce else _KEEP_NONCE), label, *argv)
