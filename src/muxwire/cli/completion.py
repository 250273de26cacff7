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

import anyio.to_thread

from muxwire.cli.options import add_parser, option, words_after
from muxwire.errors import MuxwireError
from muxwire.verbs.types import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muxwire.cli.console import Console
    from muxwire.cli.options import Parser, Verbs

    Candidate = tuple[str, str]

SHELLS = ("bash", "zsh", "fish")
_FOLDER = Path(__file__).parent / "completions"


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
    if arguments.words:
        words = words_after(arguments.words)
        parser = arguments.whole(words[0] if words[1:] else "")
        # In a thread, because tmux may be asked for the names of tabs.
        found = await anyio.to_thread.run_sync(candidates, parser, words, console)
        console.write("".join("\t".join(filter(None, one)) + "\n" for one in found).encode("utf-8", "surrogateescape"))
    else:
        console.write((_FOLDER / f"muxwire.{arguments.shell}").read_bytes())
    return 0


def candidates(parser: Parser, words: list[str], console: Console) -> list[Candidate]:
    """What may stand in place of the last of `words`, which is what is typed so far."""
    *before, typed = words or [""]
    while before and parser.verbs:
        parser = parser.verbs.get(before.pop(0), parser)
    return [one for one in _next(parser, before, typed, console) if one[0].startswith((typed, ":"))]


def _next(parser: Parser, before: list[str], typed: str, console: Console) -> Iterator[Candidate]:
    options = {name: action for action in parser.taken for name in action.option_strings}
    waiting = options.get(before[-1]) if before and "--" not in before else None
    if waiting is not None and waiting.nargs != 0:
        yield from _values(waiting, before, console)
    elif typed.startswith("-") and "--" not in before:
        for action in dict.fromkeys(options.values()):
            if action.help != argparse.SUPPRESS:
                yield action.option_strings[-1], (action.help or "").replace("%%", "%")
    elif parser.verbs:
        yield from ((name, verb.summary) for name, verb in parser.verbs.items())
    else:  # which of the words without a name it is, is not counted
        for action in parser.taken:
            if not action.option_strings:
                yield from _values(action, before, console)


def _values(action: argparse.Action, before: list[str], console: Console) -> Iterable[Candidate]:
    if action.choices is not None:
        return [(str(choice), "") for choice in action.choices]
    match action.metavar, action.dest:
        case "VERB", _:
            from muxwire.cli.command_line import VERBS

            return [(verb, "") for verb in VERBS]
        case "TAB", _:
            return _tabs(before, console)
        case "NAME", "name":
            from muxwire.instance import faces

            return [(one.name, "a running instance") for one in faces.all_running(console.environ)]
        case "KIND", _:
            return [(kind, "") for kind in get_args(EventKind)]
        case ("FILE" | "PATH", _) | ("PROGRAM", _):
            return [(":files", "")]
        case "DIR", _:
            return [(":dirs", "")]
        case "COMMAND", _:
            return [(":commands", ""), (":files", "")]
        case _:
            return []


def _tabs(before: list[str], console: Console) -> list[Candidate]:
    """The tabs of the instance that the words name, by name and by id; none if it does not run."""
    from muxwire.cli.connect import choose_instance
    from muxwire.cli.listing import listed_tabs, tmux_of
    from muxwire.tmux.start import HUB

    named = [value for option, value in pairwise(before) if option == "--name"]
    meant = argparse.Namespace(name=named[-1] if named else None, socket=None, socket_name=None)
    try:
        choose_instance(console, meant, looks=True)
        tabs = [tab for tab in listed_tabs(tmux_of(meant.name, console.environ)[1]) if tab.session == HUB]
    except MuxwireError:
        return []
    return [(tab.name, tab.window) for tab in tabs if tab.name != tab.window] + [(tab.window, tab.name) for tab in tabs]
