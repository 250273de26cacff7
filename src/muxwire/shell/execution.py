"""One command that runs between marks: when it started, where its output lies, how it ended.

The marks (marks.py) that say so. The first of these that is seen decides:

    E with the command's id      completed; exit code and directory are those of E; output is from S to E
    D, then P or X               fish: completed, or the shell has ended; output is from S to D
    a newer P, after S           aborted (C-c, `set -u`); the status is P's; output is from S to P
    a newer P, without S         the command never ran; it is typed once more
    X                            the shell has ended; the status is X's; output is from S to X
    the deadline                 it is interrupted, or left running; output is what came since S
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, final

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.verbs.types import OnTimeout


# `kill -l` numbering of POSIX shells: a program ended by signal N has status 128 + N.
SIGNAL_STATUS = 128
# SIGINT is 2 on every system (POSIX, kill(1)).
INTERRUPTED = SIGNAL_STATUS + 2

# How a command's life ended. `aborted`: the shell gave it up (C-c, `set -u`), known by its next prompt. `lost`: it is
# not known how, or whether. `shell_lost`: the nested shell that it was typed into is gone; how far it came is not
# known. `never_ran`: the line was typed, and the shell provably ran none of it.
Ending = Literal["", "completed", "aborted", "shell_exited", "shell_lost", "lost", "never_ran"]

# The states of a command: its line was typed, its output has begun, it has ended in one of these ways.
Phase = Literal["typed", "running", "completed", "aborted", "shell_exited", "shell_lost", "lost", "never_ran"]

# What a shell says about itself (the N mark, by its number): why the result of a command, or of a later
# one, is not quite exact.
SHELL_NOTES = {
    1: "muxwire restored builtins of this shell that it needs: a function hid them, or they were disabled",
    2: "the shell's DEBUG trap also ran for muxwire's own words: what it wrote then is part of the output",
}

# The note of a command that was ended by closing its tab.
HUNG_UP = "the tab was closed"


@final
@dataclass(slots=True, eq=False)
class Execution:
    """A command from the moment it is typed; offsets are -1 until the mark that gives them has come."""

    command_id: str
    command: bytes
    prompt_seq: int
    typed_at: int
    typed_time: float
    cwd: str = ""
    started_in: str = field(init=False)
    begin: int = -1
    begin_time: float = 0.0
    end: int = -1
    end_time: float = 0.0
    # The seconds from its start to its end on its shell's clock; None if the shell does not say.
    took: float | None = None
    exit_code: int | None = None
    ending: Ending = ""
    # What was to become of it when its time was over; "" if that has not come to pass.
    at_timeout: Literal[OnTimeout, ""] = ""
    signal_sent: str = ""
    note: str = ""
    # Why it still runs although it was to end, and what can be done.
    resists: tuple[str, str] = ("", "")
    # How its shell was reached (listener.py), and where our hooks are not in that shell: its process group,
    # its kind, and its prompt.
    level: int = 1
    shell_pgrp: int = 0
    shell_name: str = ""
    shell_prompt: bytes = b""
    # What tells a shell over a relay from every other one (`shell/foreign.py`); "" for the rest.
    shell_token: str = ""
    # That shell's process, where it was seen over a relay; 0 if it was not.
    shell_inner: int = 0
    # Where the code of a script is kept; "" for a command.
    script_path: str = ""
    # Where its output ends although the end mark comes later, because it had to be asked for; -1 if it was not.
    cut: int = -1
    read_up_to: int = -1
    # The stream's end when it was last seen to wait for input, and for what, in words: that is reported once.
    asked_at: int = -1
    asked_for: str = ""
    # The stream's end when it was silent after what reads like a question, where it cannot be seen whether it waits.
    silent_at: int = -1
    # Whether keys were typed since either was found out: what was true of it then need not be true any longer.
    answered: bool = False
    # Parts of its output that muxwire wrote or typed: marks and lines of commands in a shell that it started; and where
    # one begins whose end is not here yet, -1 if none does.
    ours: list[tuple[int, int]] = field(default_factory=list)
    held: int = -1
    # The status of fish's postexec mark, until the prompt says whether the command was cut short.
    post_exec: tuple[int, int] | None = None
    # Whether an earlier process typed it.
    recalled: bool = False
    # Called once each, when the command has ended: files go, waiters wake.
    _on_end: tuple[Callable[[], object], ...] = ()

    @property
    def phase(self) -> Phase:
        return self.ending or ("running" if self.begin >= 0 else "typed")

    def __post_init__(self) -> None:
        self.started_in = self.cwd

    @property
    def running(self) -> bool:
        return not self.ending

    @property
    def started(self) -> bool:
        """Whether its start mark has come, or it has ended: from here on it must never be typed again."""
        return self.begin >= 0

    @property
    def timed_out(self) -> bool:
        """Whether it still runs after its time, or a signal ended it for that; not if it ended by itself."""
        return bool(self.at_timeout and (self.running or (self.at_timeout == "interrupt" and self.signal_sent)))

    @property
    def ran(self) -> bool:
        """Whether its start mark has come; also right after its end, as `finish` puts a missing start at `typed_at`."""
        return self.begin > self.typed_at

    def lasted(self, now: float) -> float:
        """How many seconds it took, or has taken by `now`: by its shell's clock, else all since it was typed.

        The times at which its marks were read are no measure: both may come in one read. The shell's clock may have
        been set meanwhile, so what it says counts only if it can be true.
        """
        since_typed = (self.end_time if self.ending else now) - self.typed_time
        return self.took if self.took is not None and 0 <= self.took <= since_typed else since_typed

    def start(self, offset: int, now: float) -> None:
        self.begin = self.read_up_to = offset
        # The log, from which a later process may have its start mark, has no times: it counts from when it was typed.
        self.begin_time = self.typed_time if self.recalled else now

    def asks(self, offset: int, what: str) -> None:
        """It waits for input, after an output that ends at that offset."""
        self.asked_at, self.asked_for, self.answered = offset, what, False

    def fell_silent(self, offset: int) -> None:
        """It may wait for input, after an output that ends at that offset: that cannot be seen."""
        self.silent_at, self.answered = offset, False

    def was_answered(self) -> None:
        """Keys are typed that it may read. They may show nothing, so its output does not tell that it has them."""
        self.answered = True

    def waits_at(self, offset: int) -> bool:
        """Whether it is known to wait for input, if its output ends at that offset."""
        return self.asked_at == offset and not self.answered

    def silent_since(self, offset: int) -> bool:
        """Whether it is known to be silent after what may be a question, if its output ends at that offset."""
        return self.silent_at == offset and not self.answered

    def delivered(self, offset: int) -> None:
        """Its output up to there was given to a caller: the next one gets the rest."""
        self.read_up_to = max(self.read_up_to, offset)

    def overdue(self, on_timeout: OnTimeout) -> None:
        """Its time was over before its end."""
        self.at_timeout = on_timeout

    def signalled(self, name: str) -> None:
        """That signal was sent to end it; "" for none."""
        self.signal_sent = name or self.signal_sent

    def resisted(self, why: str, remedy: str) -> None:
        """It was to end, and still runs; "" if it does not resist any more."""
        self.resists = why, remedy

    def finish(
        self, ending: Ending, now: float, *,
        end: int, exit_code: int | None, cwd: str = "", note: str = "", took: float | None = None,
    ) -> None:  # fmt: skip
        """It ended: its output goes up to `end`; `took` is what its shell says of the time."""
        if self.begin < 0:
            self.start(min(self.typed_at, end), self.typed_time)
        self.ending, self.end, self.exit_code = ending, max(end, self.begin), exit_code
        self.end_time, self.took = now, took
        self.cwd = cwd or self.cwd
        if note:
            self.explain(note)

    def explain(self, note: str) -> None:
        if note and f"; {note}; " not in f"; {self.note}; ":  # one note may be a part of another
            self.note = f"{self.note}; {note}" if self.note else note

    def ends_with(self, call: Callable[[], object]) -> None:
        """Have `call` called when the command has ended; at once if it has."""
        if self.ending:
            call()
        else:
            self._on_end = (*self._on_end, call)

    def tell_end(self) -> None:
        calls, self._on_end = self._on_end, ()  # a thousand ended commands are remembered: not what they held as well
        for call in calls:
            call()


def shell_status(status: int) -> int:
    """Count signals from 128 as every other shell does; ksh counts them from 256."""
    return SIGNAL_STATUS + status - 2 * SIGNAL_STATUS if status > 2 * SIGNAL_STATUS else status
