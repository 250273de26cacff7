"""Every error that muxwire raises on purpose.

MuxwireError
 +- ProtocolError
 |   +- LocalProtocolError     we were asked to say what tmux's control mode cannot carry
 |   |   +- ForbiddenCommand   a tmux command that would crash, freeze or lose data
 |   +- RemoteProtocolError    tmux said what we cannot read
 +- CommandError               tmux answered a command with %error
 +- ConnectionClosed           the control connection ended (says how)
 |   +- TmuxSilent             it is open, but tmux does not answer: tmux may be stopped
 +- InvalidArgument            an argument that can never work
 |   +- MouseOff               a click or a turn of the wheel, and the program has not switched on mouse reports
 +- NoSuchTarget               no such window, pane, session or command id
 |   +- AmbiguousTarget        a name that more than one tab has
 +- TabUnavailable             the tab is there, but cannot take this call now
 +- NotPermitted               it would end or change what belongs to the person who runs the tmux server
 +- InstanceUnavailable        socket, lock or state directory cannot be used
 +- TmuxUnavailable            tmux is missing, too old or did not start
 +- HostUnavailable            another machine cannot be used (says at which stage)

A command's non-zero exit code is a result, never an error.
"""

from __future__ import annotations

import copyreg
import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a tab is said to do (`shell/tab_state.py`).
State = Literal["starting", "prompt", "running", "incomplete", "interactive", "busy", "dead"]

NO_PROCESS_THERE = "no process can be started there: end some, or raise the user's limit (ulimit -u, pids.max)"
MORE_FILES = "raise the limit of this process (ulimit -n), or close tabs and other files of it"
ELSEWHERE = "point XDG_RUNTIME_DIR (else TMPDIR) and MUXWIRE_STATE_DIR at directories of your own"
NO_SANDBOX = "in a sandbox, allow sockets in the runtime directory, and new processes; `muxwire doctor` looks at both"
# What to do about each thing that the system has run out of, or that is taken.
_REMEDIES = {
    errno.EMFILE: MORE_FILES,
    errno.ENFILE: "the whole machine has run out of descriptors (fs.file-max): end programs that hold many",
    errno.ENOSPC: "make room there; `df -h` and `df -i` show whether bytes or inodes are used up",
    errno.EDQUOT: "the user's share of that disk is used up: remove files there",
    errno.EFBIG: "a file may not grow so large: raise the limit of this process (ulimit -f)",
    errno.EROFS: "the disk is mounted read-only: point XDG_RUNTIME_DIR and MUXWIRE_STATE_DIR elsewhere",
    errno.ENOMEM: "free memory, or raise the limit of this process (ulimit -v)",
    errno.EAGAIN: "no process can be started: end some, or raise the user's limit (ulimit -u)",
    errno.EADDRINUSE: "another program listens there: choose another port",
}


def remedy_for(error: OSError | MemoryError) -> str:
    """What to do if the system has run out of something, or it is taken; "" for any other error."""
    return _REMEDIES.get(errno.ENOMEM if isinstance(error, MemoryError) else error.errno or 0, "")


def unwrapped(error: BaseException) -> BaseException:
    """The error for which a task group failed; the first, if several of its tasks did."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    # What Python raises for pthread_create(3): EAGAIN, by its limits on processes.
    return OSError(errno.EAGAIN, str(error)) if str(error) == "can't start new thread" else error


@contextmanager
def ungrouped() -> Iterator[None]:
    """Around a task group: the error for which it failed is raised as it is, as if there were one task."""
    try:
        yield
    except BaseExceptionGroup as failed:
        raise (error := unwrapped(failed)) from error.__cause__


class MuxwireError(Exception):
    """Base of all: `str(error)` says what happened, `remedy` what to do next (may be empty)."""

    code = "error"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled as it is, without `__init__`: each class makes its message of other arguments."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class ProtocolError(MuxwireError):
    """Base of the errors of tmux's control mode."""

    code = "protocol_error"


class LocalProtocolError(ProtocolError):
    """A command that tmux's control mode cannot carry; nothing was sent."""

    code = "unsayable"


class ForbiddenCommand(LocalProtocolError):
    """A tmux command that is never sent, for the reason in the message."""

    code = "forbidden_command"


class RemoteProtocolError(ProtocolError):
    """tmux sent something that breaks the protocol; the connection can no longer be used."""

    code = "broken_stream"


class CommandError(MuxwireError):
    """tmux answered `%error`; `output` holds its lines (bytes)."""

    code = "tmux_error"

    def __init__(self, command: str, output: tuple[bytes, ...]) -> None:
        super().__init__(
            f"tmux {command}: {b' '.join(output).decode('utf-8', 'replace') or 'failed without a message'}"
        )
        self.command = command
        self.output = output


class ConnectionClosed(MuxwireError):
    """The control connection has ended; `reason` is what tmux said, if it said anything."""

    code = "connection_closed"

    def __init__(self, reason: str, *, remedy: str = "") -> None:
        super().__init__(f"the tmux connection ended: {reason}", remedy=remedy)
        self.reason = reason


class TmuxSilent(ConnectionClosed):
    """tmux runs, but did not answer in time; what was sent to it is done once, if tmux continues."""

    code = "tmux_silent"

    def __init__(self, reason: str, *, remedy: str = "") -> None:
        super().__init__(reason, remedy=remedy)
        self.args = (f"{reason}; what was sent to it is done when it continues: check before you try again",)


class InvalidArgument(MuxwireError):
    """An argument that can never work, whatever the state."""

    code = "invalid_argument"


class MouseOff(InvalidArgument):
    """A click or a turn of the wheel for a program that has not switched on mouse reports; nothing was typed."""

    code = "mouse_off"


class NoSuchTarget(MuxwireError):
    """No window, pane, session or command of that name."""

    code = "no_such_target"


class AmbiguousTarget(NoSuchTarget):
    """More than one tab has this name; the message lists their ids."""

    code = "ambiguous_target"


class TabUnavailable(MuxwireError):
    """The tab cannot take this call now; `state` says why (`running`, `interactive`, `dead`, ...)."""

    code = "tab_unavailable"

    def __init__(self, message: str, *, state: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.state = state


class NotPermitted(MuxwireError):
    """The call would end or change what belongs to the person who runs this tmux server; nothing was done."""

    code = "not_permitted"


class InstanceUnavailable(MuxwireError):
    """The instance's socket, lock or directories cannot be used."""

    code = "instance_unavailable"


def cannot(doing: str, error: OSError) -> InstanceUnavailable:
    """The error that says what could not be done because of the machine."""
    return InstanceUnavailable(f"cannot {doing}: {error.strerror or error}", remedy=remedy_for(error) or ELSEWHERE)


class TmuxUnavailable(MuxwireError):
    """tmux is missing, too old, or did not start."""

    code = "tmux_unavailable"


class HostUnavailable(MuxwireError):
    """Another machine cannot be used; `stage` and `reason` say why.

    `stage` is how far it came: `not_installed`, `not_allowed`, `connect`, `login`, `shell`, `tmux_missing`,
    `locale` or `directory`; `reason` is what was said there.
    """

    code = "host_unavailable"

    def __init__(self, host: str, stage: str, reason: str, *, remedy: str = "") -> None:
        super().__init__(f"host {host!r}: {stage}: {reason}", remedy=remedy)
        self.host = host
        self.stage = stage
        self.reason = reason
