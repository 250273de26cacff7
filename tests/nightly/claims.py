"""What muxwire says of programs that work and of programs that wait for input, held against what they do.

`python -m tests.nightly.claims` takes what is run and how often; `python -m bench claims` prints the table. No time is
measured but that until a question is noticed. A wrong claim is:

    waits       "it waits for input" (a call's end, or the state that `list_tabs` has) of a program that works
    ended       an exit code that is not the program's, or one that came before its end
    early       a call that ended as running, without a claim, although what was written is no question

For a question, what counts is whether the call came back because of it, and after how many seconds.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

import muxwire
from tests.nightly.claim_programs import (
    PACKAGES,
    SLOW_SECONDS,
    WAITS,
    WORKS,
    Waits,
    Works,
    furnish,
    furnish_shared,
    lacking,
    provided,
)
from tests.stages import Unavailable
from tests.stages.apt_repository import installation, make_repository
from tests.stages.computing import computing
from tests.stages.relays import RELAYS, Relay, relays
from tests.stages.ssh_server import ssh_server
from tests.users import environ_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Program = Works | Waits
PROGRAMS: tuple[Program, ...] = (*WORKS, *WAITS)
# What is not noticed by then counts as not noticed: longer than the silence after which a call may end unclaimed.
HIDDEN_SECONDS = 8.0
# What works gets so much time on top of what it takes at least: four others compute on two processors.
PATIENCE = 120.0
# A start-up of a program on such a machine: from the command to its question.
SHOWN_SECONDS = 60.0
# Between two looks at the state of a tab whose program works.
LOOK_SECONDS = 0.1
# Tabs that run programs at the same time.
AT_ONCE = 12
BESIDE = 4
# A clock of the program's and one of ours: how much earlier than its least time an end may seem to come.
_CLOCKS = 0.1
ALONE = "no relay"


@final
@dataclass(frozen=True, slots=True)
class Stage:
    """The directory that everything runs in, what the words of commands stand for, and an installation for apt-get."""

    folder: Path
    words: dict[str, str]
    template: Path | None
    skipped: list[str]


@final
@dataclass(frozen=True, slots=True)
class Situation:
    """Where programs run: inside a relay or not, beside so many that compute."""

    relay: Relay | None
    beside: int

    @property
    def name(self) -> str:
        """As a row's name."""
        place = self.relay.name if self.relay else ALONE
        return f"{place}, next to {self.beside} that compute" if self.beside else place

    @property
    def shown(self) -> bool:
        """Whether the kernel shows what waits there."""
        return self.relay is None or self.relay.shown


@final
@dataclass(slots=True)
class Figures:
    """What was run in a situation, and how it was judged."""

    worked: int = 0
    waited: int = 0
    # By the kind of verdict, and by the program it is of.
    wrong: Counter[str] = field(default_factory=Counter)
    noticed: list[float] = field(default_factory=list)
    late: int = 0  # how many of them later than promised
    told: int = 0
    hidden: int = 0
    details: Counter[tuple[str, str]] = field(default_factory=Counter)

    def fail(self, kind: str, program: Program, what: str) -> None:
        """Count a wrong claim."""
        self.wrong[kind] += 1
        self.say(program, f"{kind}: {what}")

    def say(self, program: Program, what: str) -> None:
        """Keep what is worth a line."""
        self.details[program.name, what] += 1


