"""The verb that completes words for the Tab key of bash, zsh and fish. The candidates come from the parser.

The shells' own scripts are thin, and lie in `completions/`: each asks `muxwire completion SHELL -- WORD...` and gets a
line for each candidate, its description after a tab character; for `:files`, `:dirs` and `:commands` the shell
completes these itself.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from muxwire.cli.command_line import VERBS, command_line
from muxwire.cli.connect import choose_instance, given_instance
from muxwire.cli.options import add_parser, option, words_after
from muxwire.errors import MuxwireError
from muxwire.instance import faces
from muxwire.verbs.types import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire.cli.console import Console
    from muxwire.cli.options import Parser, Verbs

    Candidate = tuple[str, str]

SHELLS = ("bash", "zsh", "fish")
_FOLDER = Path(__file__).parent / "completions"
# What may be the value of an argument, by its name here or in the help. `:tabs` and `:instances` are asked for.
_VALUES = {
    "name": (":instances",),
    "TAB": (":tabs",),
    "VERB": tuple(VERBS),
    "KIND": get_args(EventKind),
    "FILE": (":files",),
    "PATH": (":files",),
    "PROGRAM": (":files",),
    "DIR": (":dirs",),
    "COMMAND": (":commands", ":files"),
}


def add(verbs: Verbs) -> None:
    completion = add_parser(
        verbs,
        "completion",
        _run,
        option("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS)),
        option("words", metavar="WORD", nargs=argparse.REMAINDER, help=argparse.SUPPRESS),
        summary="print the completion script of a shell",
        example="source <(muxwire completion bash)",
        details="Put the line of the example into ~/.bashrc; for zsh the same with zsh into ~/.zshrc, after compinit; "
        "for fish muxwire completion fish | source into config.fish.",
    )
    completion.taken[-1].required = False  # else argparse's message for a missing SHELL would name WORD too


async def _run(console: Console, arguments: argparse.Namespace) -> int:
    if not arguments.words:
        console.write((_FOLDER / f"muxwire.{arguments.shell}").read_bytes())
        return 0
    words = words_after(arguments.words)
    found: list[Candidate] = []
    for value, said in candidates(command_line(words[0] if words[1:] else ""), words):
        if value == ":tabs":
            found += await _tabs(console, words)
        elif value == ":instances":
            found += [(one.name, "a running instance") for one in faces.all_running(console.environ)]
        else:
            found.append((value, said))
    lines = ("\t".join(filter(None, one)) + "\n" for one in found if one[0].startswith((words[-1], ":")))
    console.write("".join(lines).encode("utf-8", "surrogateescape"))
    return 0


def candidates(parser: Parser, words: list[str]) -> Iterator[Candidate]:
    """What may stand in place of the last of `words`, however it begins."""
    *before, typed = words
    while before and parser.verbs:
        parser = parser.verbs.get(before.pop(0), parser)
    options = {name: action for action in parser.taken for name in action.option_strings}
    waiting = options.get(before[-1]) if before and "--" not in before else None
    if waiting is not None and waiting.nargs != 0:
        yield from _values(waiting)
    elif typed.startswith("-") and "--" not in before:
        for action in dict.fromkeys(options.values()):
            if action.help != argparse.SUPPRESS:
                yield action.option_strings[-1], (action.help or "").replace("%%", "%")
    elif parser.verbs:
        yield from ((name, verb.summary) for name, verb in parser.verbs.items())
    else:  # which of the words without a name it is, is not counted
        for action in parser.taken:
            if not action.option_strings:
                yield from _values(action)


def _values(action: argparse.Action) -> Iterator[Candidate]:
    known = action.choices or _VALUES.get(action.dest) or _VALUES.get(str(action.metavar), ())
    yield from ((str(one), "") for one in known)


async def _tabs(console: Console, words: list[str]) -> list[Candidate]:
    """The tabs of the instance that the words name, by name and by id; none if it cannot be asked."""
    named = [value for option, value in pairwise(words) if option == "--name"]
    meant = argparse.Namespace(name=named[-1] if named else None, socket=None, socket_name=None)
    try:
        choose_instance(console, meant, looks=True)
        async with console.opened(given_instance(meant)) as terminals:
            tabs = (await terminals.list_tabs(closed=False)).tabs
    except MuxwireError:
        return []
    ids = [(tab.window_id, tab.name) for tab in tabs]
    return [(name, window) for window, name in ids if name != window] + ids
