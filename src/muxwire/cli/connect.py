"""Which instance a verb acts on, and opening it."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from muxwire.cli.interrupts import end_by_them
from muxwire.cli.printing import STDERR, STDIN, die_of, warn
from muxwire.errors import AmbiguousTarget, InvalidArgument, NoSuchTarget, unwrapped
from muxwire.verbs.types import ACTIVE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    import anyio

    from muxwire.instance.faces import Face, Running
    from muxwire.library.terminals import Terminals

    TerminalsVerb = Callable[[Terminals, argparse.Namespace], Awaitable[int]]

T = TypeVar("T")

# The instance of a command line that names none.
DEFAULT_NAME = "main"


def on_terminals(
    verb: TerminalsVerb, *, any_running: bool = False, by_word: bool = False, makes: bool = False
) -> Callable[[argparse.Namespace], int]:
    """A verb that needs an opened instance, as one that a parser can call.

    With `any_running` a command line that names no instance gets the one that runs, if it is the only one. With
    `by_word` the word given for a tab may be an instance's name, if no tab has that name. With `makes` the instance
    that `--name` names need not exist yet.
    """

    def run(arguments: argparse.Namespace) -> int:
        end_by_them()  # until `_end_by_signal` listens
        return on_instance(
            arguments, lambda: _opened(verb, arguments), any_running=any_running, by_word=by_word, makes=makes
        )

    return run


def on_instance(
    arguments: argparse.Namespace,
    act: Callable[[], T],
    *,
    any_running: bool = False,
    by_word: bool = False,
    makes: bool = False,
) -> T:
    """Choose the instance and act on it; with `by_word`, if it has no such tab, act on the one that the word names.

    The latter is not done if the instance was named by `--name`.

    The options are those of `choose_instance`. Raises NoSuchTarget, InvalidArgument and what `act` raises.
    """
    by_word = by_word and arguments.name is None
    choose_instance(arguments, any_running=any_running, by_word=by_word, makes=makes)
    try:
        return act()
    except AmbiguousTarget:  # several tabs have that name
        raise
    except NoSuchTarget:
        if not (by_word and word_is_instance(arguments)):
            raise
    return act()


def _opened(verb: TerminalsVerb, arguments: argparse.Namespace) -> int:
    """Run the verb on the instance that was chosen."""
    import anyio  # late: it takes as long as all else that a wrong command line needs

    from muxwire.library.opening import open_terminals

    received: list[signal.Signals] = []
    codes: list[int] = []

    async def opened() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_by_signal, tasks.cancel_scope, received)
            async with open_terminals(**given_instance(arguments)) as terminals:
                codes.append(await verb(terminals, arguments))
            tasks.cancel_scope.cancel()

    try:
        anyio.run(opened)
    except Exception as error:  # noqa: BLE001 - raised again, out of its group
        # After a signal: what was cancelled may raise an error of its own, which says nothing more.
        if not received:
            raise unwrapped(error) from None
    if received:
        die_of(received[0])
    return codes[0]


async def _end_by_signal(scope: anyio.CancelScope, received: list[signal.Signals]) -> None:
    """Cancel all tasks at the first of these signals. A verb may receive the signals itself while it runs."""
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            received.append(number)
            scope.cancel()
            return


def given_instance(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `open_terminals` takes for the instance that the options name; nothing if they name none."""
    given = {name: getattr(arguments, name) for name in ("name", "socket", "socket_name")}
    return {name: value for name, value in given.items() if value is not None}


def chosen_host(arguments: argparse.Namespace) -> tuple[str, str]:
    """The other machine that `--host`, `HOST/@N` or `HOST/NAME` names, "" for none; what the tab is called there."""
    from muxwire.ids import host_of

    given: str = arguments.host
    host, target = host_of(getattr(arguments, "target", ACTIVE))
    if not host and "/" in target:
        host, target = _noted_host(target)
    if given and host not in ("", given):
        raise InvalidArgument(f"two hosts are named: {given} and {host}", remedy="leave one of them out")
    host = host or given
    if host and (arguments.socket is not None or arguments.socket_name is not None):
        raise InvalidArgument(
            f"--socket and --socket-name name a server of this machine, which has no tabs on {host}",
            remedy="leave out the socket, or the host",
        )
    return host, target


