"""What a shell is doing has one owner: nobody else reads a mark, or writes into a session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src" / "muxwire"
FILES = [path for path in SOURCE.rglob("*.py") if path.parent.name != "shell"]
# `x.session.state = ...`, also as one of several targets.
WRITES = re.compile(r"^\s*(?:[\w.]+, )*(?:\w+\.)*_?pane\.session\.[\w.]+(?:, [\w.]+)* [-+|]?= ", re.MULTILINE)
KINDS = re.compile(
    r"\b(?:PromptStart|LineAccepted|OutputStart|CommandFinished|PostExec|ShellExited|ProbeReply|EchoStart|EchoEnd)\b"
)
# Recordings and live streams of the control connection show marks as they are: there is no session to ask.
SHOWS_MARKS = SOURCE / "repl" / "showing.py"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_nobody_else_reads_a_mark_or_writes_into_a_session(path: Path) -> None:
    text = path.read_text()
    assert not WRITES.findall(text)
    assert path == SHOWS_MARKS or not KINDS.findall(text)


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("    pane.session.at_prompt = False", True),
        ("        self._pane.session.state, other = x, y", True),
        ("pane.session.current.note += text", True),
        ("if pane.session.at_prompt == True:", False),
        ("session = pane.session", False),
        ("f(a=pane.session.state, b=1)", False),
    ],
)
def test_the_test(line: str, written: bool) -> None:
    assert bool(WRITES.search(line)) == written
