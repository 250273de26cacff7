"""The tabs of an instance as tmux lists them: for verbs that have no need to open it, and on other machines."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from muxwire.errors import TmuxUnavailable
from muxwire.host.elsewhere import far, missing
from muxwire.tmux.rows import RECORD_OPTION
from muxwire.tmux.status_line import ACTIVE_TAB

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

# A server in good health answers in milliseconds.
_ANSWER_SECONDS = 10
# No session's name holds a colon.
WINDOWS = (
    f"#{{window_id}} #{{window_index}} #{{pane_id}} x#{{{ACTIVE_TAB}}} =#{{P:#{{{RECORD_OPTION}}}|}} "
    "#{session_name}:#{window_name}"
)
_LISTS = {"t": WINDOWS, "c": "#{window_id} #{pane_current_command}", "d": "#{window_id} #{pane_current_path}"}


@final
@dataclass(frozen=True, slots=True)
class ListedTab:
    """A tab as one session shows it; `used` if it is the one that was used last.

    Of a tab on another machine also the program in its foreground, and the directory of that.
    """

    window: str
    index: str
    pane: str
    used: bool
    session: str
    name: str
    command: str = ""
    cwd: str = ""


def tmux_of(name: str, environ: Mapping[str, str]) -> tuple[int | None, tuple[str, str, str]]:
    """The process of an instance's tmux server, None without one, and the words of a tmux for it; TmuxUnavailable."""
    from muxwire.host.folders import folders_for
    from muxwire.host.local import LocalHost
    from muxwire.tmux.program import program_for, server_pid

    folders, host = folders_for(name, environ), LocalHost(environ)
    pid = server_pid(folders, host)
    return pid, (program_for(pid, host), "-S", str(folders.socket_path))


def listed_tabs(tmux: Sequence[str]) -> list[ListedTab]:
    """Ask the server that `tmux` (its program, and which server) names; TmuxUnavailable."""
    listed = _asked(tmux, "list-windows", "-a", "-F", WINDOWS)
    return [tab for line in listed.splitlines() if (tab := tab_of(line)) is not None]


def terminals_of(tmux: Sequence[str]) -> list[str]:
    """The terminals of all panes of such a server; TmuxUnavailable."""
    return _asked(tmux, "list-panes", "-a", "-F", "#{pane_tty}").split()


def _asked(tmux: Sequence[str], *command: str) -> str:
    try:
        answer = subprocess.run(
            (*tmux, "-u", *command),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TmuxUnavailable(
            f"tmux has not answered for {_ANSWER_SECONDS} s",
            remedy="it may be stopped: kill -CONT with the process id of its server continues it",
        ) from error
    if answer.returncode:
        said = answer.stderr.strip()
        raise TmuxUnavailable(f"tmux {command[0]}: {said}", remedy="`tmux -V` prints the version of the tmux on PATH")
    return answer.stdout


def tab_of(line: str) -> ListedTab | None:
    """The tab that a line of `WINDOWS` is about; None for the keeper."""
    from muxwire.tabs.record import TabRecord, name_of, printed_name  # late: the help of all verbs imports this module
    from muxwire.tmux.start import KEEPER_NAME

    window, index, pane, used, packed, rest = line.split(" ", 5)
    session, _, printed = rest.partition(":")
    if printed == KEEPER_NAME:
        return None
    records = filter(None, map(TabRecord.unpacked, packed[1:].split("|")))
    record = next((record for record in records if not record.is_split), None)
    name = printed_name(printed) if record is None else name_of(record, window, printed)
    return ListedTab(window, index, pane, used[1:] == window, session, name)


def server_on(arguments: argparse.Namespace, host: str, environ: Mapping[str, str]) -> Any:  # noqa: ANN401 - far/there.py
    """The server on a host that the command line means; HostUnavailable, InstanceUnavailable, InvalidArgument."""
    there = far("there")
    if there is None:
        raise missing(host)
    return there.server_on(host, arguments.name or environ.get("MUXWIRE_NAME", ""), environ)


def tabs_on(there: Any) -> list[ListedTab]:  # noqa: ANN401
    """The tabs there, as tmux lists them; InstanceUnavailable."""
    rows = there.listed(_LISTS)
    commands, places = (dict(row.split(" ", 1) for row in rows[kind]) for kind in ("c", "d"))
    return [
        replace(tab, command=commands.get(tab.window, ""), cwd=places.get(tab.window, ""))
        for row in rows["t"]
        if (tab := tab_of(row)) is not None
    ]
