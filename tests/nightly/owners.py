"""Three agents, verbs and programs at one named instance, whose owner is killed again and again.

`python -m tests.nightly.owners [--seconds N] [--seed N]`. Each worker has a tab of its own, and has commands run there
that print numbered lines: by MCP, by `muxwire run`, or by a program that opens the name. One task kills the owner with
SIGKILL. An answer is exact, or it is an error that says so; what a log holds of a command is each of its lines once, in
order, or nothing of a command that an error was said of. In the end no process, socket or lock is left.
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
from muxwire.errors import MuxwireError
from tests.owner.conftest import NAME, Agent, User
from tests.users import short_folder, write_rc_files

WORKERS = 3
LINES_MAX = 400
KILLED_AFTER = (0.3, 3.0)  # seconds of life
# After the last command: until everything has ended by itself.
END_SECONDS = 60


class Soak:
    def __init__(self, user: User, seed: int, seconds: float) -> None:
        self.user, self.random = user, random.Random(seed)
        self.until = time.monotonic() + seconds
        self.counts = Counter[str]()
        self.wrong = list[str]()
        self.said: dict[str, tuple[int, bool]] = {}  # by a command's name: how many lines, and whether it was answered

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.kill)
            async with anyio.create_task_group() as workers:
                for number in range(WORKERS):
                    workers.start_soon(self.work, number)
            tasks.cancel_scope.cancel()

    async def kill(self) -> None:
        while True:
            await anyio.sleep(self.random.uniform(*KILLED_AFTER))
            if owner := await anyio.to_thread.run_sync(lambda: self.user.owner):
                os.kill(owner, signal.SIGKILL)
                self.counts["killed"] += 1

    async def work(self, number: int) -> None:
        agent = Agent(self.user.start("serve", "--name", NAME, stderr=None))
        await agent.greet()
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
            output, why = await way(agent, tab, command)
            self.said[name] = lines, output is not None
            self.counts[way.__name__ if output is not None else f"{way.__name__}: {why[:60]}"] += 1
            if output is not None and output != "".join(f"{name}:{i}:\n" for i in range(1, lines + 1)):
                self.wrong.append(f"{way.__name__} {name}: {output[:200]!r}")
        agent.hang_up()
        agent.stop_reading()

    async def by_agent(self, agent: Agent, tab: str, command: str) -> tuple[str | None, str]:
        answer = await agent.call_any("execute_command", window_id=tab, command=command, max_chars=1_000_000)
        is_whole = answer.get("exit_code") == 0
        return (answer["output"], "") if is_whole else (None, str(answer.get("error") or answer))

    async def by_verb(self, _: Agent, tab: str, command: str) -> tuple[str | None, str]:
        process = self.user.start("run", "-t", tab, command, stdin=subprocess.DEVNULL)
        said, why = await anyio.to_thread.run_sync(process.communicate)
        if process.returncode and not why:
            self.wrong.append(f"a verb ended with {process.returncode} and said nothing")
        return (None, why.decode()) if process.returncode else (said.decode(), "")

    async def by_program(self, _: Agent, tab: str, command: str) -> tuple[str | None, str]:
        try:
            async with muxwire.open_terminals(NAME, environ=self.user.environ) as terminals:
                result = await (await terminals.tab(tab)).execute(command)
        except MuxwireError as error:
            return None, str(error)
        return (result.output, "") if result.exit_code == 0 else (None, result.note)

    def judge(self) -> None:
        """Hold the logs against what was said."""
        logs = [path.read_bytes() for path in sorted((self.user.home / "state").rglob("pane-@*.log"))]
        found: dict[str, list[int]] = {}
        for log in logs:
            for name, line in re.findall(rb"(w\d+c\d+):(\d+):\r\n", log):
                found.setdefault(name.decode(), []).append(int(line))
        for name, (lines, answered) in self.said.items():
            seen = found.get(name, [])
            if seen != list(range(1, lines + 1)) and (answered or seen != list(range(1, len(seen) + 1))):
                self.wrong.append(f"the log has of {name} ({lines} lines, answered: {answered}): {seen[:9]}...")

    def left(self) -> list[str]:
        """What is left of it: processes that have its home, and what is in its run directory."""
        home = f"HOME={self.user.home}"
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
        running = [f"process {pid}" for pid in pids if pid != os.getpid() and home in _environment(pid)]
        return running + [str(path) for path in self.user.runtime.iterdir() if path.suffix != ".log"]


def _environment(pid: int) -> set[str]:
    try:
        return set(Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0"))
    except OSError:
        return set()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nightly.owners", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    given = parser.parse_args()
    with short_folder() as home, ExitStack() as stack:
        write_rc_files(home)
        user = User(home, stack)
        user.environ["MUXWIRE_STATE_DIR"] = str(home / "state")
        soak = Soak(user, given.seed, given.seconds)
        anyio.run(soak.run)
        ended = user.start("kill", "--name", NAME, "--all", "-f", stdin=subprocess.DEVNULL)
        ended.communicate()
        soak.judge()
        deadline = time.monotonic() + END_SECONDS
        while (left := soak.left()) and time.monotonic() < deadline:
            time.sleep(0.2)
        soak.wrong += left
    print(f"seed {given.seed}:", dict(soak.counts), f"{len(soak.said)} commands")
    print("\n".join(soak.wrong) or "nothing wrong")
    return bool(soak.wrong)


if __name__ == "__main__":
    sys.exit(main())
