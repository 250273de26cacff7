"""The table of known shells, and the files that integrate them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from muxwire.shell.bash import Bash
from muxwire.shell.fish import Fish
from muxwire.shell.plain import Ash, Dash, Ksh
from muxwire.shell.zsh import Zsh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.shell.shell import Shell

_BASH, _ZSH, _FISH, _DASH, _ASH, _KSH = Bash(), Zsh(), Fish(), Dash(), Ash(), Ksh()
# Executable basename (without the dash of a login shell) -> shell. `sh` is resolved first: it is many things.
_TABLE: Final[dict[str, Shell]] = {
    "bash": _BASH,
    "zsh": _ZSH,
    "fish": _FISH,
    "dash": _DASH,
    "ash": _ASH,
    "busybox": _ASH,
    "ksh": _KSH,
    "ksh93": _KSH,
}
TYPED_LINES: Final = tuple(dict.fromkeys(shell.typed_line for shell in _TABLE.values()))
_FILES = ("integration.bash", "login.bash", "integration.zsh", "integration.fish", "integration.sh")
_HERE = Path(__file__).parent / "scripts"


def shell_for(path: str) -> Shell | None:
    """Return the shell that `path` (an executable, perhaps a link such as /bin/sh) is; None if we do not know it."""
    for name in (path, os.path.realpath(path)):
        shell = _TABLE.get(os.path.basename(name).removeprefix("-"))  # noqa: PTH119
        if shell is not None:
            return shell
    return None


def default_shell(env: Mapping[str, str]) -> str:
    """Return `$SHELL` if we know it and it can be run, else bash, else sh."""
    wanted = env.get("SHELL", "")
    if wanted and shell_for(wanted) and os.access(wanted, os.X_OK):
        return wanted
    return shutil.which("bash", path=env.get("PATH")) or "/bin/sh"


def install(folder: Path) -> None:
    """Write the integration files into `folder` (made 0700 if it is not there), each 0600; OSError, with its path."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in _FILES:
        _write(folder / name, (_HERE / name).read_bytes())
    _write(folder / ".zshenv", (_HERE / "zshenv").read_bytes())


def _write(path: Path, content: bytes) -> None:
    # A shell that starts in another tab of the instance may be reading it: it gets the old one or the new one, whole.
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
