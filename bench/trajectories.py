"""What agents did in public recordings, done again: screens and commands, by muxwire and by others.

`python -m bench trajectories --from CLONE --keys CLONE [--limit N] [--peers FOLDER] [--json FILE] [--docs]`: clones of
the leaderboard repository of Terminal-Bench, and of skillsbench-replay. Nothing of them is published but counts. No
model runs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
from collections import Counter
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from bench import recordings
from bench.machine import ROOT, machine
from bench.pages import SOURCE, as_markdown, as_text
from bench.peers.cases import plain
from bench.peers.compare import HARBOR, OPENHANDS, Peer
from bench.picture import shares
from bench.report import Report
from bench.throwaway import OWN, PATH, WORK, throwaway
from bench.timing import Contender
from muxwire.logs.sizes import PaneSize
from muxwire.tmux.past import Scene, played
from tests.stages import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# What a command may take; those are tried that took less than half of it alone.
SECONDS = 5.0
# How long the command after each has, which goes back to where mini-swe-agent begins each, and must say this.
NEXT_SECONDS, BACK = 3.0, "back-42"
# Terminus-2 asks for a tenth of a second for what is immediate, and for a second for what compiles or searches.
IMMEDIATE = "at most 1 s"
# At most so many commands of one task.
EACH = 12
LONGEST_LOG = 1_500_000
# What differs between two runs of the same command: clocks, sizes of directories, and how a shell names its lines.
_DIRECTORY = re.compile(r"^(d[rwxst-]{9}\S? +\d+ \S+ +\S+) +\d+", re.MULTILINE)
_CLOCK = re.compile(
    r"\d\d:\d\d(:\d\d)?(\.\d+)?|\b\d+\.\d+ ?m?s(econds)?\b|^\S*bash: (-c: )?(line \d+: )?|\bline \d+", re.MULTILINE
)


class Room(NamedTuple):
    """Where commands run: `work` is where each begins, `own` is the home; `shut`: in a throw-away root.

    `installed`: where others' terminals are.
    """

    work: Path = WORK
    own: Path = OWN
    shut: bool = True
    installed: Path | None = None

    def back(self, way: Contender) -> bool:
        """Go back; whether that worked."""
        found = asked(way, f"cd {self.work}; echo back-$((6*7))", NEXT_SECONDS)
        return BACK in found.get("output", "")


PTY, KEYS = Peer("", "pty", ""), Peer("", "keys", "")
# By the kind of what each gives. Those of a package are measured where it can be installed.
OUTPUT, SCREEN = "what a program wrote", "what a screen shows"
WAYS = (
    Peer("`bash -c`, a shell for each", "bash", OUTPUT),
    Peer("muxwire, one tab", "muxwire", OUTPUT),
    Peer("`CMD; tmux wait -S done` (imitation)", "wait-for", SCREEN),
    Peer("OpenHands' terminal {}", "openhands", OUTPUT, OPENHANDS),
    Peer("Harbor's `TmuxSession` {}", "harbor", SCREEN, HARBOR),
)


@dataclass(slots=True)
class Score:
    """What came of all commands that one way was given; `missed`, for who looks into it, is not published."""

    title: str
    counts: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)
    missed: list[list[str]] = field(default_factory=list)

    def count(self, known: Known, found: Mapping[str, Any], works: Sequence[bool], *, screen: bool) -> None:
        """Count what came of a command; `works`: whether the next one did, and whether it did after an interrupt."""
        output, hung, document = found.get("output", ""), found.get("ended") is False, "<<" in known.command
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
        self.took.append(found.get("took", SECONDS * 1000) / 1000)
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


COLUMNS = ("way", "exact", "contains it", "code right", "hung", "of documents", "next works", "characters",
           "median ms", "seconds")  # fmt: skip


def same(text: str) -> str:
    """An output as it is compared: without what a clock wrote, blanks at the ends of rows, and carriage returns."""
    return "\n".join(row.rstrip() for row in _CLOCK.sub("", _DIRECTORY.sub(r"\1", plain(text))).split("\n"))


@contextmanager
def driven(way: Peer, room: Room) -> Iterator[Contender]:
    """The way, in a room of its own. Unavailable."""
    environ = {"PATH": PATH, "TMPDIR": "/tmp", "PAGER": "cat", "GIT_PAGER": "cat"}
    # A shell that is new for each command begins in the right place; the others are sent there.
    argv = way.argv(room.installed, room.work if way.way in ("bash", "pty") else room.own)
    walls: AbstractContextManager[list[str]] = throwaway(Path(argv[0])) if room.shut else nullcontext([])
    with walls as words, closing(Contender(way.label, [*words, *argv], room.own, environ=environ)) as contender:
        yield contender


def asked(way: Contender, command: str, seconds: float) -> dict[str, Any]:
    """What came of a command; an error if the way has gone, which a recorded command may have killed."""
    return way.ask({"command": command, "seconds": seconds}, seconds * 4 + 20)


class Known(NamedTuple):
    """A command that ends, what it writes, to a terminal or to a pipe, and its code; no `outputs`: nobody can say."""

    command: str
    outputs: frozenset[str]
    code: int


def references(commands: Sequence[str], room: Room) -> list[Known]:
    """Those that end in time; one that does not write the same when run again has no `outputs`, and is run even so.

    All are run in turn, as one may need what the one before it has left; one that kills its driver is the last.
    """
    runs = []
    for way in (PTY, PTY, WAYS[0]):
        with driven(way, room) as contender:
            runs.append([asked(contender, command, SECONDS) for command in commands])
    kept = []
    for command, first, second, piped in zip(commands, *runs, strict=True):
        if any("error" in one or one["took"] > SECONDS * 500 for one in (first, second)):
            continue
        outputs = frozenset(same(one["output"]) for one in (first, piped) if "error" not in one)
        again = same(first["output"]) == same(second["output"]) and first["code"] == second["code"]
        kept.append(Known(command, outputs if again else frozenset(), first["code"]))
    return kept


def run_by(way: Peer, known: Iterable[Known], score: Score, room: Room) -> None:
    """Run the commands of one task, each followed by one that must work: as it is, or after an interrupt."""
    with driven(way, room) as contender:
        room.back(contender)
        for one in known:
            found = asked(contender, one.command, SECONDS)
            works = [room.back(contender)] * 2
            if not works[1]:
                contender.ask({"do": "interrupt"})
                works[1] = room.back(contender)
            if not works[1]:
                contender.ask({"do": "fresh"})
                room.back(contender)
            if one.outputs:
                score.count(one, found, works, screen=way.kind == SCREEN)


def commands_again(
    tasks: Mapping[str, Sequence[str]], ways: Sequence[Peer], limit: int, room: Room
) -> tuple[Report, list[Any]]:
    """Run recorded commands by each way, task after task, until so many were tried."""
    scores, left = [Score(way.label) for way in ways], 0
    for number, (task, recorded) in enumerate(tasks.items(), 1):
        if scores[0].counts["tried"] >= limit:
            break
        some = [command for command in recorded if not recordings.needs_network(command)][:EACH]
        known = references(some, room)
        left += len(some) - sum(bool(one.outputs) for one in known)
        for way, score in zip(ways, scores, strict=True):
            run_by(way, known, score, room)
        tried = scores[0].counts["tried"]
        print(f"task {number} of {len(tasks)}, {task}: {tried} commands", file=sys.stderr, flush=True)
    left_out = f"they do not end in {SECONDS / 2:.1f} s alone, or write something else when run again"
    notes = (
        f"{scores[0].counts['tried']} commands of {number} tasks; {left} more were left out: {left_out}",
        f"a command has {SECONDS:.0f} s, the next one {NEXT_SECONDS:.0f}: at first as it is, then after an interrupt",
        "Harbor is asked to wait for the end (`block=True`); Terminus-2 does not ask that, and sleeps its guess",
    )
    report = Report("commands", "Recorded commands", COLUMNS, tuple(score.row() for score in scores), (), notes)
    return report, [{"title": score.title, "counts": dict(score.counts), "missed": score.missed} for score in scores]


def keystrokes_again(tasks: Mapping[str, Sequence[tuple[str, float]]], room: Room) -> Report:
    """Type recorded keys, task after task, and wait until they are over, as long as the model gave them at most."""
    groups, count = dict[tuple[str, str], list[tuple[float, float, bool, bool]]](), sum(map(len, tasks.values()))
    for task in tasks.values():
        with driven(KEYS, room) as contender:
            asked(contender, f"cd {room.work}\n", NEXT_SECONDS)
            for typed, given in task:
                if not recordings.needs_network(typed):
                    found = asked(contender, typed, given)
                    needed, late = found.get("took", given * 1000) / 1000, "error" in found
                    kind = IMMEDIATE if given <= 1 else "more", "0" if found.get("code") == 0 else "another"
                    groups.setdefault(kind, []).append((given, needed, needed < given, late))
                    if late:
                        contender.ask({"do": "interrupt"})
    rows: list[tuple[str | float, ...]] = []
    for kind, some in sorted(groups.items()):
        rows.append((*kind, len(some), *(sum(column) for column in zip(*some, strict=True))))
    columns = ("given", "exit code", "keystrokes", "seconds given", "needed", "over before", "not over then")
    note = f"{sum(map(len, groups.values()))} of {count} keystrokes of {len(tasks)} tasks: the others need a network"
    return Report("keystrokes", "Recorded keystrokes", columns, tuple(rows), (), (note,))


async def screens_again(screens: Iterable[recordings.Screen]) -> Report:
    """Play logs, and compare with what tmux showed."""
    counts: dict[str, Counter[str]] = {}
    size = PaneSize(0, recordings.COLUMNS, recordings.ROWS)
    for screen in screens:
        after = await played(Scene(b"", ((size, screen.log),), len(screen.log), exact=True), os.environ)
        equal, more = recordings.shown(list(after.lines)) == screen.rows, len(screen.rows) > 1
        count, moment = counts.setdefault(screen.agent, Counter()), "" if screen.at_end else "other "
        for name, met in {"all": True, "equal": equal, "more": more, "both": more and equal}.items():
            count[moment + name] += met
    rows = [
        (agent, f"{n['equal']} of {n['all']}", f"{n['both']} of {n['more']}", f"{n['other equal']} of {n['other all']}")
        for agent, n in counts.items()
    ]
    columns = ("agent", "equal", "more than a prompt", "at another moment")
    return Report("screens", "Recorded screens", columns, tuple(rows))


def there(installed: Path | None) -> tuple[list[Peer], list[str]]:
    """Those that can be had here, and why the others cannot."""
    found, notes = list[Peer](), list[str]()
    for way in WAYS:
        try:
            way.argv(installed, OWN)
            found.append(way)
        except Unavailable as error:
            notes.append(str(error))
    return found, notes


INTRODUCTION = """\
# Public recordings, done again

