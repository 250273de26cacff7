"""The verb that shows the tabs to a person in their own terminal.

The person gets a session of their own with the same windows: which window they select changes nothing for others. A tab
has the size of their terminal while they show it, unless they ask for --ignore-size.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from muxwire.cli.connect import choose_instance, chosen_host
from muxwire.cli.console import STDIN, STDOUT
from muxwire.cli.listing import listed_tabs, server_on, tabs_on, terminals_of, tmux_of
from muxwire.cli.options import add_verb, flag, names_host, names_tab, option
from muxwire.errors import InstanceUnavailable, InvalidArgument, NoSuchTarget
from muxwire.tmux.status_line import PREFIX_KEY, PREFIX_OPTION, doing_format, prefix_bindings
from muxwire.verbs.types import ACTIVE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from muxwire.cli.console import Console
    from muxwire.cli.listing import ListedTab
    from muxwire.cli.options import Verbs

# Columns of the status line for a command's text, its tab and what it waits for.
_DOING_WIDTH = 60
# Whether a session shows the window of that name. (In a hook `window_name` is that of the window which was linked.)
_SHOWN = "#{==:#{W:#{?window_active,#{window_name},}},NAME}"
_GONE_REMEDY = "muxwire new starts one"


def add(verbs: Verbs) -> None:
    add_verb(
        verbs,
        "attach",
        _attach,
        names_tab(),
        names_host("the tabs that running muxwire processes have on that machine"),
        flag("-r", "--read-only", help="only watch: no key does anything but C-b d"),
        flag("--ignore-size", help="leave every tab its size, also if it is larger than this terminal"),
        option("--prefix", metavar="KEY", default=PREFIX_KEY, help="in place of C-b, e.g. C-a"),
        flag("--mouse", help="the wheel scrolls, a click selects a pane"),
        flag("--clipboard", help="what is copied here, or by a program in a tab, goes to your clipboard"),
        summary="show the tabs in this terminal",
        example="muxwire attach build",
        details="The status line marks the tab that was used last. C-b n and C-b p go to the next and the previous "
        "tab, C-b d leaves.",
    )


async def _attach(console: Console, arguments: argparse.Namespace) -> int:
    # In a thread, because it asks tmux and other machines by programs of their own.
    return console.execute(await anyio.to_thread.run_sync(_words, console, arguments))


def _words(console: Console, arguments: argparse.Namespace) -> list[str]:
    """The words of the tmux that shows the tabs; InvalidArgument, NoSuchTarget, InstanceUnavailable."""
    if console.sizes[STDIN] is None or console.sizes[STDOUT] is None:
        raise InvalidArgument(
            "stdin and stdout must be a terminal", remedy="muxwire snapshot and muxwire logs print what a tab shows"
        )

    host, target = chosen_host(console, arguments)
    if host:
        return _other_machine(console, arguments, host, target)
    if arguments.socket is not None or arguments.socket_name is not None:
        return _persons_server(console, arguments)
    choose_instance(console, arguments, looks=True)
    return _own_server(console, arguments)


def _refuse_itself(console: Console, tmux: Sequence[str]) -> None:
    """Raise InvalidArgument in a pane of the server that `tmux` names: the pane would show itself without end."""
    if console.terminal in terminals_of(tmux):
        raise InvalidArgument(
            "this terminal is a pane of the same tmux server: it would show itself",
            remedy="call it in another terminal; C-b w chooses a window in this one",
        )


def _persons_server(console: Console, arguments: argparse.Namespace) -> list[str]:
    """Attach as any tmux does, but leave sizes (while others are attached), variables and current windows as they are.

    A further session, as on muxwire's servers, would put the person's session into a group.
    """
    from muxwire.host.local import LocalHost
    from muxwire.instance.adopted import socket_of
    from muxwire.tmux.program import program_for

    if arguments.mouse or arguments.clipboard or arguments.prefix != PREFIX_KEY:
        raise InvalidArgument(
            "--prefix, --mouse and --clipboard set nothing at a tmux server of yours", remedy="your tmux.conf does"
        )
    flags = "ignore-size,read-only" if arguments.read_only else "ignore-size"
    socket = (
        Path(arguments.socket) if arguments.socket is not None else socket_of(arguments.socket_name, console.environ)
    )
    host, server = LocalHost(console.environ), ("-S", str(socket))
    tmux = program_for(host.listening_pid(socket), host)
    _refuse_itself(console, (tmux, *server))
    if arguments.target != ACTIVE:
        raise InvalidArgument(
            "attach selects no window at this tmux server: every client attached to the session would switch to it",
            remedy=f"leave TAB out, or use tmux: {shlex.join([tmux, *server, 'attach-session', '-t'])} TARGET",
        )
    return [tmux, "-u", *server, "attach-session", "-E", "-f", flags]


def _other_machine(console: Console, arguments: argparse.Namespace, host: str, target: str) -> list[str]:
    from muxwire.tmux.start import HUB

    there = server_on(arguments, host, console.environ)
    session, window = _find(tabs_on(there), target, hub=HUB)
    words = (*_features(console, arguments), *_shown(arguments, session, window, host))
    shown: list[str] = there.shown(" ".join('"{}"'.format(word.replace('"', '\\"')) for word in words))
    return shown


def _own_server(console: Console, arguments: argparse.Namespace) -> list[str]:
    from muxwire.host.elsewhere import links
    from muxwire.host.folders import folders_for
    from muxwire.tmux.start import HUB

    name = arguments.name
    pid, (tmux, *socket) = tmux_of(name, console.environ)
    if pid is None:
        if noted := links(folders_for(name, console.environ).state, name):
            raise NoSuchTarget(
                f"the instance {name} has no tab on this machine", remedy=f"muxwire attach --host {noted[0].host}"
            )
        raise InstanceUnavailable(f"the instance {name} does not run", remedy=_GONE_REMEDY)
    session, window = _find(listed_tabs((tmux, *socket)), arguments.target, hub=HUB)
    _refuse_itself(console, (tmux, *socket))
    return [tmux, "-u", *_features(console, arguments), *socket, *_shown(arguments, session, window, name)]


def _shown(arguments: argparse.Namespace, session: str, window: str, name: str) -> list[str]:
    """The tmux commands that show a window in a session of the person's own; there the next tab, once there is none."""
    from muxwire.tmux.start import HUB, KEEPER_NAME

    wanted = {"read-only": arguments.read_only, "ignore-size": arguments.ignore_size or arguments.read_only}
    flags = ",".join(name for name, is_wanted in wanted.items() if is_wanted)
    return [
        "new-session", "-t", f"={session}", *(("-f", flags) if flags else ()), ";",
        # The session ends when its one client detaches.
        "set-option", "destroy-unattached", "on", ";",
        "set-hook", "window-linked", f'if-shell -F "{_SHOWN.replace("NAME", KEEPER_NAME)}" next-window', ";",
        "set-option", "status-left", f"[muxwire {name}] ", ";",
        "set-option", "status-right-length", str(_DOING_WIDTH), ";",
        "set-option", "status-right", f"{doing_format(HUB)} ", ";",
        *(word for command in _asked_for(arguments) for word in (*command, ";")),
        "select-window", "-t", f":{window}",
    ]  # fmt: skip


