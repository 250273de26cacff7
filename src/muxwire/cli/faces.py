"""The verbs that start another face of muxwire; no other module of the command line knows one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from muxwire.cli.options import Verbs


def add(verbs: Verbs) -> None:
    """Add `serve` and `demo`."""
    serve = verbs.add_parser("serve", help="serve MCP on stdin and stdout")
    serve.add_argument("--toolsets", metavar="LIST", help="only these sets of tools, e.g. core,scripts")
    serve.add_argument("--read-only", action="store_true", help="only tools that change nothing")
    serve.set_defaults(run=_serve)
    demo = verbs.add_parser("demo", help="show the main job on this machine: a tab, a command, a process, a log")
    demo.set_defaults(run=_demo)


def _serve(arguments: argparse.Namespace) -> int:
    # Late: the MCP SDK takes 0.4 s to import, and no other verb needs it.
    import anyio

    from muxwire.mcp import serve
    from muxwire.terminals.terminals import open_terminals

    toolsets = arguments.toolsets.split(",") if arguments.toolsets else None
    anyio.run(lambda: serve(open_terminals, toolsets=toolsets, read_only=arguments.read_only))
    return 0


def _demo(arguments: argparse.Namespace) -> int:
    del arguments
    from muxwire.demo import main as demo

    return demo()
