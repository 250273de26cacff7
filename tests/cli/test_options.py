"""The command line takes what the verbs take: what it leaves out is left out on purpose."""

from __future__ import annotations

import math
import re

import pytest

from muxwire.cli.command_line import command_line
from muxwire.cli.options import WrongUsage, words_after
from muxwire.cli.printing import WORDS
from muxwire.cli.run import read_options_after
from muxwire.verbs.catalogue import (
    VERBS,
    CommandResult,
    ExecuteCommand,
    ExecuteScript,
    RunTmuxOperations,
    SendKeys,
    SetHistoryLimit,
    ShowTerminal,
    StartProcess,
    StopProcess,
    StreamLogs,
    WatchEvents,
)
from muxwire.verbs.describe import Verb, parameters

# -t and words name tabs in all verbs.
TABS = {"window_id", "window_ids"}
LEFT_OUT: dict[type[Verb], set[str]] = {
    # The output is printed as it comes, and whole; C-c and a shell's & are there already.
    ExecuteCommand: {"async_", "idle", "max_chars"},
    # `muxwire paste`.
    SendKeys: {"paste"},
    # `logs --follow` waits and reads on.
    StreamLogs: {"max_bytes", "wait"},
    # `watch` begins now, and shows all.
    WatchEvents: {"since", "max_events"},
    # FILE holds them.
    RunTmuxOperations: {"operations"},
}
# Verbs for agents: a person has `run`, files, tmux, and `attach`.
NOT_THERE = {CommandResult, ExecuteScript, StartProcess, StopProcess, SetHistoryLimit, ShowTerminal}


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in NOT_THERE], ids=lambda verb: verb.verb)
def test_every_parameter_is_an_option_or_left_out_for_a_reason(verb: type[Verb]) -> None:
    word = WORDS[verb.verb].split()[1]
    taken = {action.dest for action in command_line(word).verbs[word].taken}
    left_out = LEFT_OUT.get(verb, set())
    assert taken | left_out | TABS >= {one.name for one in parameters(verb)}
    assert not taken & left_out


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["new", "--idle-timeout", "30m"], "idle_timeout", 1800.0),
        (["new", "--strip-ansi"], "strip_ansi", True),
        (["new", "--env", "A=1", "--env", "B=2"], "env", [("A", "1"), ("B", "2")]),
        (["new", "--size", "120x40"], "size", (120, 40)),
        (["run", "ls"], "strip_ansi", None),
        (["run", "--plain", "ls"], "strip_ansi", True),
        (["run", "ls"], "on_timeout", "interrupt"),
        (["run", "--leave", "ls"], "on_timeout", "leave"),
        (["logs", "-n", "5"], "lines", 5),
        (["ops", "-", "--on-error", "continue"], "on_error", "continue"),
        (["kill", "--session", "work"], "session", "work"),
        (["send-keys", "--until", "x", "y", "Enter"], "until", "x"),
    ],
)
def test_options_are_read(words: list[str], name: str, value: object) -> None:
    assert getattr(command_line(words[0]).parse_args(words), name) == value


@pytest.mark.parametrize("verb", ["kill", "logs", "send-keys", "wait", "attach"])
def test_the_help_says_where_a_tab_must_be_named(verb: str) -> None:
    texts = [action.help or "" for action in command_line(verb).verbs[verb].taken if "-t" in action.option_strings]
    assert ["(the default)" in text for text in texts] == [verb != "kill"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["logs", "-n", "0"], "argument -n/--lines: must be 1 to 1000000, not '0'"),
        (["wait", "--idle", "soon"], "argument --idle: must be seconds, 0 or more, as 2.5, not 'soon'"),
        (["run", "--timeout", "-1", "x"], "argument --timeout: must be seconds, 0 or more, as 2.5, not '-1'"),
        (["new", "--idle-timeout", "0s"], "must be 1 or more of s, m, h or d, as 30m, not '0s'"),
        (["new", "--size", "120xbig"], "must be COLUMNSxROWS, as 120x40, not '120xbig'"),
        (["new", "--env", "A"], "must be NAME=VALUE, not 'A'"),
        (["new", "--host", ""], "must be the name of a machine, not ''"),
        (["run", "--host", "", "x"], "must be the name of a machine, not ''"),
    ],
)
def test_what_does_not_fit_is_said(words: list[str], said: str) -> None:
    with pytest.raises(WrongUsage, match=re.escape(said)):
        command_line(words[0]).parse_args(words)


@pytest.mark.parametrize(
    ("words", "command", "timeout"),
    [
        (["sleep 5", "--timeout", "1"], ["sleep 5"], 1.0),
        (["sleep 5", "--timeout=1", "--json"], ["sleep 5"], 1.0),
        (["--timeout", "2", "sleep 5", "--json"], ["sleep 5"], 2.0),
        (["sleep 5"], ["sleep 5"], math.inf),
        (["make", "--timeout", "1"], ["make", "--timeout", "1"], math.inf),
        (["/a b/program", "-x"], ["/a b/program", "-x"], math.inf),
        (["--", "/a b/program", "--timeout", "1"], ["/a b/program", "--timeout", "1"], math.inf),
    ],
)
def test_options_follow_a_command_that_is_one_line(words: list[str], command: list[str], timeout: float) -> None:
    read = command_line("run").parse_args(["run", *words])
    read_options_after(command_line("run").verbs["run"], read)
    assert (words_after(read.command), read.timeout) == (command, timeout)


def test_a_word_after_those_options_is_refused() -> None:
    read = command_line("run").parse_args(["run", "sleep 5", "--timeout", "1", "and", "more"])
    said = "'and' follows a command that is one quoted line: only options of muxwire may"
    with pytest.raises(WrongUsage, match=said):
        read_options_after(command_line("run").verbs["run"], read)


def test_what_a_parser_takes_is_in_its_page_and_its_completion() -> None:
    """Both are made from `taken`."""
    for name, parser in command_line("").verbs.items():
        assert {*parser.taken} == {*parser._actions}, name
