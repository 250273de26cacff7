"""What verbs take: options made of the descriptions in `muxwire.verbs`, and what is common to most verbs.

Completion, the reference and tests read from a `Parser` what was added to it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, final

from muxwire.errors import InvalidArgument
from muxwire.verbs.catalogue import InTab
from muxwire.verbs.describe import parameters
from muxwire.verbs.types import ACTIVE, UNITS, Strings

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from muxwire.cli.console import Console
    from muxwire.verbs.describe import Parameter, Verb as Described

    class Verbs(Protocol):
        """What argparse returns for the words that begin a command line; it has no public name."""

        def add_parser(self, *names: Any, **options: Any) -> Parser:  # noqa: ANN401 (as argparse)
            """Add such a word, and return the parser of what follows it."""

    # What adds to a parser, or to a group of its options.
    Takes = Callable[[Any], object]
    # What a parser has as `run`.
    Verb = Callable[[Console, argparse.Namespace], Coroutine[Any, Any, int]]


# Words by which other programs call a verb, and the verb of muxwire.
_OTHER_WORDS = {
    "list": "ls", "ps": "ls", "list-windows": "ls", "create": "new", "open": "new", "new-window": "new",
    "close": "kill", "rm": "kill", "kill-window": "kill", "exec": "run", "execute": "run", "type": "send-keys",
    "send": "send-keys", "keys": "send-keys", "wait-for": "wait", "events": "watch", "screen": "snapshot",
    "capture-pane": "snapshot", "log": "logs", "tail": "logs", "cat": "logs", "record": "rec", "mcp": "serve",
    "server": "serve", "shell": "attach", "check": "doctor", "operations": "ops", "journal": "history",
}  # fmt: skip


# The ratio of `difflib` from which a word counts as mistyped: with a smaller one --tail would mean --plain.
_ALIKE = 0.7
# Verbs are short: one of three letters wrong (rum, lgs) is 0.66.
_ALIKE_VERB = 0.65


@final
class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong as every other error is said, with `--json` too.

    `verbs` are the parsers of the verbs below it, `summary` its line in the list of verbs.
    """

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 (argparse's)
        self.verbs: dict[str, Parser] = {}
        self.summary = ""
        super().__init__(*args, **options)

    @property
    def taken(self) -> list[argparse.Action]:
        """Every argument that the parser takes, in order."""
        return self._actions

    def parse_known_args(  # type: ignore[override]  # typeshed's overloads for namespaces of one's own
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse unknown arguments here, in the parser of the verb, so that the usage of that verb is printed."""
        parsed, left = super().parse_known_args(args, namespace)
        if left:
            known = [name for action in self.taken for name in action.option_strings]
            meant = _nearest(left[0].partition("=")[0], known) if left[0].startswith("-") else ""
            self.refuse(f"unrecognized arguments: {' '.join(left)}", f"did you mean {meant}?" if meant else "")
        return parsed, left

    def error(self, message: str) -> NoReturn:
        self.refuse(message)

    def refuse(self, message: str, remedy: str = "") -> NoReturn:
        """As `error`; `remedy` says what to do, if that is more than to read the help."""
        raise WrongUsage(self, message, remedy or f"{self.prog} --help shows what it takes")

    def print_help(self, _file: object = None) -> NoReturn:
        """What argparse calls for --help."""
        raise HelpAsked(self)

    def fitted(self, columns: int) -> Parser:
        """Have its help and usage fit into so many columns, and return it; argparse would ask the process for them."""
        self.formatter_class = partial(argparse.HelpFormatter, width=columns - 2)
        return self


@final
class WrongUsage(InvalidArgument):
    """The words make no command line of that parser."""

    code = "usage"

    def __init__(self, parser: Parser, message: str, remedy: str) -> None:
        super().__init__(message, remedy=remedy)
        self.parser = parser


@final
class HelpAsked(Exception):
    """The words ask for the help of that parser."""

    def __init__(self, parser: Parser) -> None:
        super().__init__()
        self.parser = parser


def meant_verb(word: str, verbs: list[str]) -> str:
    """The verb that was probably meant by a word that is none; "" if none is like it."""
    return _OTHER_WORDS.get(word) or _nearest(word, verbs, _ALIKE_VERB)


def _nearest(word: str, known: list[str], alike: float = _ALIKE) -> str:
    import difflib  # late: only a mistake needs it

    longer = [one for one in known if word.startswith(one) and one.strip("-")]
    found = difflib.get_close_matches(word, known, n=1, cutoff=alike)
    return max(longer, key=len, default="") or next(iter(found), "")


def add_verb(
    verbs: Verbs, name: str, run: Verb, *takes: Takes, summary: str, example: str, details: str = ""
) -> Parser:
    """Add a verb that acts on an instance; `run` gets the parsed arguments and returns the exit code."""
    which = instance("$MUXWIRE_NAME, else main, else the only one")
    return add_parser(verbs, name, run, which, *takes, summary=summary, example=example, details=details)


def add_parser(
    verbs: Verbs, name: str, run: Verb, *takes: Takes, summary: str, example: str, details: str = ""
) -> Parser:
    """Add a verb and what it takes; `example` is a command line that works as it stands."""
    parser: Parser = verbs.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {details}".strip(),
        epilog=f"Example: {example}",
    )
    parser.set_defaults(run=run)
    parser.summary = summary
    for take in takes:
        take(parser)
    return parser


def option(*names: str, **options: Any) -> Takes:  # noqa: ANN401 (argparse's)
    """An option, or a word, as argparse's `add_argument` has it."""
    return lambda where: where.add_argument(*names, **options)


def flag(*names: str, help: str, **options: Any) -> Takes:  # noqa: A002, ANN401 (as argparse)
    """An option without a value."""
    return option(*names, action="store_true", help=help, **options)


def of(verb: type[Described], *only: str, without: Sequence[str] = (), **spelled: Mapping[str, Any]) -> Takes:
    """An option for every parameter of a verb but its tab, or for those that are named.

    An option is called as its parameter. `spelled` says by a parameter's name what is else than the parameter has it:
    argparse's options, and `flags`, which is one word without a dash for a word of the command line.
    """

    def add(where: Any) -> None:  # noqa: ANN401 - argparse has no public name for both
        for one in parameters(verb):
            if one.name in (only or {one.name} - _TABS) and one.name not in without:
                given = {"flags": (f"--{one.name.strip('_').replace('_', '-')}",), **spelled.get(one.name, {})}
                flags = given.pop("flags")
                dest = {"dest": one.name} if flags[0].startswith("-") else {}
                where.add_argument(*flags, **{"help": one.help.replace("%", "%%"), **_reading(one), **dest, **given})

    return add


def one_of(*takes: Takes, title: str = "") -> Takes:
    """Options of which one may be given; with a title they are a part of the help."""

    def add(parser: Parser) -> None:
        group = (parser.add_argument_group(title) if title else parser).add_mutually_exclusive_group()
        for take in takes:
            take(group)

    return add


def instance(default: str) -> Takes:
    return one_of(
        option("--name", metavar="NAME", help="the instance of that name, whose tabs stay"),
        *SERVERS,
        title=f"which instance (default: {default})",
    )


SERVERS = (
    option("--socket", metavar="PATH", help="the tmux server at that socket"),
    option("--socket-name", metavar="NAME", help="the tmux server of that name, as in tmux -L"),
)
AS_JSON = flag("--json", help="print one JSON document")
NO_COLOURS = flag("--plain", dest="no_colours", help="no colours, as with $NO_COLOR")
# How the tools' strip_ansi is spelled; without it the tab's own default holds.
PLAIN = {"flags": ("--plain", "--strip-ansi")}
_TABS = {"window_id", "window_ids"}
_DEFAULT = " (the default)"


def names_tab(*, many: bool = False, word: bool = True, needed: bool = False) -> Takes:
    """TAB, as `-t TAB` and, for a verb that takes no other words, as a word: `target`, or with `many` `targets`.

    `needed`: TAB has no default.
    """
    (text,) = (one.help for one in parameters(InTab))
    text = (text.removesuffix(_DEFAULT) if needed else text).replace("%", "%%")  # as argparse wants it
    dest, nargs = ("targets", "*") if many else ("target", "?")
    text += "; may be repeated" if many else ""

    def add(parser: Parser) -> None:
        parser.add_argument("-t", "--target", metavar="TAB", dest=dest, action="append" if many else "store", help=text)
        parser.set_defaults(**{dest: [] if many else ACTIVE})
        if word:
            # SUPPRESS: if no word is given, the value of -t stays.
            parser.add_argument(
                dest,
                metavar="TAB",
                nargs=nargs,
                action="extend" if many else "store",
                default=argparse.SUPPRESS,
                help="the same as -t TAB",
            )

    return add


def named_tabs(arguments: argparse.Namespace) -> list[str]:
    """The tabs that are meant: those that are named, none for all of them, or the one used last; InvalidArgument."""
    if arguments.all and arguments.targets:
        raise InvalidArgument("--all and a tab cannot be combined", remedy="leave one of them out")
    return [] if arguments.all else arguments.targets or [ACTIVE]


def words_of(verb: type[Described], arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options say of a verb, for the library's method that takes it."""
    given = vars(arguments)
    words = {one.name: given[one.name] for one in parameters(verb) if one.name in given}
    return words | ({"env": dict(words["env"])} if "env" in words else {})


def words_after(words: list[str]) -> list[str]:
    """The words of a command, without the -- before it; some versions of argparse have removed that already."""
    return words[1:] if words[:1] == ["--"] else words


def _reading(one: Parameter) -> dict[str, Any]:
    """How argparse reads a parameter, as `add_argument` takes it."""
    if one.kind is bool:
        return {"action": "store_true", "default": one.default}
    reading: dict[str, Any] = {"default": one.default}
    if one.choices:
        return reading | {"choices": one.choices}
    reading["metavar"] = one.metavar or ("SECONDS" if one.unit == "ms" else one.name.upper())
    if one.kind is int:
        reading["type"] = partial(_whole, least=one.least or 0, most=one.most)
    elif one.unit == "ms":
        reading["type"] = duration if one.metavar == "TIME" else seconds
    elif one.kind == Mapping[str, str]:
        reading |= {"type": assignment, "action": "append", "default": []}
    elif one.kind == tuple[int, int]:
        reading["type"] = size
    elif one.kind == Strings:
        reading |= {"action": "append", "default": []}
    return reading


def _parts(text: str, pattern: str, must: str) -> tuple[str, ...]:
    """The groups of a pattern, which has to match all of the text."""
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        raise argparse.ArgumentTypeError(f"must be {must}, not {text!r}")
    return found.groups()


def seconds(text: str) -> float:
    return float(_parts(text, r"(\d+\.?\d*|\.\d+|inf)", "seconds, 0 or more, as 2.5")[0])


def machine(text: str) -> str:
    """The name of another machine: "" would mean this one, where a script forgot to set a variable."""
    return _parts(text, "(.+)", "the name of a machine")[0]


def duration(text: str) -> float:
    """A time from 1 s on, with its unit."""
    number, unit = _parts(text, "0*([1-9][0-9]*)([smhd])", "1 or more of s, m, h or d, as 30m")
    return float(int(number) * UNITS[unit])


def size(text: str) -> tuple[int, int]:
    columns, rows = _parts(text, r"(\d+)x(\d+)", "COLUMNSxROWS, as 120x40")
    return int(columns), int(rows)


def assignment(text: str) -> tuple[str, str]:
    name, value = _parts(text, "([^=]+)=(.*)", "NAME=VALUE")
    return name, value


def _whole(text: str, *, least: int, most: int | None = None) -> int:
    if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
        limits = f"{least} or more" if most is None else f"{least} to {most}"
        raise argparse.ArgumentTypeError(f"must be {limits}, not {text!r}")
    return int(text)


positive, port = partial(_whole, least=1), partial(_whole, least=0, most=65_535)
