"""Which instance a verb acts on, and opening it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muxwire.cli.console import RunsThere
from muxwire.errors import InvalidArgument, NoSuchTarget
from muxwire.host.folders import EPHEMERAL, folders_for
from muxwire.instance import faces

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from muxwire.cli.console import Console
    from muxwire.instance.faces import Running
    from muxwire.library.terminals import Terminals

    TerminalsVerb = Callable[[Console, Terminals, argparse.Namespace], Awaitable[int]]

# The instance of a command line that names none.
DEFAULT_NAME = "main"


def on_terminals(
    verb: TerminalsVerb, *, looks: bool = False, makes: bool = False
) -> Callable[[Console, argparse.Namespace], Coroutine[Any, Any, int]]:
    """A verb that needs an opened instance, as one that a parser can call; the options are `choose_instance`'s."""

    async def run(console: Console, arguments: argparse.Namespace) -> int:
        is_named = given_instance(arguments)
        choose_instance(console, arguments, looks=looks, makes=makes)
        async with console.opened(given_instance(arguments)) as terminals:
            try:
                return await verb(console, terminals, arguments)
            except NoSuchTarget as error:
                others = [one.name for one in faces.all_running(console.environ) if one.name != arguments.name]
                if others and not is_named:
                    error.remedy += f"; this is the instance {arguments.name}, --name chooses {' or '.join(others)}"
                raise

    return run


def given_instance(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `open_terminals` takes for the instance that the options name; nothing if they name none."""
    given = {name: getattr(arguments, name) for name in ("name", "socket", "socket_name")}
    return {name: value for name, value in given.items() if value is not None}


def choose_instance(
    console: Console, arguments: argparse.Namespace, *, looks: bool = False, makes: bool = False
) -> None:
    """Set `name` to the instance that is meant; NoSuchTarget, InvalidArgument.

    That is the one named by `--name` or $MUXWIRE_NAME; else the one to whose process the words were sent, which was
    chosen by the same rules: `main`, if it runs or none does; the only one that runs. An instance without a name of
    its own belongs to an agent: a verb that only `looks` may mean it so, another one has to name it. With `makes` the
    instance that `--name` names need not exist yet.
    """
    if arguments.socket is not None or arguments.socket_name is not None:
        return
    if arguments.name is not None:
        if not makes:
            check_instance(console, arguments.name)
        return
    arguments.name = console.environ.get("MUXWIRE_NAME", "") or console.sent_to
    if arguments.name != DEFAULT_NAME and console.sent_to and any(word.startswith("--name") for word in console.words):
        raise RunsThere  # the name belongs to a command (`run docker run --name web`), which only a parser can know
    if not arguments.name:
        running = [one for one in faces.all_running(console.environ) if looks or not EPHEMERAL.match(one.name)]
        arguments.name = only_one(console, running)
        if not arguments.name:
            names = ", ".join(one.name for one in running)
            raise InvalidArgument(f"several instances run: {names}", remedy="choose one with --name NAME")


def only_one(console: Console, running: Sequence[Running]) -> str:
    """The instance that a verb without a name means: `main` if it runs or none does, the only one; "" if several do."""
    meant = next((one for one in running if one.name == DEFAULT_NAME or len(running) == 1), None)
    if meant is None:
        return "" if running else DEFAULT_NAME
    use(console, meant)
    return meant.name


def use(console: Console, one: Running) -> None:
    """Set the environment of the call so that it finds the directories of that instance."""
    console.environ.update(faces.environment_of(one, console.environ))


def check_instance(console: Console, name: str) -> None:
    """Refuse an instance of which nothing is known, which is a wrong name: NoSuchTarget."""
    from muxwire.library.opening import checked_instance  # late: help needs nothing of the library

    folders = folders_for(checked_instance(name), console.environ)
    is_here = folders.socket_path.exists()
    running = {} if is_here else {one.name: one for one in faces.all_running(console.environ)}
    if name in running:  # its socket may be where another environment has it
        use(console, running[name])
    elif not (is_here or (folders.state / name).is_dir()):
        known = f"these run: {', '.join(running)}; " if running else ""
        raise NoSuchTarget(
            f"there is no instance {name}",
            remedy=f"{known}muxwire new --name {name} or muxwire serve --name {name} makes it",
        )
