"""Everyday use at random: tabs with the prompts that people have are opened, used, stopped and closed for a while.

Commands, also through sudo, su, script and ssh; apt-get from a local repository; questions, also of pinentry and of
another user; REPLs; set -x; a person who types half a line; an agent that stops things in the next moment.

`python -m tests.nightly.everyday [--seconds N] [--users N] [--beside N] [--link MS] [--seed N]` counts
broken promises.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

import muxwire
from tests.nightly.claim_programs import lacking
from tests.nightly.prompts import Prompt, available, home_of
from tests.stages import Unavailable
from tests.stages.apt_repository import installation, make_repository
from tests.stages.computing import computing
from tests.stages.person import person
from tests.stages.relays import use_pty
from tests.stages.slow_link import carrier
from tests.stages.ssh_server import ssh_server

if TYPE_CHECKING:
    from collections.abc import Iterator

# A prompt of three tenths of a second on a machine with three others that compute.
COMMAND_SECONDS = 30.0
STOP_SECONDS = 20.0
# Milliseconds between a start and its stop: none, within the shell's reading of the line, and behind it.
STOP_DELAYS = (0, 0, 1, 5, 20)
STOP_SIGNALS = ("SIGINT", "SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")
# These words of muxwire's must never be on a screen.
HIDDEN_WORDS = ("__muxwire", "_mux", "\\eval", "\\builtin", "\\command")
TABS_MAX = 4
# Long enough for some hundred actions; an hour of one user then is about three turns of each prompt.
TURN_SECONDS = 60.0
# These shells bring a half-typed line back after a command.
KEEP_TYPED = ("bash", "zsh", "fish")
# A person at a terminal types so fast at most, and looks at the screen in between.
LOOK_SECONDS = 0.05
# A screen that has not changed for so long shows the line that comes back after a command, on a busy machine too.
RESTS_SECONDS = 0.5
# Those whose line editor can be asked for the line that a person has begun.
EDITED = ("bash", "zsh", "fish")
# Of what a tab wrote, printed with what was not as promised there: some commands with their marks.
LAST_BYTES = 4000
_HOST = "there"


@final
@dataclass(slots=True)
class Figures:
    """What was done and what was not as promised, by prompt."""

    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    missing: tuple[str, ...] = ()

    def fail(self, prompt: Prompt, what: str, detail: str) -> None:
        """Count something that was not as promised, and print it at once: a run takes an hour."""
        self.failed[prompt.name, what] += 1
        now = datetime.now(tz=UTC)
        print(
            f"{now:%H:%M:%S}.{now.microsecond // 1000:03} not as promised: {prompt.name}: {what}: {detail}", flush=True
        )

    def text(self) -> str:
        """A line for each prompt."""
        names = list(dict.fromkeys(name for name, _ in self.done))
        rows = []
        for name in names:
            done = ", ".join(f"{count} {what}" for (one, what), count in sorted(self.done.items()) if one == name)
            wrong = ", ".join(f"{count} {what}" for (one, what), count in sorted(self.failed.items()) if one == name)
            rows.append(f"{name}: {done}; not as promised: {wrong or 'nothing'}")
        return "\n".join([*rows, f"in all {self.done.total()}, not as promised {self.failed.total()}"])


@final
@dataclass(frozen=True, slots=True)
class Surroundings:
    """What other programs need: options for ssh to this machine, a Debian installation, sudo; and what is missing."""

    ssh: str = ""
    template: Path | None = None
    sudo: bool = False
    missing: tuple[str, ...] = ()


@contextmanager
def surroundings(folder: Path) -> Iterator[Surroundings]:
    """Set up what can be had here."""
    ssh, template, sudo, missing = "", None, False, list[str]()
    folder.chmod(0o755)  # another user's shell begins in a directory of it
    keys, shared = folder / "keys", folder / "shared"
    keys.mkdir()
    shared.mkdir()
    with ExitStack() as ends:
        try:
            ssh = " ".join(ends.enter_context(ssh_server(keys)))
        except Unavailable as reason:
            missing.append(f"ssh: {reason}")
        try:
            template = make_repository(shared)
        except Unavailable as reason:
            missing.append(f"apt-get: {reason}")
        try:
            ends.enter_context(use_pty())
            sudo = True
        except Unavailable as reason:
            missing.append(f"sudo: {reason}")
        yield Surroundings(ssh, template, sudo, tuple(missing))


Action = Callable[[muxwire.Tab], Awaitable[None]]


@final
class Everyday:
    """A user of the tabs of one prompt, one after the other and several at once."""

    def __init__(
        self, prompt: Prompt, terminals: muxwire.Terminals, host: str, seed: int, figures: Figures, around: Surroundings
    ) -> None:
        self._around = around
        self._prompt = prompt
        self._terminals = terminals
        self._host = host
        self._work = f"{terminals.host.environ['HOME']}/work"
        self._random = random.Random(f"{seed} {prompt.name}")
        self._figures = figures
        self._tabs: list[muxwire.Tab] = []
        self._count = 0

    async def run(self, until: float) -> None:
        """Use tabs until that time of the monotonic clock."""
        actions = list(self._actions())
        while time.monotonic() < until:
            try:
                tab = await self._tab()
            except muxwire.MuxwireError as error:
                self._figures.fail(self._prompt, "no fresh tab", str(error))
                continue
            what, action = self._random.choice(actions)
            self._figures.done[self._prompt.name, what] += 1
            try:
                await action(tab)
            except muxwire.MuxwireError as error:
                self._fail(tab, "refused", f"{what}: {error}")
                await self._close(tab, force=True)
        for tab in list(self._tabs):
            await self._close(tab)

    def _actions(self) -> Iterator[tuple[str, Action]]:
        """What is done here, by what it is counted as; what is done more often stands there twice."""
        around, prompt = self._around, self._prompt
        yield from [("commands", self._command)] * 4
        yield "commands of many lines", self._many_lines
        yield from [("half-typed lines", self._half_typed), ("stops", self._stop)] * 2
        yield "stops of jobs", self._stop_jobs
        yield "REPLs", self._repl
        if prompt.shell != "fish":  # it has no `set -x`; its `fish_trace` shows our words (docs/troubleshooting.md)
            yield "set -x", self._traced
        if prompt.shell in EDITED and not self._host:
            yield "a person's half-typed lines", self._person
        if not lacking(("script",), {}):
            yield "script", self._script
        if not lacking(("su", "root"), {}):
            yield from (("su", self._su), ("questions of another user", self._asked_by_other))
        if around.sudo:
            yield "sudo", self._sudo
        if around.ssh:
            yield "ssh", self._ssh
        if around.template:
            yield from (("apt-get", self._install), ("apt-get's question", self._install_asked))
        if not lacking(("gpg", "pinentry-curses"), {}):
            yield "pinentry", self._pinentry

    async def _tab(self) -> muxwire.Tab:
        """One that is there, or a fresh one, which is used at once."""
        if len(self._tabs) >= TABS_MAX:
            await self._close(self._random.choice(self._tabs))
        if not self._tabs or self._random.random() < 0.3:
            self._figures.done[self._prompt.name, "fresh tabs"] += 1
            shell = shutil.which(self._prompt.shell)
            self._tabs.append(await self._terminals.create_tab(shell=shell, cwd=self._work, host=self._host))
            return self._tabs[-1]
        return self._random.choice(self._tabs)

    async def _close(self, tab: muxwire.Tab, *, force: bool | None = None) -> None:
        self._tabs.remove(tab)
        try:
            await tab.close(force=self._random.random() < 0.5 if force is None else force)
        except muxwire.MuxwireError as error:
            self._fail(tab, "not closed", str(error))
            await tab.close(force=True)

    def _fail(self, tab: muxwire.Tab, what: str, detail: str) -> None:
        """Count it, with what the tab has written at last, marks included."""
        ring = tab.pane.stream.ring
        written = ring.read(max(ring.start, ring.end - LAST_BYTES))
        self._figures.fail(self._prompt, what, f"{detail}\n  {tab.window_id} wrote at last: {written!r}")

    async def _exact(self, tab: muxwire.Tab, command: str, output: str, code: int) -> None:
        result = await tab.execute(command, timeout=COMMAND_SECONDS)
        if (result.output, result.exit_code) != (output, code):
            said = f"{command!r}: {result.output[-200:]!r}, {result.exit_code}, {result.state} {result.note}"
            self._fail(tab, "wrong results", said)
        if result.running:
            await self._close(tab, force=True)

    async def _clean(self, tab: muxwire.Tab) -> None:
        """Nothing of ours is on the screen, once the next prompt is drawn."""
        await tab.runner.settled()
        lines = (await tab.snapshot()).lines
        if found := [line for line in lines if any(word in line for word in HIDDEN_WORDS)]:
            self._fail(tab, "screens not clean", repr(found))

    async def _command(self, tab: muxwire.Tab) -> None:
        self._count += 1
        await self._exact(
            tab,
            f"echo number {self._count}; sh -c 'exit {self._count % 7}'",
            f"number {self._count}\n",
            self._count % 7,
        )
        if tab in self._tabs:
            await self._clean(tab)

    async def _many_lines(self, tab: muxwire.Tab) -> None:
        await self._exact(tab, "seq 1 2000; printf end", "".join(f"{n}\n" for n in range(1, 2001)) + "end", 0)

    async def _half_typed(self, tab: muxwire.Tab) -> None:
        """A line is half typed when a command comes; it is there again at the next prompt."""
        await tab.send_keys(["echo who"], literal=True)
        await self._command(tab)
        if tab in self._tabs and self._prompt.shell in KEEP_TYPED and not await self._ends(tab, "echo who"):
            self._fail(tab, "half-typed lines lost", f"{(await tab.snapshot()).lines[-4:]}")

    async def _person(self, tab: muxwire.Tab) -> None:
        """A person has begun a line when an agent's command comes; the line is finished afterwards, and runs whole."""
        self._count += 1
        word = f"person{self._count}whole"
        at_end = self._random.random() < 0.5
        first, rest = (f"echo {word[:-3]}", f"{word[-3:]}") if at_end else (f"echo {word[:-4]}{word[-3:]}", word[-4])
        with person(str(self._terminals.folders.socket_path), f"={tab.session}:{tab.window_id}") as keyboard:
            # A line that was set aside before comes back first: C-u is for what is seen.
            await tab.wait_for(stable=RESTS_SECONDS, timeout=STOP_SECONDS)
            os.write(keyboard, b"\x15" + first.encode() + (b"" if at_end else b"\x1b[D" * 3))  # on an empty line
            if not await self._shows(tab, first):
                self._fail(tab, "not typed", first)
                return
            await self._command(tab)
            await anyio.sleep(LOOK_SECONDS)
            os.write(keyboard, rest.encode() + b"\r")
            if not await self._shows(tab, word, whole_line=True):
                lines = (await tab.snapshot()).lines[-4:]
                self._fail(tab, "half-typed lines lost", f"{first!r}, at its end: {at_end}: {lines}")
                await self._close(tab, force=True)

    async def _shows(self, tab: muxwire.Tab, text: str, *, whole_line: bool = False) -> bool:
        """Wait until that stands on the screen; False if it does not come."""
        until = time.monotonic() + STOP_SECONDS
        while time.monotonic() < until:
            lines = (await tab.snapshot(unwrap=True)).lines
            if any(text == line.strip() if whole_line else text in line for line in lines):
                return True
            await anyio.sleep(LOOK_SECONDS)
        return False

    async def _ends(self, tab: muxwire.Tab, text: str) -> bool:
        """Wait until the last row of the screen ends so; False if it does not."""
        until = time.monotonic() + STOP_SECONDS
        while time.monotonic() < until:
            if "\n".join((await tab.snapshot(unwrap=True)).lines).rstrip().endswith(text):
                return True
            await anyio.sleep(LOOK_SECONDS)
        return False

    async def _traced(self, tab: muxwire.Tab) -> None:
        for command, code in (("set -x; true", 0), ("sh -c 'exit 3'", 3), ("set +x", 0)):
            result = await tab.execute(command, timeout=COMMAND_SECONDS)
            if result.exit_code != code or any(word in result.output for word in HIDDEN_WORDS):
                said = f"{command!r}: {result.output[-200:]!r}, {result.exit_code}, {result.note}"
                self._fail(tab, "wrong results", said)
        await self._clean(tab)

    async def _script(self, tab: muxwire.Tab) -> None:
        await self._exact(tab, f"script -qec \"sh -c '{self._pause()}; echo in; exit 3'\" /dev/null", "in\n", 3)

    async def _su(self, tab: muxwire.Tab) -> None:
        await self._exact(tab, f"su -P -c '{self._pause()}; echo by su; exit 4'", "by su\n", 4)

    async def _sudo(self, tab: muxwire.Tab) -> None:
        await self._exact(tab, f"sudo sh -c '{self._pause()}; echo by sudo; exit 5'", "by sudo\n", 5)

    async def _ssh(self, tab: muxwire.Tab) -> None:
        command = f"ssh -q -t {self._around.ssh} 127.0.0.1 '{self._pause()}; echo by ssh; exit 6'"
        await self._exact(tab, command, "by ssh\n", 6)

    def _pause(self) -> str:
        """A silence, now and then longer than that after which a call may come back unasked."""
        return f"sleep {self._random.choice((0, 0.2, 0.5, 1, 1, 4))}"

    async def _asked_by_other(self, tab: muxwire.Tab) -> None:
        command = "su nobody -s /bin/sh -c 'printf \"name: \"; read x; sleep 1; echo $x; exit 7'"
        await self._answered(tab, command, ["bob", "Enter"], "bob\n", 7)

    def _apt(self) -> str:
        assert self._around.template is not None
        self._count += 1
        return f"apt-get -c {installation(self._around.template, Path(self._work).parent / f'apt{self._count}')}"

    async def _install(self, tab: muxwire.Tab) -> None:
        """Without a question; a package that is configured slowly now and then."""
        name = self._random.choice(("quick", "quick", "slow"))
        result = await tab.execute(f"{self._apt()} install -y {name}", timeout=COMMAND_SECONDS)
        if result.exit_code != 0 or f"Setting up {name}" not in result.output:
            said = f"{result.output[-200:]!r}, {result.exit_code}, {result.state} {result.note}"
            self._fail(tab, "wrong results", said)
            await self._close(tab, force=True)

    async def _install_asked(self, tab: muxwire.Tab) -> None:
        await self._answered(tab, f"{self._apt()} install wants", ["y", "Enter"], "Setting up wants", 0)

    async def _answered(self, tab: muxwire.Tab, command: str, keys: list[str], shows: str, code: int) -> None:
        """A command that asks, is answered, works on, and ends."""
        asked = await tab.execute(command, timeout=COMMAND_SECONDS)
        if not asked.running or asked.state != "interactive":
            said = f"{command!r}: {asked.output[-200:]!r}, {asked.exit_code}, {asked.state} {asked.note}"
            self._fail(tab, "questions not noticed", said)
            await self._close(tab, force=True)
            return
        sent = await tab.send_keys(keys, wait=COMMAND_SECONDS)
        if sent.outcome != "ended" or sent.exit_code != code or shows not in sent.output:
            self._fail(tab, "wrong answers", f"{command!r}: {sent}")
            await self._close(tab, force=True)

    async def _repl(self, tab: muxwire.Tab) -> None:
        started = await tab.execute("/usr/bin/python3 -q", timeout=COMMAND_SECONDS)
        sums = await tab.send_keys(["6*7", "Enter"], wait=COMMAND_SECONDS)
        slow = await tab.send_keys(["import time; time.sleep(1); print(6 * 8)", "Enter"], wait=COMMAND_SECONDS)
        ended = await tab.send_keys(["C-d"], wait=COMMAND_SECONDS)
        right = started.state == "interactive" and "\n42\n" in sums.output and "\n48\n" in slow.output
        if not right or (ended.outcome, ended.exit_code) != ("ended", 0):
            said = f"{started.state} {started.note}, {sums.output!r}, {slow.output!r}, {ended}"
            self._fail(tab, "wrong answers", said)
            await self._close(tab, force=True)

    async def _pinentry(self, tab: muxwire.Tab) -> None:
        """It asks from a session of its own, on this terminal: no line may be typed into it."""
        gnupg = Path(self._work).parent / "gnupg"
        gnupg.mkdir(mode=0o700, exist_ok=True)
        gpg = f"gpg -q --homedir {gnupg} -o secret.gpg -c file"
        words = f"sh -c 'GPG_TTY=$(tty) exec {gpg}'"
        asked = await tab.execute(words, timeout=COMMAND_SECONDS, on_timeout="leave")
        if not asked.running or asked.state != "interactive":
            if asked.running and not has_open(tab.tty, "pinentry"):
                self._figures.done[self._prompt.name, "gpg that came to no question"] += 1
            else:
                self._fail(tab, "questions not noticed", f"{asked.output[-200:]!r}, {asked.state} {asked.note}")
            await self._close(tab, force=True)
            return
        try:
            taken = await tab.execute("echo typed into it", timeout=1.0)
            self._fail(tab, "typed into a question", f"{taken}")
        except muxwire.TabUnavailable:
            pass
        stopped = await tab.stop_process()
        if not stopped.success or stopped.state != "prompt":
            self._fail(tab, "not stopped", f"pinentry: {stopped}")
            await self._close(tab, force=True)
        else:
            await self._command(tab)

    async def _stop_jobs(self, tab: muxwire.Tab) -> None:
        """Jobs that it started in the background may go on, if that is said."""
        length = f"1000.{secrets.randbelow(10**12)}"
        await tab.start_process(f"sleep {length} & wait")
        stopped = await tab.stop_process()
        if running(f"sleep {length}") and stopped.success and not getattr(stopped, "left", ()):
            self._fail(tab, "left running", f"a job: {stopped}")
        await self._close(tab, force=True)

    async def _stop(self, tab: muxwire.Tab) -> None:
        """Something is started, and stopped in the next moment; afterwards the tab can be used."""
        signal, delay = self._random.choice(STOP_SIGNALS), self._random.choice(STOP_DELAYS)
        self._count += 1
        length = f"1000.{secrets.randbelow(10**12)}"  # known by its argument among those of all users
        if self._random.random() < 0.5:
            await tab.start_process(f"sleep {length}")
        else:
            await tab.execute(f"sleep {length}", async_=True)
        if delay:
            await anyio.sleep(delay / 1000)
        stopped = await tab.stop_process(signal)
        if not stopped.success or stopped.state != "prompt":
            self._fail(tab, "not stopped", f"{signal} after {delay} ms: {stopped}")
        if running(f"sleep {length}"):
            self._fail(tab, "left running", f"{signal} after {delay} ms: {stopped}")
            await self._close(tab, force=True)
        else:
            await self._command(tab)