def _noted_host(target: str) -> tuple[str, str]:
    """The host in `HOST/NAME`, and the name there, if some instance has tabs on a machine that is called so."""
    from muxwire.host.folders import folders_for
    from muxwire.host.hosts_file import all_links

    noted = {link.host for link in all_links(folders_for("main", os.environ).state)}
    host = max((one for one in noted if target.startswith(f"{one}/")), key=len, default="")
    return (host, target.removeprefix(f"{host}/")) if host else ("", target)


def choose_instance(
    arguments: argparse.Namespace, *, any_running: bool = False, by_word: bool = False, makes: bool = False
) -> None:
    """Set `name` to the instance that is meant: the one given, $MUXWIRE_NAME, or `main`. NoSuchTarget, InvalidArgument.

    If none was given: with `any_running` the only one that runs; of several the one that the word names, or that has a
    tab of that name, or that a person at a terminal chooses. Without `any_running`, if a tab is named, the only running
    instance that has a name of its own. An instance whose state is in another state directory is chosen only by its
    full name.
    """
    if arguments.socket is not None or arguments.socket_name is not None:
        return
    if arguments.name is not None:
        if not makes:
            check_instance(arguments.name)
        return
    arguments.name = os.environ.get("MUXWIRE_NAME", "")
    if arguments.name:
        return
    if not any_running:
        arguments.name = _only_named() if _names_tab(arguments) else DEFAULT_NAME
        return
    running = all_running()
    arguments.name = only_one(running)
    if not arguments.name and not (by_word and word_is_instance(arguments)):
        arguments.name = use(_with_tab(_usual(running), _word(arguments) if by_word else ""))


def _names_tab(arguments: argparse.Namespace) -> bool:
    return bool(getattr(arguments, "targets", None)) or getattr(arguments, "target", None) not in (None, ACTIVE)


def _only_named() -> str:
    """The only instance with a name of its own that runs; `main` where that does, or several do, or none.

    An instance without a name of its own belongs to an agent. It is used only if the command line names it.
    """
    named = _usual([one for one in all_running() if _has_name(one)])
    return use(named[0]) if len(named) == 1 else DEFAULT_NAME


def named_running() -> list[str]:
    """The names of the instances with a name of their own that run, as far as is known here."""
    return [one.name for one in known_to_run(all_running()) if _has_name(one)]


def known_to_run(running: Sequence[Running]) -> list[Running]:
    """Leave out the instances that may have ended: no process uses them, and their tabs are on other machines."""
    return [one for one in running if one.driven or not one.hosts]


def _has_name(one: Running) -> bool:
    from muxwire.host.folders import EPHEMERAL

    return not EPHEMERAL.match(one.name)


def only_one(running: Sequence[Running]) -> str:
    """The instance that a verb without a name means: `main` if it runs or none does, the only one; "" if several do."""
    usual = _usual(running)
    if not usual or DEFAULT_NAME in {one.name for one in usual}:
        return DEFAULT_NAME
    return use(usual[0]) if len(usual) == 1 else ""


def _usual(running: Sequence[Running]) -> list[Running]:
    """Those that a verb may mean that names none: of this state directory, and with a server here, if any has one.

    Else those with a name of their own whose tabs are all on other machines. Such tabs belong to the process that
    opened them, and no other process can take over those of an instance without a name.
    """
    own = [one for one in running if one.own]
    return [one for one in own if not one.hosts] or [one for one in own if _has_name(one)]


def all_running() -> list[Running]:
    """The instances that run, those included whose tabs are all on other machines."""
    from muxwire.instance import faces

    return faces.all_running(os.environ)


def use(one: Running) -> str:
    """Set this process's environment so that it finds the directories of that instance; return the instance's name."""
    from muxwire.instance.faces import environment_of

    there = environment_of(one, os.environ)
    for name in ("XDG_RUNTIME_DIR", "TMPDIR"):
        if name in there:
            os.environ[name] = there[name]
        else:
            os.environ.pop(name, None)
    return one.name


