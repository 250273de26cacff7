"""The same commands by muxwire and by what others offer: how quick, how exact, how many processes."""

from __future__ import annotations

import functools
import sys
from contextlib import ExitStack, closing
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


def judged(one: Contender, case: Case) -> Judged:
    """What it makes of a case; after one without an answer it is started anew."""
    found = one.ask({"command": case.command, "seconds": SECONDS}, SECONDS + LATE)
    if "error" in found:
        one.again()
        return Judged(case, None)
    return Judged(case, Answer(found["output"], found["code"]))


async def run(scale: Scale) -> Report:
    """All that can be had: all cases by each, each once, in the directory / as far as it has one; then `true` in turn.

    One that fails is told of, and the others go on.
    """
    notes, rows, well = list[str](), list[tuple[str | float, ...]](), list[Contender]()
    with temporary_home() as home, ExitStack() as ends:
        for peer in PEERS:
            folder = home / str(len(well) + len(notes))
            folder.mkdir()
            try:
                argv = peer.argv(scale.installed, folder)
                one = ends.enter_context(closing(Contender(peer.label, argv, folder, exclusive=scale.exclusive)))
                print(f"  asking {one.name} ...", file=sys.stderr, flush=True)
                one.ask({"command": "cd /", "seconds": SECONDS})
                score = Score(tuple(judged(one, case) for case in CASES))
                listed = one.ask({"do": "listed"}).get("bytes", "")
                one.run(1)
                processes = forked(functools.partial(one.run, 1), scale.of(COUNTED, COUNTED_SHORT))
            except (Unavailable, RuntimeError) as error:
                notes.append(str(error))
                continue
            well.append(one)
            rows.append((peer.kind, *(score.cells if "floor" not in peer.title else ("", "", "")), processes, listed))
        timings = in_bursts(well, scale.of(RUNS, RUNS_SHORT))
    return Report(
        "peers",
        f"The same {len(CASES)} commands, by others",
        ("way", "used as", "`true` p50 ms", "p99 ms", "output exact", "contains it", "code right", "processes",
         "tools/list bytes"),
        tuple(
            (one.name, kind, timings[one.name].p50, timings[one.name].p99, *rest)
            for one, (kind, *rest) in zip(well, rows, strict=True)
        ),
        notes=(
            "exact: all that the command wrote and nothing else; contains it: it stands among other text, as a prompt",
            "the commands are in `bench/peers/cases.py`",
            "processes: the fewest that this machine started during one of its runs of `true`",
            *notes,
        ),
    )  # fmt: skip
