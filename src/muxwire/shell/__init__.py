"""The shells that muxwire knows: how each is started, how a command runs in it between marks, and what is decided.

Pure: bytes, values and times come in, values go out. `host/` looks at the machine, `pane/` types and signals.

1. A shell reads the user's configuration and then muxwire's hooks (`scripts/integration.*`), which print marks: at each
   prompt, and where the shell can, after each accepted line (marks.py).
2. The body of a command is a file. What is typed is one short line, the same for every command, that reads the file and
   evaluates it, with a mark before and after (shell.py; bash.py, zsh.py, fish.py and posix.py for each shell). A shell
   that our hooks do not reach gets all of it typed, after a probe (foreign.py).
3. What the shell does has one owner, `ShellSession` (session.py). Its states and what moves them are one table
   (session_table.py); the word that a caller reads comes from tab_state.py.
4. What the kernel says of the terminal is one value, `PaneLook` (look.py). Who would read a line that is typed now is
   judged from it (listener.py).
5. What is done about a shell is decided by async functions over a port (port.py): who reads a line, and when (ready.py,
   prompt_line.py, nesting.py), whether what runs waits (examine.py, watch.py), how it is ended (stop.py).
6. What muxwire typed, and what the shell echoed of it, is cut when output is read (visible.py).
"""

from __future__ import annotations

from typing import Final

from muxwire.shell.bash import Bash
from muxwire.shell.fish import Fish
from muxwire.shell.posix import Ash, Dash, Ksh
from muxwire.shell.shell import Launch, Shell, Wrapped
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


__all__ = (
    "SHELLS",
    "SUPERVISOR",
    "Launch",
    "Shell",
    "Wrapped",
    "supervisor_argv",
)
