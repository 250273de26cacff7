"""What every verb takes: which instance it acts on, which tab, and whether a program reads what it prints."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, NoReturn, TypeAlias, final

from muxwire.cli.printing import USAGE, complain

if TYPE_CHECKING:
    from collections.abc import Callable

    Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - it has no other name
    Verb = Callable[[argparse.Namespace], int]

# The tab that was used last.
ACTIVE = "."


@final
class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong as every other error is said, with `--json` too."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line and exit with 2."""
        as_json = "--json" in sys.argv
        if not as_json:
            self.print_usage(sys.stderr)
        complain("usage", message, f"{self.prog} --help shows what it takes", as_json=as_json)
        sys.exit(USAGE)


def add_verb(verbs: Verbs, name: str, run: Verb, *, summary: str, details: str = "", document: bool = True) -> Parser:
    """Add a verb that acts on an instance; `run` gets the parsed arguments and returns the exit code."""
    parser = verbs.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}. {details}".strip())
    add_instance(parser, default="$MUXWIRE_NAME, else main")
    if document:
        parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)
    return parser


def add_instance(parser: argparse.ArgumentParser, *, default: str) -> None:
    """Add the options that say which instance is meant."""
    one = parser.add_argument_group(f"which instance (default: {default})").add_mutually_exclusive_group()
    one.add_argument("--name", metavar="NAME", help="the instance of that name, whose tabs stay")
    one.add_argument("--socket", metavar="PATH", help="the tmux server at that socket")
    one.add_argument("--socket-name", metavar="NAME", help="the tmux server of that name, as in tmux -L")


def add_target(parser: argparse.ArgumentParser, *, many: bool = False) -> None:
    """Add `-t`: @N, %%N, a tab's name, SESSION:TAB, or `.` for the tab used last."""
    text = "a tab: its id (@N), its name, SESSION:TAB, or . for the one used last (the default)"
    if many:
        parser.add_argument("-t", "--target", metavar="TAB", action="append", help=f"{text}; more than one is allowed")
    else:
        parser.add_argument("-t", "--target", metavar="TAB", default=ACTIVE, help=text)


def add_plain(parser: argparse.ArgumentParser) -> None:
    """Add `--plain`, which the tools call strip_ansi."""
    text = "as a person would have read it: no escape sequences, nothing that was drawn over"
    parser.add_argument("--plain", "--strip-ansi", dest="strip_ansi", action="store_true", help=text)


def words_behind(words: list[str]) -> list[str]:
    """The words of a command, without the -- before it; some versions of argparse have taken that away."""
    return words[1:] if words[:1] == ["--"] else words


def seconds(text: str) -> float:
    """A time in seconds."""
    return _number(text, least=0.0)


def positive(text: str) -> int:
    """A number from 1 on."""
    return _whole(text, least=1)


def natural(text: str) -> int:
    """A number from 0 on."""
    return _whole(text, least=0)


def size(text: str) -> tuple[int, int]:
    """`COLUMNSxROWS`."""
    columns, x, rows = text.partition("x")
    if not (x and columns.isdecimal() and rows.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write COLUMNSxROWS, as 120x40")
    return int(columns), int(rows)


def assignment(text: str) -> tuple[str, str]:
    """`NAME=VALUE`."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is no assignment; write NAME=VALUE")
    return name, value


def _number(text: str, *, least: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value:  # also for nan
        raise argparse.ArgumentTypeError(f"{text!r} is no time; give seconds, as 2.5")
    return value


def _whole(text: str, *, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from {least} on")
    return int(text)
