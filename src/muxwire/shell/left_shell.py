"""A nested shell (`ssh`, `docker exec`, `su`) that is gone: what is said of its last command, and what may run next.

The program that reached it has a status of its own: ssh's 255, a signal's 128 + N, docker's 125 to 127. That is no
command's exit code. And what is meant for that shell must not run in the one that is in front now: the next command is
refused once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from muxwire.shell.execution import Execution

# From here on a status may be that of the program that reached the shell: 125 to 127 are docker's and podman's own
# (docker-run(1)), 128 + N is a signal's, 255 is ssh's (ssh(1)).
_CARRIER_STATUS = 125
# The last command of a text, not behind `&&` or `||`: it leaves the shell whatever came before it. `exec` without a
# program only redirects.
_LEAVES = re.compile(
    rb"(?:\A|[;\n])[ \t]*(?:(?:exit|logout)(?:[ \t]+(?P<status>[0-9]{1,3}))?"
    rb"|exec[ \t]+(?:-\S+[ \t]+)*[^\s<>&|;()\d-][^\n;&|]*)"
    rb"[ \t]*[;\n]?\s*\Z"
)
# A command whose last word of a program is a shell, or reaches one: what answers afterwards is that shell.
_SHELLS = rb"bash|zsh|fish|sh|dash|ash|ksh|ksh93|busybox|\"?\$\{?SHELL\}?\"?"
_REACHES = rb"su|sudo|doas|ssh|mosh|docker|podman|kubectl|lxc|nsenter|chroot|unshare|script|nix|nix-shell"
_STARTS = re.compile(
    rb"(?:\A|&&|\|\||[;\n])[ \t]*(?:exec[ \t]+|command[ \t]+|env[ \t]+)?(?:\w+=(?:'[^']*'|\"[^\"]*\"|[^\s'\"])*[ \t]+)*"
    rb"(?:\S*/)?(?:" + _SHELLS + rb"|" + _REACHES + rb")(?:[ \t][^;&|\n]*)?\s*\Z"
)
# Statuses of a shell whose job was stopped: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU (signal(7)).
_STOPPED = (128 + 19, 128 + 20, 128 + 21, 128 + 22)
# What is said where a shell that muxwire never typed into answers in place of the nested one.
UNKNOWN_SHELL = (
    "another shell answers in place of the one it ran in: either this command started it, or the shell that ran the"
    " command has ended and the tab is back in the shell before it"
)
# The same where the command was to start one.
STARTED_SHELL = "it has started the shell that is at its prompt now"
# How much of a command a note shows.
_SHOWN_CHARACTERS = 80


@final
@dataclass(frozen=True, slots=True)
class LeftShell:
    """A nested shell that has ended unasked, before `outer` ended (None: a person or keys had started it).

    `note` says so, and where the tab is now. `midway`: a command ran in it then.
    """

    note: str
    outer: Execution | None
    midway: bool


def leaves_shell(command: bytes) -> bool:
    """Whether a command is sure to end its shell, because it ends in `exit`, `logout` or `exec PROGRAM`."""
    return _LEAVES.search(command) is not None


def starts_shell(command: bytes) -> bool:
    """Whether the last that a command runs is a shell, or a program that reaches one."""
    return _STARTS.search(command) is not None


def exit_status(command: bytes, status: int) -> int | None:
    """The exit code of a command that left its shell, of which `status` is what was reported; None if that may be the
    status of the program that had reached the shell.
    """
    found = _LEAVES.search(command)
    if found is None:
        return None
    if found["status"] is not None:
        return status if int(found["status"]) % 256 == status else None
    return status if status < _CARRIER_STATUS else None


def gone_note(which: str, reached_by: bytes, status: int | None, where: str) -> str:
    """What has become of the shell `which`, and where the tab is now; `reached_by` is b"" if that is not known."""
    shown = reached_by.decode("utf-8", "replace").partition("\n")[0][:_SHOWN_CHARACTERS]
    by = f", reached by {shown!r}," if shown else ""
    became = "was stopped" if status in _STOPPED else "has ended"
    known = f" (status {status})" if status is not None else ""
    return f"the shell {which}{by} {became}{known}; the tab is back in {where}"
