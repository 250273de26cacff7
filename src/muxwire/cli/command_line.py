"""The parser of every verb, the exit codes, and how an error is said."""

from __future__ import annotations

import importlib
import signal
import sys
from typing import TYPE_CHECKING

from muxwire import __version__
from muxwire.cli.interrupts import raise_them
from muxwire.cli.options import Parser, meant_verb
from muxwire.cli.printing import FAILED, USAGE, die_of, explain, flush, guard_descriptors
from muxwire.errors import InvalidArgument, MuxwireError, remedy_for, unwrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    "web": ("observe", "control"),
    "completion": ("completion",),
    "about": ("doctor", "help", "version"),
}
VERBS = {verb: module for module, verbs in MODULES.items() for verb in verbs}

# The options of every verb that have a value, and so two words: they may stand before the verb too.
_WITH_VALUE = ("--name", "--socket", "--socket-name", "-t", "--target")
_VERSION = f"muxwire {__version__}"
_OF_NO_VERB = ("-h", "--help", "--version")


def run_verb(argv: Sequence[str] | None) -> int:
    guard_descriptors()
    words = verb_first(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["--version"]:  # the parser would import the modules of all verbs first
        sys.stdout.write(f"{_VERSION}\n")
        flush()
        return 0
    verb = words[0] if words and not words[0].startswith("-") else ""
    parser = command_line(verb)
    if verb and verb not in VERBS:
        meant = meant_verb(verb, list(VERBS))
        parser.refuse(f"there is no verb {verb}", f"did you mean muxwire {meant}?" if meant else "")
    try:
        arguments = parser.parse_args(words)
    except SystemExit:  # argparse has printed its help
        flush()
        raise
    if arguments.verb is None:
        parser.print_help(sys.stderr)
        return USAGE
    as_json = getattr(arguments, "json", False)
    raise_them()
    try:
        code: int = arguments.run(arguments)
    except Exception as error:
        cause = unwrapped(error)
        if isinstance(cause, BrokenPipeError):
            die_of(signal.SIGPIPE)
        if isinstance(cause, MemoryError):
            cause = MuxwireError("out of memory", remedy=remedy_for(cause))
        if not isinstance(cause, MuxwireError | OSError):
            if not as_json:
                raise
            cause = MuxwireError(f"{type(cause).__name__}: {cause}", remedy="this is a defect in muxwire")
        explain(cause, as_json=as_json)
        return USAGE if isinstance(cause, InvalidArgument) else getattr(arguments, "failed", FAILED)
    return code


def verb_first(words: Sequence[str]) -> list[str]:
    """The words, the verb first: options that stood before it now follow it."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in _OF_NO_VERB:
        at += 2 if words[at] in _WITH_VALUE else 1
    return [*words[at : at + 1], *words[:at], *words[at + 1 :]]


def command_line(verb: str = "") -> Parser:
    """The parser of every verb, or with `verb` of those of its module; `run` of what it parses runs the verb."""
    parser = Parser(
        prog="muxwire",
        description="Terminals that agents and people can trust.",
        epilog="muxwire help VERB shows what a verb takes. Options may stand before the verb or after it.",
    )
    parser.add_argument("--version", action="version", version=_VERSION)
    parser.set_defaults(whole=command_line, again=run_verb)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser)
    for module in (VERBS[verb],) if verb in VERBS else MODULES:
        importlib.import_module(f"muxwire.cli.{module}").add(verbs)
    parser.verbs.update(verbs.choices)
    return parser
