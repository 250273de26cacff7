"""The command line: what it prints, what it returns, and that it starts nothing that it was not asked for."""

from __future__ import annotations

import shlex

import pytest

import muxwire
from muxwire.cli.command_line import MODULES, command_line, verb_first
from muxwire_client import whole
from tests.cli.user import Place


@pytest.mark.parametrize(
    ("arguments", "usage", "meant"),
    [
        (["lst"], "muxwire [-h]", "did you mean muxwire ls?"),
        (["execute", "make"], "muxwire [-h]", "did you mean muxwire run?"),
        (["snapsot"], "muxwire [-h]", "did you mean muxwire snapshot?"),
        (["rum"], "muxwire [-h]", "did you mean muxwire run?"),
        (["ks"], "muxwire [-h]", "muxwire --help shows what it takes"),
        (["run", "--tiemout", "5", "make"], "muxwire run ", "did you mean --timeout?"),
        (["logs", "--folow"], "muxwire logs ", "did you mean --follow?"),
        (["wait", "--until"], "muxwire wait ", "muxwire wait --help shows what it takes"),
        (["snapshot", "a", "b"], "muxwire snapshot ", "muxwire snapshot --help shows"),
        (["snapshot", "-t", "a", "--rows", "b"], "muxwire snapshot ", "unrecognized arguments: --rows\n"),
        (["snapshot", "--at-byte", "5"], "muxwire snapshot ", "did you mean --at?"),
        (["logs", "--tail", "5"], "muxwire logs ", "muxwire logs --help shows what it takes"),
        (["run", "--timeout", "5", "--"], "muxwire run ", "muxwire run COMMAND, or muxwire run - < FILE"),
        (["web", "--port", "65536"], "muxwire web ", "must be 0 to 65535, not '65536'\n"),
        (["completion"], "muxwire completion ", "arguments are required: SHELL\n"),
        (["zzz"], "muxwire [-h]", "muxwire --help shows what it takes"),
        (["nonsense"], "muxwire [-h]", "muxwire --help shows what it takes"),
        (["serve", "--nonsense"], "muxwire serve ", "unrecognized arguments: --nonsense\n"),
        (["demo", "more"], "muxwire demo ", "unrecognized arguments: more\n"),
        (["help", "lgos"], "muxwire [-h]", "did you mean muxwire logs?"),
    ],
)
def test_a_mistake_shows_the_verbs_own_usage_and_what_was_meant(
    arguments: list[str], usage: str, meant: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert whole(arguments) == 2
    shown = capfd.readouterr()
    assert (shown.err[: 7 + len(usage)], shown.out) == (f"usage: {usage}", "")
    assert meant in shown.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["--json", "ls"], ["ls", "--json"]),
        (["--name", "dev", "-t", "build", "run", "ls", "-t"], ["run", "--name", "dev", "-t", "build", "ls", "-t"]),
        (["--name=dev", "ls", "-a"], ["ls", "--name=dev", "-a"]),
        (["--name", "dev", "--help"], ["--help", "--name", "dev"]),
        (["--json"], ["--json"]),
        ([], []),
    ],
)
def test_options_may_stand_before_the_verb(words: list[str], meant: list[str]) -> None:
    assert verb_first(words) == meant


def test_each_module_adds_the_verbs_that_are_said_of_it() -> None:
    for module, verbs in MODULES.items():
        assert tuple(command_line(verbs[0]).verbs) == verbs, module


def test_every_help_ends_with_an_example_that_the_parser_takes() -> None:
    parser = command_line()
    for verb, one in parser.verbs.items():
        example = (one.epilog or "").removeprefix("Example: ")
        words = shlex.split(example.replace("<(muxwire", "muxwire").replace(")", ""), comments=False)
        # What stands before muxwire in a pipe, and a redirection after it, are the shell's.
        at = len(words) - 1 - words[::-1].index("muxwire")
        rest = words[at + 1 :]
        rest = rest[: rest.index("<")] if "<" in rest else rest
        assert parser.parse_args(verb_first(rest)).verb == verb, example


def test_help_and_version(place: Place) -> None:
    assert (place.ok("help"), place.ok("help", "run")) == (place.ok("--help"), place.ok("run", "--help"))
    assert place.ok("version").startswith(f"muxwire {muxwire.__version__}, Python 3.")
    assert place.document("version", "--json")["muxwire"] == muxwire.__version__


@pytest.mark.parametrize(
    "words", ["{}", "ls {}", "ls --name {}", "ls --{}", "snapshot {}", "new --cwd {}", "new --env {}", "help {}"]
)
def test_a_terminal_gets_no_order_from_an_argument_that_is_refused(words: str, place: Place) -> None:
    done = place.run(*words.format("a\x1b[21t\x9b6n\a").split(" "))
    assert done.returncode in (1, 2)
    assert rb"\x1b[21t\x9b6n" in done.stderr
    assert not [sign for sign in done.stderr.decode() if not sign.isprintable() and sign != "\n"]
