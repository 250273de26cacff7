"""What agents did in public recordings, done again: screens, commands and guesses, by muxwire and by others.

`python -m bench trajectories --from CLONE [--limit N] [--terminus FOLDER] [--peers FOLDER] [--json FILE] [--docs]`.
CLONE is a clone of the leaderboard repository of Terminal-Bench, FOLDER one of Terminus-2's answers. Nothing of them is
published but counts. No model runs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
from collections import Counter
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from bench import recordings
from bench.contenders import clean_environment
from bench.corpus import plain
from bench.driver_process import driver_process
from bench.frameworks import DRIVER, FRAMEWORKS, Step, python_of
from bench.machine import ROOT, machine
from bench.pages import SOURCE, as_markdown, as_text
from bench.picture import shares
from bench.scenario import Report, Unavailable
from bench.throwaway import OWN, PATH, WORK, throwaway
from muxwire.logs.sizes import PaneSize
from muxwire.tmux.past import Scene, played

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bench.driver_process import Take

PLAIN = "bench.peers.plain_driver"
# What a command may take; those are tried that took less than half of it alone.
SECONDS = 5.0
# How long the command after each has, which goes back to where mini-swe-agent begins each, and must say this.
NEXT_SECONDS, BACK = 3.0, "back-42"
INTERRUPT, FRESH = Step("interrupt"), Step("fresh")
# At most so many commands of one task.
EACH = 12
LONGEST_LOG = 1_500_000
# Terminus-2 waits no longer, whatever the model says; a driver answers within a minute.
GUESS_MAX = 50.0
# What differs between two runs of the same command: clocks, sizes of directories, and how a shell names its lines.
_DIRECTORY = re.compile(r"^(d[rwxst-]{9}\S? +\d+ \S+ +\S+) +\d+", re.MULTILINE)
_CLOCK = re.compile(
    r"\d\d:\d\d(:\d\d)?(\.\d+)?|\b\d+\.\d+ ?m?s(econds)?\b|^\S*bash: (-c: )?(line \d+: )?|\bline \d+", re.MULTILINE
)
_FAILED = re.compile(r"No such file|not found|cannot|Error|error|Failed|Unable|Usage", re.IGNORECASE)


class Way(NamedTuple):
    """A terminal to run commands by, in a process of its own; `screen`: what it gives is what a screen shows."""

    title: str
    module: str
    name: str
    python: Path = Path(sys.executable)
    screen: bool = False


class Room(NamedTuple):
    """Where commands run: `work` is where each begins, `own` is the home; `shut`: in a throw-away root."""

    work: Path = WORK
    own: Path = OWN
    shut: bool = True

    @property
    def back(self) -> Step:
        """The command that goes back."""
        return Step("run", f"cd {self.work}; echo back-$((6*7))", BACK, seconds=NEXT_SECONDS)


THROWAWAY = Room()
PTY = Way("", PLAIN, "pty")
WAYS = (
    Way("`bash -c`, a shell for each", PLAIN, "bash"),
    Way("muxwire, one tab", PLAIN, "muxwire"),
    Way("`CMD; tmux wait -S done` (imitation)", PLAIN, "blocking", screen=True),
)
# Those that are measured where they can be installed.
OTHERS = {"harbor": "Harbor's `TmuxSession`", "openhands": "OpenHands' terminal"}


@dataclass(slots=True)
class Score:
    """What came of all commands that one way was given; `missed`, for who looks into it, is not published."""

    title: str
    counts: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)
    missed: list[list[str]] = field(default_factory=list)

    def count(self, known: Known, found: Mapping[str, Any], works: Sequence[bool], *, screen: bool) -> None:
        """Count what came of a command; `works`: whether the next one did, and whether it did after an interrupt."""
        output, hung, document = found.get("output", ""), _hung(found), "<<" in known.command
        ended, seen = not hung and "error" not in found, same(output)
        exact = ended and not screen and seen in known.outputs
        within = ended and not exact and any(one in seen for one in known.outputs)
        met = {
            "tried": True, "exact": exact, "within": within, "codes": found.get("code") == known.code, "hung": hung,
            "documents": document, "hung_documents": document and hung, "at_once": hung and works[0],
            "later": hung and works[1] and not works[0],
        }  # fmt: skip
        for name, value in met.items():
            self.counts[name] += value
        self.counts["characters"] += len(output)
        self.took.append(found.get("took", SECONDS))
        if not exact and not within:
            self.missed.append([known.command, str(found), *known.outputs])

    def row(self) -> tuple[str | float, ...]:
        """As the table has it."""
        n = self.counts
        after = f"{n['at_once']} + {n['later']} of {n['hung']}" if n["hung"] else "-"
        median = round(1000 * statistics.median(self.took or [0.0]))
        return (self.title, f"{n['exact']} of {n['tried']}", n["within"], n["codes"] or "not given", n["hung"],
                f"{n['hung_documents']} of {n['documents']}", after, n["characters"], median,
                round(sum(self.took)))  # fmt: skip


COLUMNS = ("way", "exact", "whole among other text", "exit code right", "hung", "here-documents hung",
           "next command works: at once + after C-c", "characters given", "median ms", "seconds in all")  # fmt: skip


def same(text: str) -> str:
    """An output as it is compared: without what a clock wrote, blanks at the ends of rows, and carriage returns."""
    return "\n".join(row.rstrip() for row in _CLOCK.sub("", _DIRECTORY.sub(r"\1", plain(text))).split("\n"))


@contextmanager
def driven(way: Way, room: Room) -> Iterator[Take]:
    """The way, in a room of its own. Unavailable."""
    environ = clean_environment(room.own) | {"PATH": PATH, "TMPDIR": "/tmp", "PAGER": "cat", "GIT_PAGER": "cat"}
    # A shell that is new for each command begins in the right place; the others are sent there.
    folder = room.work if way.name in ("bash", "pty") else room.own
    walls: AbstractContextManager[list[str]] = throwaway(way.python) if room.shut else nullcontext([])
    with walls as words:
        argv = [*words, str(way.python), "-m", way.module, way.name, "own", str(folder)]
        with driver_process(way.title or way.name, argv, environ) as take:
            yield take


async def given(take: Take, step: Step) -> dict[str, Any]:
    """What came of a step; an error if the driver has gone, which a recorded command may have killed."""
    try:
        return await take(step.asked())
    except OSError:
        return {"error": "no answer"}


class Known(NamedTuple):
    """A command that ends, what it writes, to a terminal or to a pipe, and its code; no `outputs`: nobody can say."""

    command: str
    outputs: frozenset[str]
    code: int


async def references(commands: Sequence[str], room: Room) -> list[Known]:
    """Those that end in time; one that does not write the same when run again is not `known`, and run nevertheless.

    All are run in turn, as one may need what the one before it has left; one that kills its driver is the last.
    """
    runs = []
    for way in (PTY, PTY, WAYS[0]):
        with driven(way, room) as take:
            runs.append([await given(take, Step("run", command, seconds=SECONDS)) for command in commands])
    kept = []
    for command, first, second, piped in zip(commands, *runs, strict=True):
        if any("error" in one or not one["ended"] or one["took"] > SECONDS / 2 for one in (first, second)):
            continue
        outputs = frozenset(same(one["output"]) for one in (first, piped) if one.get("ended"))
        again = same(first["output"]) == same(second["output"]) and first["code"] == second["code"]
        kept.append(Known(command, outputs if again else frozenset(), first["code"]))
    return kept


async def run_by(way: Way, known: Iterable[Known], score: Score, room: Room) -> None:
    """Run the commands of one task, each followed by one that must work."""
    with driven(way, room) as take:
        await given(take, room.back)
        for one in known:
            found = await given(take, Step("run", one.command, seconds=SECONDS))
            works = [_is_back(await given(take, room.back))] * 2
            if not works[1]:
                await given(take, INTERRUPT)
                works[1] = _is_back(await given(take, room.back))
            if not works[1]:
                await given(take, FRESH)
                await given(take, room.back)
            if one.outputs:
                score.count(one, found, works, screen=way.screen)


def _hung(found: Mapping[str, Any]) -> bool:
    return found.get("ended") is False


def _is_back(found: Mapping[str, Any]) -> bool:
    return BACK in found.get("output", "") and not _hung(found)


async def commands_again(
    tasks: Mapping[str, Sequence[str]], ways: Sequence[Way], limit: int, room: Room = THROWAWAY
) -> tuple[Report, list[Any]]:
    """Run recorded commands by each way, task after task, until so many were tried."""
    scores, left = [Score(way.title) for way in ways], 0
    for number, (task, recorded) in enumerate(tasks.items(), 1):
        if scores[0].counts["tried"] >= limit:
            break
        some = [command for command in recorded if not recordings.needs_network(command)][:EACH]
        known = await references(some, room)
        left += len(some) - sum(bool(one.outputs) for one in known)
        for way, score in zip(ways, scores, strict=True):
            await run_by(way, known, score, room)
        print(
            f"task {number} of {len(tasks)}, {task}: {scores[0].counts['tried']} commands", file=sys.stderr, flush=True
        )
    left_out = f"they do not end in {SECONDS / 2:.1f} s alone, or write something else when run again"
    notes = (
        f"{scores[0].counts['tried']} commands of {number} tasks; {left} more were left out: {left_out}",
        f"a command has {SECONDS:.0f} s, the next one {NEXT_SECONDS:.0f}: at first as it is, then after an interrupt",
        "Harbor is asked to wait for the end (`block=True`); Terminus-2 does not ask that, and sleeps its guess",
    )
    report = Report("commands", "Recorded commands", COLUMNS, tuple(score.row() for score in scores), (), notes)
    return report, [{"title": score.title, "counts": dict(score.counts), "missed": score.missed} for score in scores]


async def screen_after(log: bytes) -> tuple[str, ...]:
    """The rows of a terminal that was sent these bytes."""
    size = PaneSize(0, recordings.COLUMNS, recordings.ROWS)
    screen = await played(Scene(b"", ((size, log),), len(log), exact=True), os.environ)
    return recordings.shown(list(screen.lines))


async def screens_again(screens: Iterable[recordings.Screen]) -> Report:
    """Play logs, and compare with what tmux showed."""
    counts: dict[str, Counter[str]] = {}
    for screen in screens:
        equal, more = await screen_after(screen.log) == screen.rows, len(screen.rows) > 1
        count, moment = counts.setdefault(screen.agent, Counter()), "" if screen.at_end else "other "
        for name, met in {"all": True, "equal": equal, "more": more, "both": more and equal}.items():
            count[moment + name] += met
    rows = [
        (agent, f"{n['equal']} of {n['all']}", f"{n['both']} of {n['more']}", f"{n['other equal']} of {n['other all']}")
        for agent, n in counts.items()
    ]
    columns = ("agent", "equal", "of these, more than a prompt", "equal, where tmux was asked at another moment")
    return Report("screens", "Recorded screens", columns, tuple(rows))


async def guesses_again(trials: Mapping[str, Sequence[recordings.Keys]], room: Room = THROWAWAY) -> Report:
    """Type what Terminus-2 typed, and see how much of each guess was needed."""
    slept = least = most = 0.0
    blocks = failed = late = left = 0
    for keys in trials.values():
        with driven(WAYS[1], room) as take:
            await given(take, Step("keys", f"cd {room.work}\n", seconds=1.0))
            for text, seconds in keys:
                if recordings.needs_network(text):
                    left += 1
                    continue
                guess = min(seconds, GUESS_MAX)
                found = await given(take, Step("keys", text, seconds=guess))
                needed = min(found.get("needed", guess), guess)
                fails = _FAILED.search(found.get("output", "Failed")) is not None
                blocks, failed, slept = blocks + 1, failed + fails, slept + guess
                least, most = least + needed, most + (guess if fails else needed)
                late += found.get("late", 0) > 0
    rows = ((len(trials), blocks, round(slept, 1), round(least, 1), round(most, 1), failed, late),)
    columns = ("trials", "blocks of keys", "seconds guessed", "needed here", "needed at most", "fail here",
               "output after an early return")  # fmt: skip
    notes = (
        f"{left} that look as if they need the network are left out",
        "*at most*: what fails here, for want of the task's files, counts as all of its guess",
    )
    return Report("guesses", "Durations that Terminus-2 guessed", columns, rows, (), notes)


def ways(folder: Path | None) -> tuple[list[Way], list[str]]:
    """Those that can be had here, and why the others cannot."""
    found, notes = list(WAYS), []
    for framework in (framework for framework in FRAMEWORKS if framework.name in OTHERS):
        title = f"{OTHERS[framework.name]} {framework.requirements[0].rpartition('==')[2]}"
        try:
            python = python_of(framework, folder / framework.name) if folder else None
        except Unavailable as error:
            python = None
            notes.append(f"{title} was not run: {error}")
        if python:
            found.append(Way(title, DRIVER, framework.name, python, framework.screen))
    return found, notes


INTRODUCTION = """\
# Public recordings, done again