def _features(console: Console, arguments: argparse.Namespace) -> tuple[str, ...]:
    """What tmux cannot know of this terminal by its name: 24-bit colours, by the variable that many terminals set."""
    found = [*(["RGB"] if console.environ.get("COLORTERM") in ("truecolor", "24bit") else []),
             *(["clipboard"] if arguments.clipboard else [])]  # fmt: skip
    return ("-T", ",".join(found)) if found else ()


def _asked_for(arguments: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """The commands of the options that are about keys, mouse and clipboard."""
    key = arguments.prefix
    if key != PREFIX_KEY:
        yield from prefix_bindings(key)
        yield "set-option", PREFIX_OPTION, key
    if arguments.read_only:  # tmux refuses to such a client the option that the bound key sets
        yield "set-option", "prefix", key
    if arguments.mouse:
        yield "set-option", "mouse", "on"
    yield "set-option", "-s", "set-clipboard", "on" if arguments.clipboard else "off"


def _find(rows: Sequence[ListedTab], target: str, *, hub: str) -> tuple[str, str]:
    """The session whose windows are to be shown, and the window to begin with; NoSuchTarget.

    A tab is named by its id, by its name, or by SESSION:TAB; the first two are looked for in the session `hub`.
    """
    from muxwire.tabs.record import shown_name

    in_hub = [row for row in rows if row.session == hub]
    if not in_hub:
        raise NoSuchTarget("the instance has no tab", remedy=_GONE_REMEDY)
    if target == ACTIVE:
        return hub, next((row.window for row in in_hub if row.used), in_hub[0].window)
    shown = shown_name(target)
    session, _, rest = target.partition(":")
    meant = (
        [row for row in in_hub if target in (row.window, row.pane)]
        or [row for row in in_hub if shown_name(row.name) == shown]
        or [row for row in rows if row.session == session and rest in ("", row.index, row.name)]
    )
    if not meant:
        raise NoSuchTarget(f"no tab is called {target!r}", remedy="muxwire ls shows every tab; muxwire new makes one")
    if len(meant) > 1 and (rest or shown_name(meant[0].name) == shown):
        ids = ", ".join(row.window for row in meant)
        raise NoSuchTarget(f"{target!r} names {len(meant)} tabs: {ids}", remedy="use one of these ids")
    return meant[0].session, meant[0].window
