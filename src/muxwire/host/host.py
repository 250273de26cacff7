"""The machine of the panes: all that is asked of it and done on it, in one protocol, so that it may be another machine.

What tmux is asked goes over its own connection (client/). What only this process needs stays here and is not asked of
a host: logs, the locks of an instance, the records of its tabs, the watchdog.

Few of these calls wait. A question is answered at once: `LocalHost` asks the kernel, a host at the other end of a
connection answers with what the last `refresh` brought; so a caller that decides by an answer awaits `refresh` first. A
request (a signal, a file, the modes of a terminal) takes its place before all that is typed later; its result is false
if it surely failed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, final

if TYPE_CHECKING:
    import os
    import signal
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from muxwire.protocol.commands import Command
    from muxwire.shell import Shell
    from muxwire.shell.look import Foreground, PaneLook, TtyModes


@final
@dataclass(slots=True)
class Link:
    """The connection to another machine: `rtt` is the newest round trip in seconds, 0 before the first.

    `answers`: the helper there has answered what it was asked last. `closed`: it was ended, or is not tried again; a
    later tab there opens it anew.
    """

    host: str
    up: bool = False
    rtt: float = 0.0
    answers: bool = True
    closed: bool = False

    @property
    def state(self) -> Literal["up", "reconnecting", "closed"]:
        """What a row of `list_tabs` says of it."""
        return "up" if self.up else "closed" if self.closed else "reconnecting"


# How long a call whose time is over still waits for an answer of tmux, and how many round trips more.
SILENT_SECONDS = 0.7
SILENT_ROUND_TRIPS = 2


def round_trip(host: Host) -> float:
    """Seconds from a question to its answer; 0 for this machine."""
    return host.link.rtt if host.link is not None else 0.0


def answer_seconds(host: Host) -> float:
    """How long a call whose time is over waits for an answer of tmux there; then tmux is silent."""
    return SILENT_SECONDS + SILENT_ROUND_TRIPS * round_trip(host)


# Lines of tmux commands; what a line holds is run together, up to the first command that fails.
Lines: TypeAlias = "Sequence[Command]"


class Host(Protocol):
    """The machine of the panes.

    What a method does here is for another machine that does not say so much: nothing is known, or nothing is to be
    done. `LocalHost` has all of them itself.
    """

    link: Link | None  # the connection to it; None for this machine
    environ: Mapping[str, str]  # in which tmux and the shells are started

    @property
    def settings(self) -> Mapping[str, str]:
        """The environment whose variables set how muxwire works; empty for another machine."""

    @property
    def brought(self) -> Mapping[str, str]:
        """The variables that a client's tabs get because they are others for it than where tmux was started."""

    @property
    def prefix(self) -> str:
        """What stands before the ids of the tabs there: `HOST/`, "" for this machine."""

    @property
    def is_local(self) -> bool:
        """Whether paths there are paths here, and questions are put to the kernel when they are asked.

        Elsewhere the newest `refresh` answers them.
        """

    @property
    def sees_waits(self) -> bool:
        """Whether the kernel reports in which of its functions a process sleeps."""

    def forget(self, leader: int) -> None:
        """Something was typed into that pane that may start a program: what is known of it may be true no more."""

    async def look_up(self, folders: Collection[str], programs: Collection[str]) -> None:
        """Bring the answers of `checked_folder`, `checked_program` and `shell_for` for these up to date."""

    async def done(self) -> None:
        """Return when every request so far was carried out."""

    async def refresh(self, leader: int, tty: str) -> bool:
        """Bring the answers for that pane up to date: its first process, and the path of its terminal.

        Return whether a new one is known.
        """

    # -- processes

    def look(self, leader: int, tty: str, *, near: bool = False) -> PaneLook:
        """What the kernel says of the terminal of a pane, whose first process is `leader`.

        On this machine it is asked now, and with `near` only of the leaders of the session and of the foreground group.
        Of another machine this is what the last `refresh` brought.
        """

    async def look_all(self, leader: int, tty: str) -> PaneLook:
        """As `look` without `near`; other tasks of the event loop run meanwhile."""
        return self.look(leader, tty)

    def foreground_pgrp(self, leader: int) -> int | None:
        """The foreground process group of the terminal of a session's leader; None if the process is gone."""

    def foreground(self, leader: int, *, supervised: bool = False) -> Foreground | None:
        """What runs in the foreground; None if the leader is gone.

        `supervised`: the leader is our supervisor, in whose process group the program beneath it is at first.
        """

    def sleeps_for_keys(self, pid: int, *, polls: bool) -> bool:
        """Whether that process itself reads its tty, or with `polls` waits in poll(2); True if it cannot be known."""

    def takes(self, pgrp: int, number: signal.Signals, shell_pid: int) -> bool:
        """Whether the leader of a group takes a signal as its program will, and not as the shell that forked it."""

    def program_of(self, pid: int) -> str:
        """The file name of the program that a process runs; "" if it is gone."""

    def child_name(self, pid: int) -> str:
        """What tmux would show as the command of a process's first child; "" if it has none."""

    def surroundings(self, pid: int) -> tuple[str, dict[str, str]] | None:
        """The directory of a process, and the environment that what it runs was started with; None if not known."""
        return None

    def runs_script(self, pid: int) -> bool:
        """Whether a shell runs what it was given, so that a line is read by that: a script, or what `-c` names.

        Or what the shell that it is a fork of has found in parentheses, as `(read x)`.
        """

    def supervisor_waits(self, pid: int) -> bool:
        """Whether the supervisor of that number has seen its program end."""

    def group_exists(self, pgrp: int) -> bool:
        """Whether there is a process in that group, as far as it may be seen."""

    def is_stopped(self, pid: int) -> bool:
        """Whether a process is stopped by a signal; False where it cannot be known."""

    def started(self, pid: int) -> str:
        """What distinguishes a process from a later one of the same number; "" if there is no such process."""

    def session_since(self, leader: int, since: float, until: float = math.inf) -> list[tuple[int, str]]:
        """Number and name of each process of a pane that began between the two; empty where it cannot be known."""
        return []

    def begun_apart(self, leader: int, tty: str, since: float) -> dict[int, str]:
        """What a pane's processes began since then that has a session of its own: when each started (`started`)."""
        return {}

    def shares_folder(self, pid: int, folder: Path) -> bool:
        """Whether a process finds our private directory where we do, and may read in it."""

    # -- terminals

    def tty_modes(self, tty: str) -> TtyModes | None:
        """The modes of the tty at that path; None if it is gone."""

    def restore_line_modes(self, tty: str, leader: int) -> None:
        """Give a tty that a killed program left raw its line modes back, and forget input that no program will read.

        Nothing is done once the pane's process, `leader`, has ended, as by `write_tty`.
        """

    def write_tty(self, tty: str, data: bytes, leader: int, *, unordered: bool = False) -> bool:
        """Write to a pane's terminal as a program there would, and do not wait where it is stopped (C-s).

        Nothing is written once the pane's process, `leader`, has ended: the path may then be another terminal's. False
        if not all was written, as far as that is known here. `unordered`: what is asked for after it need not wait.
        """

    # -- signals

    def signal_process(self, pid: int, number: signal.Signals) -> bool:
        """Send a signal to one process; False if it is gone or may not be signalled."""

    def signal_group(self, pgrp: int, number: signal.Signals, *, spare: int = 0) -> bool:
        """Send a signal to a process group, the process `spare` excepted; False if no process got it."""

    async def signal_session(
        self, leader: int, began: str, *numbers: signal.Signals, spare_leader: bool = False
    ) -> None:
        """Send signals to every process of a session, the leader last or not at all.

        `began` is what `started` has said of the leader: once the session has ended, its number may be another's.
        Return when they were sent, or another machine has not answered in time.
        """

    # -- files and programs

    def make_folder(self, path: Path) -> None:
        """Make a directory that only this user can enter; InstanceUnavailable if it is a link or another user's."""
        return

    def remove_folder(self, path: Path) -> None:
        """Remove a directory and all in it; what is gone already is no error."""

    async def remove_folders(self, home: Path, *, spare: Collection[str]) -> None:
        """Remove the directories of tabs that are no more, which are named after labels; those of `spare` stay."""
        return

    def install(self, folder: Path) -> None:
        """Write the shells' integration files into `folder`; OSError, with its path."""
        return

    def start(self, folder: Path, cwd: str, argv: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """The pane's first directory and what it runs, so that `argv` runs in `cwd`, and `folder` exists by then."""

    def write_command(self, folder: Path, name: str, content: bytes) -> Lines:
        """Replace a file in a tab's directory, which its shell reads at the line that is typed next.

        Only we can read it. InstanceUnavailable if it cannot be written, so that the line cannot be typed. Where tmux
        has to write it, return the commands for that: they go in front of what is typed.
        """

    def checked_folder(self, cwd: str | os.PathLike[str], relative_to: str) -> Path:
        """Return `cwd` as an absolute directory; InvalidArgument if there is none."""

    def checked_program(self, program: str, what: str) -> str:
        """Return the path of an executable; InvalidArgument if there is none of that name."""

    def bring_script(self, kept: Path, path: Path, code: bytes) -> tuple[Path, Path, Callable[[], None] | None]:
        """Prepare a script to be run: on this machine from `kept`, on another from `path` in the tab's directory.

        Return the path to run, the path at which it is kept, and a function to call when the shell reads its next
        command (None: nothing is left to do). OSError.
        """

    def is_folder(self, path: str) -> bool:
        """Whether there is a directory at that path, and may be entered."""
        return True

    def own_folder(self) -> str:
        """The directory in which a tab begins that was given none; "" if it was removed, and that is known."""

    def which(self, program: str) -> str | None:
        """The path of an executable on PATH; None if there is none."""

    def shell_for(self, program: str) -> Shell | None:
        """The shell that an executable is, perhaps by a link; None if we do not know it."""

    def default_shell(self) -> str:
        """`$SHELL` if we know it and it can be run, else bash, else sh."""
