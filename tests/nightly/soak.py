"""A randomised soak: tabs come and go, run, flood and die while things go wrong; then every log is held to the truth.

Shells have the prompts that people have. There a line is half typed before a command, and is there again afterwards; a
command is stopped in the next moment; and no word of muxwire's own is ever on the screen.

`python -m tests.nightly.soak [--seconds N] [--seed N]`. The choices are those of the seed; what the machine makes of
them is not. One process: an instance, workers that use it, one reader that follows logs, and one task that does harm:

    stop     SIGSTOP of this process for up to 1.5 s
    tmux     SIGSTOP of the tmux server for as long: nothing may be answered before its end
    client   SIGKILL of our `tmux -C`: what tmux held for it is lost, and must be in a recorded gap
    server   SIGKILL of the tmux server: every tab dies, its log must be a beginning of the truth
    disk     no file may grow over 64 KiB for half a second: every write to a log fails
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

import anyio

import muxwire
from muxwire.errors import TmuxSilent
from muxwire.host.processes import session_processes
from tests.library.opened import closed
from tests.nightly.prompts import Prompt, available, home_of
from tests.nightly.truth import Truth, expected, judge, printing
from tests.processes import limited, server_pid, stopped
from tests.users import environ_of, short_folder

WORKERS = 6
# Between two faults, so that each meets a machine that works.
PAUSE_SECONDS = (0.5, 3.0)
FAULTS = ("stop", "stop", "tmux", "tmux", "client", "disk", "disk", "server")
STOP_SECONDS = (0.2, 1.5)
DISK_SECONDS = 0.5
DISK_BYTES = 64 << 10
# Small, so that every larger log is rotated.
SEGMENT_BYTES = 256 << 10
LINES_MAX = 20_000
# Files of random bytes, made before anything can keep them from being written.
FILES = 10
FILE_BYTES_MAX = 1 << 20
# A C-c ends a command: the terminal echoes it, after the signal is out, so that the shell's own newline may come first.
ENDED_BY_KEY = re.compile(r"\n?(?:\^C\n?)*")
# Of a command that runs in the next moment after its start, and how it is stopped.
STOP_SIGNALS = ("SIGINT", "SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")
STOP_DELAYS = (0.0, 0.0, 0.001, 0.005, 0.02)
# What somebody has begun to type when a command comes; these shells bring it back.
HALF_TYPED = "echo who"
KEEP_TYPED = ("bash", "zsh", "fish")
# These words of muxwire's must never be on a screen.
HIDDEN_WORDS = ("_mxw_", "_mux", "\\eval", "\\builtin", "\\command")
# What is under way at the end may take this long, on a slow machine, before it counts as hung.
END_SECONDS = 90


@dataclass
class Figures:
    """What the soak did and what it found."""

    seed: int
    seconds: float = 0.0
    tabs: int = 0
    commands: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    logs: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def text(self) -> str:
        """One line for each kind of figure."""
        faults = ", ".join(f"{name} {count}" for name, count in sorted(self.faults.items()))
        logs = self.logs
        return (
            f"soak of {self.seconds:.0f} s, seed {self.seed}: {self.tabs} tabs, {self.commands} commands\n"
            f"bytes {logs['bytes']}, lines {logs['lines']}, rotations {logs['segments']}\n"
            f"faults {self.faults.total()} ({faults}), recorded gaps {logs['gaps']} with {logs['in_gaps']} lines\n"
            f"lost {logs['lost']}, doubled {logs['doubled']}, wrong results {len(self.wrong)}"
        )

    @property
    def good(self) -> bool:
        """Whether nothing was lost, doubled or wrong."""
        return not (self.logs["lost"] or self.logs["doubled"] or self.wrong)


@dataclass(frozen=True)
class Turn:
    """One of the things that are done in a shell, with the lines it prints; `harm` and `silences` as its tab began."""

    name: str
    prompt: Prompt
    first: int
    last: int
    number: int
    harm: int
    silences: int


class Soak:
    """One run. `harm` counts the faults after which a call may fail and a pane may lose or die; odd while one lasts."""

    def __init__(self, terminals: muxwire.Terminals, folder: Path, seed: int) -> None:
        self.terminals = terminals
        self.folder = folder
        self.seed = seed
        self.figures = Figures(seed)
        self.harm = 0
        self.silences = 0  # how often tmux was stopped or went on: odd while it is stopped
        self.over = False
        self.homes = {prompt: home_of(prompt, folder) for prompt in available()}
        self.files = [self._random_file(random.Random(f"{seed}/file/{number}"), number) for number in range(FILES)]
        self._names = 0
        self._followed: list[tuple[muxwire.Tab, str, int]] = []

    def _random_file(self, chosen: random.Random, number: int) -> Path:
        path = self.folder / f"{number}.bytes"
        path.write_bytes(chosen.randbytes(chosen.randrange(1, FILE_BYTES_MAX)))
        return path

    async def run(self, seconds: float) -> None:
        """Work for so long, and end what is under way."""
        begun = time.monotonic()
        with anyio.fail_after(seconds + END_SECONDS):
            async with anyio.create_task_group() as tasks:
                for number in range(WORKERS):
                    tasks.start_soon(self._work, random.Random(f"{self.seed}/{number}"))
                tasks.start_soon(self._follow, random.Random(f"{self.seed}/reader"))
                tasks.start_soon(self._do_harm, random.Random(f"{self.seed}/harm"))
                await anyio.sleep(seconds)
                self.over = True
        self.figures.seconds = time.monotonic() - begun

    async def _work(self, chosen: random.Random) -> None:
        while not self.over:
            self._names += 1
            name, harm = f"t{self._names}", self.harm
            act = chosen.choice((self._program, self._program, self._file, self._shell))
            try:
                await act(name, chosen)
            except muxwire.MuxwireError as error:
                # That tmux is stopped may be said while it is.
                if self._unharmed(harm) and not (isinstance(error, TmuxSilent) and self.silences % 2):
                    self.figures.wrong.append(f"{name}: {type(error).__name__}: {error}")

    def _unharmed(self, since: int) -> bool:
        return self.harm == since and since % 2 == 0

    # -- panes with a program

    async def _program(self, name: str, chosen: random.Random) -> None:
        lines, wide = chosen.choice((1, 10, chosen.randrange(LINES_MAX), LINES_MAX)), chosen.random() < 0.5
        await self._print_and_die(name, chosen, printing(name, 1, lines, wide=wide), Truth(name, lines, wide=wide))

    async def _file(self, name: str, chosen: random.Random) -> None:
        path = chosen.choice(self.files)
        await self._print_and_die(name, chosen, f"stty raw -echo; cat {path}", Truth(name, 1, file=path))

    async def _print_and_die(self, name: str, chosen: random.Random, command: str, truth: Truth) -> None:
        status = chosen.choice((0, 3, 137))
        last = f"exit {status}" if status < 128 else "kill -9 $$"
        end = chosen.choice(("wait", "wait", "wait", "close", "kill"))
        after = chosen.random() * 0.1
        harm = self.harm
        tab = await self.terminals.create_tab(command=["sh", "-c", f"{command}; {last}"], name=name)
        self.figures.tabs += 1
        if truth.file is None and end == "wait":
            self._followed.append((tab, name, harm))
        if end == "close":
            await anyio.sleep(after)
            await tab.close(force=True)
        elif end == "kill":
            await anyio.sleep(after)
            for pid in session_processes(tab.pane.leader_pid, tab.pane.began):
                if pid != tab.pane.leader_pid:
                    with suppress(ProcessLookupError):  # it came to its end by itself
                        os.kill(pid, signal.SIGKILL)
        await closed(tab)
        whole = end == "wait" and self._unharmed(harm)
        if whole and tab.pane.session.exit_status != status:
            self.figures.wrong.append(f"{name}: status {tab.pane.session.exit_status}, not {status}")
        await self._judge(tab, replace(truth, whole=whole))

    # -- panes with a shell

    async def _shell(self, name: str, chosen: random.Random) -> None:
        harm, silences, prompt = self.harm, self.silences, chosen.choice(list(self.homes))
        home = self.homes[prompt]
        env = {"HOME": str(home), "ENV": str(home / prompt.file)}
        tab = await self.terminals.create_tab(shell=prompt.shell, name=name, env=env, cwd=home / "work")
        self.figures.tabs += 1
        printed = 0
        try:
            for turn in takewhile(lambda _: not self.over, range(chosen.randrange(1, 8))):
                act = chosen.choice((self._command, self._command, self._half_typed, self._stop))
                count = 0 if act == self._stop else chosen.choice((0, 1, chosen.randrange(LINES_MAX)))
                now = Turn(name, prompt, printed + 1, printed + count, turn, harm, silences)
                printed += count  # also if harm ends the call in the middle
                await act(tab, now, chosen)
            await tab.close(force=True)
        finally:
            if not self._unharmed(harm) and not tab.pane.session.closed:
                with anyio.move_on_after(END_SECONDS):
                    await tab.close(force=True)
            await self._judge(tab, Truth(name, printed, whole=self._unharmed(harm)))

    async def _command(self, tab: muxwire.Tab, now: Turn, chosen: random.Random) -> None:
        """Run one command that prints some lines more."""
        status, text = chosen.randrange(256), expected(now.name, now.first, now.last)
        command = f"export turn={now.number}; {printing(now.name, now.first, now.last)}"
        kind = chosen.choice(("plain", "plain", "timeout", "leave", "state"))
        if kind == "timeout":
            result = await tab.execute(f"{command}; sleep 1000", timeout=10 if len(text) > 10_000 else 1)
            status = result.exit_code or 0
        elif kind == "leave":
            result = await tab.execute(f"{command}; sh -c 'exit {status}'", async_=True)
            while result.running:
                result = await self.terminals.command_result(result.command_id, wait=END_SECONDS)
            text = text[-len(result.output) :] if result.output else ""
        else:
            result = await tab.execute(f"{command}; sh -c 'exit {status}'", timeout=END_SECONDS)
            if kind == "state":
                said = await tab.execute("echo $turn")
                self._hold(now, said.output == f"{now.number}\n", f"$turn is {said.output!r}")
        self.figures.commands += 1
        output, tail = result.output[: len(text)], result.output[len(text) :]
        right = output == text and result.exit_code == status and result.timed_out == (kind == "timeout")
        right = right and (ENDED_BY_KEY.fullmatch(tail) is not None if kind == "timeout" else not tail)
        got = f"{len(result.output)} of {len(text)} characters, status {result.exit_code}, not {status}"
        got += f", ends in {result.output[-40:]!r}, {result.state} {result.note}"
        # A time-out that comes while tmux is stopped is told as it is: the command ends when tmux continues.
        self._hold(now, right or (kind == "timeout" and "is stopped" in result.note), f"{kind} {command!r}: {got}")
        await self._look(tab, now)

    async def _half_typed(self, tab: muxwire.Tab, now: Turn, chosen: random.Random) -> None:
        """A command comes while somebody types a line."""
        await tab.send_keys([HALF_TYPED], literal=True)
        await self._command(tab, now, chosen)
        if now.prompt.shell in KEEP_TYPED and self._unharmed(now.harm):
            with anyio.move_on_after(END_SECONDS) as waited:
                while self._unharmed(now.harm) and (  # a prompt at the right may follow it
                    HALF_TYPED not in "\n".join((await tab.snapshot(unwrap=True)).lines).rstrip().rpartition("\n")[2]
                ):
                    await anyio.sleep(0.05)
            self._hold(now, not waited.cancelled_caught, "the half-typed line is lost")

    async def _stop(self, tab: muxwire.Tab, now: Turn, chosen: random.Random) -> None:
        """A command is stopped in the next moment; afterwards the tab can be used.

        What could not be stopped because tmux itself was is told as it is, and stopped again.
        """
        command = f"sleep 1000.{chosen.randrange(10**12)}"  # known by its argument
        signal_name, delay = chosen.choice(STOP_SIGNALS), chosen.choice(STOP_DELAYS)
        await tab.execute(command, async_=True)
        await anyio.sleep(delay)
        silent = True
        while silent:
            before = self.silences
            told = await tab.stop_process(signal_name, grace=END_SECONDS)
            silent = not told.success and (before % 2 == 1 or before != self.silences)
        found = await anyio.run_process(["pgrep", "-fx", command], check=False)
        right = told.success and told.state == "prompt" and not found.stdout
        self._hold(now, right, f"{signal_name} after {delay} s: {told}, left {found.stdout!r}")

    async def _look(self, tab: muxwire.Tab, now: Turn) -> None:
        """Nothing of ours is on the screen, once the next prompt is drawn.

        In dash a C-c that a stopped tmux has kept comes at the next prompt, and throws away where that prompt ends.
        """
        await tab.runner.settled()
        seen = [line for line in (await tab.snapshot()).lines if any(word in line for word in HIDDEN_WORDS)]
        self._hold(
            now,
            not seen or (now.prompt.shell == "dash" and self.silences != now.silences),
            f"on the screen is {seen}",
        )

    def _hold(self, now: Turn, right: bool, found: str) -> None:
        """Note what is not right, unless harm was done since the tab began."""
        if not right and self._unharmed(now.harm):
            self.figures.wrong.append(f"{now.name} ({now.prompt.name}): {found}")

    # -- looking

    async def _judge(self, tab: muxwire.Tab, truth: Truth) -> None:
        for _ in range(END_SECONDS):
            if await tab.pane.stream.log.flushed():
                break
            await anyio.sleep(DISK_SECONDS)
        found = await anyio.to_thread.run_sync(judge, tab.log_path, truth)
        if found["lost"] or found["doubled"]:
            self.figures.wrong.append(f"{truth}: {found} in {tab.log_path}")
        self.figures.logs += found

    async def _follow(self, chosen: random.Random) -> None:
        """Follow one log after another in pieces of any size, while it grows: no line may be missing or come twice."""
        while not self.over:
            if not self._followed:
                await anyio.sleep(0.01)
                continue
            tab, name, harm = self._followed.pop()
            self._followed.clear()
            offset, text = 0, ""
            while True:
                size = chosen.choice((100, 5000, 65536, 1 << 20))
                piece = await self.terminals.stream_logs(tab.address, from_byte=offset, max_bytes=size, wait=1)
                offset, text = piece.next_byte, text + piece.chunk
                if (piece.closed and piece.eof) or not self._unharmed(harm):
                    break
            numbers = [int(line.split(" ")[1]) for line in text.split("\r\n")[:-1] if line.startswith(f"{name} ")]
            if self._unharmed(harm) and numbers != list(range(1, len(numbers) + 1)):
                self.figures.wrong.append(f"{name}: a reader saw {len(numbers)} lines that do not follow each other")

    # -- harm

    async def _do_harm(self, chosen: random.Random) -> None:
        while True:
            await anyio.sleep(chosen.uniform(*PAUSE_SECONDS))
            fault = chosen.choice(FAULTS)
            if self.over:
                return
            self.figures.faults[fault] += 1
            await getattr(self, f"_fault_{fault}")(chosen.uniform(*STOP_SECONDS))

    async def _fault_stop(self, seconds: float) -> None:
        subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -CONT {os.getpid()}"])
        os.kill(os.getpid(), signal.SIGSTOP)

    async def _fault_tmux(self, seconds: float) -> None:
        self.silences += 1
        with stopped(await server_pid(self.terminals)):
            await anyio.sleep(seconds)
        self.silences += 1

    async def _fault_client(self, _seconds: float) -> None:
        await self._kill((await self.terminals.server()).process.pid)

    async def _fault_server(self, _seconds: float) -> None:
        await self._kill(await server_pid(self.terminals))

    async def _kill(self, pid: int) -> None:
        before = await self.terminals.server()
        client_pid = before.process.pid
        self.harm += 1
        os.kill(pid, signal.SIGKILL)
        # Until there is a connection again every call may fail, those that begin now too.
        seen = False
        while not seen:
            await anyio.sleep(0.01)
            with suppress(muxwire.MuxwireError):
                await (await self.terminals.server()).client.command("display-message", "-p", "")
                seen = before.client.closed or before.process.pid != client_pid
        self.harm += 1

    async def _fault_disk(self, _seconds: float) -> None:
        with limited(resource.RLIMIT_FSIZE, DISK_BYTES):
            await anyio.sleep(DISK_SECONDS)


async def soak(seconds: float, seed: int) -> Figures:
    """Run it at an instance of its own, in a folder of its own."""
    with short_folder() as folder:
        environ = environ_of(folder, runtime=folder / "run") | {"MUXWIRE_LOG_SEGMENT_BYTES": str(SEGMENT_BYTES)}
        async with muxwire.open_terminals(environ=environ, state_dir=folder / "state") as terminals:
            one = Soak(terminals, folder, seed)
            await one.run(seconds)
            return one.figures


def main(argv: list[str]) -> int:
    """Run it from the command line; 1 if anything was lost, doubled or wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.nightly.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=20261121)
    given = parser.parse_args(argv)
    figures = anyio.run(soak, given.seconds, given.seed)
    print(figures.text())
    for line in figures.wrong:
        print(f"wrong: {line}")
    return 0 if figures.good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
