"""Agent frameworks: the same actions by the executor of each and by muxwire's adapter for it, in turn.

Every framework is installed by uv into an environment of its own, with this project. The actions are those that its
interface promises; an action is right if its output, its exit code and whether it has ended are.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.contenders import clean_environment, temporary_home
from bench.driver_process import driver_process
from bench.measure import in_turn
from bench.packages import ByUv, installed
from bench.scenario import Report, Scale, Target, Unavailable

if TYPE_CHECKING:
    from bench.contenders import Once
    from bench.driver_process import Take

ROOT = Path(__file__).resolve().parent.parent
DRIVER = "bench.peers.framework_driver"
RUNS, RUNS_SHORT = 20, 3
# One that ends has ended by then, on a busy machine too; one that does not is given up after the shorter time.
SECONDS, LEFT_SECONDS = 15.0, 2.0
# Of Terminus-2's five steps, in milliseconds.
FIVE_MAX = 200.0


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework; `offers` are the kinds of actions that its interface promises."""

    name: str
    title: str
    requirements: tuple[str, ...]
    offers: frozenset[str]
    # Whether its outputs are pieces of a screen, on which a prompt and the command stand too.
    screen: bool = False


FRAMEWORKS = (
    Framework(
        "openhands", "OpenHands", ("openhands-tools==1.49.1", "openhands-sdk==1.49.1"),
        frozenset(("state", "input", "refuses")),
    ),
    Framework("swerex", "SWE-ReX", ("swe-rex==1.4.0",), frozenset(("state", "input"))),
    Framework("mini-swe-agent", "mini-swe-agent", ("mini-swe-agent==2.4.6",), frozenset()),
    Framework("deepagents", "deepagents", ("deepagents==0.7.32",), frozenset()),
    Framework("harbor", "Harbor", ("harbor==0.26.0",), frozenset(("state", "input")), screen=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """`do` is run, open (a program that will ask), answer, quit (the answer that ends it) or interrupt.

    None of `says`, `code` and `ended`: it does not matter. `expect` is what a program asks with.
    """

    do: str
    text: str = ""
    says: str | None = ""
    code: int | None = 0
    ended: bool | None = True
    seconds: float = SECONDS
    expect: str = ""

    def asked(self) -> str:
        """As the driver reads it."""
        return json.dumps({"do": self.do, "text": self.text, "seconds": self.seconds, "expect": self.expect})


@dataclass(frozen=True, slots=True)
class Case:
    """Steps that belong together; `needs` is the kind, "" for one that every framework promises."""

    what: str
    steps: tuple[Step, ...]
    needs: str = ""


def ran(text: str, says: str | None = "", code: int | None = 0) -> Step:
    """A command that ends."""
    return Step("run", text, says, code)


AFTER = ran("echo after", "after")
CUT = Step("interrupt", says=None, code=None, ended=None)
LINE = ran("echo one", "one")
CASES = (
    Case("a line", (LINE,)),
    Case("an exit code", (ran("(exit 3)", None, 3),)),
    Case("no line end", (ran("printf abc", "abc"),)),
    Case("empty lines", (ran("printf 'a\\n\\n\\nb\\n'", "a\n\n\nb"),)),
    Case("a here-document", (ran("cat <<'END'\none\n  two\nEND", "one\n  two"), AFTER)),
    Case("a loop over lines", (ran("for i in 1 2\ndo\n  echo n$i\ndone", "n1\nn2"),)),
    Case("quotes", (ran("""echo "it's" '"q"' '$HOME' x""", 'it\'s "q" $HOME x'),)),
    Case("tabs and blanks", (ran("printf 'a\\tb  \\nc\\n'", "a\tb  \nc"),)),
    Case("UTF-8", (ran("printf 'żółć 漢字 ✓\\n'", "żółć 漢字 ✓"),)),
    Case("a long line", (ran("printf 'x%.0s' $(seq 500); echo", "x" * 500),)),
    Case("3,000 lines", (ran("seq 1 3000", "\n".join(map(str, range(1, 3001)))),)),
    Case("what looks like a prompt", (ran("printf '$ \\n>>> \\n# x\\n'", "$ \n>>> \n# x"),)),
    Case("a pipe that fails", (ran("(exit 4) | (cat; exit 5)", None, 5),)),
    Case("a background job", (ran("(sleep 50 >/dev/null 2>&1 &); echo begun", "begun"),)),
    Case("a limit of time", (Step("run", "sleep 40", None, None, False, LEFT_SECONDS), CUT, AFTER)),
    Case("an open quote", (ran("echo 'a", None, None), AFTER)),
    Case("the directory stays", (ran("cd /usr"), ran("pwd", "/usr"), ran("cd - >/dev/null")), "state"),
    Case("variables stay", (ran("export X=1 Y='a b'"), ran('echo "$X $Y"', "1 a b")), "state"),
    Case("functions stay", (ran("greet() { echo hi $1; }"), ran("greet you", "hi you")), "state"),
    Case(
        "an answer to `read`",
        (
            Step("open", "bash -c 'read -p \"name: \" x; echo hi $x'", "name:", None, False, LEFT_SECONDS, "name: "),
            Step("quit", "me", "hi me", None),
            AFTER,
        ),
        "input",
    ),
    Case(
        "a REPL",
        (
            Step("open", "python3 -q", ">>>", None, False, LEFT_SECONDS, ">>> "),
            Step("answer", "print(6*7)", "42", None, False, LEFT_SECONDS, ">>> "),
            Step("quit", "exit()", None, None),
            AFTER,
        ),
        "input",
    ),
    Case(
        "no command goes to an unanswered program",
        (
            Step("open", "cat >taken", None, None, False, LEFT_SECONDS),
            Step("run", "echo leaked", None, None, None),
            CUT,
            ran("cat taken"),
        ),
        "refuses",
    ),
)


def wrong(framework: Framework, step: Step, found: dict[str, Any]) -> bool:
    """Whether what came of a step is not what it must be."""
    if "error" in found:
        return True
    if None not in (step.ended, found["ended"]) and found["ended"] != step.ended:
        return True
    if None not in (step.code, found["code"]) and found["code"] != step.code:
        return True
    if step.says is None:
        return False
    output, says = found["output"].replace("\r\n", "\n"), step.says
    if framework.screen:  # it has no blanks at the ends of its rows
        output, says = (re.sub(r" +$", "", text, flags=re.MULTILINE) for text in (output, says))
    whole = step.do == "run" and not framework.screen
    return output.rstrip("\n") != says if whole else says not in output


async def examined(framework: Framework, take: Take) -> list[str]:
    """The cases that it gets wrong. After such a case it begins anew, so that none suffers for another one."""
    missed = []
    for case in cases_of(framework):
        for step in case.steps:
            if wrong(framework, step, await take(step.asked())):
                missed.append(case.what)
                await take(Step("fresh").asked())
                break
    return missed


def cases_of(framework: Framework) -> list[Case]:
    """The cases that its interface promises."""
    return [case for case in CASES if not case.needs or case.needs in framework.offers]


def _once(take: Take, step: Step) -> Once:
    async def once() -> float:
        return float((await take(step.asked()))["took"])

    return once


@dataclass(frozen=True, slots=True)
class _Pair:
    """What its own executor and the adapter gave, in this order."""

    missed: tuple[list[str], list[str]]
    line: tuple[float, float]
    five: tuple[float, float] = (0.0, 0.0)


async def _compared(framework: Framework, python: Path, home: Path, runs: int) -> _Pair:
    # LocalRuntime of SWE-ReX gives nothing right where the terminal can do more than one without a name.
    env = {name: value for name, value in clean_environment(home).items() if name != "TERM"}
    env |= {"TMUX_TMPDIR": str(home), "MUXWIRE_STATE_DIR": str(home / "state")}
    with ExitStack() as stack:
        takes = []
        for whose in ("own", "muxwire"):
            folder = home / framework.name / whose
            folder.mkdir(parents=True)
            argv = [str(python), "-m", DRIVER, framework.name, whose, str(folder)]
            takes.append(stack.enter_context(driver_process(f"{framework.title} ({whose})", argv, env)))
        missed = [await examined(framework, take) for take in takes]
        for take in takes:
            await take(Step("fresh").asked())
        lines = await in_turn({str(n): _once(take, LINE) for n, take in enumerate(takes)}, runs)
        five = (0.0, 0.0)
        if framework.screen:
            found = await in_turn({str(n): _once(take, Step("five")) for n, take in enumerate(takes)}, RUNS_SHORT)
            five = (found["0"].p50, found["1"].p50)
    return _Pair((missed[0], missed[1]), (lines["0"].p50, lines["1"].p50), five)


def python_of(framework: Framework, folder: Path) -> Path:
    """The Python of its environment, which is made there. Unavailable."""
    if why := installed(ByUv((*framework.requirements, "--editable", str(ROOT))), folder):
        raise Unavailable(why)
    return folder / "bin" / "python"


async def run(scale: Scale) -> Report:
    """Each framework in turn; one that cannot be had is named."""
    rows: list[tuple[str | float, ...]] = []
    targets, notes = list[Target](), list[str]()
    with temporary_home() as name:
        for framework in FRAMEWORKS:
            label = f"{framework.title} {framework.requirements[0].rpartition('==')[2]}"
            folder = (scale.installed or Path(name)) / framework.name
            if scale.short and scale.installed is None:
                rows.append((label, "nothing is installed in a short run", "", "", ""))
                continue
            home = Path(name) / "home"
            home.mkdir()
            try:
                pair = await _compared(framework, python_of(framework, folder), home, scale.of(RUNS, RUNS_SHORT))
            except Unavailable as reason:
                rows.append((label, "not run", "", "", ""))
                notes.append(f"{label}: {reason}")
                continue
            finally:
                shutil.rmtree(home, ignore_errors=True)
            count = len(cases_of(framework))
            own, adapter = (f"{count - len(missed)} of {count}" for missed in pair.missed)
            rows.append((label, own, adapter, *pair.line))
            notes += [f"{label}, its own, misses: {', '.join(pair.missed[0])}"] if pair.missed[0] else []
            targets.append(Target(f"{label}: cases that the adapter misses", len(pair.missed[1]), 0, "cases"))
            notes += [f"{label}, muxwire, misses: {', '.join(pair.missed[1])}"] if pair.missed[1] else []
            if framework.screen:
                rows.append((f"{label}, five steps of Terminus-2", "", "", *pair.five))
                targets.append(Target("five steps of Terminus-2 by the adapter", pair.five[1], FIVE_MAX, "ms"))
            print(rows[-1], file=sys.stderr, flush=True)
    notes.append("times: p50 in ms of `echo one`, and of five steps that a model gave 4.6 s, both in turn")
    return Report(
        "frameworks",
        "Agent frameworks: their own executor and muxwire's adapter",
        ("framework", "right, its own", "right, muxwire", "ms, its own", "ms, muxwire"),
        tuple(rows),
        tuple(targets),
        tuple(notes),
    )
