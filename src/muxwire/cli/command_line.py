"""The parser of every verb, the exit codes, and how an error is said."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from muxwire import __version__
from muxwire.cli import attach, completion, doctor, ops, rec, run, send_keys, serve, tabs, views, waiting
from muxwire.cli.connect import unwrapped
from muxwire.cli.interrupts import raise_them
from muxwire.cli.options import Parser
from muxwire.cli.printing import FAILED, USAGE, die_of, explain, flush, guard_descriptors
from muxwire.errors import InvalidArgument, MuxwireError, remedy_for

if TYPE_CHECKING:
    from collections.abc import Sequence

# In the order in which the help shows them.
GROUPS = (serve, tabs, run, send_keys, waiting, views, ops, attach, rec, doctor)


def run_verb(argv: Sequence[str] | None) -> int:
    """Run one verb and return its exit code; KeyboardInterrupt goes through."""
    guard_descriptors()
    parser = command_line()
    try:
        arguments = parser.parse_args(argv)
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
            cause = MuxwireError("no memory is left", remedy=remedy_for(cause))
        if not isinstance(cause, MuxwireError | OSError):
            if not as_json:
                raise
            cause = MuxwireError(f"{type(cause).__name__}: {cause}", remedy="this is a defect in muxwire")
        explain(cause, as_json=as_json)
        return USAGE if isinstance(cause, InvalidArgument) else getattr(arguments, "failed", FAILED)
    return code


def command_line() -> Parser:
    """The parser of the whole command line; `run` of what it parses is the verb."""
    parser = Parser(prog="muxwire", description="Terminals that agents and people can trust.")
    parser.add_argument("--version", action="version", version=f"muxwire {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser)
    for group in GROUPS:
        group.add(verbs)
    completion.add(verbs, command_line)
    return parser
