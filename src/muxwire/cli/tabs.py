"""The verbs for tabs as such: ls, new, kill."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from muxwire.cli.connect import (
    choose_instance,
    given_instance,
    on_terminals,
    only_one,
)
from muxwire.cli.console import RunsThere
from muxwire.cli.instances import instance_lines
from muxwire.cli.options import AS_JSON, NO_COLOURS, add_verb, flag, machine, names_tab, of, words_after, words_of
from muxwire.cli.printing import table
from muxwire.errors import (
    ConnectionClosed,
    InstanceUnavailable,
    InvalidArgument,
    NotPermitted,
    TmuxUnavailable,
)
from muxwire.host.folders import EPHEMERAL, folders_for
from muxwire.host.local import LocalHost
from muxwire.instance import faces
from muxwire.tmux.start import KEEPER_NAME
from muxwire.verbs.catalogue import CloseTab, CreateTab, ListTabs
from muxwire.vt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.cli.console import Console
    from muxwire.cli.options import Verbs
    from muxwire.instance.faces import Face
    from muxwire.library.terminals import Terminals
    from muxwire.results import TabList

# The colours of states: those that wait for a person stand out.
_STATES = {"prompt": "green", "running": "yellow", "busy": "yellow", "interactive": "magenta", "incomplete": "magenta",
           "dead": "dim", "closed": "dim"}  # fmt: skip
# Panes that are no tabs, as tmux's own keys make them, and what runs there.
_OTHERS = (
    "list-panes", "-a", "-f", f"#{{?{faces.OURS},0,#{{!=:#{{window_name}},{KEEPER_NAME}}}}}",
    "-F", "#{pane_id} (#{pane_current_command})",
)  # fmt: skip
_HEAD = ("TAB", "NAME", "SESSION", "STATE", "COMMAND", "DIRECTORY")


def add(verbs: Verbs) -> None:
    add_verb(
        verbs,
        "ls",
        _list,
        of(ListTabs, closed={"flags": ("-a", "--all")}),
        NO_COLOURS,
        AS_JSON,
        summary="list the instances that run, and the tabs of one",
        example="muxwire ls --all",
        details="The tabs are those of the instance that is named, of main, or of the only one that runs.",
    )
    add_verb(
        verbs,
        "new",
        on_terminals(_new, makes=True),
        of(
            CreateTab,
            name={"flags": ("-n", "--tab-name"), "metavar": "TAB_NAME", "dest": "tab_name"},
            env={"help": "an environment variable; may be repeated"},
            host={"type": machine, "default": argparse.SUPPRESS},
            command={
                "flags": ("command",),
                "action": "store",
                "default": None,
                "nargs": argparse.REMAINDER,
                "help": "a program and its arguments, in place of a shell",
            },
        ),
        AS_JSON,
        summary="open a tab and print its id",
        example="muxwire new -n build --cwd /srv/app",
    )
    add_verb(
        verbs,
        "kill",
        _kill,
        names_tab(many=True, needed=True),
        flag("--all", help="every tab, and then the instance's tmux server"),
        of(CloseTab, force={"flags": ("-f", "--force")}),
        AS_JSON,
        summary="close tabs and end what runs in them",
        example="muxwire kill build --force",
    )


async def _list(console: Console, arguments: argparse.Namespace) -> int:
    arguments.faces = None
    if given_instance(arguments) or console.environ.get("MUXWIRE_NAME"):
        return await on_terminals(_ls)(console, arguments)
    # In a thread, because the servers are asked by programs.
    arguments.faces, arguments.name = await anyio.to_thread.run_sync(_instances, console)
    said = "choose one with --name NAME to see its tabs"
    if arguments.name:
        try:
            return await on_terminals(_ls, makes=True)(console, arguments)
        except InstanceUnavailable as error:
            if not EPHEMERAL.match(arguments.name):
                raise
            said = f"{error}\n  {error.remedy}"
    lines = instance_lines(arguments.faces, console.colours(plain=arguments.no_colours))
    console.tell(arguments, {"instances": arguments.faces, "tabs": [], "sessions": []}, lines)
    if not arguments.json:
        console.warn(f"muxwire: {said}")
    return 0


def _instances(console: Console) -> tuple[list[Face], str]:
    """The instances that run, and the one whose tabs are to be listed, "" for none."""
    running = faces.all_running(console.environ)
    return faces.faces(running, console.environ), console.sent_to or only_one(console, running)


async def _ls(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    listed = await terminals.list_tabs(session=arguments.session)
    tabs = [tab for tab in listed.tabs if arguments.closed or not tab.closed]
    if arguments.closed and not arguments.session and terminals.role != "adopted":
        tabs += await terminals.ended_tabs()
    if arguments.json:
        found = {"tabs": tabs, "sessions": listed.sessions, "unreached": listed.unreached}
        console.document(({} if arguments.faces is None else {"instances": arguments.faces}) | found)
        return 0
    colours = console.colours(plain=arguments.no_colours)
    console.say(*instance_lines(arguments.faces or (), colours))
    if arguments.faces and tabs:
        console.say("")
    _say_left_out(console, listed)
    if not tabs:
        within = f" in the session {arguments.session!r}" if arguments.session else ""
        of = f" in the instance {arguments.name}" if arguments.name else ""
        if not listed.unreached:
            console.warn(f"muxwire: there is no tab{within}{of}\n  muxwire new makes one")
        return 0
    rows = [
        (
            tab.window_id + ("*" if tab.active else ""),
            tab.name,
            tab.session,
            "closed" if tab.closed else tab.state if tab.link in ("", "up") else tab.link,
            tab.current_command,
            tab.cwd,
        )
        for tab in tabs
    ]
    console.say(*table(_HEAD, rows, colours, {"STATE": lambda state: _STATES.get(state, "")}))
    attached = [session for session in listed.sessions if session.attached_client_count]
    console.say(*(f"attached to {one_line(session.name)}: {session.attached_client_count}" for session in attached))
    return 0


def _say_left_out(console: Console, listed: TabList, what_then: str = "") -> None:
    for host, reason in listed.unreached.items():
        console.warn(f"muxwire: {host} is left out: {reason}{what_then}")


async def _new(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    if terminals.role == "adopted":
        raise NotPermitted(
            "what muxwire opens at your own tmux server is closed when muxwire ends, and this verb ends at once",
            remedy="open it with `tmux new-window`: every window there is a tab",
        )
    other = {"name": arguments.tab_name, "command": words_after(arguments.command)}  # --name is the instance's
    tab = await terminals.create_tab(**words_of(CreateTab, arguments) | other)
    console.tell(arguments, tab.row(tab.key), (tab.key,))
    return 0


async def _kill(console: Console, arguments: argparse.Namespace) -> int:
    if sum(map(bool, (arguments.targets, arguments.all, arguments.session))) != 1:
        raise InvalidArgument(
            "one of TAB, --session and --all has to be given",
            remedy="muxwire ls shows the tabs, muxwire kill TAB closes one, muxwire kill --all closes every tab",
        )
    if arguments.all and (arguments.socket or arguments.socket_name):
        raise InvalidArgument(
            "this tmux server was started by a person, not by muxwire", remedy="tmux kill-server ends it"
        )
    if not arguments.all:
        return await on_terminals(_close)(console, arguments)
    LocalHost(console.environ).check_proc()
    choose_instance(console, arguments)
    try:
        await on_terminals(_close, makes=True)(console, arguments)
    except Exception as error:
        # What runs in it cannot be known then.
        if not arguments.force or isinstance(error, RunsThere):
            if isinstance(error, TmuxUnavailable | InstanceUnavailable | ConnectionClosed):
                error.remedy += "; muxwire kill --all -f (or --force) ends it whatever runs in it"
            raise
        console.warn(f"muxwire: {error}; it is ended without closing its tabs first")
        console.tell(arguments, {"closed": []})
    await anyio.to_thread.run_sync(_end_server, arguments.name, console.environ)
    return 0


async def _close(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    targets, unreached = arguments.targets, dict[str, str]()
    if arguments.all or arguments.session:
        listed = await terminals.list_tabs(closed=False, session=arguments.session)
        targets, unreached = [tab.window_id for tab in listed.tabs], listed.unreached
        given_up = arguments.all and arguments.force
        if not arguments.json:
            _say_left_out(console, listed, "\n  it is given up; programs there end after `keep`" if given_up else "")
        for host in unreached if given_up else ():
            await terminals.close_host(host)
        others = set((await terminals.ask(_OTHERS))[0]) if arguments.all and listed.sessions else ()
        if others and not arguments.force:
            raise NotPermitted(
                f"what tmux's own keys made would end too: {b', '.join(sorted(others)).decode('utf-8', 'replace')}",
                remedy="close it there, or muxwire kill --all -f (or --force) ends it whatever runs in it",
            )
    if arguments.session:
        await terminals.close_session(arguments.session, force=arguments.force)
    else:
        for target in targets[1:]:  # a wrong name closes none
            await terminals.known_tab(target)
        for target in targets:
            await terminals.close_tab(target, force=arguments.force)
    console.tell(arguments, {"closed": targets, **({"unreached": unreached} if unreached else {})})
    return 0


def _end_server(name: str, environ: Mapping[str, str]) -> None:
    """End the tmux server of an instance by its process: the instance's owner keeps it up, and it may not answer."""
    from muxwire.client.watchdog import end_server, started_now
    from muxwire.host.locks import named_server

    folders = folders_for(name, environ)
    noted, there = named_server(folders.server)
    # The server may listen at another path, and that of another state directory at this one; or its socket is gone.
    socket = Path(there) if there else folders.socket_path
    pid = noted if there else LocalHost(environ).listening_pid(socket)
    if pid is not None:  # 0: the kernel does not say which process listens; `end_server` asks tmux
        end_server("tmux", str(socket), started_now(pid), {})
    socket.unlink(missing_ok=True)
    if socket == folders.socket_path:
        folders.remove_transient()
