"""The verb that puts a person into the tabs, at the terminal that they sit at.

In a session of their own that shows the same windows: what they look at, and how large, changes nothing for others.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from muxwire.cli.instance import chosen_name
from muxwire.cli.listing import listed_tabs
from muxwire.cli.options import ACTIVE, add_verb
from muxwire.cli.printing import STDIN, STDOUT
from muxwire.errors import InstanceUnavailable, InvalidArgument, NoSuchTarget

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from muxwire.cli.options import Verbs

_GONE_REMEDY = "muxwire new starts one"


def add(verbs: Verbs) -> None:
    """Add `attach`."""
    attach = add_verb(
        verbs,
        "attach",
        _attach,
        summary="show the tabs in this terminal",
        details="The status line marks the tab that an agent uses. C-b n and C-b p go to the next and the previous "
        "tab, C-b d leaves. With one instance running, that one is meant.",
        document=False,
    )
    attach.add_argument("target", metavar="TAB", nargs="?", default=ACTIVE, help="default: the tab used last")
    attach.add_argument("-r", "--read-only", action="store_true", help="only look: keys do nothing")
    attach.add_argument(
        "--ignore-size", action="store_true", help="leave every tab its size, also if it is larger than this terminal"
    )


def _attach(arguments: argparse.Namespace) -> int:
    if not (os.isatty(STDIN) and os.isatty(STDOUT)):
        raise InvalidArgument(
            "stdin and stdout must be a terminal", remedy="muxwire snapshot and muxwire logs print what a tab shows"
        )
    from muxwire.terminals.instances.tmux_server import find_tmux

    tmux = find_tmux(os.environ)
    words = _own_server(arguments, tmux) if arguments.socket is None and arguments.socket_name is None else None
    if words is None:
        server = ("-S", arguments.socket) if arguments.socket is not None else ("-L", arguments.socket_name)
        flags = _flags(arguments)
        target = () if arguments.target == ACTIVE else ("-t", arguments.target)
        words = [tmux, "-u", *server, "attach-session", *(("-f", flags) if flags else ()), *target]
    # Not inside itself, as far as tmux is concerned: it is another server, whichever terminal this is.
    environ = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
    os.execve(tmux, words, environ)  # noqa: S606 - that is the point


def _flags(arguments: argparse.Namespace) -> str:
    flags = {"read-only": arguments.read_only, "ignore-size": arguments.ignore_size or arguments.read_only}
    return ",".join(name for name, wanted in flags.items() if wanted)


def _own_server(arguments: argparse.Namespace, tmux: str) -> list[str]:
    from muxwire.terminals.instances.folders import folders_for
    from muxwire.terminals.instances.opening import server_runs
    from muxwire.terminals.instances.tmux_server import HUB

    name = chosen_name(arguments, any_running=True)
    socket = folders_for(name, os.environ).socket_path
    if not server_runs(socket):
        raise InstanceUnavailable(f"the instance {name} does not run", remedy=_GONE_REMEDY)
    session, window = _find((tmux, "-S", str(socket)), arguments.target, hub=HUB)
    flags = _flags(arguments)
    return [
        tmux, "-u", "-S", str(socket),
        "new-session", "-t", f"={session}", *(("-f", flags) if flags else ()), ";",
        # It ends when its one person leaves.
        "set-option", "destroy-unattached", "on", ";",
        "set-option", "status-left", f"[muxwire {name}] ", ";",
        "select-window", "-t", f":{window}",
    ]  # fmt: skip


def _find(tmux: Sequence[str], target: str, *, hub: str) -> tuple[str, str]:
    """The session whose windows are to be shown, and the window to begin with; NoSuchTarget."""
    from muxwire.terminals.tabs.tab_maker import window_name

    rows = listed_tabs(tmux)
    in_hub = [row for row in rows if row.session == hub]
    if not in_hub:
        raise NoSuchTarget("the instance has no tab", remedy=_GONE_REMEDY)
    if target == ACTIVE:
        return hub, next((row.window for row in in_hub if row.used), in_hub[0].window)
    # As tab_maker has tmux call it; what is doubled for new-window stands there once.
    shown = window_name(target).replace("##", "#")
    session, _, rest = target.partition(":")
    meant = (
        [row for row in in_hub if target in (row.window, row.pane)]
        or [row for row in in_hub if row.name == shown]
        or [row for row in rows if row.session == session and rest in ("", row.index, row.name)]
    )
    if not meant:
        raise NoSuchTarget(f"no tab is called {target!r}", remedy="muxwire ls shows every tab; muxwire new makes one")
    if len(meant) > 1 and (rest or meant[0].name == shown):
        ids = ", ".join(row.window for row in meant)
        raise NoSuchTarget(f"{target!r} names {len(meant)} tabs: {ids}", remedy="use one of these ids")
    return meant[0].session, meant[0].window
