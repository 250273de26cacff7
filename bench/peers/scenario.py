"""Measures the servers side by side: each installed, asked all cases, then `true` by all of them in turn."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.contenders import temporary_home
from bench.measure import progress, timing
from bench.packages import installed
from bench.peers.drivers import SECONDS
from bench.peers.servers import FLOOR, OURS, THEIRS
from bench.peers.session import PeerDiedError, Session, running
from bench.processes import ForkCount, usual
from bench.scenario import Report, Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.corpus import Score
    from bench.peers.servers import Peer

RUNS, RUNS_SHORT = 100, 2
# Not counted: the first calls of a server in Node or Python are those of its compiler and its caches.
WARM_UP = 3
# How long a command is waited for, to see what waiting costs.
WAIT, WAIT_SHORT = 5, 1
# How many wrong answers a reader is shown of each server; the JSON has all of them.
EXAMPLES = 2
COLUMNS = (
    "server", "from", "`true` p50 ms", "p99 ms", "output exact", "among other text", "code right", "forks", "CPU ms",
    "waiting", "tools/list bytes",
)  # fmt: skip
NOTES = (
    "all are spoken to by the SDK's client, which lists the tools and checks results against their schemas",
    "the cases are in bench/corpus.py: an output is exact if nothing is missing and nothing was added",
    "forks are those of a server and of what it started (as root; else the whole machine's), the median of a run",
    "CPU is that of a server, of what it started, tmux and shells too, and of what those waited for",
)


class Measured:
    """What is known of one server."""

    def __init__(self, session: Session) -> None:
        """Nothing yet."""
        self.session = session
        self.label = session.peer.label
        self.listed = 0
        self.score: Score | None = None
        self.times: list[float] = []
        self.forks: list[int] = []
        self.count: ForkCount | None = None
        self.cpu = 0.0
        self.waiting = ""
        self.failed = ""

    async def ask_all(self) -> None:
        """Start it, and have it answer every case."""
        await self.session.open()
        self.listed = await self.session.listed()
        if self.session.peer is not FLOOR:
            self.score = await self.session.score()
        for _ in range(WARM_UP):
            await self.session.run("true")
        self.count = ForkCount(self.session.belongings)

    async def turn(self) -> None:
        """`true`, once, timed; what it costs beside time is taken from before and after all turns of all."""
        assert self.count is not None
        self.count.new()
        self.times.append(await self.session.timed())
        self.forks.append(self.count.new())

    async def burn(self, runs: int) -> None:
        """CPU of so many runs on end."""
        before = self.session.belongings.cpu()
        for _ in range(runs):
            await self.session.run("true")
        self.cpu = (self.session.belongings.cpu() - before) / runs * 1000

    async def wait(self, seconds: int) -> None:
        """What it costs to wait for a command that takes so long."""
        if self.score is None or self.count is None:
            return
        self.count.new()
        await anyio.sleep(seconds)
        others, cpu = self.count.new(), self.session.belongings.cpu()
        await self.session.run(f"sleep {seconds}", seconds + SECONDS)
        forked, cpu = self.count.new(), self.session.belongings.cpu() - cpu
        self.waiting = f"{cpu * 1000:.0f} ms, {max(0, forked - others)} forks"

    def row(self) -> tuple[str | float, ...]:
        """Its line in the table."""
        found = timing(self.label, self.times)
        told = self.label, self.session.peer.registry, found.p50, found.p99
        cells = self.score.cells if self.score else ("", "", "")
        return (*told, *cells, usual(self.forks), self.cpu, self.waiting, self.listed)


async def each(measured: Sequence[Measured], what: str, *arguments: int) -> None:
    """Have every server that still answers do that; one that fails is out, and says why."""
    for one in measured:
        if one.failed:
            continue
        try:
            await getattr(one, what)(*arguments)
        except Exception as error:  # noqa: BLE001 - a server of others may fail in any way, and the others go on
            said = str(error) if isinstance(error, PeerDiedError) else f"{type(error).__name__}: {error}"
            one.failed = f"installed, but it did not work here: {said}"


def wanted(scale: Scale) -> tuple[Peer, ...]:
    """The short run installs nothing."""
    return (FLOOR, OURS, *(() if scale.short and scale.installed is None else THEIRS))


def prepared(peers: Iterable[Peer], root: Path, homes: ExitStack) -> tuple[list[Session], list[str]]:
    """Install what can be had; sessions that are not started yet, and why others are missing."""
    sessions, missing = [], []
    for peer in peers:
        folder = root / peer.folder
        if peer.package is not None:
            print(f"  installing {peer.label} ...", file=sys.stderr, flush=True)
            if why := installed(peer.package, folder):
                missing.append(f"{peer.label} ({peer.registry}): {why}")
                continue
        sessions.append(Session(peer, Path(homes.enter_context(temporary_home())), folder))
    return sessions, missing


async def run(scale: Scale) -> Report:
    """All that can be had; the short run installs nothing and measures only us."""
    return await compare(wanted(scale), scale)


async def compare(peers: Iterable[Peer], scale: Scale) -> Report:
    """These, side by side; one that cannot be had, or does not work, is told of and the others go on."""
    with temporary_home() as name, ExitStack() as homes:
        sessions, notes = prepared(peers, scale.installed or Path(name), homes)
        measured = [Measured(session) for session in sessions]
        async with running(sessions):
            for one in measured:
                print(f"  asking {one.label} ...", file=sys.stderr, flush=True)
                await each([one], "ask_all")
            runs = scale.of(RUNS, RUNS_SHORT)
            for number in range(runs):
                await each(measured, "turn")
                progress(number + 1, runs)
            await each(measured, "burn", runs)
            await each(measured, "wait", scale.of(WAIT, WAIT_SHORT))
        for one in measured:
            if one.count is not None:
                one.count.close()
    answered = [one for one in measured if not one.failed]
    notes += [f"{one.label}: {one.failed}" for one in measured if one.failed]
    notes += [f"{one.label} {said}" for one in answered if one.score and (said := one.score.told(EXAMPLES))]
    columns = tuple(f"waiting {scale.of(WAIT, WAIT_SHORT)} s" if name == "waiting" else name for name in COLUMNS)
    return Report(
        "peers",
        "MCP servers that run commands",
        columns,
        tuple(one.row() for one in answered),
        notes=(*NOTES, *notes),
        data={one.label: [miss.document() for miss in one.score.misses] for one in answered if one.score},
    )
