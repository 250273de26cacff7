"""What others recorded of their agents' terminals, read from a clone: screens and commands.

The leaderboard repository of Terminal-Bench has a folder for each trial: `sessions/agent.log` is what the terminal was
sent, `panes/post-agent.txt` what tmux showed and had above when the agent was done. mini-swe-agent prints each command
in a block of its own.

That repository has no trial of Terminus-2. Another one, skillsbench-replay, has what a model answered as Terminus-2
with skills: `benchmark/TASK/sample_N/response.json`, keystrokes with the seconds that it gave them.
Nothing of them is part of this repository: they have no licence.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.stages import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COLUMNS, ROWS = 160, 40
LONGEST_SLEEP = 60.0
_LENIENT = json.JSONDecoder(strict=False)
# The recorder is ended after tmux was asked: its prompt is drawn over from there on.
_AFTERWARDS = re.compile(rb"\x1b\[\?2004l\r\r?\n?\r?\nexit\r\n")
_TESTS, _CUT_OFF = b"run-tests.sh", '"agent_timeout"'
_UNSEEN = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[^\r\n]*\r(?!\n)|\r")
_STEP = re.compile(r"^mini-swe-agent \(step ", re.MULTILINE)
_BLOCK = re.compile(r"^```bash\n(.*?)\n```", re.MULTILINE | re.DOTALL)
_NETWORK = re.compile(
    r"\b(apt|apt-get|pip3?|npm|npx|yarn|conda|curl|wget|ssh|scp|cargo|go get|git (clone|fetch|pull|push)|docker"
    r"|huggingface|nltk|playwright)\b|https?://(?!localhost|127)"
)


@dataclass(frozen=True, slots=True)
class Screen:
    """A terminal's bytes up to a moment, and the rows that tmux showed then.

    `at_end`: what else the trial recorded says that it was the same moment: the agent was not cut off by its limit of
    time, which lets it write on, its recorder was ended afterwards, and the tests did not run in the same pane.
    """

    agent: str
    log: bytes
    rows: tuple[str, ...]
    at_end: bool


def screens(clone: Path, longest: int) -> Iterator[Screen]:
    """Those of all trials whose log has at most so many bytes."""
    for log in sorted(clone.glob("results/*/*/**/sessions/agent.log")):
        trial = log.parent.parent
        pane = trial / "panes" / "post-agent.txt"
        if pane.exists() and log.stat().st_size <= longest:
            data = log.read_bytes()
            ends = [found.start() for found in _AFTERWARDS.finditer(data)]
            at_end = (
                bool(ends)
                and _TESTS not in data
                and not any(_CUT_OFF in said.read_text("utf-8", "replace") for said in trial.glob("results.json"))
            )
            rows = pane.read_text("utf-8", "replace").removesuffix("\n").split("\n")[-ROWS:]
            agent = log.relative_to(clone).parts[2].split("_")[1]
            yield Screen(agent, data[: ends[-1]] if ends else data, shown(rows), at_end)


def shown(rows: list[str]) -> tuple[str, ...]:
    """Rows without the blanks at their ends, and without the empty ones below the last."""
    return tuple("\n".join(row.rstrip() for row in rows).rstrip("\n").split("\n"))


def commands(clone: Path) -> dict[str, list[str]]:
    """By task, harder and easier ones of a name as one: the commands of mini-swe-agent's longest trial, in turn.

    Unavailable if there are none.
    """
    found: dict[str, list[str]] = {}
    for log in sorted(clone.glob("results/*/*mini*/**/sessions/agent.log")):
        task = log.parent.parent.parent.name.partition(".")[0]
        some = _typed(log.read_bytes().decode("utf-8", "replace"))
        if len(some) > len(found.get(task, ())):
            found[task] = some
    if not found:
        raise Unavailable(f"{clone} is no clone of the leaderboard repository: it has no results/*/*mini*")
    return found


def _typed(log: str) -> list[str]:
    """Those that stand in the log as the model wrote them: the log has lines of 160 characters at most."""
    text = _UNSEEN.sub("", log.replace("\r\n", "\n"))
    steps = [step.partition("\nUser:\n")[0] for step in _STEP.split(text)[1:]]
    blocks = [found for step in steps if len(found := _BLOCK.findall(step)) == 1]
    return [command for (command,) in blocks if not _may_be_folded(command)]


def _may_be_folded(command: str) -> bool:
    """Whether a line may have been cut where the next word, or the next letter, had no room any more."""
    lines = command.split("\n")
    firsts = [(line.split() or [""])[0] for line in (*lines[1:], "")]
    return any(len(line) + bool(first) + len(first) > COLUMNS for line, first in zip(lines, firsts, strict=True))


def keystrokes(clone: Path) -> dict[str, list[tuple[str, float]]]:
    """By task: what a model typed, in turn, and the seconds that Terminus-2 would sleep then. Unavailable if nothing.

    Its answers are the first JSON in what it says. Harbor gives a second to what has no duration, and 60 at most.
    """
    found: dict[str, list[tuple[str, float]]] = {}
    files = clone.glob("benchmark/*/sample_*/response.json")
    for file in sorted(files, key=lambda file: (file.parent.parent, int(file.parent.name.rpartition("_")[2]))):
        said = json.loads(file.read_text())["content"]
        answer, _ = _LENIENT.raw_decode(said, said.index("{"))
        for one in answer.get("commands", ()):
            typed = one["keystrokes"], min(float(one.get("duration", 1)), LONGEST_SLEEP)
            found.setdefault(file.parent.parent.name, []).append(typed)
    if not found:
        raise Unavailable(f"{clone} is no clone of skillsbench-replay: it has no benchmark/*/sample_*/response.json")
    return found


def needs_network(command: str) -> bool:
    """Whether it looks as if it did."""
    return _NETWORK.search(command) is not None