The [leaderboard repository](https://github.com/laude-institute/terminal-bench-leaderboard) of Terminal-Bench 1 and
[skillsbench-replay](https://github.com/Etelis/skillsbench-replay) have recordings of agents.
`python -m bench trajectories --from CLONE --keys CLONE --docs` does again what these agents did, without a model, and
makes this page. The repositories have no licence, so only counts are published. They are no score: a model that meets a
hang does something else.

**Screens.** All bytes that an agent's terminal was sent are played into a terminal, and its rows are compared with the
recorded ones. *More than a prompt* counts those with more than one row. *At another moment* alone counts those whose
rows were recorded later or earlier than the last byte.

**Commands.** The commands of mini-swe-agent that need no network are run in turn, in a throw-away copy of this
machine's files. The tasks' own files are missing there, so many fail quickly, with the same words each way.

- *Exact*: the output is what the command writes under `bash -c`, except for times, sizes of directories and blanks at
  the ends of rows. A persistent shell also tells of its jobs (`[1]+  Exit 1`); that is not exact.
- *Hung*: the command was not seen to end within 5 s. *Of documents*: how many of those are here-documents.
- *Next works*: `1 + 26 of 47` means that of 47 commands, each given after one that hung, one worked at once, and 26
  after C-c.
- The imitation is ours: it types `CMD; tmux wait -S done` and waits for `done`, as the first Terminal-Bench did.

**Keystrokes.** What Claude Haiku 4.5 told the agent Terminus-2 to type is typed into one tab of muxwire, and a call
ends when the shell says that it is over. *Over before*: how many were over before the seconds that the model had given
for them; for the others these were too short. What needs the tasks' files fails at once, so only the first row says how
much sleep was for nothing.
"""


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
    parser.add_argument("--keys", type=Path, required=True, metavar="CLONE", help="of skillsbench-replay")
    parser.add_argument("--limit", type=int, default=250, metavar="N", help="so many commands, of 12 a task at most")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="install others' terminals there, and keep them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, and what was not exact")
    parser.add_argument("--docs", action="store_true", help="make docs/trajectories.md and its picture anew")
    given = parser.parse_args(argv)
    found: dict[str, Any] = {"machine": machine(), "short": False, "broken": [], "reports": []}
    room = Room(installed=given.peers)
    chosen, notes = there(room.installed)
    try:
        typed = keystrokes_again(recordings.keystrokes(given.keys), room)
        report, found["scores"] = commands_again(recordings.commands(given.clone), chosen, given.limit, room)
    except Unavailable as error:
        parser.error(str(error))
    screens = anyio.run(screens_again, recordings.screens(given.clone, LONGEST_LOG))
    found["reports"] = [one.document() for one in (screens, replace(report, notes=(*report.notes, *notes)), typed)]
    print("\n".join(map(as_text, found["reports"])))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    if given.docs:
        docs = ROOT / "docs"
        (docs / "pictures" / "trajectories.svg").write_text(picture(found["scores"], found["machine"]))
        (docs / "trajectories.md").write_text(
            as_markdown(found, {"commands": "pictures/trajectories.svg"}, INTRODUCTION)
        )
    return 0
