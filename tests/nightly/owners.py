"""Three agents, verbs and programs at one named instance, whose owner is killed again and again.

`python -m tests.nightly.owners [--seconds N] [--seed N] [--life SECONDS]`. Each worker has a tab of its own, and has
commands run there that print numbered lines: by MCP, by `muxwire run`, or by a program that opens the name; between
them it uses verbs that read. One task kills the owner with SIGKILL. An answer is exact, or it is an error that says so;
what a log holds of a command is each of its lines once, in order, or nothing of a command that an error was said of. In
the end no process, socket or lock is left.

A fourth worker does the same at another user's instance, whose owner is left alone: its memory must stay flat.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import anyio
import anyio.to_thread

import muxwire
from muxwire.client.watchdog import process_table
from muxwire.errors import MuxwireError
from tests.owner.conftest import NAME, Agent, User
from tests.processes import file_of
from tests.users import short_folder, write_rc_files

WORKERS = 3
LINES_MAX = 400
PAUSE_MAX = 0.5  # seconds between two commands of a worker: owners die at work and at rest
LIFE = 1.5  # seconds: half of them less, half of them more
READING = ("ls", "snapshot -t {}", "logs -t {} -n 10", "wait -t {} --prompt --timeout 20")
SAMPLES = 12  # of memory; it may grow in the first half of the run
GROWTH_MAX = 1.1
# After the last command: until everything has ended by itself.
END_SECONDS = 60


class Soak:
    def __init__(self, user: User, calm: User, seed: int, seconds: float, life: float) -> None:
        self.user, self.calm, self.random, self.life = user, calm, random.Random(seed), life
        self.seconds, self.until = seconds, time.monotonic() + seconds
        self.counts = Counter[str]()
        self.wrong = list[str]()
        self.said: dict[str, tuple[int, bool]] = {}  # by a command's name: how many lines, and whether it was answered
        self.memory = list[int]()  # KiB of the owner that is left alone

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.kill)
            tasks.start_soon(self.weigh)
            async with anyio.create_task_group() as workers:
                for number in range(WORKERS):
                    workers.start_soon(self.work, self.user, number)
                workers.start_soon(self.work, self.calm, WORKERS)
            tasks.cancel_scope.cancel()

    async def kill(self) -> None:
        life = self.life
        while True:
            said = len(self.said)
            await anyio.sleep(self.random.uniform(0.2, 1.8) * life)
            if owner := await anyio.to_thread.run_sync(lambda: self.user.owner):
                os.kill(owner, signal.SIGKILL)
                self.counts["killed"] += 1
            # On a busy machine an owner lives until something is asked of it; else none would ever make a tab.
            life = self.life if len(self.said) > said else 2 * life

    async def weigh(self) -> None:
        while True:
            await anyio.sleep(self.seconds / SAMPLES)
            if owner := await anyio.to_thread.run_sync(lambda: self.calm.owner):
                pages = Path(f"/proc/{owner}/statm").read_text().split()[1]
                self.memory.append(int(pages) * os.sysconf("SC_PAGE_SIZE") // 1024)

    async def work(self, user: User, number: int) -> None:
        agent = Agent(user.start("serve", "--name", NAME, stderr=None))
        await agent.initialize()
        tab = ""
        while not tab:
            answer = await agent.call_any("create_tab", name=f"w{number}", shell="bash")
            tab = answer.get("window_id", "")
        at = 0
        while time.monotonic() < self.until:
            at += 1
            name, lines = f"w{number}c{at}", self.random.randint(1, LINES_MAX)
            command = f"for i in $(seq {lines}); do echo {name}:$i:; done"
            way = self.random.choice((self.by_agent, self.by_verb, self.by_program))
            output, why = await way(user, agent, tab, command)
            self.said[name] = lines, output is not None
            self.counts[way.__name__ if output is not None else f"{way.__name__}: {why[:60]}"] += 1
            if output is not None and output != "".join(f"{name}:{i}:\n" for i in range(1, lines + 1)):
                self.wrong.append(f"{way.__name__} {name}: {output[:200]!r}")
            reading = self.random.choice(READING).format(tab)
            _, why = await self.verb(user, *reading.split())
            self.counts[f"{reading.split()[0]}: {why[:60]}" if why else reading.split()[0]] += 1
            await anyio.sleep(self.random.uniform(0, PAUSE_MAX))
        agent.hang_up()
        agent.stop_reading()

    async def by_agent(self, _: User, agent: Agent, tab: str, command: str) -> tuple[str | None, str]:
        answer = await agent.call_any("execute_command", window_id=tab, command=command, max_chars=1_000_000)
        is_whole = answer.get("exit_code") == 0
        return (answer["output"], "") if is_whole else (None, str(answer.get("error") or answer))

    async def by_verb(self, user: User, _: Agent, tab: str, command: str) -> tuple[str | None, str]:
        return await self.verb(user, "run", "-t", tab, command)

    async def verb(self, user: User, *words: str) -> tuple[str | None, str]:
        process = user.start(*words, "--name", NAME, stdin=subprocess.DEVNULL)
        said, why = await anyio.to_thread.run_sync(process.communicate)
        if process.returncode and not why:
            self.wrong.append(f"{words[0]} ended with {process.returncode} and said nothing")
        return (None, why.decode()) if process.returncode else (said.decode(), "")

    async def by_program(self, user: User, _: Agent, tab: str, command: str) -> tuple[str | None, str]:
        try:
            async with muxwire.open_terminals(NAME, environ=user.environ) as terminals:
                result = await (await terminals.tab(tab)).execute(command)
        except MuxwireError as error:
            return None, str(error)
        return (result.output, "") if result.exit_code == 0 else (None, result.note)

    def judge(self) -> None:
        """Hold the logs against what was said, and the memory against itself."""
        users = (self.user, self.calm)
        logs = [path.read_bytes() for user in users for path in sorted((user.home / "state").rglob("pane-@*.log"))]
        found: dict[str, list[int]] = {}
        for log in logs:
            for name, line in re.findall(rb"(w\d+c\d+):(\d+):\r\n", log):
                found.setdefault(name.decode(), []).append(int(line))
        for name, (lines, answered) in self.said.items():
            seen = found.get(name, [])
            if seen != list(range(1, lines + 1)) and (answered or seen != list(range(1, len(seen) + 1))):
                self.wrong.append(f"the log has of {name} ({lines} lines, answered: {answered}): {seen[:9]}...")
        half = len(self.memory) // 2
        if max(self.memory[half:]) > GROWTH_MAX * max(self.memory[:half]):
            self.wrong.append(f"the owner that was left alone grew: {self.memory} KiB")
        if len(self.calm.owners) > 1:
            self.wrong.append(f"there were several owners where none was killed: {self.calm.owners}")

    @staticmethod
    def left(user: User) -> list[str]:
        """What is left of it: processes that have its home, and what is in its run directory."""
        home = f"HOME={user.home}\0".encode()
        others = process_table().keys() - {os.getpid()}
        running = [f"process {pid}" for pid in others if home in file_of(pid, "environ")]
        return running + [str(path) for path in user.runtime.iterdir() if path.suffix != ".log"]


def _user(home: Path, stack: ExitStack) -> User:
    write_rc_files(home)
    user = User(home, stack)
    user.environ["MUXWIRE_STATE_DIR"] = str(home / "state")
    return user


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nightly.owners", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--life", type=float, default=LIFE, metavar="SECONDS", help="of an owner, about")
    given = parser.parse_args()
    with short_folder() as home, short_folder() as quiet, ExitStack() as stack:
        user, calm = users = _user(home, stack), _user(quiet, stack)
        soak = Soak(user, calm, given.seed, given.seconds, given.life)
        anyio.run(soak.run)
        for one in users:
            one.start("kill", "--name", NAME, "--all", "-f", stdin=subprocess.DEVNULL).communicate()
        soak.judge()
        for one in users:
            deadline = time.monotonic() + END_SECONDS
            while (left := soak.left(one)) and time.monotonic() < deadline:
                time.sleep(0.2)
            soak.wrong += left
    print(f"seed {given.seed}:", dict(soak.counts), f"{len(soak.said)} commands, memory {soak.memory} KiB")
    print("\n".join(soak.wrong) or "nothing wrong")
    return bool(soak.wrong)


if __name__ == "__main__":
    sys.exit(main())
