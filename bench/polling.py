"""What others do: poll. capture-pane by subprocess, a pipe-pane log that is read again and again, their libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.apart import EXCLUSIVE, LIBRARY, Apart, may_be_exclusive
from bench.contenders import clean_environment, temporary_home
from bench.corpus import CASES, TRUE, Answer, Judged, Score
from bench.measure import Timing, in_bursts
from bench.packages import FromPyPI, installed
from bench.processes import Belongings, forked, json_line
from bench.scenario import Report, Scale, Target
from muxwire import open_terminals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.contenders import Once
    from bench.corpus import Case

RUNS, RUNS_SHORT = 400, 2
# How many commands are watched for the processes they take.
COUNTED, COUNTED_SHORT = 11, 2
# A short run has to give a table; tests/bench/test_approaches.py holds each approach to all cases.
CASES_SHORT = 2
# How long a case may take; the longest is a second.
SECONDS = 8.0
# A driver that says nothing for so much longer does not look at its own clock any more.
LATE = 10.0
EXAMPLES = 2
ROOT = Path(__file__).resolve().parent.parent
TIGHT = "capture-pane, tight loop"


@dataclass(frozen=True, slots=True)
class Approach:
    """A approach of `bench.drivers`: how often it looks, and what has to be installed for it."""

    title: str
    name: str
    pause: float = 0.0
    package: FromPyPI | None = None


APPROACHES = (
    Approach(TIGHT, "capture-pane"),
    Approach("capture-pane, every 10 ms", "capture-pane", 0.010),
    Approach("capture-pane, every 50 ms", "capture-pane", 0.050),
    Approach("pipe-pane, file read every 1 ms", "pipe-pane", 0.001),
    Approach("wait-for, then capture-pane", "wait-for"),
    Approach("libtmux, tight loop", "libtmux", package=FromPyPI(("libtmux==0.62.0",))),
    Approach("SWE-ReX session (no tmux)", "swerex", package=FromPyPI(("swe-rex==1.4.0", "aiohttp"))),
    Approach("pexpect replwrap (no tmux)", "replwrap", package=FromPyPI(("pexpect==4.9.0",))),
    Approach("pexpect, own marks (no tmux)", "pexpect", package=FromPyPI(("pexpect==4.9.0",))),
    Approach("bash -c, a process each (no terminal)", "subprocess"),
)


class Driven:
    """A approach in a process of its own."""

    def __init__(self, approach: Approach, python: Path, *, exclusive: bool = False) -> None:
        """Nothing is started yet."""
        self._first = EXCLUSIVE if exclusive and may_be_exclusive() else ()
        self.approach = approach
        self._argv = [str(python), "-m", "bench.drivers", approach.name]
        self.belongings = Belongings()
        self._stack = ExitStack()
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """A new process, with a new shell; what was there before is ended."""
        self.close()
        home = Path(self._stack.enter_context(temporary_home()))
        self._process = subprocess.Popen(
            [*self._first, *self._argv, str(home), str(self.approach.pause)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
            env=clean_environment(home) | self.belongings.environ,
        )  # fmt: skip

    def close(self) -> None:
        """End the process, its shell and its tmux server."""
        self.belongings.kill()
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        self._stack.close()

    def ask(self, command: str) -> dict[str, Any]:
        """Run one command; if there is no answer, the next command gets a new shell."""
        if self._process is None:
            self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        found: dict[str, Any] = {}
        try:
            self._process.stdin.write(json.dumps({"command": command, "seconds": SECONDS}) + "\n")
            self._process.stdin.flush()
            found = json_line(self._process.stdout, SECONDS + LATE)
        except BrokenPipeError:
            pass
        found = found or {"error": "the driver ended"}
        if "error" in found:
            self.close()
        return found

    def score(self, cases: Sequence[Case] = CASES) -> Score:
        """The cases, each once."""
        judged = []
        for case in cases:
            found = self.ask(case.command)
            answer = Answer(found["output"], found["code"]) if "output" in found else None
            judged.append(Judged(case, answer, found.get("error", "")))
        return Score.of(judged)

    async def once(self) -> float:
        """Seconds of `true`."""
        found = self.ask(TRUE)
        if "error" in found:
            raise RuntimeError(f"{self.approach.title}: {found['error']}")
        return float(found["took"])


async def our_score(home: Path, cases: Sequence[Case] = CASES) -> Score:
    """The cases by our library."""
    judged = []
    async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
        tab = await terminals.create_tab(shell="bash", cwd="/")
        for case in cases:
            found = await tab.execute(case.command)
            judged.append(Judged(case, Answer(found.output, found.exit_code)))
    return Score.of(judged)


def to_drive(scale: Scale, root: Path) -> tuple[list[Driven], list[str]]:
    """The approaches that can be had, and why others cannot; the short run installs nothing, drives each way once."""
    driven, missing = [], []
    first = {approach.name: approach for approach in reversed(APPROACHES)}
    for approach in APPROACHES:
        if scale.short and approach is not first[approach.name]:
            continue
        if approach.package is None:
            driven.append(Driven(approach, Path(sys.executable), exclusive=scale.exclusive))
        elif scale.short and scale.installed is None:
            missing.append(f"{approach.title}: the short run installs nothing")
        else:
            folder = (scale.installed or root) / approach.package.label.replace(" ", "-")
            if why := installed(approach.package, folder):
                missing.append(f"{approach.title}: {approach.package.label}: {why}")
            else:
                driven.append(Driven(approach, folder / "bin" / "python", exclusive=scale.exclusive))
    return driven, missing


async def run(scale: Scale) -> Report:
    """All cases by every approach; then `true` in turn, each a few on end: a loop is tight only on end."""
    with temporary_home() as name, ExitStack() as drivers:
        home = Path(name)
        driven, notes = to_drive(scale, home / "packages")
        cases = CASES[: scale.of(len(CASES), CASES_SHORT)]
        scores = {LIBRARY: await our_score(home, cases)}
        approaches: dict[str, Once] = {}
        async with AsyncExitStack() as stack:
            ours = Apart(LIBRARY, home, exclusive=scale.exclusive)
            stack.callback(ours.close)
            ours.run(1)
            approaches[LIBRARY] = ours.once
            belongings = {LIBRARY: ours.belongings}
            for one in driven:
                drivers.callback(one.close)
                score = one.score(cases)
                try:
                    one.start()
                    await one.once()
                except RuntimeError as error:
                    notes.append(f"{error}: it did not work here")
                    continue
                scores[one.approach.title], approaches[one.approach.title] = score, one.once
                belongings[one.approach.title] = one.belongings
            counted = scale.of(COUNTED, COUNTED_SHORT)
            processes = {title: await forked(once, counted, belongings[title]) for title, once in approaches.items()}
            found = await in_bursts(approaches, scale.of(RUNS, RUNS_SHORT))
    return _report(found, scores, processes, notes)


def _report(
    found: dict[str, Timing], scores: dict[str, Score], processes: dict[str, float], notes: list[str]
) -> Report:
    ours = found[LIBRARY].p50
    notes += [f"{title} {said}" for title, score in scores.items() if (said := score.told(EXAMPLES))]
    return Report(
        "polling",
        "`true` in bash, by polling and by listening",
        ("approach", "p50 ms", "p99 ms", "times ours", "output exact", "among other text", "code right", "forks"),
        tuple(
            (one.name, one.p50, one.p99, one.p50 / ours, *scores[one.name].cells, processes[one.name])
            for one in found.values()
        ),
        (
            Target("capture-pane in a tight loop takes more than ours", found[TIGHT].p50 / ours, 10, at_least=True),
            Target("processes for each of our commands", processes[LIBRARY], 0, "processes"),
        ),
        tuple(notes),
        {title: [miss.document() for miss in score.misses] for title, score in scores.items()},
    )
