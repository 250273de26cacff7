"""What a shell itself prints after a command's output, before the mark that ends it: it is no output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muxwire.shell.execution import INTERRUPTED, SIGNAL_STATUS

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.shell.execution import Execution

# How far back it may reach, by shell: a terminal's width of blanks and a few escape sequences; an OSC 133;D.
REACH = {"zsh": 4096, "fish": 32}

# zsh prints a reversed % or # and blanks before a prompt where the output did not end its line (PROMPT_SP).
_PROMPT_SP = re.compile(rb"(?:\x1b\[[0-9;]*m)*[%#](?:\x1b\[[0-9;]*m)* +\r \r\Z")
# fish 4 reports a command's end to its terminal just before it does to us (OSC 133;D), unless the command has come to
# E.
_FISH_END = re.compile(rb"\x1b\]133;D(?:;[0-9]+)?\x07\Z")
_WHOLE = {"zsh": _PROMPT_SP, "fish": _FISH_END}

# The beginning of zsh's PROMPT_SP: a bold and reversed % or #, blanks. Nobody misses colours that come a little later.
_SGR, _SGR_BEGUN = rb"(?:\x1b\[[0-9;]*m)", rb"(?:\x1b(?:\[[0-9;]*)?)"
_PROMPT_SP_BEGUN = re.compile(
    rb"(?:SGR{2,}[%#]SGR*(?:BEGUN| +(?:\r ?)?)?|SGR+BEGUN?|BEGUN)\Z".replace(b"SGR", _SGR).replace(b"BEGUN", _SGR_BEGUN)
)
# The same of what fish 4 prints.
_FISH_END_BEGUN = re.compile(rb"\x1b(?:\](?:1(?:3(?:3(?:;(?:D(?:;[0-9]*)?\x07?)?)?)?)?)?)?\Z")
_BEGUN = {"zsh": _PROMPT_SP_BEGUN, "fish": _FISH_END_BEGUN}


def trailing(name: str, tail: bytes) -> int:
    """How many bytes at the end of `tail` the shell of that name has printed after an output."""
    found = _WHOLE[name].search(tail) if name in _WHOLE else None
    return len(found[0]) if found else 0


def trailing_begun(name: str, tail: bytes) -> int:
    """The same, where more of it may be to come."""
    begun = _BEGUN[name].search(tail) if name in _BEGUN else None
    return trailing(name, tail) or (len(begun[0]) if begun else 0)


# How the terminal shows a C-c, and the new line that bash then begins.
_ECHOED = b"^C\r\n"


def trailing_before(execution: Execution, end: int, name: str, read: Callable[[int, int], bytes]) -> int:
    """The same of what stands before that offset of the stream."""
    return trailing(name, read(max(execution.begin, end - REACH[name]), end)) if name in REACH else 0


def cut_short(
    execution: Execution,
    end: int,
    status: int,
    name: str,
    read: Callable[[int, int], bytes],
    *,
    signalled: bool | None,
) -> tuple[int, int]:
    """The end and the status of a command whose shell shows a prompt at `end`: it gave the command up.

    `signalled`, of a shell that says 1 for C-c: whether we sent a signal; None for the others.
    """
    if execution.post_exec is not None:
        end, status = execution.post_exec
    else:
        end -= trailing_before(execution, end, name, read)
    by_key = signalled is not None and (signalled or read(end - len(_ECHOED), end) == _ECHOED)
    # A shell gives a command up by an error, which has a status, or by C-c: of that zsh may say 0, and ksh 256. After a
    # command in a nested shell the prompt says that this has ended, by `exit` for one.
    silent = execution.level == 1 and status in (0, 2 * SIGNAL_STATUS)
    return end, INTERRUPTED if silent or (status == 1 and by_key) else status
