"""The parser of every verb, the exit codes, and how an error is said."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, TypeAlias

from muxwire import __version__
from muxwire.cli import faces
from muxwire.errors import MuxwireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Verbs: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse has no other name

# sysexits.h has nothing for this; shells and argparse use 2 for a command line that is wrong.
USAGE = 2
FAILED = 1

# In the order in which the help shows them.
GROUPS = (faces,)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code: 0, 1 for a failure that was explained, 2 for a wrong command line."""
    parser = command_line()
    arguments = parser.parse_args(argv)
    if arguments.verb is None:
        parser.print_help(sys.stderr)
        return USAGE
    try:
        code: int = arguments.run(arguments)
    except MuxwireError as error:
        print(f"muxwire: {error}", *([error.remedy] if error.remedy else []), sep="\n  ", file=sys.stderr)
        return FAILED
    return code


def command_line() -> argparse.ArgumentParser:
    """The parser of the whole command line; `run` of what it parses is the verb."""
    parser = argparse.ArgumentParser(prog="muxwire", description="Terminals that agents and people can trust.")
    parser.add_argument("--version", action="version", version=f"muxwire {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for group in GROUPS:
        group.add(verbs)
    return parser
