"""The environment of a user who has set nothing up, and the tmux that the whole suite runs on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The path of another tmux than the machine's, for every test and every process that a test starts.
TMUX_VARIABLE = "MUXWIRE_TEST_TMUX"


def tmux_folders() -> tuple[str, ...]:
    """What stands on a user's path before the machine's own directories: that of the tmux under test, if one is named.

    It must be called `tmux`: everything that starts it finds it on the path, as for a user.
    """
    named = os.environ.get(TMUX_VARIABLE, "")
    if not named:
        return ()
    path = Path(named)
    if not (path.is_absolute() and path.name == "tmux" and os.access(path, os.X_OK)):
        raise ValueError(f"{TMUX_VARIABLE}={named} must be the absolute path of an executable file called tmux")
    return (str(path.parent),)


# Without the python of the tests: what a script finds that names no more than the system's own programs.
SYSTEM_PATH = os.pathsep.join((*tmux_folders(), "/usr/local/bin", "/usr/bin", "/bin"))
USER_PATH = os.pathsep.join((str(Path(sys.executable).parent), SYSTEM_PATH))


# Of somebody who uses three shells: small prompts, and something to see that a login shell read its file.
RC_FILES = {
    ".bashrc": "PS1='b$ '\n",
    ".zshrc": "PROMPT='z%% '\nunsetopt beep\n",
    ".config/fish/config.fish": "set -g fish_greeting\nfunction fish_prompt; echo -n 'f> '; end\n",
    ".profile": "export FROM_PROFILE=yes\n",
}


def needs(program: str) -> None:
    """Skip the test where a program is not installed; `sh .ci/needs tests` installs all of them."""
    if shutil.which(program, path=USER_PATH) is None:
        import pytest  # the hosts of tests/hosts, that are processes of their own, need no more than an environment

        pytest.skip(f"needs {program}")


def keep_fish_quiet(home: Path) -> None:
    """Into a home without this directory fish writes completions for every manual page: half a minute of processor."""
    (home / ".local/share/fish/generated_completions").mkdir(parents=True, exist_ok=True)


def environ_of(home: Path, *, runtime: Path) -> dict[str, str]:
    """What a shell of theirs starts with: the python of the tests is first on the path. Both directories are made."""
    keep_fish_quiet(home)
    runtime.mkdir(mode=0o700, exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": USER_PATH,
        "XDG_RUNTIME_DIR": str(runtime),
        "SHELL": shutil.which("bash") or "/bin/sh",
        "LANG": "C.UTF-8",
    }


def program(path: Path, text: str) -> Path:
    """Write a script that everybody may run; its directory is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def with_tmux(folder: Path, script: str) -> dict[str, str]:
    """Write a program in place of tmux; return the PATH on which it is first."""
    made = program(folder / "tmux", f"#!/bin/sh\n{script}\n")
    return {"PATH": f"{made.parent}:{SYSTEM_PATH}"}


def write_rc_files(home: Path) -> None:
    for name, text in RC_FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@contextmanager
def short_folder() -> Iterator[Path]:
    """A directory with a short path, since a socket's has room for a hundred bytes.

    A server with a name outlives its process: those whose socket is in here end with it, and what runs in their panes.
    """
    with tempfile.TemporaryDirectory(prefix="mw", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            yield folder
        finally:
            for place, _, names in os.walk(folder):  # not rglob: directories of another machine go meanwhile
                for path in (Path(place, name) for name in names if name.endswith(".sock")):
                    subprocess.run(["tmux", "-N", "-S", path, "kill-server"], capture_output=True, check=False)