Made by `python -m bench trajectories --from CLONE --docs`; CLONE is a clone of the
[leaderboard repository](https://github.com/laude-institute/terminal-bench-leaderboard) of Terminal-Bench 1. It has no
licence, so only counts are published. No model runs.

**Screens.** A trial has all that its terminal was sent, and what tmux showed when the agent had ended. The log is
played as screens of the past are, and the rows compared. Where the agent was cut off by its limit, or the tests ran in
the same pane, tmux was asked at another moment than the log's end.

**Commands.** Those of mini-swe-agent that need no network are run in turn, in a throw-away root for each task and way:
this machine's files without network, devices and home; what is written is lost. An output is *exact* if it is what the
command writes under `bash -c`, to a terminal or a pipe, but for blanks at the ends of rows, clocks, sizes of
directories and `line N`. A screen cannot be exact; the output may stand in it whole. *Hung*: not seen to end within the
limit, although half of it suffices alone. The imitation types `CMD; tmux wait -S done` and waits for `done`, as the
first Terminal-Bench did; it is ours, not its code.
"""
LIMITS = """\
## What this does not say

- It is no score: a model that meets a hang does something else then. Here every way gets the same commands.
- The tasks' files are not in the recordings: many commands fail quickly, in the same words by each way.
- What a persistent shell keeps and `bash -c` forgets (`set -e`) counts as not exact.
- One agent, one model, one machine, which did other things too: compare the ratios.
"""
UNGUESSED = "- The durations that Terminus-2 guessed (`--terminus`) were not played: too few were at hand.\n"


def picture(scores: Iterable[Mapping[str, Any]], found: Mapping[str, str]) -> str:
    """Hung commands of each way, and hung here-documents."""
    rows = []
    for score in scores:
        counts = score["counts"]
        rows.append((score["title"].replace("`", ""), counts["hung"], counts["tried"]))
        rows.append(("here-documents alone", counts["hung_documents"], counts["documents"]))
    where = {name: value for name, value in found.items() if name in SOURCE}
    return shares("Commands that a model gave, and that were not seen to end", rows, where)


def main(argv: Sequence[str]) -> int:
    """Do what was asked for. What is not here is left out, and said."""
    parser = argparse.ArgumentParser(prog="python -m bench trajectories", description=__doc__)
    parser.add_argument("--from", dest="clone", type=Path, required=True, metavar="CLONE")
    parser.add_argument("--terminus", type=Path, metavar="FOLDER", help="Terminus-2's answers: episode-N/response.txt")
    parser.add_argument("--limit", type=int, default=250, metavar="N", help="so many commands, of 12 a task at most")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="install others' terminals there, and keep them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, and what was not exact")
    parser.add_argument("--docs", action="store_true", help="make docs/trajectories.md and its picture anew")
    asked = parser.parse_args(argv)
    found: dict[str, Any] = {"machine": machine(), "short": False, "broken": [], "reports": []}
    reports = [anyio.run(screens_again, recordings.screens(asked.clone, LONGEST_LOG))]
    print(as_text(reports[0].document()), flush=True)
    chosen, notes = ways(asked.peers)
    try:
        report, found["scores"] = anyio.run(commands_again, recordings.commands(asked.clone), chosen, asked.limit)
        reports.append(replace(report, notes=(*report.notes, *notes)))
        if asked.terminus:
            reports.append(anyio.run(guesses_again, recordings.keystrokes(asked.terminus)))
    except Unavailable as error:
        parser.error(str(error))
    for report in reports[1:]:
        print(as_text(report.document()), flush=True)
    found["reports"] = [report.document() for report in reports]
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")
    if asked.docs:
        docs = ROOT / "docs"
        (docs / "pictures" / "trajectories.svg").write_text(picture(found["scores"], found["machine"]))
        page = as_markdown(found, {"commands": "pictures/trajectories.svg"}, INTRODUCTION)
        (docs / "trajectories.md").write_text(page + "\n" + LIMITS + ("" if asked.terminus else UNGUESSED))
    return 0
