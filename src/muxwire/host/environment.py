"""What a caller hands to a shell: environment variables, directories, programs; refused here if they can never work."""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# POSIX XBD 8.1: names of variables that every shell can hold.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

# tmux(1): the sizes that resize-window takes. zsh 5.9 writes outside of its memory, and dies, where a line of 100
# characters is edited on fewer than 7 columns (seen on 1 to 6, with 1 to 6 rows, with a short and a long prompt);
# bash 5.2 dies on 2 columns and 1 row. All shells ran everything on 7 to 24 columns with 1 to 6 rows.
COLUMNS_MIN = 8
SIDE_MAX = 10_000

# A command's text is not typed, but a shell must parse it: beyond this it is data and belongs in a file.
COMMAND_LIMIT = 16 << 20


def whole_setting(environ: Mapping[str, str], name: str, default: int, least: int = 1) -> int:
    """Return what a variable sets, `default` if it is not set; InvalidArgument for no number, or one below `least`."""
    text = environ.get(name, "")
    if text and not (text.isascii() and text.isdecimal() and int(text) >= least):
        raise InvalidArgument(
            f"{name} is {text!r}, which is not a number of {least} or more",
            remedy="set it to such a number, or unset it",
        )
    return int(text) if text else default


def check_text(value: object, what: str) -> None:
    """Raise InvalidArgument, which names `what`, if the value is not a string: callers may not check types."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{what} must be a string, not {value!r}", remedy="give a str")


def checked_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env`; InvalidArgument for a name that no shell can hold, or a NUL in a value."""
    for name, value in dict(env).items():
        check_text(name, "the name of an environment variable")
        check_text(value, f"the value of {name}")
        if not _NAME.match(name):
            raise InvalidArgument(
                f"{name!r} is not a name of an environment variable", remedy="use letters, digits and _, no digit first"
            )
        if "\0" in value:
            raise InvalidArgument(f"the value of {name} contains a NUL byte", remedy="leave it out")
    return dict(env)


def variables_of(environ: bytes) -> dict[str, str]:
    """The variables of an environment as the kernel and `env -0` write it: NAME=VALUE, each ended by a NUL."""
    pairs = [pair.partition("=") for pair in os.fsdecode(environ).split("\0")]
    return {name: value for name, equals, value in pairs if equals}


def checked_folder(cwd: str | os.PathLike[str], relative_to: str) -> Path:
    text = os.fspath(cwd)
    if "\0" in text:
        raise InvalidArgument("cwd contains a NUL byte", remedy="leave it out")
    try:
        path = Path(text).expanduser() if text.startswith("~") else Path(text)
        path = path if path.is_absolute() else Path(relative_to or os.curdir).absolute() / path
        found = stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        found = False
    except (OSError, RuntimeError) as error:  # a parent that may not be entered, too long a name, an unknown ~user
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidArgument(f"cwd {text!r}: {why}", remedy="give a directory that you may enter") from error
    if not found:
        raise InvalidArgument(f"cwd {text!r} is not a directory", remedy="give the path of a directory that exists")
    if not os.access(path, os.X_OK):
        raise InvalidArgument(f"cwd {text!r} may not be entered", remedy="give a directory that you may enter")
    return path


def check_columns(columns: int) -> None:
    """Refuse a pane in which a shell could die of its own line editor: InvalidArgument."""
    if not COLUMNS_MIN <= columns <= SIDE_MAX:
        raise InvalidArgument(
            f"columns: {columns} is out of range: shells crash in narrow terminals, and none has more than {SIDE_MAX}",
            remedy=f"use {COLUMNS_MIN} to {SIDE_MAX}",
        )


def check_size(size: Sequence[object]) -> None:
    match size:
        case (int(columns), int(rows)):
            pass
        case _:
            raise InvalidArgument(
                f"size {size!r} is not columns and rows", remedy="give two whole numbers, as (120, 40)"
            )
    check_columns(columns)
    if not 1 <= rows <= SIDE_MAX:
        raise InvalidArgument(f"rows: {rows} is out of range", remedy=f"use 1 to {SIDE_MAX}")


def checked_program(program: str, what: str, environ: Mapping[str, str]) -> str:
    found = None if "\0" in program else shutil.which(program, path=environ.get("PATH"))
    if found is None:
        raise InvalidArgument(
            f"{what} {program!r} is not an executable file",
            remedy="give its full path, or leave it out for the default",
        )
    # A relative path is relative to the directory of this process, not to that of the tab.
    return str(Path(found).absolute())


def check_command(command: bytes) -> None:
    if b"\0" in command:
        raise InvalidArgument("the command contains a NUL byte", remedy="write it as \\0 inside printf, or use a file")
    if len(command) > COMMAND_LIMIT:
        raise InvalidArgument(
            f"the command has {len(command)} bytes, the limit is {COMMAND_LIMIT}",
            remedy="write the data to a file first",
        )
    if not command.strip():
        raise InvalidArgument(
            "the command is empty", remedy="give a command; `read_logs_from_tab` shows the screen's text"
        )


def program_word(path: str, virtual: Path | None) -> str:
    """What a person types for `muxwire`: the plain name if `path`, this process's PATH, has it, else its whole path.

    `virtual` is the directory of programs of the virtual environment in which this process runs, None without one. It
    is on PATH only if the environment was activated, or if `uvx` put it there: the person's shell may not have it.
    """
    usual = [one for one in path.split(os.pathsep) if virtual is None or Path(one) != virtual]
    own = None if virtual is None else shutil.which("muxwire", path=str(virtual))
    return "muxwire" if own is None or shutil.which("muxwire", path=os.pathsep.join(usual)) else own