@final
class Claims:
    """One instance whose tabs run programs, each in a directory of its own."""

    def __init__(self, terminals: muxwire.Terminals, stage: Stage, *, watched: bool) -> None:
        self._terminals = terminals
        self._watched = watched
        self._stage = stage
        self._count = 0

    async def run(self, program: Program, situation: Situation, figures: Figures) -> None:
        """Run a program once, in a fresh tab."""
        self._count += 1
        work = self._stage.folder / f"work{self._count}"
        command = self._command(program, situation, work)
        tab = await self._terminals.create_tab(shell="bash", cwd=str(work))
        try:
            if isinstance(program, Works):
                figures.worked += 1
                await self._works(tab, program, command, situation, figures)
            else:
                figures.waited += 1
                await self._waits(tab, program, command, figures)
        except (muxwire.MuxwireError, TimeoutError) as error:
            figures.fail("refused", program, repr(error))
        finally:
            with anyio.CancelScope(shield=True):
                await tab.close(force=True)
                await anyio.to_thread.run_sync(_remove, work)

    def _command(self, program: Program, situation: Situation, work: Path) -> str:
        work.mkdir()
        furnish(work, self._stage.folder / "shared")
        words = dict(self._stage.words)
        if "@APT@" in program.needs and self._stage.template is not None:
            words["@APT@"] = f"apt-get -c {installation(self._stage.template, work / 'apt')}"
        command = program.command
        for word, meaning in words.items():
            command = command.replace(word, meaning)
        return situation.relay.wrap(command, work) if situation.relay else command

    async def _works(
        self, tab: muxwire.Tab, program: Works, command: str, situation: Situation, figures: Figures
    ) -> None:
        said: set[str] = set()

        async def look() -> None:
            while self._watched:
                said.add(tab.state)
                await anyio.sleep(LOOK_SECONDS)

        begun = time.monotonic()
        async with anyio.create_task_group() as group:
            group.start_soon(look)
            result = await tab.execute(command, timeout=program.seconds + PATIENCE)
            group.cancel_scope.cancel()
        took = time.monotonic() - begun
        if result.running and result.state != "running":
            figures.fail("waits", program, f"{result.state}, {result.note}")
        elif result.running and not (program.looks_like_question and not situation.shown):
            figures.fail("early", program, result.note)
        elif result.timed_out:
            figures.say(program, f"had not ended after {took:.0f} s")
        elif not result.running and (result.exit_code != program.code or took < program.seconds - _CLOCKS):
            least = f" after {took:.1f} s" if took < program.seconds else ""
            figures.fail(
                "ended", program, f"exit code {result.exit_code}{least}, {result.note or result.output[-80:]!r}"
            )
        elif said & {"interactive", "incomplete"}:
            figures.fail(
                "waits", program, f"its state was meanwhile {', '.join(sorted(said & {'interactive', 'incomplete'}))}"
            )

    async def _waits(self, tab: muxwire.Tab, program: Waits, command: str, figures: Figures) -> None:
        shown, timeout = 0.0, SHOWN_SECONDS + HIDDEN_SECONDS
        done = anyio.Event()
        result: muxwire.ExecutionResult | None = None

        async def call() -> None:
            nonlocal result
            with anyio.move_on_after(timeout):
                result = await tab.execute(command, timeout=timeout, on_timeout="leave")
            done.set()

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            shown = await self._shown(tab, program, done)
            with anyio.move_on_after(HIDDEN_SECONDS):
                await done.wait()
            took = time.monotonic() - (shown or time.monotonic())
            group.cancel_scope.cancel()
        if result is None:
            figures.hidden += 1
            figures.say(program, "not noticed")
        elif not result.running:
            figures.fail("ended", program, f"exit code {result.exit_code}, {result.note or result.output[-80:]!r}")
        elif result.state == "running":
            figures.told += 1
        elif not shown:
            figures.fail("waits", program, f"before it asked: {result.note}")
        else:
            figures.noticed.append(max(took, 0.0))
            if took > program.within:
                figures.late += 1
                figures.say(program, f"noticed late, after {took:.1f} s")
            if program.secret != ("password" in result.note):
                figures.say(program, f"noticed, as {result.note.partition(':')[0]}")

    async def _shown(self, tab: muxwire.Tab, program: Waits, done: anyio.Event) -> float:
        """The time of the monotonic clock when its question was there; 0.0 if it was not when the call came back."""
        end = time.monotonic() + SHOWN_SECONDS
        # Of the line of the command itself, where that names its question; else what is on no screen.
        words = re.findall(r"\w+", program.command)[-2:] if program.shows in program.command else ["\0"]
        while time.monotonic() < end:
            last = done.is_set()
            lines = (await tab.snapshot(unwrap=True)).lines
            if any(program.shows in line and not all(word in line for word in words) for line in lines):
                return time.monotonic()
            if last:
                break
            await anyio.sleep(LOOK_SECONDS / 2)
        return 0.0


def _remove(work: Path) -> None:
    """Remove a run's directory, and the agent of GnuPG that may live in it."""
    if any((work / "gpg").glob("S.gpg-agent")):
        subprocess.run(
            ["gpgconf", "--homedir", work / "gpg", "--kill", "all"], check=False, capture_output=True, timeout=PATIENCE
        )
    shutil.rmtree(work, ignore_errors=True)


