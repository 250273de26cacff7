"""The tabs of an instance as tmux lists them: for verbs that have no need to open it, and on other machines.

Tabs on another machine belong to the process that opened them. Here the tmux there is asked over a further connection,
or shown in this terminal.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

from muxwire.errors import InstanceUnavailable, InvalidArgument, TmuxUnavailable
from muxwire.tmux.rows import RECORD_OPTION
from muxwire.tmux.status_line import ACTIVE_TAB

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from muxwire.host.carriers import Carrier
    from muxwire.host.hosts_file import Linked

# A server in good health answers in milliseconds.
_ANSWER_SECONDS = 10
# No session's name holds a colon.
WINDOWS = (
    f"#{{window_id}} #{{window_index}} #{{pane_id}} x#{{{ACTIVE_TAB}}} =#{{P:#{{{RECORD_OPTION}}}|}} "
    "#{session_name}:#{window_name}"
)
# A cold handshake over a slow link takes seconds; a person waits for no longer at a prompt.
_HANDSHAKE_SECONDS = 30
# What the name of a server's directory may hold, since it becomes part of a script.
_DIRECTORY = re.compile(r"[A-Za-z0-9._@-]+\Z")
_IN_ITS_DIRECTORY = (
    "PATH=${PATH:-/usr/bin:/bin}:/usr/local/bin; d=${TMPDIR:-/tmp}/muxwire-$(id -u)/%s; "
    't=tmux; [ ! -r "$d/program" ] || read -r t <"$d/program"; '
)
_LISTS = (("t", WINDOWS), ("c", "#{window_id} #{pane_current_command}"), ("d", "#{window_id} #{pane_current_path}"))


@final
@dataclass(frozen=True, slots=True)
class ListedTab:
    """A tab as one session shows it; `used` if it is the one that was used last."""

    window: str
    index: str
    pane: str
    used: bool
    session: str
    name: str


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


class There(NamedTuple):
    """A server on another machine, and what reaches it."""

    host: str
    carrier: Carrier
    server: Linked


class TabThere(NamedTuple):
    """A tab there, the program in its foreground, and the directory of that."""

    tab: ListedTab
    command: str
    cwd: str


def server_on(arguments: argparse.Namespace, host: str, environ: Mapping[str, str]) -> There:
    """The server on a host that the command line means; HostUnavailable, InstanceUnavailable, InvalidArgument."""
    from muxwire.host.folders import folders_for
    from muxwire.host.hosts_file import links_to, read_hosts

    carrier = read_hosts(environ).carrier(host)
    name = arguments.name or environ.get("MUXWIRE_NAME", "")
    known = links_to(host, folders_for("main", environ).state)
    meant = [one for one in known if _DIRECTORY.match(one.name) and name in ("", one.instance)]
    if not meant:
        of = f"the instance {name}" if name else "no instance"
        raise InstanceUnavailable(
            f"{of} has {'no ' if name else ''}tabs on {host}",
            remedy=f"muxwire new --host {host} opens one",
        )
    driven = {one.instance for one in meant if one.driven}
    if len(driven) > 1:
        raise InvalidArgument(
            f"several instances have tabs on {host}: {', '.join(sorted(driven))}", remedy="choose one with --name NAME"
        )
    return There(host, carrier, meant[0])


def tabs_on(there: There, environ: Mapping[str, str]) -> list[TabThere]:
    """The tabs there, as tmux lists them; InstanceUnavailable."""
    begin = f"muxwire:{os.urandom(8).hex()}"
    lists = " \\; ".join(f'list-windows -a -F "{kind} {what}"' for kind, what in _LISTS)
    script = _IN_ITS_DIRECTORY % there.server.name + f'echo {begin}; exec "$t" -u -S "$d/s" {lists}\n'
    try:
        done = subprocess.run(
            there.carrier.command, input=script.replace("\\", "\\\\"), capture_output=True, text=True, errors="replace",
            timeout=_HANDSHAKE_SECONDS, check=False, env=dict(environ),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unavailable(there, str(error)) from error
    _, began, said = done.stdout.partition(begin + "\n")
    if not began or done.returncode:
        raise _unavailable(
            there, (done.stderr.strip().splitlines() or ["the program that reaches it ended without a message"])[-1]
        )
    rows: dict[str, list[str]] = {kind: [] for kind, _ in _LISTS}
    for line in said.splitlines():
        kind, _, rest = line.partition(" ")
        rows.setdefault(kind, []).append(rest)
    commands, places = (dict(row.split(" ", 1) for row in rows[kind]) for kind in ("c", "d"))
    tabs = [tab for row in rows["t"] if (tab := tab_of(row)) is not None]
    return [TabThere(tab, commands.get(tab.window, ""), places.get(tab.window, "")) for tab in tabs]


def shown_here(there: There, arguments: str, environ: Mapping[str, str]) -> list[str]:
    """The words that run tmux there at this terminal; its arguments hold no single quote."""
    term = environ.get("TERM", "")
    known = term if _DIRECTORY.match(term) else "xterm"
    script = f'{_IN_ITS_DIRECTORY % there.server.name}TERM=${{TERM:-{known}}}; export TERM; exec "$t" -u -S "$d/s" '
    return list(there.carrier.at_terminal(script + arguments))


def _unavailable(there: There, reason: str) -> InstanceUnavailable:
    host = there.host
    return InstanceUnavailable(f"{host}: {reason}", remedy=f"muxwire doctor --host {host} says what is in the way")
