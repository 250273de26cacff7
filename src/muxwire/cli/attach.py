"""The verb that shows the tabs to a person in their own terminal.

The person gets a session of their own with the same windows: which window they select changes nothing for others. A tab
has the size of their terminal while they show it, unless they ask for --ignore-size.

This asks tmux and opens no instance: one without a name lives inside a program, which answers no other process, and a
person can watch its tabs all the same.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from muxwire.cli.connect import choose_instance
from muxwire.cli.console import STDIN, STDOUT
from muxwire.cli.options import add_verb, flag, names_tab, option
from muxwire.errors import InstanceUnavailable, InvalidArgument
from muxwire.host.elsewhere import far, links
from muxwire.host.folders import folders_for
from muxwire.host.local import LocalHost
from muxwire.host.processes import device_of, pids, stat_of
from muxwire.tmux.program import program_for, server_pid
from muxwire.tmux.status_line import ACTIVE_TAB, PREFIX_KEY, PREFIX_OPTION, doing_format, prefix_bindings
from muxwire.verbs.types import ACTIVE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from muxwire.cli.console import Console
    from muxwire.cli.options import Verbs

# Columns of the status line for a command's text, its tab and what it waits for.
_DOING_WIDTH = 60
# Whether a session shows the window of that name. (In a hook `window_name` is that of the window which was linked.)
_SHOWN = "#{==:#{W:#{?window_active,#{window_name},}},NAME}"
# Characters that may have a meaning in a target of tmux, where `?` matches any character; @ and % begin ids.
_SPECIAL = re.compile(r"^-|[^\w@%-]")


def add(verbs: Verbs) -> None:
    add_verb(
        verbs,
        "attach",
        _attach,
        names_tab(),
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
    # In a thread, because tmux may have to make its socket anew.
    return console.execute(await anyio.to_thread.run_sync(_words, console, arguments))


def _words(console: Console, arguments: argparse.Namespace) -> list[str]:
    """The words of the tmux that shows the tabs; InvalidArgument, InstanceUnavailable, HostUnavailable."""
    if arguments.socket is not None or arguments.socket_name is not None:
        raise InvalidArgument("a tmux server of yours is shown by tmux itself", remedy="tmux attach (or tmux -L, -S)")
    if console.sizes[STDIN] is None or console.sizes[STDOUT] is None:
        raise InvalidArgument(
            "stdin and stdout must be a terminal", remedy="muxwire snapshot and muxwire logs print what a tab shows"
        )
    features, target = _features(console, arguments), arguments.target
    known = {one.host for one in links(folders_for("main", console.environ).state)}
    host = max((one for one in known if target.startswith(f"{one}/")), key=len, default="")
    if host:
        words = (*features, *_shown(arguments, target.removeprefix(f"{host}/"), host))
        instance = arguments.name or console.environ.get("MUXWIRE_NAME", "")
        there: list[str] = far("there").words_on(host, instance, console.environ, words)
        return there
    choose_instance(console, arguments, looks=True)
    name, local = arguments.name, LocalHost(console.environ)
    folders = folders_for(name, console.environ)
    if (pid := server_pid(folders, local)) is None:
        raise InstanceUnavailable(f"the instance {name} has no tab on this machine", remedy="muxwire new opens one")
    here = Path(console.terminal).stat().st_rdev
    if any(one.parent == pid and device_of(one.tty) == here for one in map(stat_of, pids()) if one is not None):
        raise InvalidArgument(
            "this terminal is a pane of the same tmux server: it would show itself",
            remedy="call it in another terminal; C-b w chooses a window in this one",
        )
    return [program_for(pid, local), "-u", *features, "-S", str(folders.socket_path), *_shown(arguments, target, name)]


def _shown(arguments: argparse.Namespace, target: str, name: str) -> list[str]:
    """The tmux commands that show a tab in a session of the person's own; there the next tab, once there is none.

    A tab is named by its id or its name, or as SESSION:TAB; without a session it is looked for in the hub.
    """
    from muxwire.tabs.record import shown_name  # late: the help of all verbs imports this module
    from muxwire.tmux.start import HUB, KEEPER_NAME

    session, _, tab = target.rpartition(":")
    session = _SPECIAL.sub("?", session) or HUB
    window = ("." if tab[:1] == "%" else "") + _SPECIAL.sub("?", shown_name(tab))
    is_there, select = ["has-session", "-t", f"{session}:{window}", ";"], ["select-window", "-t", f":{window}"]
    if target == ACTIVE:
        is_there, select = [], ["run-shell", "-C", f"select-window -t :#{{{ACTIVE_TAB}}}"]
    wanted = {"read-only": arguments.read_only, "ignore-size": arguments.ignore_size or arguments.read_only}
    flags = ",".join(name for name, is_wanted in wanted.items() if is_wanted)
    # Before there is a session: tmux says that it knows no such key, and ends.
    bound = prefix_bindings(arguments.prefix) if arguments.prefix != PREFIX_KEY else ()
    return [
        *is_there,
        *(word for command in bound for word in (*command, ";")),
        "new-session", "-t", session, *(("-f", flags) if flags else ()), ";",
        # The session ends when its one client detaches.
        "set-option", "destroy-unattached", "on", ";",
        "set-hook", "window-linked", f'if-shell -F "{_SHOWN.replace("NAME", KEEPER_NAME)}" next-window', ";",
        "set-option", "status-left", f"[muxwire {name}] ", ";",
        "set-option", "status-right-length", str(_DOING_WIDTH), ";",
        "set-option", "status-right", f"{doing_format(HUB)} ", ";",
        *(word for command in _asked_for(arguments) for word in (*command, ";")),
        *select,
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
        yield "set-option", PREFIX_OPTION, key
    if arguments.read_only:  # tmux refuses to such a client the option that the bound key sets
        yield "set-option", "prefix", key
    if arguments.mouse:
        yield "set-option", "mouse", "on"
    yield "set-option", "-s", "set-clipboard", "on" if arguments.clipboard else "off"
