"""The verbs that type: send-keys, paste."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from muxwire.cli.connect import on_terminals
from muxwire.cli.options import add_target, add_verb
from muxwire.cli.printing import document, warn
from muxwire.errors import InvalidArgument

if TYPE_CHECKING:
    import argparse

    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals
    from muxwire.results import KeysSent

# One byte more than a call takes, so that too much is an error and not cut.
_PASTE_MAX = (4 << 20) + 1


def add(verbs: Verbs) -> None:
    send = add_verb(
        verbs,
        "send-keys",
        on_terminals(_send_keys),
        summary="type into whatever runs in a tab",
        example="muxwire send-keys -t build y Enter",
        details="Each KEY is tmux's name of a key (Enter, C-c, M-x, Up, F5) or literal text.",
    )
    add_target(send, word=False)
    send.add_argument("-l", "--literal", action="store_true", help="every KEY is text, also one that names a key")
    send.add_argument("keys", metavar="KEY", nargs="+")

    paste = add_verb(
        verbs,
        "paste",
        on_terminals(_paste),
        summary="paste a text into whatever runs in a tab",
        example="muxwire paste -t build --enter < commands.txt",
        details="It is a bracketed paste where the program asked for that, so no line of it is run by accident.",
    )
    add_target(paste, word=False)
    paste.add_argument("--enter", action="store_true", help="press Enter after it")
    paste.add_argument("text", metavar="TEXT", nargs="?", help="default: all of stdin")


async def _send_keys(terminals: Terminals, arguments: argparse.Namespace) -> int:
    tab = await terminals.tab(arguments.target)
    return _told(await tab.send_keys(arguments.keys, literal=arguments.literal), arguments)


async def _paste(terminals: Terminals, arguments: argparse.Namespace) -> int:
    text = arguments.text
    if text is None:
        text = read_stdin(_PASTE_MAX).decode("utf-8", "surrogateescape")
    tab = await terminals.tab(arguments.target)
    return _told(await tab.send_keys([text], paste=True, literal=True, enter=arguments.enter), arguments)


def read_stdin(most: int) -> bytes:
    """What is piped in; InvalidArgument if a person would have to type it without being asked."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidArgument("nothing was given, and stdin is a terminal", remedy="give it as an argument, or pipe it")
    return sys.stdin.buffer.read(most)


def _told(sent: KeysSent, arguments: argparse.Namespace) -> int:
    if arguments.json:
        document(asdict(sent))
    elif sent.note:
        warn(f"muxwire: {sent.note}")
    return 0
