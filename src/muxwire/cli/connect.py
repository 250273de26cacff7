"""Which instance a verb acts on, and opening it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from muxwire.cli.interrupts import end_by_them
from muxwire.cli.printing import die_of
from muxwire.errors import InvalidArgument, unwrapped
from muxwire.verbs.types import ACTIVE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable

    import anyio

    from muxwire.library.terminals import Terminals

    TerminalsVerb = Callable[[Terminals, argparse.Namespace], Awaitable[int]]

# Who says nothing means this one.
DEFAULT_NAME = "main"


def on_terminals(verb: TerminalsVerb, *, any_running: bool = False) -> Callable[[argparse.Namespace], int]:
    """A verb that needs an opened instance, as one that a parser can call.

    With `any_running`, who names none gets the one that runs, if it is the only one.
    """

    def run(arguments: argparse.Namespace) -> int:
        end_by_them()  # until `_end_by_signal` listens
        import anyio  # late: it takes as long as all else that a wrong command line needs

        from muxwire.library.opening import open_terminals

        received: list[signal.Signals] = []
        codes: list[int] = []

        async def opened() -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_end_by_signal, tasks.cancel_scope, received)
                given = given_instance(arguments) or {"name": chosen_name(arguments, any_running=any_running)}
                async with open_terminals(**given) as terminals:
                    codes.append(await verb(terminals, arguments))
                tasks.cancel_scope.cancel()

        try:
            anyio.run(opened)
        except Exception as error:  # noqa: BLE001 - raised again, out of its group
            # What was cancelled in the middle of something may say so in an error of its own.
            if not received:
                raise unwrapped(error) from None
        if received:
            die_of(received[0])
        return codes[0]

    return run


async def _end_by_signal(scope: anyio.CancelScope, received: list[signal.Signals]) -> None:
    """Leave in order at the first signal that says so; a verb may catch them itself while it runs."""
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
    """The other machine that `--host` or `HOST/@N` names, "" for none, and what the tab is called there."""
    from muxwire.ids import host_of

    given: str = arguments.host
    host, target = host_of(getattr(arguments, "target", ACTIVE))
    if given and host not in ("", given):
        raise InvalidArgument(f"two hosts are named: {given} and {host}", remedy="leave one of them out")
    host = host or given
    if host and (arguments.socket is not None or arguments.socket_name is not None):
        raise InvalidArgument("a tmux server of yours has no tabs on other machines", remedy="leave --socket out")
    return host, target


def chosen_name(arguments: argparse.Namespace, *, any_running: bool = False) -> str:
    """The instance's name: the one that was given, $MUXWIRE_NAME, or `main`.

    With `any_running` the only one that runs, if none was given; InvalidArgument if there are several to choose from.
    """
    given: str = arguments.name or os.environ.get("MUXWIRE_NAME", "")
    if given or not any_running:
        return given or DEFAULT_NAME
    from muxwire.host.folders import EPHEMERAL, folders_for
    from muxwire.host.hosts_file import all_links
    from muxwire.tmux.program import running_instances

    running = running_instances(os.environ)
    # One with nothing here may have tabs on other machines; one without a name has ended if it does not run here.
    elsewhere = {one.instance for one in all_links(folders_for(DEFAULT_NAME, os.environ).state)}
    running += sorted(name for name in elsewhere - set(running) if not EPHEMERAL.match(name))
    if DEFAULT_NAME in running or not running:
        return DEFAULT_NAME
    if len(running) > 1:
        raise InvalidArgument(f"several instances run: {', '.join(running)}", remedy="choose one with --name NAME")
    return running[0]
