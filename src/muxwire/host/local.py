"""The panes' machine is this one: the kernel and the file system are asked directly."""

from __future__ import annotations

import functools
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio.lowlevel
import anyio.to_thread

from muxwire.errors import cannot
from muxwire.host import environment, folders, look as looking, processes, shells

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Collection, Mapping

    from muxwire.host.host import Lines, Link
    from muxwire.shell.look import PaneLook


# tmux expands a pane's directory as a format. Where its name has a `#`, the pane begins in / and a sh goes there.
_CD = 'cd -- "$1" && shift && exec "$@"'
# What a program that draws or asks for a key would look for in the wrong place if another program had started tmux.
_BROUGHT = ("PATH", "LANG", "SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY")
# Above the directory of a tab are that of its instance and that of all instances.
_PARENTS = 2
# How many looks are taken in a row if the foreground changes meanwhile. Each takes some ms, more with many processes.
_LOOKS = 3


@final
class LocalHost:
    """A `Host` that is this machine."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """`environ` is the environment of the program that opened the instance."""
        self.environ = self.settings = environ
        self.brought: dict[str, str] = {}
        self._directory: str | None = None  # None: that of this process

    def seen_from(self, directory: str, environ: Mapping[str, str]) -> LocalHost:
        """The same machine for a program that runs in another place; "" is a directory that was removed."""
        seen = LocalHost(environ)
        seen.settings, seen._directory = self.settings, directory
        carried = {name: text for name, text in environ.items() if name in _BROUGHT or name.startswith("LC_")}
        seen.brought = {name: text for name, text in carried.items() if text != self.environ.get(name)}
        return seen

    # Called several times for each command: so each is the function itself.
    foreground_pgrp = staticmethod(processes.foreground_pgrp)
    foreground = staticmethod(processes.foreground)
    look = staticmethod(looking.look)
    sleeps_for_keys = staticmethod(looking.sleeps_for_keys)
    takes = staticmethod(processes.takes)
    surroundings = staticmethod(processes.surroundings)
    check_proc = staticmethod(processes.check_proc)
    runs_script = staticmethod(processes.runs_script)
    group_exists = staticmethod(processes.group_exists)
    is_stopped = staticmethod(processes.is_stopped)
    shares_folder = staticmethod(processes.shares_folder)
    tty_modes = staticmethod(processes.tty_modes)
    restore_line_modes = staticmethod(processes.restore_line_modes)
    write_tty = staticmethod(processes.write_tty)
    signal_process = staticmethod(processes.signal_process)
    listening_pid = staticmethod(processes.listening_pid)
    started = staticmethod(processes.started)
    session_since = staticmethod(processes.session_since)
    begun_apart = staticmethod(processes.begun_apart)
    make_folder = staticmethod(folders.private_folder)
    write_file = staticmethod(folders.write_private)
    replace_file = staticmethod(folders.replace_private)
    install = staticmethod(shells.install)
    shell_for = staticmethod(shells.shell_for)
    supervisor_waits = staticmethod(processes.supervisor_waits)

    is_local = True
    prefix = ""
    link: Link | None = None

    @property
    def sees_waits(self) -> bool:
        return looking.SEES_WAITS

    async def look_all(self, leader: int, tty: str) -> PaneLook:
        for _ in range(_LOOKS):
            for seen in looking.looks(leader, tty):  # noqa: B007 - the last one counts
                await anyio.lowlevel.checkpoint()
            if seen.foreground > 0 or seen.modes is None:
                break  # else the foreground has changed meanwhile: what waits is not known
        return seen

    def forget(self, leader: int) -> None:
        """Nothing is remembered."""

    async def look_up(self, folders: Collection[str], programs: Collection[str]) -> None:
        """Nothing to do."""

    async def done(self) -> None:
        """Nothing to do: each request is carried out at once."""

    async def refresh(self, leader: int, tty: str) -> bool:
        """Nothing to do: each question is put to the kernel."""
        del leader, tty
        return False

    def program_of(self, pid: int) -> str:
        return processes.executable(pid) or processes.command_name(pid)

    def child_name(self, pid: int) -> str:
        return processes.shown_name(child) if (child := processes.child_of(pid)) else ""

    def signal_group(self, pgrp: int, number: signal.Signals, *, spare: int = 0) -> bool:
        if not spare:
            return processes.signal_process(-pgrp, number)
        return True in [processes.signal_process(pid, number) for pid in processes.group_members(pgrp) if pid != spare]

    async def signal_session(
        self, leader: int, began: str, *numbers: signal.Signals, spare_leader: bool = False
    ) -> None:
        for pid in processes.session_processes(leader, began):
            if pid != leader or not spare_leader:
                for number in numbers:
                    processes.signal_process(pid, number)

    def remove_folder(self, path: Path) -> None:
        shutil.rmtree(path, ignore_errors=True)

    async def remove_folders(self, home: Path, *, spare: Collection[str]) -> None:
        # In a thread: the directories may lie on a disk, where removing them takes long.
        await anyio.to_thread.run_sync(functools.partial(folders.remove_folders, home, spare=spare))

    def start(self, folder: Path, cwd: str, argv: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        del folder
        return ("/", ("/bin/sh", "-c", _CD, "sh", cwd, *argv)) if "#" in cwd else (cwd, argv)

    def write_command(self, folder: Path, name: str, content: bytes) -> Lines:
        path = f"{folder}/{name}"  # joined as paths, they take longer than the write
        try:
            try:
                folders.write_private(path, content)
            except FileNotFoundError:  # the runtime directory was removed: the user's last login has ended
                for one in (*reversed(folder.parents[:_PARENTS]), folder):
                    folders.private_folder(one)
                folders.write_private(path, content)
        except OSError as error:
            raise cannot(f"run the command, whose text goes to {path}", error) from error
        return ()

    def checked_folder(self, cwd: str | os.PathLike[str], relative_to: str) -> Path:
        return environment.checked_folder(cwd, relative_to or self._directory or "")

    def checked_program(self, program: str, what: str) -> str:
        beneath = os.path.join(self._directory or "", program) if "/" in program else program  # noqa: PTH118 - a word
        return environment.checked_program(beneath, what, self.environ)

    def bring_script(self, kept: Path, path: Path, code: bytes) -> tuple[Path, Path, Callable[[], None] | None]:
        if kept == path:
            self.write_file(path, code)
        return kept, kept, None

    def is_folder(self, path: str) -> bool:
        return os.access(path, os.X_OK) and Path(path).is_dir()

    def own_folder(self) -> str:
        with suppress(OSError):  # it was removed under us
            return str(Path.cwd()) if self._directory is None else self._directory
        return ""

    def which(self, program: str) -> str | None:
        return shutil.which(program, path=self.environ.get("PATH"))

    def running_program(self, pid: int, installed: str | None) -> str | None:
        own = f"/proc/{pid}/exe"
        with suppress(OSError):  # no such process, no /proc, or another user's
            if os.access(own, os.X_OK) and not (installed and Path(own).samefile(installed)):
                return own
        return installed

    def default_shell(self) -> str:
        return shells.default_shell(self.environ)
