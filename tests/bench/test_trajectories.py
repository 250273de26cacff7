"""Recordings of the shapes that others publish, written here: what is read from them, and how it is judged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anyio
import pytest

from bench import recordings, trajectories
from bench.trajectories import (
    IMMEDIATE,
    WAYS,
    Known,
    Room,
    Score,
    commands_again,
    keystrokes_again,
    same,
    screens_again,
)

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = "cat > note << 'END'\none\n  two\nEND"
COMMANDS = ("mkdir -p out && cd out && pwd", DOCUMENT, "curl http://example.org", "ls; (exit 3)")
FOLDED = f"echo {'word ' * 29}word\nanother"
SPINNER = "\x1b[?25l\x1b[32m-\x1b[0m Waiting...\r\x1b[2K"
ENDED = "\x1b[?2004l\r\r\nexit\r\n\x1b[0;32masciinema: recording finished\x1b[0m\r\n$ "
# As a model answers to Terminus-2: with words around the JSON, whose texts may have line ends as they are.
ANSWERS = (
    """So.\n```json\n{"analysis": "one\ntwo {", "plan": "", "commands": [
      {"keystrokes": "cat > note << 'END'\\none\\nEND\\n", "duration": 600},
      {"keystrokes": "test -s note\\n", "duration": 30}]}\n```\n{}""",
    '{"load_skill": "x"}',
    '{"commands": [{"keystrokes": "sleep 60\\n", "duration": 0.5}, {"keystrokes": "curl http://example.org\\n"}]}',
)


def step(number: int, command: str) -> str:
    """As mini-swe-agent prints one."""
    shown = f"mini-swe-agent (step \x1b[1m{number}\x1b[0m, $0.01):\n{SPINNER}THOUGHT: so.\n\n```bash\n{command}\n```\n"
    return shown + "\n\x1b[1;32mUser\x1b[0m:\n<returncode>0</returncode>\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A trial of mini-swe-agent that ended, and one of another agent that was cut off."""
    steps = "".join(step(number, command) for number, command in enumerate((*COMMANDS, FOLDED), 1))
    drawn = steps.replace("\n", "\r\n") + "\x1b[2J\x1b[Hdone   \r\n\x1b[1m$ \x1b[0m"
    for agent, log, result in (("mini", drawn + ENDED, "unset"), ("other", "ab\r\nrest", "agent_timeout")):
        trial = tmp_path / "results" / "set" / f"2025_{agent}_model" / "task" / "task.1"
        for folder in ("sessions", "panes"):
            (trial / folder).mkdir(parents=True)
        (trial / "sessions" / "agent.log").write_bytes(log.encode())
        (trial / "panes" / "post-agent.txt").write_text("\n".join(["above", *"x" * 8, "done", "$"] + [""] * 38) + "\n")
        (trial / "results.json").write_text(json.dumps({"failure_mode": result}))
    return tmp_path


def test_commands_are_read_as_the_model_wrote_them(clone: Path) -> None:
    assert recordings.commands(clone) == {"task": list(COMMANDS)}  # what may have been folded is left out
    assert [command for command in COMMANDS if recordings.needs_network(command)] == [COMMANDS[2]]


def test_a_screen_is_compared_at_the_moment_when_tmux_was_asked(clone: Path) -> None:
    report = anyio.run(screens_again, recordings.screens(clone, 1 << 20))
    assert report.rows == (("mini", "1 of 1", "1 of 1", "0 of 0"), ("other", "0 of 0", "0 of 0", "0 of 1"))


@pytest.mark.parametrize(
    ("found", "screen", "counted"),
    [
        ({"output": "a  \r\n", "code": 3, "ended": True}, False, (1, 0, 1, 0, 0)),
        ({"output": "a", "code": 0, "ended": True}, False, (1, 0, 0, 0, 0)),
        ({"output": "$ x\na\n$ ", "code": None, "ended": True}, True, (0, 1, 0, 0, 0)),
        ({"output": "a", "code": None, "ended": False}, False, (0, 0, 0, 1, 1)),
        ({"error": "no answer"}, False, (0, 0, 0, 0, 0)),
        ({"error": "late", "ended": False}, False, (0, 0, 0, 1, 1)),
    ],
)
def test_what_counts_as_exact_whole_right_and_hung(
    found: dict[str, object], screen: bool, counted: tuple[int, ...]
) -> None:
    score = Score("a way")
    score.count(Known("x", frozenset({"a"}), 3), found, (False, True), screen=screen)
    assert tuple(score.counts[name] for name in ("exact", "within", "codes", "hung", "later")) == counted


def test_a_clock_and_the_number_of_a_line_are_not_compared() -> None:
    assert same("bash: line 3: x: not found\r\nat 10:20:30.5") == same("bash: x: not found\nat 09:00:00.1\n")


@pytest.fixture
def room(tmp_path: Path) -> Room:
    """Not shut: what runs in it was written here."""
    (tmp_path / "work").mkdir()
    return Room(tmp_path / "work", tmp_path, shut=False)


def test_commands_are_run_by_muxwire_as_by_a_shell_of_their_own(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectories, "SECONDS", 60.0)
    report, _ = commands_again({"task": COMMANDS}, WAYS[:2], 9, room)
    assert [row[1:7] for row in report.rows] == [("3 of 3", 0, 3, 0, "0 of 1", "-")] * 2


def test_keystrokes_end_when_they_are_over__in_the_seconds_that_the_model_gave(tmp_path: Path, room: Room) -> None:
    for number, said in enumerate(ANSWERS, 9):  # of one digit, and of two
        file = tmp_path / "benchmark" / "task" / f"sample_{number}" / "response.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"role": "assistant", "content": said}))
    typed = recordings.keystrokes(tmp_path)
    assert [seconds for _, seconds in typed["task"]] == [60, 30, 0.5, 1]
    assert [(*row[:4], *row[5:]) for row in keystrokes_again(typed, room).rows] == [
        (IMMEDIATE, "another", 1, 0.5, 0, 1),
        ("more", "0", 2, 90, 2, 0),
    ]
