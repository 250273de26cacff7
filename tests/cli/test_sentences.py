"""What happened in a tab as a sentence, and colours for people at terminals only."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from muxwire.cli.printing import coloured, table
from muxwire.cli.sentences import sentence
from muxwire.verbs.types import EventKind
from tests.cli.caller import Caller

SENTENCES: list[tuple[EventKind, dict[str, Any], str]] = [
    ("tab_opened", {"name": "build", "session": "hub"}, "opened: build"),
    ("tab_closed", {"reason": "the tab was closed"}, "closed: the tab was closed"),
    ("tab_renamed", {"name": "web"}, "renamed: web"),
    ("command_started", {"by": "execute", "command": "make -j4", "from_byte": 7}, "an agent runs: make -j4"),
    ("command_started", {"by": "execute", "command": "make\nls"}, "an agent runs: make ..."),
    ("command_started", {"by": "person", "line": "~$ ls"}, "a person runs: ~$ ls"),
    ("command_started", {"by": "person"}, "a person runs:"),
    ("command_finished", {"by": "execute", "exit_code": 2}, "the line of an agent has ended, exit code 2"),
    ("command_finished", {"by": "keys", "exit_code": 0}, "the line of an agent, by keys, has ended, exit code 0"),
    ("command_finished", {"by": "person", "exit_code": None}, "the line of a person has ended, exit code unknown"),
    ("prompt", {"cwd": "/usr", "next_byte": 9}, "ready, in /usr"),
    ("output", {"from_byte": 10, "next_byte": 42}, "wrote the bytes 10 to 42"),
    ("bell", {"count": 3, "next_byte": 9}, "the bell rang (3)"),
    ("title", {"title": "vim"}, "title: vim"),
    ("progress", {"progress": "normal", "percent": 0}, "progress: normal 0"),
    ("progress", {"progress": "removed"}, "progress: removed"),
    ("exited", {"exit_code": 0}, "its program has ended, exit code 0"),
    ("exited", {"exit_code": None}, "its program has ended, exit code unknown"),
    ("client_attached", {"client": "/dev/pts/3", "session": "hub"}, "a person attached to the session hub"),
    ("human_input", {"how": "line"}, "a person typed (line)"),
    ("human_input", {"how": "keys", "command_id": "c1"}, "a person typed (keys)"),
    ("link", {"host": "gpu", "link": "reconnecting"}, "gpu: the connection is reconnecting"),
]


@pytest.mark.parametrize(("kind", "details", "said"), SENTENCES, ids=[said for *_, said in SENTENCES])
def test_an_event_is_a_sentence(kind: EventKind, details: dict[str, Any], said: str) -> None:
    assert sentence(kind, details) == said


def test_every_kind_has_a_sentence() -> None:
    assert {kind for kind, *_ in SENTENCES} == set(get_args(EventKind))


@pytest.mark.parametrize(
    ("environ", "plain", "at_terminal", "wanted"),
    [
        ({"TERM": "xterm"}, False, True, True),
        ({"TERM": "xterm"}, False, False, False),
        ({"TERM": "xterm"}, True, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, False, True, True),
        ({"TERM": "dumb"}, False, True, False),
        ({}, False, True, False),
    ],
)
def test_colours_are_for_a_person_at_a_terminal(
    environ: dict[str, str], plain: bool, at_terminal: bool, wanted: bool
) -> None:
    caller = Caller(environ=environ, sizes=(None, (80, 24) if at_terminal else None, None))
    assert caller.colours(plain=plain)("green", "ok") == ("\x1b[32mok\x1b[0m" if wanted else "ok")


def test_a_coloured_table_has_the_same_columns() -> None:
    rows = [("@1", "prompt", "x"), ("@22", "running", "y")]
    plain = table(("TAB", "STATE", "Z"), rows)
    in_colours = table(("TAB", "STATE", "Z"), rows, coloured, {"STATE": lambda _: "green"})
    assert plain == ["TAB  STATE    Z", "@1   prompt   x", "@22  running  y"]
    assert in_colours[1] == "@1   \x1b[32mprompt\x1b[0m   x"
    assert in_colours[0] == "\x1b[1mTAB\x1b[0m  \x1b[1mSTATE\x1b[0m    \x1b[1mZ\x1b[0m"
