"""The verbs about muxwire itself: help, version."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

from muxwire.cli.options import add_parser
from muxwire.cli.printing import document, say, write
from muxwire.errors import MuxwireError

if TYPE_CHECKING:
    import argparse

    from muxwire.cli.options import Verbs


def add(verbs: Verbs) -> None:
    shown = add_parser(
        verbs, "help", _help, summary="list the verbs, or show what one takes", example="muxwire help run"
    )
    shown.add_argument("about", metavar="VERB", nargs="?", default="", help="default: a list of all")
    version = add_parser(
        verbs,
        "version",
        _version,
        summary="print the versions of muxwire, Python and tmux",
        example="muxwire version --json",
    )
    version.add_argument("--json", action="store_true", help="print one JSON document")


def _help(arguments: argparse.Namespace) -> int:
    if arguments.about:
        return int(arguments.again([arguments.about, "--help"]))
    write(arguments.whole().format_help().encode())
    return 0


def _version(arguments: argparse.Namespace) -> int:
    from muxwire import __version__
    from muxwire.host.local import LocalHost
    from muxwire.tmux.program import find_tmux, program_version

    try:
        tmux = program_version(find_tmux(LocalHost(os.environ)))
    except MuxwireError:
        tmux = ""
    python = platform.python_version()
    if arguments.json:
        document({"muxwire": __version__, "python": python, "tmux": tmux})
    else:
        say(f"muxwire {__version__}, Python {python}, {f'tmux {tmux}' if tmux else 'no tmux'}")
    return 0
