"""The parser of every verb, the exit codes, and how an error is said."""

from __future__ import annotations

import argparse
import importlib
import signal
from functools import cache
from typing import TYPE_CHECKING, Any

from muxwire import __version__
from muxwire.cli.console import STDOUT, RunsThere
from muxwire.cli.options import HelpAsked, Parser, WrongUsage, meant_verb
from muxwire.cli.printing import FAILED, USAGE
from muxwire.errors import InvalidArgument, MuxwireError, remedy_for, unwrapped

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from muxwire.cli.console import Console

# The modules of `muxwire.cli` and the verbs that each adds, in the order in which the help shows them. A verb imports
# its own module only.
MODULES = {
    "serve": ("serve", "demo", "repl"),
    "tabs": ("ls", "new", "kill"),
    "run": ("run",),
    "driving": ("send-keys", "paste", "wait", "watch"),
    "views": ("snapshot", "logs", "history", "rec"),
    "ops": ("ops",),
    "attach": ("attach",),
    "web": ("web", "observe", "control"),
    "completion": ("completion",),
    "about": ("doctor", "help", "skill", "version"),
}
VERBS = {verb: module for module, verbs in MODULES.items() for verb in verbs}

# The options of every verb that have a value, and so two words: they may stand before the verb too.
_WITH_VALUE = ("--name", "--socket", "--socket-name", "-t", "--target")
_VERSION = f"muxwire {__version__}"
_OF_NO_VERB = ("-h", "--help", "--version")
# The width of help where no terminal has another one.
_USUAL_COLUMNS = 80


async def run_verb(console: Console) -> int:
    """Run the verb that the words of a console name; its exit code, negative if a signal has ended it (as subprocess).

    Nothing in this process changes by it but the instance. Raises RunsThere, and what is a defect of muxwire.
    """
    begun = begin(console)
    return begun if isinstance(begun, int) else await begun


def begin(console: Console, words: Sequence[str] | None = None) -> int | Coroutine[Any, Any, int]:
    """Run a verb that needs no event loop, and return its exit code; of another one, what is to be awaited.

    `words` are run in place of those of the console.
    """
    arguments = None
    try:
        arguments = _parsed(console, verb_first(console.words if words is None else words))
        begun: int | Coroutine[Any, Any, int] = arguments.run(console, arguments)
    except Exception as error:  # noqa: BLE001 - raised again, if nothing explains it
        return _explained(console, arguments, error)
    return begun if isinstance(begun, int) else _awaited(console, arguments, begun)


async def _awaited(console: Console, arguments: argparse.Namespace, verb: Coroutine[Any, Any, int]) -> int:
    """Await a verb until it ends, or until a signal comes that the verb does not take itself."""
    import anyio

    ended_by = list[signal.Signals]()
    code = 0
    with anyio.CancelScope() as scope:

        def end(number: signal.Signals) -> None:
            ended_by.append(number)
            scope.cancel()

        console.on_signal = end
        try:
            code = await verb
        except Exception as error:  # noqa: BLE001 - raised again, if nothing explains it
            # After a signal: what was cancelled may raise an error of its own, which says nothing more.
            code = 0 if ended_by else _explained(console, arguments, error)
    return -ended_by[0] if ended_by else code


def _parsed(console: Console, words: Sequence[str]) -> argparse.Namespace:
    """What the words say; its `run` is the verb, or what prints the help that they ask for. WrongUsage."""
    if words[:1] == ["--version"]:  # the parser would import the modules of all verbs first
        return argparse.Namespace(run=_print, text=f"{_VERSION}\n", code=0)
    verb = words[0] if words and not words[0].startswith("-") else ""
    parser = command_line(verb)
    if verb and verb not in VERBS:
        meant = meant_verb(verb, list(VERBS))
        parser.refuse(f"there is no verb {verb}", f"did you mean muxwire {meant}?" if meant else "")
    try:
        arguments = parser.parse_args(words)
    except HelpAsked as asked:
        return argparse.Namespace(run=_print, text=asked.parser.fitted(_columns(console)).format_help(), code=0)
    if arguments.verb is None:
        return argparse.Namespace(run=_print, text=parser.fitted(_columns(console)).format_help(), code=USAGE)
    return arguments


def _print(console: Console, arguments: argparse.Namespace) -> int:
    """Print help; what nobody asked for goes to stderr."""
    console.write(arguments.text.encode(), error=arguments.code != 0)
    return int(arguments.code)


def _columns(console: Console) -> int:
    given, size = console.environ.get("COLUMNS", ""), console.sizes[STDOUT]
    return int(given) if given.isdecimal() and int(given) else size[0] if size and size[0] else _USUAL_COLUMNS


def _explained(console: Console, arguments: argparse.Namespace | None, error: Exception) -> int:
    """Say what went wrong, and return the exit code; what only a defect of muxwire can raise is raised again."""
    cause = unwrapped(error)
    if isinstance(cause, RunsThere):
        raise cause
    if isinstance(cause, BrokenPipeError):
        return -signal.SIGPIPE
    as_json = "--json" in console.words if arguments is None else getattr(arguments, "json", False)
    if isinstance(cause, WrongUsage) and not as_json:
        console.warn(cause.parser.fitted(_columns(console)).format_usage().rstrip("\n"))
    if isinstance(cause, MemoryError):
        cause = MuxwireError("out of memory", remedy=remedy_for(cause))
    if not isinstance(cause, MuxwireError | OSError):
        if not as_json:
            raise cause
        cause = MuxwireError(f"{type(cause).__name__}: {cause}", remedy="this is a defect in muxwire")
    console.explain(cause, as_json=as_json)
    return USAGE if isinstance(cause, InvalidArgument) else getattr(arguments, "failed", FAILED)


def verb_first(words: Sequence[str]) -> list[str]:
    """The words, the verb first: options that stood before it now follow it."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in _OF_NO_VERB:
        at += 2 if words[at] in _WITH_VALUE else 1
    return [*words[at : at + 1], *words[:at], *words[at + 1 :]]


@cache  # to make the parser takes longer than most verbs, and a process may run many
def command_line(verb: str = "") -> Parser:
    """The parser of every verb, or with `verb` of those of its module; `run` of what it parses runs the verb."""
    parser = Parser(
        prog="muxwire",
        description="Terminals that agents and people can trust.",
        epilog="muxwire help VERB shows what a verb takes. Options may stand before the verb or after it.",
    )
    parser.add_argument("--version", action="version", version=_VERSION)
    parser.set_defaults(whole=command_line, again=begin)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser)
    for module in (VERBS[verb],) if verb in VERBS else MODULES:
        importlib.import_module(f"muxwire.cli.{module}").add(verbs)
    parser.verbs.update(verbs.choices)
    return parser
