"""The table of known shells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muxwire.shell.bash import Bash
from muxwire.shell.fish import Fish
from muxwire.shell.plain import Ash, Dash, Ksh
from muxwire.shell.zsh import Zsh

if TYPE_CHECKING:
    from muxwire.shell.shell import Shell

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
