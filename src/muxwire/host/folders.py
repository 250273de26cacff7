"""Where an instance keeps its socket, its state and its logs, and who may touch them.

Sockets and integration files live in the runtime directory, which a reboot may empty; logs live in the state directory,
which it may not. Every directory is 0700 and this user's: one of another user, or a link to one, is refused, because
what is typed into a terminal passes through them.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from pwd import getpwuid
from typing import TYPE_CHECKING, final

from muxwire.errors import ELSEWHERE, InstanceUnavailable, cannot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# sockaddr_un.sun_path holds 108 bytes, the closing NUL included, and the owner's socket has a longer name than tmux's.
SOCKET_PATH_LIMIT = 103
PRIVATE_FOLDER = 0o700
# What an instance without a name is called: it ends with its owner, the process of that number.
EPHEMERAL = re.compile(r"e([0-9]+)-[0-9a-f]{6}\Z")
# Where instances are in $XDG_RUNTIME_DIR.
_IN_RUNTIME_DIR = "muxwire"
# What keeps the output of a pane while no process is attached.
SPOOL_PROGRAM = "spool.sh"
# What the directory of a tab is called.
_LABEL = re.compile(r"[0-9a-f]{16}")
# Memory that looks like files (shm_overview(7)); Linux only.
MEMORY = Path("/dev/shm")  # noqa: S108 - what we make there is a private directory
# The directory for temporary files where TMPDIR is not set.
_TEMPORARY = Path("/tmp")  # noqa: S108 - as tmux has it


@final
@dataclass(frozen=True, slots=True)
class Folders:
    """The places of one instance: all of them exist and are private once `prepare` has returned.

    `runtime` holds the socket, `memory` what shells read at every command, `state` the logs. `within`: the instance
    that a server on another machine is part of.
    """

    runtime: Path
    memory: Path
    state: Path
    instance: str
    adopted: Path | None = None
    within: str = ""

    @property
    def socket_path(self) -> Path:
        return self.adopted or self.runtime / f"{self.instance}.sock"

    @property
    def lock(self) -> Path:
        """The lock of a named instance: who holds it writes its logs."""
        return self.state / self.instance / "lock"

    @property
    def server(self) -> Path:
        """Which process the tmux server of the instance is, and where it listens."""
        return self.state / self.instance / "server"

    def differs(self, socket: str) -> bool:
        """Whether that socket of this instance, if there is one ("" for none), is in another runtime directory."""
        return bool(socket) and Path(socket).parent.resolve() != self.runtime.resolve()

    @property
    def config(self) -> Path:
        return self.runtime / self.instance / "tmux.conf"

    @property
    def shells(self) -> Path:
        return self.memory / self.instance / "shells"

    @property
    def spool_program(self) -> Path:
        return self.shells / SPOOL_PROGRAM

    def tab(self, label: str) -> Path:
        return self.memory / self.instance / label

    @property
    def transient(self) -> tuple[Path, ...]:
        """What ends with the instance: all but the logs."""
        return tuple(dict.fromkeys(home / self.instance for home in (self.runtime, self.memory)))

    def logs(self, generation: int) -> Path:
        return self.state / self.instance / str(generation) / "logs"

    def make_logs(self, generation: int) -> None:
        private_folder(self.logs(generation).parent)
        private_folder(self.logs(generation))

    def generations(self) -> list[int]:
        """The lives of this instance's tmux server that left logs, newest first."""
        try:
            found = [entry.name for entry in (self.state / self.instance).iterdir() if (entry / "logs").is_dir()]
        except OSError:
            return []
        # Counted, not dated: a clock can be set back, and two lives can fall into one second.
        return sorted((int(name) for name in found if name.isdecimal()), reverse=True)

    def prepare(self) -> None:
        """Make the directories; InstanceUnavailable if one of them cannot be closed to other users."""
        length = len(os.fsencode(self.socket_path))
        if length > SOCKET_PATH_LIMIT:
            raise InstanceUnavailable(
                f"the socket path {self.socket_path} has {length} bytes; the system allows {SOCKET_PATH_LIMIT}",
                remedy="set XDG_RUNTIME_DIR to a shorter path, or give the instance a shorter name",
            )
        private_folder(self.runtime)
        # The caller may have named a directory that others read: the private one is inside it.
        private_folder(self.state, only_ours=False)
        private_folder(self.runtime / self.instance)
        private_folder(self.memory)
        private_folder(self.memory / self.instance)
        private_folder(self.state / self.instance)

    def remove_transient(self) -> None:
        for folder in self.transient:
            shutil.rmtree(folder, ignore_errors=True)


