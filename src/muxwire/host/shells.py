"""The shells of this machine: which one a program is, the files that integrate it, its supervisor's state."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire import shell
from muxwire.shell.table import SHELLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.shell import Shell

_FILES = ("integration.bash", "login.bash", "integration.zsh", "integration.fish", "integration.sh")
_SCRIPTS = Path(shell.__file__).with_name("scripts")


def shell_for(path: str) -> Shell | None:
    """Return the shell that `path` (an executable, perhaps a link such as /bin/sh) is; None if we do not know it."""
    return shell_named(path) or shell_named(os.path.realpath(path))


def shell_named(path: str) -> Shell | None:
    """The shell of which a program has the name; None if there is none."""
    return SHELLS.get(os.path.basename(path).removeprefix("-"))  # noqa: PTH119


def default_shell(env: Mapping[str, str]) -> str:
    """Return `$SHELL` if we know it and it can be run, else bash, else sh."""
    wanted = env.get("SHELL", "")
    if wanted and shell_for(wanted) and os.access(wanted, os.X_OK):
        return wanted
    return shutil.which("bash", path=env.get("PATH")) or "/bin/sh"


def install(folder: Path) -> None:
    """Write the integration files into `folder` (made 0700 if it is not there), each 0600; OSError, with its path."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in integration_files().items():
        _write(folder / name, text.encode())


def integration_files() -> dict[str, str]:
    """The integration files by the names that the shells look for."""
    return {name: (_SCRIPTS / name).read_text() for name in _FILES} | {".zshenv": (_SCRIPTS / "zshenv").read_text()}


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


def supervisor_waits(pid: int) -> bool:
    """Whether the supervisor of that number has seen its program end: it has become the sleep of its last line."""
    if os.path.exists("/proc/self/comm"):  # noqa: PTH110
        try:
            return Path("/proc", str(pid), "comm").read_text() == "sleep\n"
        except OSError:
            return False
    answer = subprocess.run(["/bin/ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return answer.stdout.strip().rpartition("/")[2] == "sleep"
