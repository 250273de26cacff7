"""The shells we integrate with: how each is started, and how one command is run in it between marks."""

from __future__ import annotations

from typing import Final

from muxwire.shell.bash import Bash
from muxwire.shell.fish import Fish
from muxwire.shell.foreign import foreign_end, foreign_wrap, probe
from muxwire.shell.posix import Ash, Dash, Ksh
from muxwire.shell.shell import CLEAR_LINE, CLEAR_TYPED, WRAPPERS, Launch, Shell, Wrapped
from muxwire.shell.supervisor import SUPERVISOR, supervisor_argv
from muxwire.shell.zsh import Zsh

# The table of known shells.

_BASH, _ZSH, _FISH, _DASH, _ASH, _KSH = Bash(), Zsh(), Fish(), Dash(), Ash(), Ksh()
# Executable basename (without the dash of a login shell) -> shell. `sh` is resolved first: it is many things.
SHELLS: Final[dict[str, Shell]] = {
    "bash": _BASH,
    "zsh": _ZSH,
    "fish": _FISH,
    "dash": _DASH,
    "ash": _ASH,
    "busybox": _ASH,
    "ksh": _KSH,
    "ksh93": _KSH,
}
TYPED_LINES: Final = tuple(dict.fromkeys(shell.typed_line for shell in SHELLS.values()))


__all__ = (
    "CLEAR_LINE",
    "CLEAR_TYPED",
    "SHELLS",
    "SUPERVISOR",
    "TYPED_LINES",
    "WRAPPERS",
    "Launch",
    "Shell",
    "Wrapped",
    "foreign_end",
    "foreign_wrap",
    "probe",
    "supervisor_argv",
)