def folders_for(
    instance: str, environ: Mapping[str, str], *, state_dir: Path | None = None, adopted: Path | None = None
) -> Folders:
    """Choose the directories of `instance` from the environment; nothing is made yet.

    A relative path in HOME or in a variable of XDG is ignored, as the XDG Base Directory Specification has it for the
    latter: an owner works in another directory than its clients.
    """
    runtime_home = Path(environ.get("XDG_RUNTIME_DIR", ""))
    if runtime_home.is_absolute() and runtime_home.is_dir():
        runtime = memory = runtime_home / _IN_RUNTIME_DIR
    else:
        runtime = Path(environ.get("TMPDIR") or _TEMPORARY).absolute() / f"muxwire-{os.getuid()}"
        # Every command's body is a file for a moment: on a disk that costs as much as running the command. But there
        # is only one MEMORY: with another TMPDIR an instance `main` is another instance, and must not share it.
        shared = runtime.parent == _TEMPORARY and os.access(MEMORY, os.W_OK | os.X_OK)
        memory = MEMORY / runtime.name if shared else runtime
    if state_dir is None:
        given, xdg = environ.get("MUXWIRE_STATE_DIR", ""), Path(environ.get("XDG_STATE_HOME", ""))
        home = Path(environ.get("HOME", ""))
        home = home if home.is_absolute() else Path(getpwuid(os.getuid()).pw_dir)
        state_dir = Path(given) if given else (xdg if xdg.is_absolute() else home / ".local" / "state") / "muxwire"
    return Folders(runtime=runtime, memory=memory, state=state_dir.absolute(), instance=instance, adopted=adopted)


def how_to_use(runtime: Path) -> str:
    """Which variables have `folders_for` choose that runtime directory."""
    if runtime.name == _IN_RUNTIME_DIR:
        return f"set XDG_RUNTIME_DIR={runtime.parent}"
    return f"unset XDG_RUNTIME_DIR and set TMPDIR={runtime.parent}"


def make_private(path: Path) -> None:
    """Make a directory and those above it that are missing, each of mode 0700; OSError.

    `Path.mkdir` gives the mode to the last one only.
    """
    if not path.exists():
        make_private(path.parent)
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)


def private_folder(path: Path, *, only_ours: bool = True) -> None:
    """Make `path` a directory that only this user can enter; InstanceUnavailable if it is a link or another user's.

    With `only_ours=False` a directory that exists keeps its mode, and must be one that we can write to.
    """
    remedy = f"remove it, or {ELSEWHERE}"
    try:
        make_private(path)
        found = path.lstat()
    except OSError as error:
        raise cannot(f"use the directory {path}", error) from error
    if not stat.S_ISDIR(found.st_mode):
        raise InstanceUnavailable(f"{path} is not a directory (a link is not followed)", remedy=remedy)
    if found.st_uid != os.getuid():
        raise InstanceUnavailable(f"{path} belongs to user {found.st_uid}, not to you", remedy=remedy)
    if only_ours and stat.S_IMODE(found.st_mode) != PRIVATE_FOLDER:
        path.chmod(PRIVATE_FOLDER)
    if not os.access(path, os.W_OK | os.X_OK):
        raise InstanceUnavailable(f"cannot write to the directory {path}", remedy=ELSEWHERE)


def remove_folders(home: Path, *, spare: Collection[str]) -> None:
    """Remove the directories of tabs that are no more, which are named after labels; those of `spare` stay."""
    with suppress(OSError):
        for entry in home.iterdir():
            if _LABEL.fullmatch(entry.name) and entry.name not in spare:
                shutil.rmtree(entry, ignore_errors=True)


def write_private(path: str | Path, content: bytes) -> None:
    """Write a file that only we can read; a link in its place is refused by the kernel (OSError, with its path)."""
    # Not O_TRUNC: it takes 0.2 ms on a file of the last command (ext4).
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
        if os.fstat(fd).st_size > len(content):
            os.ftruncate(fd, len(content))
    except OSError as error:  # write(2) knows no path
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(fd)


def replace_private(path: Path, content: bytes) -> None:
    """The same for a file that others may be reading: they see the old content or the new one, whole (OSError)."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        write_private(new, content)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
