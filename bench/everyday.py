"""Everyday use at random: tabs with the prompts that people have are opened, used, stopped and closed for a while.

`python -m bench everyday [--seconds N] [--users N] [--beside N] [--link MS] [--seed N]`. It measures no time; it counts
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
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

import muxwire
from bench.prompts import Prompt, available, home_of
from bench.remote import carrier

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

# A prompt of three tenths of a second on a machine with three others that compute.
COMMAND_SECONDS = 30.0
STOP_SECONDS = 20.0
# Milliseconds between a start and its stop: none, within the shell's reading of the line, and behind it.
STOP_DELAYS = (0, 0, 1, 5, 20)
STOP_SIGNALS = ("SIGINT", "SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")
# What is ours must never be on a screen.
OURS = ("__muxwire", "_mux", "\\eval", "\\builtin", "\\command")
TABS_MAX = 4
# Long enough for some hundred actions; an hour of one user then is about three turns of each prompt.
TURN_SECONDS = 60.0
COMPUTES = "while True: pass"
_HOST = "there"


@final
@dataclass(slots=True)
class Figures:
    """What was done and what was not as promised, by prompt."""

    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    details: list[str] = field(default_factory=list)

    def fail(self, prompt: Prompt, what: str, detail: str) -> None:
        """Count something that was not as promised."""
        self.failed[prompt.name, what] += 1
        self.details.append(f"{prompt.name}: {what}: {detail}")

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
class Everyday:
    """Somebody who uses the tabs of one prompt, one after the other and several at once."""

    def __init__(self, prompt: Prompt, terminals: muxwire.Terminals, host: str, seed: int, figures: Figures) -> None:
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
        actions: tuple[tuple[str, Callable[[muxwire.Tab], Awaitable[None]]], ...] = (
            ("commands", self._command),
            ("commands", self._command),
            ("commands of many lines", self._many_lines),
            ("half-typed lines", self._half_typed),
            ("stops", self._stop),
            ("stops", self._stop),
        )
        while time.monotonic() < until:
            tab = await self._tab()
            what, action = self._random.choice(actions)
            self._figures.done[self._prompt.name, what] += 1
            try:
                await action(tab)
            except muxwire.MuxwireError as error:
                self._figures.fail(self._prompt, "refused", f"{what}: {error}")
                await self._close(tab, force=True)
        for tab in list(self._tabs):
            await self._close(tab)

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
            self._figures.fail(self._prompt, "not closed", str(error))
            await tab.close(force=True)

    async def _exact(self, tab: muxwire.Tab, command: str, output: str, code: int) -> None:
        result = await tab.execute(command, timeout=COMMAND_SECONDS)
        if (result.output, result.exit_code) != (output, code):
            said = f"{command!r}: {result.output[-200:]!r}, {result.exit_code}, {result.state} {result.note}"
            self._figures.fail(self._prompt, "wrong results", said)

    async def _clean(self, tab: muxwire.Tab) -> None:
        """Nothing of ours is on the screen, once the next prompt is drawn."""
        await tab.runner.settled()
        lines = (await tab.snapshot()).lines
        if found := [line for line in lines if any(word in line for word in OURS)]:
            self._figures.fail(self._prompt, "screens not clean", repr(found))

    async def _command(self, tab: muxwire.Tab) -> None:
        self._count += 1
        await self._exact(
            tab,
            f"echo number {self._count}; sh -c 'exit {self._count % 7}'",
            f"number {self._count}\n",
            self._count % 7,
        )
        await self._clean(tab)

    async def _many_lines(self, tab: muxwire.Tab) -> None:
        await self._exact(tab, "seq 1 2000; printf end", "".join(f"{n}\n" for n in range(1, 2001)) + "end", 0)

    async def _half_typed(self, tab: muxwire.Tab) -> None:
        """A person has begun a line."""
        await tab.send_keys(["echo who"], literal=True)
        await self._command(tab)

    async def _stop(self, tab: muxwire.Tab) -> None:
        """Something is started, and stopped in the next moment; afterwards the tab can be used."""
        signal, delay = self._random.choice(STOP_SIGNALS), self._random.choice(STOP_DELAYS)
        self._count += 1
        length = f"1000.{secrets.randbelow(10**12)}"  # known by its argument among those of all users
        if self._random.random() < 0.5:
            await tab.start_process(f"sleep {length}")
        else:
            await tab.execute(f"sleep {length}", wait=False)
        if delay:
            await anyio.sleep(delay / 1000)
        stopped = await tab.stop_process(signal)
        if not stopped.success or stopped.state != "prompt":
            self._figures.fail(self._prompt, "not stopped", f"{signal} after {delay} ms: {stopped}")
        if running(f"sleep {length}"):
            self._figures.fail(self._prompt, "left running", f"{signal} after {delay} ms: {stopped}")
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


async def use(prompt: Prompt, folder: Path, until: float, seed: int, figures: Figures, link: float | None) -> None:
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
        await Everyday(prompt, terminals, _HOST if link is not None else "", seed, figures).run(until)


async def take_turns(
    prompts: Iterator[Prompt], folder: Path, until: float, seed: int, figures: Figures, link: float | None
) -> None:
    """Use one prompt after the other, in an instance of its own each time."""
    for turn in itertools.count(seed):
        if time.monotonic() >= until:
            return
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own:
            await use(next(prompts), Path(own), min(until, time.monotonic() + TURN_SECONDS), turn, figures, link)


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
        for _ in range(beside):
            ends.callback(subprocess.Popen([sys.executable, "-c", COMPUTES]).kill)
        async with anyio.create_task_group() as group:
            for user in range(users):
                group.start_soon(take_turns, turns, folder, until, seed * users + user, figures, link)
    return figures


def main(argv: list[str]) -> int:
    """Run it from the command line; 1 if anything was not as promised."""
    parser = argparse.ArgumentParser(prog="python -m bench everyday", description=(__doc__ or "").split("\n", 1)[0])
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
    for line in figures.details:
        print(f"not as promised: {line}")
    return 1 if figures.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
