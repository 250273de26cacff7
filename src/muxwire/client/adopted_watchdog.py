"""A script of its own: closes what we made at a person's tmux server once we are gone, and nothing else there.

    python -I -S adopted_watchdog.py TMUX SOCKET KIND < liveness-socket

It reads lines: `made LABEL` (a word among the arguments of a pane's first process, given before tmux is asked to make
the pane) and `folder HEX` (a path's bytes, in hexadecimal digits). When its input ends, its writer is gone, however it
went, SIGKILL included. Then the panes with such a word are killed, what is left of their sessions too, and the
directories go. A pane is left where closing it would end a session: that is the person's.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    # Without `site` nothing says where the package is. What it takes from there imports the standard library only.
    sys.path.append(str(Path(__file__).parents[2]))

from muxwire.client.watchdog import (
    KILL_GRACE_S,
    Process,
    ask_tmux,
    end_sessions,
    process_table,
    remove_folder,
)

_PANES = "#{pane_id} #{pane_pid} #{pane_start_command}"
# Of a window with several panes, or that has other windows in every session that shows it, a pane can go.
_ENDS_SESSION = (
    "#{{&&:#{{&&:#{{==:#{{pane_id}},{pane}}},#{{==:#{{window_panes}},1}}}},"
    "#{{m:*<#{{window_id}}>*,#{{S:#{{?#{{==:#{{session_windows}},1}},#{{W:<#{{window_id}}>}},}}}}}}}}"
)


def ends_session(pane: str) -> str:
    return _ENDS_SESSION.format(pane=pane)


def kill_command(pane: str) -> tuple[str, ...]:
    """The command that kills a pane unless a session would end with it, which nothing can come between."""
    return ("if-shell", "-F", "-t", pane, ends_session(pane), "display-message -p ''", f"kill-pane -t {pane}")


def main(tmux: str, socket: str, _kind: str) -> None:
    """Wait for the end of the input, then close what was made."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    labels: set[str] = set()
    folders: list[bytes] = []
    for line in sys.stdin:
        word, _, value = line.strip().partition(" ")
        if word == "made":
            labels.add(value)
        elif word == "folder":
            folders.append(bytes.fromhex(value))
    if labels:
        close_panes(tmux, socket, labels)
    for folder in folders:
        remove_folder(folder)


def close_panes(tmux: str, socket: str, labels: set[str]) -> None:
    """Kill the panes that were made, and what was started in them and does not end with them."""
    made = made_panes(tmux, socket, labels)
    table = process_table()
    for pane in made:
        ask_tmux(tmux, socket, *kill_command(pane))
    left = made_panes(tmux, socket, labels)
    sessions = {pid: table.get(pid, Process(0, str(pid), "")) for pane, pid in made.items() if pane not in left}
    # kill-pane hangs up on them: shells write their history.
    end_sessions(sessions, KILL_GRACE_S)


def made_panes(tmux: str, socket: str, labels: set[str]) -> dict[str, int]:
    """The panes whose first process was started with one of these words, each with its process id."""
    found = {}
    for line in ask_tmux(tmux, socket, "list-panes", "-a", "-F", _PANES).splitlines():
        pane, _, rest = line.partition(" ")
        pid, _, command = rest.partition(" ")
        if not labels.isdisjoint(command.split(" ")):
            found[pane] = int(pid)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
