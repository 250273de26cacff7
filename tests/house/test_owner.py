"""One owner for what a shell is doing, and one place where a pane's bytes, its registration and its end are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src" / "muxwire"
FILES = [path for path in SOURCE.rglob("*.py") if path.parent.name != "shell"]
# `x.session.state = ...`, also as one of several targets.
WRITES = re.compile(r"^\s*(?:[\w.]+, )*(?:\w+\.)*_?pane\.session\.[\w.]+(?:, [\w.]+)* [-+|]?= ", re.MULTILINE)
# What becomes of a command is written by the session alone; a later process reads it from the record of its tab.
LIFE = re.compile(
    r"\bexecution\.(?:begin|begin_time|end|end_time|exit_code|ending|cwd|level|shell_\w+|ours|held|cut|post_exec)"
    r" [-+|]?= |\bexecution\.(?:start|finish)\("
)
RECORD = SOURCE / "tabs" / "record.py"
KINDS = re.compile(
    r"\b(?:PromptStart|LineAccepted|OutputStart|CommandFinished|PostExec|ShellExited|ProbeReply|EchoStart|EchoEnd)\b"
)
# Recordings and live streams of the control connection show marks as they are: there is no session to ask.
SHOWS_MARKS = SOURCE / "repl" / "showing.py"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_nobody_else_reads_a_mark_or_writes_into_a_session(path: Path) -> None:
    text = path.read_text()
    assert not WRITES.findall(text)
    assert path == RECORD or not LIFE.findall(text)
    assert path == SHOWS_MARKS or not KINDS.findall(text)


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        (r"attach_pane\(.*stream\.feed", ["tabs/maker.py"]),  # where a pane's output begins to go into its stream
        (r"\bmaker\.build\(", ["instance/reattach.py"]),  # where a pane that runs already becomes a tab
        (r"\b_?book\.add\(", ["tabs/maker.py"]),  # where a tab becomes known
        (r"\bTab\($", ["tabs/maker.py"]),
        (r"\.detach_pane\(", ["tabs/book.py"]),  # where it ends
        (r"\btab\.pane\.close\(", ["tabs/book.py"]),
        (r"\.retire\(", ["tabs/book.py", "tabs/tab.py"]),
        (r"self\._?\w+: .*[dD]ict\w*\[Tab\b", []),  # what is known of a tab is a field of the tab
    ],
)
def test_a_pane_is_registered_heard_and_ended_in_one_place(pattern: str, places: list[str]) -> None:
    found = re.compile(pattern, re.MULTILINE)
    matches = (path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if found.search(path.read_text()))
    assert sorted(matches) == places


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("    pane.session.at_prompt = False", True),
        ("        self._pane.session.state, other = x, y", True),
        ("pane.session.current.note += text", True),
        ("    execution.begin = stream.end", True),
        ("    execution.finish(ending, now)", True),
        ("if execution.begin == stream.end:", False),
        ("if pane.session.at_prompt == True:", False),
        ("session = pane.session", False),
        ("f(a=pane.session.state, b=1)", False),
    ],
)
def test_the_test(line: str, written: bool) -> None:
    assert bool(WRITES.search(line) or LIFE.search(line)) == written
