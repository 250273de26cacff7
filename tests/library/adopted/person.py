"""Somebody with a tmux server of their own and a terminal at it, and all that the server can list of itself.

`everything` is the yardstick of "nothing of theirs is changed": each object that tmux has, by each command that lists
it, with every format variable that tmux knows. What is left out is named here, with the reason.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

from tests.deadline import until

# A person's terminal, and what is left of it for windows by the status line.
COLUMNS, ROWS = 100, 30
_SIZED = f"{COLUMNS}x{ROWS - 1}"
CLIENTS = "#{client_control_mode}"

# Settings with which careless clients do harm: windows are counted from 1 and renumbered, panes stay when their
# program has ended, windows rename themselves, hooks run, and there are buffers and variables to be lost.
CONFIG = """\
set -g base-index 1
set -g pane-base-index 1
set -g renumber-windows on
set -g remain-on-exit on
set -g history-limit 4321
set -g monitor-activity on
set -g monitor-bell on
set -g update-environment "DISPLAY SSH_AUTH_SOCK"
set -g status-left "[mine] "
set -g @theirs "kept"
set -s buffer-limit 7
set-environment -g THEIRS kept
set-hook -g after-new-window "set-option -g @integrated yes"
bind-key -n F5 display-message mine
"""

# What changes with time, with the client that asks, or with what programs print into the pane that a test uses.
_TIMES = {"client_activity", "session_activity", "session_last_attached", "window_activity", "pane_last_output_time"}
_ASKING = {"client_cell_height", "client_cell_width", "client_pid", "client_written", "client_discarded", "command"}
_PRINTED = {
    "cursor_character", "cursor_x", "cursor_y", "history_all_bytes", "history_bytes", "history_size", "pane_title",
    "pane_current_command", "pane_current_path", "wrap_flag",
    # monitor-activity: what a command prints in a window that nobody looks at is activity; `alerts` tells of others.
    "session_alert", "session_alerts", "session_activity_flag", "window_activity_flag", "window_flags",
    "window_raw_flags",
}  # fmt: skip
# Where the cursor was when a program last switched to the alternate screen, as a typed line of ours does too.
_SWITCHED = {"alternate_saved_x", "alternate_saved_y"}
_LEFT_OUT = _TIMES | _ASKING | _PRINTED
# What a session says of how many windows and clients it has, and which, and what the client that is asked says of
# itself: true while a window of ours is there, or muxwire is attached.
COUNTED = {
    "session_windows", "session_stack", "last_window_index", "window_end_flag", "window_stack_index", "client_",
    "session_attached", "session_many_attached", "window_active_clients", "session_active=",
}  # fmt: skip
_OF_CLIENTS = (
    "#{?client_control_mode,,#{client_name} #{client_session} #{client_width}x#{client_height} #{client_flags}"
    " #{client_key_table} #{client_prefix} #{client_readonly} #{client_termname} #{client_last_session}}"
)

# Ends each of several answers.
_END = "== the end of an answer =="

Record = Mapping[str, Collection[str]]


class Person:
    """Two windows in a session `work` with a terminal of 100x30 attached, and a session `other` without one."""

    def __init__(self, folder: Path, environ: dict[str, str], config: str = CONFIG) -> None:
        self.socket = folder / "s"
        self.environ = environ | {"TERM": "xterm-256color", "TMUX_TMPDIR": str(folder)}
        (folder / "conf").write_text(config)
        self.tmux("-f", str(folder / "conf"), "new-session", "-d", "-s", "work", "-n", "one", "-x", "90", "-y", "25")
        for command in (
            ("new-window", "-d", "-t", "work:", "-n", "two"),
            ("split-window", "-d", "-t", "work:two"),
            ("new-session", "-d", "-s", "other", "-n", "three", shutil.which("dash") or "/bin/sh"),
            ("set-environment", "-t", "work", "OF_WORK", "kept"),
            ("set-option", "-t", "other", "@of-other", "kept"),
            ("set-option", "-w", "-t", "work:two", "@of-two", "kept"),
            ("set-buffer", "-b", "mine", "a named one"),
            ("set-buffer", "-b", "muxwire", "by accident of that name"),
            ("set-buffer", "an automatic one"),
        ):
            self.tmux(*command)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe("tmux", ["tmux", "-S", str(self.socket), "attach", "-t", "work"], self.environ)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        with suppress(OSError):
            while os.read(self.terminal, 1 << 16):
                pass

    def tmux(self, *command: str) -> str:
        argv = ["tmux", "-S", str(self.socket), *command]
        return subprocess.run(argv, capture_output=True, text=True, env=self.environ, check=False).stdout

    def ids(self, listing: str, variable: str) -> list[str]:
        """The ids of all sessions, windows or panes."""
        everywhere = () if listing == "list-sessions" else ("-a",)
        return sorted(set(self.tmux(listing, *everywhere, "-F", f"#{{{variable}}}").split()))

    def answers(self, commands: Collection[tuple[str, ...]]) -> dict[str, list[str]]:
        """What each command says, line by line. One tmux process for all of them: one each took 300 ms in all."""
        words = list(chain.from_iterable((*command, ";", "display-message", "-p", _END, ";") for command in commands))
        *said, rest = self.tmux(*words).split(f"{_END}\n")
        assert (len(said), rest) == (len(commands), ""), f"one of {commands} failed"
        return {" ".join(command): text.splitlines() for command, text in zip(commands, said, strict=True)}

    def everything(self, used: Collection[str] = ()) -> Record:
        """All that the server can list: what each command says, line by line. `used`: panes that a test types into.

        Not the message log: tmux writes down there which commands came, ours too.
        """
        asked: list[tuple[str, ...]] = [("show-options", flags) for flags in ("-s", "-g", "-gw")]
        asked += [("show-hooks", flags) for flags in ("-g", "-gw")]
        asked += [
            ("list-keys",), ("show-environment", "-g"), ("list-clients", "-F", _OF_CLIENTS),
            ("list-buffers", "-F", "#{buffer_name} #{buffer_size}"),
            ("list-windows", "-a", "-F", "#{session_name} #{window_index} #{window_id}"),
        ]  # fmt: skip
        of_each = {
            "list-sessions": ("session_id", ("show-options", "show-hooks", "show-environment")),
            "list-windows": ("window_id", ("show-options -w", "show-hooks -w")),
            "list-panes": ("pane_id", ("show-options -p", "show-hooks -p", "display-message -a -p")),
        }
        ids = {listing: self.ids(listing, variable) for listing, (variable, _) in of_each.items()}
        for listing, (_, commands) in of_each.items():
            asked += [(*command.split(), "-t", one) for one in ids[listing] for command in commands]
        asked += [("capture-pane", "-p", "-S", "-", "-t", pane) for pane in ids["list-panes"] if pane not in used]
        found: dict[str, Collection[str]] = {**self.answers(asked)}
        for name in self.tmux("list-buffers", "-F", "#{buffer_name}").split():  # ends a list of commands
            found[f"show-buffer of {name}"] = self.tmux("show-buffer", "-b", name).splitlines()
        for pane in ids["list-panes"]:
            left_out = _LEFT_OUT | _SWITCHED if pane in used else _LEFT_OUT
            values = found.pop(f"display-message -a -p -t {pane}")
            found[f"variables of {pane}"] = [line for line in values if line.partition("=")[0] not in left_out]
        found["list-clients -F " + _OF_CLIENTS] = sorted(filter(None, found["list-clients -F " + _OF_CLIENTS]))
        return found

    async def settled(self, used: Collection[str] = ()) -> Record:
        """`everything`, once the person's terminal has its size and the shells have drawn their prompts."""
        # Only the window that is looked at has the terminal's size at once.
        size = ("display-message", "-p", "-t", "work:", "#{window_width}x#{window_height}")
        await until(lambda: self.tmux(*size).strip() == _SIZED)
        panes = self.ids("list-panes", "pane_id")
        await until(lambda: all(self.tmux("capture-pane", "-p", "-t", pane).strip() for pane in panes))
        return self.everything(used)

    async def alone(self) -> None:
        """Return when no control client is attached any more."""
        await until(lambda: "1" not in self.tmux("list-clients", "-F", CLIENTS))

    async def ring(self, target: str) -> None:
        """Have the bell rung in a window, and return when tmux says so of it."""
        self.tmux("send-keys", "-t", target, r"printf '\a'", "Enter")
        await until(lambda: "1" in self.tmux("display-message", "-p", "-t", target, "#{window_bell_flag}"))
        # The next prompt comes after it.
        await until(lambda: not self.tmux("capture-pane", "-p", "-t", target).rstrip().endswith("'"))

    def alerts(self, session: str) -> list[str]:
        """What tmux says of each window of a session that the person has not looked at yet."""
        told = "#{window_id} #{window_bell_flag}#{window_activity_flag}#{window_silence_flag} #{session_alerts}"
        return self.tmux("list-windows", "-t", session, "-F", told).splitlines()

    def detach_us(self, session: str) -> None:
        """Detach the control clients of a session."""
        for row in self.tmux("list-clients", "-t", session, "-F", "#{client_control_mode} #{client_name}").splitlines():
            if row.startswith("1 "):
                self.tmux("detach-client", "-t", row[2:])

    def pane(self, target: str) -> str:
        """The id of the pane of that name."""
        return self.tmux("display-message", "-p", "-t", target, "#{pane_id}").strip()

    def close(self) -> None:
        self.tmux("kill-server")
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def theirs(record: Record, ours: Collection[str]) -> Record:
    """What of a record is the person's, while we are attached and windows and panes of ours (`@N`, `%N`) are there."""
    own = re.compile(rf"(?:{'|'.join(map(re.escape, ours))})(?![0-9])") if ours else None
    left_out = "|".join(map(re.escape, COUNTED))
    return {
        asked: [line for line in lines if not re.match(left_out, line) and not (own and own.search(line))]
        for asked, lines in record.items()
        if not (own and own.search(asked))
    }


def differences(before: Record, after: Record) -> list[str]:
    """What changed, a line each; nothing if nothing did."""
    said = []
    for asked in sorted(set(before) | set(after)):
        was, now = before.get(asked, ()), after.get(asked, ())
        if list(was) != list(now):
            said += [f"{asked}: - {line}" for line in was if line not in now]
            said += [f"{asked}: + {line}" for line in now if line not in was]
            said += [f"{asked}: another order"] if sorted(was) == sorted(now) else []
    return said