@contextmanager
def slow_server() -> Iterator[int]:
    """A server on this machine that answers after SLOW_SECONDS; yield its port."""

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(SLOW_SECONDS)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What is run: which programs, how often, in which relays, beside how many that compute."""

    times: int
    relay_times: int
    beside: tuple[int, ...] = (0, BESIDE)
    programs: tuple[Program, ...] = PROGRAMS
    places: tuple[str, ...] = (ALONE, *RELAYS)
    at_once: int = AT_ONCE
    # Whether the state of a tab is looked at all the time while its program works.
    watched: bool = True
    # Where what is not of this machine is installed, and kept; None: nowhere that lasts.
    installed: Path | None = None
    told: Callable[[str], None] = lambda _: None


@contextmanager
def staged(plan: Plan) -> Iterator[Stage]:
    """Set up what programs need; what cannot be had is told in `skipped`."""
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="mwc", ignore_cleanup_errors=True)))
        folder.chmod(0o755)  # programs of another user read what is shared
        shared, home, keys = folder / "shared", folder / "home", folder / "keys"
        for place in (shared, home, keys):
            place.mkdir()
        (home / ".gitconfig").write_text("[user]\nname = bench\nemail = bench@example.org\n")
        furnish_shared(shared)
        template, skipped = None, list[str]()
        words = {"@PYTHON@": sys.executable, "@SHARED@": str(shared), "@PORT@": str(ends.enter_context(slow_server()))}
        try:
            template = make_repository(shared)
            words["@APT@"] = "apt-get"
        except Unavailable as reason:
            skipped.append(f"apt-get: {reason}")
        try:
            words["@SSH@"] = " ".join(ends.enter_context(ssh_server(keys)))
        except Unavailable as reason:
            skipped.append(f"ssh: {reason}")
        needed = [word for word in PACKAGES if any(word in one.needs for one in plan.programs)]
        more, missing = provided(plan.installed or folder, needed)
        yield Stage(folder, words | more, template, [*skipped, *missing])


async def claims(plan: Plan) -> tuple[dict[str, Figures], dict[str, bool], list[str]]:
    """Run a plan; return the figures by situation, whether the kernel shows what waits there, and what was skipped."""
    found, shown = dict[str, Figures](), dict[str, bool]()
    with staged(plan) as stage, relays(stage.folder, plan.places) as (usable, missing):
        skipped = [*stage.skipped, *(f"{name}: {reason}" for name, reason in missing.items())]
        programs: list[Program] = []
        for one in plan.programs:
            if lack := lacking(one.needs, stage.words):
                skipped.append(f"{one.name}: no {lack}")
            else:
                programs.append(one)
        home = stage.folder / "home"
        environ = environ_of(home, runtime=home / "run")
        environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"  # where dpkg looks for its own
        async with muxwire.open_terminals(environ=environ, state_dir=home / "state") as terminals:
            tries = Claims(terminals, stage, watched=plan.watched)
            for beside in plan.beside:
                with computing(beside):
                    for relay in (*([None] if ALONE in plan.places else []), *usable):
                        situation = Situation(relay, beside)
                        shown[situation.name] = situation.shown
                        found[situation.name] = await _situation(tries, plan, situation, programs)
                        plan.told(situation.name)
    return found, shown, skipped


async def _situation(tries: Claims, plan: Plan, situation: Situation, programs: Sequence[Program]) -> Figures:
    """Run the programs that belong to a situation, several at once."""
    figures, slots = Figures(), anyio.Semaphore(plan.at_once)
    times = plan.relay_times if situation.relay else plan.times

    async def one(program: Program) -> None:
        async with slots:
            await tries.run(program, situation, figures)

    async with anyio.create_task_group() as group:
        for _ in range(times):
            for program in programs:
                if situation.relay is None or program.relayed:
                    group.start_soon(one, program)
    return figures


def details(found: dict[str, Figures]) -> list[str]:
    """What is worth a line, by situation and program."""
    return [
        f"{name}: {program}: {what} ({count} times)"
        for name, one in found.items()
        for (program, what), count in sorted(one.details.items())
    ]


def main(argv: list[str]) -> int:
    """Run a part of it from the command line; 1 if anything was claimed that is not so."""
    parser = argparse.ArgumentParser(prog="python -m tests.nightly.claims", description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=1, help="how often each runs by itself (default: 1)")
    parser.add_argument("--relay-times", type=int, default=1, help="how often each runs in a relay (default: 1)")
    parser.add_argument("--beside", type=int, action="append", metavar="N", help="beside N programs that compute")
    parser.add_argument("--program", action="append", metavar="TEXT", help="only those whose name begins so")
    places = ", ".join((ALONE, *RELAYS))
    parser.add_argument("--relay", action="append", metavar="NAME", choices=(ALONE, *RELAYS), help=f"of {places}")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, metavar="N", help="tabs that run at the same time")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="install there what is needed, and keep it")
    given = parser.parse_args(argv)
    plan = Plan(
        given.times, given.relay_times, tuple(given.beside or [0]),
        tuple(one for one in PROGRAMS if one.name.startswith(tuple(given.program or [""]))),
        tuple(given.relay or (ALONE, *RELAYS)), given.at_once,
        installed=given.peers, told=lambda name: print(name, file=sys.stderr, flush=True),
    )  # fmt: skip
    found, _, skipped = anyio.run(claims, plan)
    for name, one in found.items():
        noticed = f"{len(one.noticed)} of {one.waited} questions noticed, {one.late} late"
        print(f"{name}: {one.worked} worked, {noticed}, {one.wrong.total()} wrong claims")
    print("\n".join([*details(found), *(f"skipped: {what}" for what in skipped)]))
    return 1 if any(one.wrong for one in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
