"""The shells of this machine: which one a program is, and the files that integrate it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire import shell
from muxwire.host.folders import SPOOL_PROGRAM, make_private, replace_private
from muxwire.shell import SHELLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.shell import Shell

_FILES = ("integration.bash", "login.bash", "integration.zsh", "integration.fish", "integration.sh")
_SCRIPTS = Path(shell.__file__).with_name("scripts")
SPOOL = Path(__file__).with_name("scripts") / SPOOL_PROGRAM


def shell_for(path: str) -> Shell | None:
    """Return the shell that `path` (an executable, perhaps a link such as /bin/sh) is; None if we do not know it."""
    # The real path of "", a program that is not known, is the working directory.
    return shell_named(path) or shell_named(os.path.realpath(path) if path else "")


def shell_named(path: str) -> Shell | None:
    return SHELLS.get(os.path.basename(path).removeprefix("-"))  # noqa: PTH119


def default_shell(env: Mapping[str, str]) -> str:
    wanted = env.get("SHELL", "")
    if wanted and shell_for(wanted) and os.access(wanted, os.X_OK):
        return wanted
    return shutil.which("bash", path=env.get("PATH")) or "/bin/sh"


def install(folder: Path) -> None:
    """Write what panes need into `folder` (made 0700 if it is not there), each file 0600; OSError, with its path."""
    make_private(folder)
    for name, text in {**integration_files(), SPOOL_PROGRAM: SPOOL.read_text()}.items():
        # A shell that starts in another tab of the instance may be reading it.
        replace_private(folder / name, text.encode())


def integration_files() -> dict[str, str]:
    return {name: (_SCRIPTS / name).read_text() for name in _FILES} | {".zshenv": (_SCRIPTS / "zshenv").read_text()}
