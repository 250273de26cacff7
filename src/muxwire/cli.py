"""The command line: `muxwire serve`, `muxwire demo`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import anyio

from muxwire import __version__
from muxwire.errors import MuxwireError

if TYPE_CHECKING:
    from collections.abc import Sequence

# sysexits.h has nothing for this; shells and argparse use 2 for a command line that is wrong.
USAGE = 2
FAILED = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code: 0, 1 for a failure that was explained, 2 for a wrong command line."""
    parser = _parser()
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="muxwire", description="Terminals that agents and people can trust.")
    parser.add_argument("--version", action="version", version=f"muxwire {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    serve = verbs.add_parser("serve", help="serve MCP on stdin and stdout")
    serve.add_argument("--toolsets", metavar="LIST", help="only these sets of tools, e.g. core,scripts")
    serve.add_argument("--read-only", action="store_true", help="only tools that change nothing")
    serve.set_defaults(run=_serve)
    demo = verbs.add_parser("demo", help="show the main job on this machine: a tab, a command, a process, a log")
    demo.set_defaults(run=_demo)
    return parser


def _serve(arguments: argparse.Namespace) -> int:
    # Late: the MCP SDK takes 0.4 s to import, and no other verb needs it.
    from muxwire.mcp import serve
    from muxwire.terminals.terminals import open_terminals

    toolsets = arguments.toolsets.split(",") if arguments.toolsets else None
    anyio.run(lambda: serve(open_terminals, toolsets=toolsets, read_only=arguments.read_only))
    return 0


def _demo(arguments: argparse.Namespace) -> int:
    del arguments
    from muxwire.demo import main as demo

    return demo()


if __name__ == "__main__":
    sys.exit(main())
