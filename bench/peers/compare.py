"""The same commands by muxwire and by what others offer: how quick, how exact, how many processes."""

from __future__ import annotations

import functools
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.homes import temporary_home
from bench.peers.cases import CASES, Answer, Judged, Score
from bench.peers.servers import SERVERS
from bench.processes import forked
from bench.report import Report, Scale
from bench.timing import Contender, in_bursts
from tests.stages import Unavailable
from tests.stages.packages import FromPyPI, Package, install

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.peers.cases import Case

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS, RUNS_SHORT = 200, 2
COUNTED, COUNTED_SHORT = 15, 2
# Longer than any case takes; a driver that says nothing for so much longer does not look at its own clock any more.
SECONDS, LATE = 8.0, 10.0
OPENHANDS = FromPyPI(("openhands-tools==1.49.1", "openhands-sdk==1.49.1", "--editable", str(ROOT)), "3.12")
HARBOR = FromPyPI(("harbor==0.26.0", "--editable", str(ROOT)), "3.12")
SWEREX = FromPyPI(("swe-rex==1.4.0", "aiohttp", "--editable", str(ROOT)), "3.12")


@dataclass(frozen=True, slots=True)
class Peer:
    """A way of `ways.py` or a server of `servers.py`; `kind` says how it is used, `{}` in the title is the version."""

    title: str
    way: str
    kind: str
    package: Package | None = None

    @property
    def label(self) -> str:
        """The title with the version of the package."""
        return self.title.format(self.package.label.rpartition(" ")[2] if self.package else "")

    def argv(self, root: Path | None, home: Path) -> list[str]:
        """The command of its process, which is installed in `root` first. Unavailable."""
        if self.package is None:
            return [sys.executable, "-m", "bench.peers.ways", self.way, str(home), ""]
        if root is None:
            raise Unavailable(f"{self.label}: nothing is installed without `--peers`")
        folder = install(self.package, root)
        python = sys.executable if self.way in SERVERS else str(folder / "bin" / "python")
        return [python, "-m", "bench.peers.ways", self.way, str(home), str(folder)]


MCP, PYTHON, FRAMEWORK = "MCP server", "from Python", "agent framework"
PEXPECT = FromPyPI(("pexpect==4.9.0", "anyio"))
PEERS = (
    Peer("muxwire library", "muxwire", PYTHON),
    Peer("capture-pane, tight loop", "capture-pane", PYTHON),
    Peer("pipe-pane, file read every 1 ms", "pipe-pane", PYTHON),
    Peer("`tmux wait-for`, then capture-pane", "wait-for", PYTHON),
    Peer("`bash -c`, a process each (no terminal)", "bash", PYTHON),
    Peer("pexpect {}, with marks (no tmux)", "pexpect", PYTHON, PEXPECT),
    *(Peer(f"{name} {{}}" if server.package else name, name, MCP, server.package) for name, server in SERVERS.items()),
    Peer("SWE-ReX {}", "swerex", FRAMEWORK, SWEREX),
    Peer("SWE-ReX {}, muxwire's adapter", "swerex-muxwire", FRAMEWORK, SWEREX),
    Peer("OpenHands {}", "openhands", FRAMEWORK, OPENHANDS),
    Peer("OpenHands {}, muxwire's adapter", "openhands-muxwire", FRAMEWORK, OPENHANDS),
    Peer("Harbor {}", "harbor", FRAMEWORK, HARBOR),
    Peer("Harbor {}, muxwire's adapter", "harbor-muxwire", FRAMEWORK, HARBOR),
)


class Driven:
    """A peer in a process of its own, which is started again after a case without an answer."""

    def __init__(self, peer: Peer, argv: list[str], home: Path, *, exclusive: bool = False) -> None:
        self.peer, self._argv, self._home, self._exclusive = peer, argv, home, exclusive
        self._folders = 0
        self.process = self._started()

    def _started(self) -> Contender:
        self._folders += 1
        home = self._home / str(self._folders)
        home.mkdir()
        argv = [str(home) if word == str(self._home) else word for word in self._argv]
        return Contender(self.peer.label, argv, home, exclusive=self._exclusive)

    def close(self) -> None:
        """End its process."""
        self.process.close()

    def judged(self, case: Case) -> Judged:
        """What it makes of a case."""
        found = self.process.ask({"command": case.command, "seconds": SECONDS}, SECONDS + LATE)
        if "error" in found:
            self.process.close()
            self.process = self._started()
            return Judged(case, None)
        return Judged(case, Answer(found["output"], found["code"]))

    def score(self, cases: Sequence[Case] = CASES) -> Score:
        """The cases, each once, in the directory / as far as it has one."""
        self.process.ask({"command": "cd /", "seconds": SECONDS})
        return Score(tuple(map(self.judged, cases)))


async def run(scale: Scale) -> Report:
    """All that can be had."""
    with temporary_home() as home, ExitStack() as ends:
        driven, notes = started(PEERS, scale, home, ends)
        return compare(driven, notes, scale)


def started(peers: Sequence[Peer], scale: Scale, home: Path, ends: ExitStack) -> tuple[list[Driven], list[str]]:
    """Those that can be had, and why the others cannot."""
    driven, missing = [], []
    for number, peer in enumerate(peers):
        own = home / str(number)
        own.mkdir()
        try:
            argv = peer.argv(scale.installed, own)
        except Unavailable as why:
            missing.append(str(why))
            continue
        driven.append(Driven(peer, argv, own, exclusive=scale.exclusive))
        ends.callback(driven[-1].close)
    return driven, missing


def compare(driven: Sequence[Driven], notes: list[str], scale: Scale) -> Report:
    """All cases by each; then `true` by all of them in turn. One that fails is told of, and the others go on."""
    scores, processes, bytes_listed, well = {}, {}, {}, list[Driven]()
    for one in driven:
        label = one.peer.label
        print(f"  asking {label} ...", file=sys.stderr, flush=True)
        score = one.score()
        bytes_listed[label] = one.process.ask({"do": "listed"}).get("bytes", "")
        try:
            one.process.run(1)
            processes[label] = forked(functools.partial(one.process.run, 1), scale.of(COUNTED, COUNTED_SHORT))
        except RuntimeError as error:
            notes.append(f"{error}: it did not work here")
            continue
        scores[label] = score
        well.append(one)
    timings = in_bursts([one.process for one in well], scale.of(RUNS, RUNS_SHORT))
    return Report(
        "peers",
        f"The same {len(CASES)} commands, by others",
        ("way", "used as", "`true` p50 ms", "p99 ms", "output exact", "contains it", "code right", "processes",
         "tools/list bytes"),
        tuple(
            (one.peer.label, one.peer.kind, timings[label].p50, timings[label].p99,
             *(scores[label].cells if "floor" not in label else ("", "", "")), processes[label], bytes_listed[label])
            for one in well
            for label in [one.peer.label]
        ),
        notes=(
            "exact: all that the command wrote and nothing else; contains it: it stands among other text, as a prompt",
            "the commands are in `bench/peers/cases.py`",
            "processes: the fewest that this machine started during one of its runs of `true`",
            *notes,
        ),
    )  # fmt: skip
