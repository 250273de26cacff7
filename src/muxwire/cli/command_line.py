"""The parser of every verb, the exit codes, and how an error is said."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import signal
from functools import cache
from typing import TYPE_CHECKING

import anyio

from muxwire import __version__
from muxwire.cli.console import STDOUT, RunsThere
from muxwire.cli.options import HelpAsked, Parser, WrongUsage, meant_verb
from muxwire.cli.printing import FAILED, USAGE
from muxwire.errors import InvalidArgument, MuxwireError, remedy_for, unwrapped

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from muxwire.cli.console import Console

_LOG = logging.getLogger("muxwire")

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


async def serve_caller(console: Console, connection: socket.socket) -> None:
    """Run the verb of the caller at the other end, and tell it the exit code; if it has gone, as it ends by SIGHUP."""
    async with console.connected(connection):
        try:
            code = await run_verb(console)
            console.send(b"x", b"%d" % code)
        except RunsThere as there:
            console.send(b"l", os.fsencode(str(there)))
        except Exception as error:  # noqa: BLE001 - a defect ends no other caller's verb
            _LOG.exception("a verb has failed", exc_info=unwrapped(error))
            console.warn(f"muxwire: {unwrapped(error)!r}\n  this is a defect in muxwire")
            console.send(b"x", b"1")


async def run_verb(console: Console, words: Sequence[str] | None = None) -> int:
    """Run the verb that the words of a console name, or `words` in their place, until it ends or a signal comes.

    The exit code, negative if a signal has ended it (as subprocess). Nothing in this process changes by it but the
    instance. Raises RunsThere, and what is a defect of muxwire.
    """
    arguments, code, ended_by = None, 0, list[signal.Signals]()
    with anyio.CancelScope() as scope:

        def end(number: signal.Signals) -> None:
            ended_by.append(number)
            scope.cancel()

        console.on_signal = end
        try:
            arguments = _parsed(console, verb_first(console.words if words is None else words))
            code = await arguments.run(console, arguments)
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


async def _print(console: Console, arguments: argparse.Namespace) -> int:
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
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser)
    for module in (VERBS[verb],) if verb in VERBS else MODULES:
        importlib.import_module(f"muxwire.cli.{module}").add(verbs)
    parser.verbs.update(verbs.choices)
    return parser