def running(command: str) -> bool:
    """Whether a process of that command line lives."""
    wanted = command.replace(" ", "\0").encode() + b"\0"
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes() == wanted:
                return True
        except OSError:
            continue
    return False


def has_open(tty: str, program: str) -> bool:
    """Whether a process whose name begins with `program` has that terminal open."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            named = (process / "comm").read_text().startswith(program)
            if named and any(str(one.readlink()) == tty for one in (process / "fd").iterdir()):
                return True
        except OSError:
            continue
    return False


async def use(
    prompt: Prompt, folder: Path, until: float, seed: int, figures: Figures, link: float | None, around: Surroundings
) -> None:
    """Use one prompt in an instance of its own, behind a link of so many ms if one is given."""
    home = home_of(prompt, folder)
    work = home / "work"
    subprocess.run(["git", "init", "-q", str(work)], check=True, env={"HOME": str(home), "PATH": os.defpath})
    (work / "file").write_text("changed\n")
    (home / "run").mkdir(mode=0o700)
    environ = {
        "HOME": str(home),
        "PATH": os.environ.get("PATH", os.defpath),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "MUXWIRE_STATE_DIR": str(home / "state"),
        "ENV": str(home / prompt.file),
        "SHELL": shutil.which("bash") or "/bin/sh",
        "LANG": "C.UTF-8",
    }
    hosts = home / "hosts.toml"
    if link is not None:
        hosts.write_text(f"[hosts.{_HOST}]\nvia = {json.dumps(carrier(environ, link))}\n")
    async with muxwire.open_terminals(environ=environ | {"MUXWIRE_HOSTS": str(hosts)}) as terminals:
        await Everyday(prompt, terminals, _HOST if link is not None else "", seed, figures, around).run(until)
    if (home / "gnupg").exists():
        words = ["gpgconf", "--homedir", str(home / "gnupg"), "--kill", "all"]
        await anyio.run_process(words, check=False)


async def take_turns(
    prompts: Iterator[Prompt],
    folder: Path,
    until: float,
    seed: int,
    figures: Figures,
    link: float | None,
    around: Surroundings,
) -> None:
    """Use one prompt after the other, in an instance of its own each time."""
    for turn in itertools.count(seed):
        if time.monotonic() >= until:
            return
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own:
            await use(
                next(prompts), Path(own), min(until, time.monotonic() + TURN_SECONDS), turn, figures, link, around
            )


async def everyday(
    prompts: list[Prompt], seconds: float, users: int, beside: int, seed: int, link: float | None
) -> Figures:
    """That many users who take turns with the prompts, beside that many programs that compute."""
    figures = Figures()
    turns = itertools.cycle(prompts)
    folder = Path(tempfile.mkdtemp(prefix="mwe"))
    until = time.monotonic() + seconds
    with ExitStack() as ends:
        ends.callback(shutil.rmtree, folder, ignore_errors=True)
        around = ends.enter_context(surroundings(folder))
        figures.missing = around.missing
        ends.enter_context(computing(beside))
        async with anyio.create_task_group() as group:
            for user in range(users):
                group.start_soon(take_turns, turns, folder, until, seed * users + user, figures, link, around)
    return figures


def main(argv: list[str]) -> int:
    """Run it from the command line; 1 if anything was not as promised."""
    parser = argparse.ArgumentParser(prog="python -m tests.nightly.everyday", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--beside", type=int, default=0, metavar="N", help="beside N programs that compute")
    parser.add_argument("--users", type=int, metavar="N", help="N at the same time (default: one for each prompt)")
    parser.add_argument("--prompt", action="append", metavar="TEXT", help="only prompts whose name begins so")
    parser.add_argument("--link", type=float, metavar="MS", help="on another machine, behind a link of that round trip")
    parser.add_argument("--seed", type=int, default=20261122)
    given = parser.parse_args(argv)
    chosen = [
        one for one in available() if one.name.startswith(tuple(given.prompt or [""])) and shutil.which(one.shell)
    ]
    users = given.users or len(chosen)
    figures = anyio.run(everyday, chosen, given.seconds, users, given.beside, given.seed, given.link)
    print(figures.text())
    for line in figures.missing:
        print(f"not done here: {line}")
    return 1 if figures.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