def check_instance(name: str) -> None:
    """Refuse an instance of which nothing is known, which is a wrong name: NoSuchTarget."""
    from muxwire.host.folders import folders_for
    from muxwire.library.opening import checked_instance

    folders = folders_for(checked_instance(name), os.environ)
    if folders.socket_path.exists():
        return
    running = all_running()
    if found := [one for one in running if one.name == name]:  # its socket may be where another environment has it
        use(found[0])
        return
    if (folders.state / name).is_dir():
        return
    names = ", ".join(one.name for one in known_to_run(running))
    known = f"these run: {names}; " if names else ""
    raise NoSuchTarget(
        f"there is no instance {name}",
        remedy=f"{known}muxwire new --name {name} or muxwire serve --name {name} makes it",
    )


def _word(arguments: argparse.Namespace) -> str:
    """The one word that a verb was given for a tab; "" if there is none, or several."""
    words = getattr(arguments, "targets", None)
    if words is None:
        words = [arguments.target] if arguments.target != ACTIVE else []
    return words[0] if len(words) == 1 else ""


def word_is_instance(arguments: argparse.Namespace) -> bool:
    """Whether the verb's word names an instance as `ls` shows it. Then choose that instance and its tab used last.

    That is its name or a part of it, else a part of its client, or its directory or the last part of that.
    InvalidArgument where several fit and no person can be asked.
    """
    word, running = _word(arguments), all_running()
    fitting = [one for one in running if one.name == word] or [
        one for one in _usual(running) if word and word in one.name
    ]
    fitting = fitting or [one for one, face in _with_faces(_usual(running) if word else ()) if _known_by(face, word)]
    if not fitting or arguments.socket is not None or arguments.socket_name is not None:
        return False
    arguments.name = use(fitting[0] if len(fitting) == 1 else chosen_of(fitting))
    if hasattr(arguments, "targets"):
        arguments.targets = [ACTIVE]
    else:
        arguments.target = ACTIVE
    return True


def _with_faces(running: Sequence[Running]) -> list[tuple[Running, Face]]:
    from muxwire.instance.faces import faces

    return list(zip(running, faces(running, os.environ), strict=True))


def _known_by(face: Face, word: str) -> bool:
    return word in face.client or word.rstrip("/") in (face.directory, face.directory.rpartition("/")[2])


def _with_tab(running: Sequence[Running], word: str) -> Running:
    """The one of several instances that has a tab of that name, or that a person chooses. InvalidArgument."""
    from muxwire.cli.listing import listed_tabs, tmux_at

    if word:
        here = [one for one in running if not one.hosts]
        having = [one for one in here if word in {tab.name for tab in listed_tabs(tmux_at(one))}]
        running = having or running
    return running[0] if len(running) == 1 else chosen_of(running)


def chosen_of(running: Sequence[Running]) -> Running:
    """The instance that a person chooses from a list, at a terminal; elsewhere InvalidArgument, which names them."""
    names = ", ".join(one.name for one in running)
    several = InvalidArgument(f"several instances run: {names}", remedy="choose one with --name NAME")
    if not (os.isatty(STDIN) and os.isatty(STDERR)):
        raise several
    from muxwire.cli.instances import rows_of

    head, *rows = rows_of([face for _, face in _with_faces(running)])
    warn(f"    {head}")
    for number, row in enumerate(rows, 1):
        warn(f"{number:>2}  {row}")
    while True:
        os.write(STDERR, b"which one (number)? ")
        answer = sys.stdin.readline()
        if not answer:
            raise several
        if answer.strip().isdecimal() and 0 < int(answer) <= len(running):
            return running[int(answer) - 1]


def chosen_name(arguments: argparse.Namespace) -> str:
    """The name of the instance that was chosen."""
    given: str = arguments.name or os.environ.get("MUXWIRE_NAME", "")
    return given or DEFAULT_NAME
