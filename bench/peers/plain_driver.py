"""Ways to run a command that need no package, driven as `framework_driver` drives those that do: the same lines.

`bash` is a new `bash -c` for each command, on pipes, `pty` the same on a terminal of its own: what the command writes
where nothing is between it and its reader. `blocking` types `COMMAND; tmux wait -S done` and waits for that word, as
the first Terminal-Bench did; it is written after its description, and is not its code. `muxwire` is a tab.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from bench.peers.framework_driver import FRAMEWORKS, serve
from muxwire import TabUnavailable, open_terminals
from muxwire.adapters.harness import COLUMNS, ROWS, HarnessSession

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.peers.framework_driver import Found
    from muxwire import Tab


class Bash:
    """`bash -c` with pipes, and nothing to read."""

    _stdin = subprocess.DEVNULL

    def __init__(self, _muxwire: bool, folder: Path) -> None:
        """Where each shell begins."""
        self._folder = folder

    def _words(self, text: str) -> list[str]:
        return ["bash", "-c", text]

    async def do(self, step: Mapping[str, Any]) -> Found:
        """One command; one that is late is killed."""
        process = subprocess.Popen(
            self._words(step["text"]), cwd=self._folder, stdin=self._stdin, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=step["seconds"])
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return {"output": "", "code": None, "ended": False}
        return {"output": output.decode("utf-8", "replace"), "code": process.returncode, "ended": True}

    async def close(self) -> None:
        """Nothing stays."""


class Pty(Bash):
    """`bash -c` on a terminal on which nobody types: it has ended when the shell has, whoever holds the terminal."""

    def __init__(self, _muxwire: bool, folder: Path) -> None:
        """Where each shell begins."""
        super().__init__(_muxwire, folder)
        self._stdin, self._never = os.pipe()

    def _words(self, text: str) -> list[str]:
        sized = f"stty rows {ROWS} cols {COLUMNS}; exec bash -c {shlex.quote(text)}"
        return ["script", "-qec", sized, "/dev/null"]


class Blocking:
    """A tmux session into which commands are typed together with the word that says they are done."""

    def __init__(self, _muxwire: bool, folder: Path) -> None:
        """Start it."""
        self._words = ("tmux", "-f", "/dev/null", "-L", f"blocking-{time.monotonic_ns()}")
        size = ("-x", str(COLUMNS), "-y", str(ROWS))
        self._tmux("set-option", "-g", "history-limit", "50000", ";", "new-session", "-d", *size, "-c", str(folder))
        self._before = self._screen()

    def _tmux(self, *words: str) -> str:
        said = subprocess.run([*self._words, *words], capture_output=True, check=False)
        if said.returncode:
            raise RuntimeError(said.stderr.decode("utf-8", "replace"))
        return said.stdout.decode("utf-8", "replace")

    def _screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-S", "-").rstrip()

    async def do(self, step: Mapping[str, Any]) -> Found:
        """One command, and what is new on the screen and above it."""
        if step["do"] == "interrupt":
            self._tmux("send-keys", "C-c")
            await anyio.sleep(1)
            return {"output": "", "code": None, "ended": None}
        self._tmux("send-keys", "--", step["text"], "; tmux wait -S done", "Enter")
        try:
            subprocess.run([*self._words, "wait", "done"], check=True, timeout=step["seconds"])
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        shown = self._screen()
        output, self._before = shown.removeprefix(self._before), shown
        return {"output": output, "code": None, "ended": ended}

    async def close(self) -> None:
        """End it."""
        self._tmux("kill-server")


class Muxwire:
    """A tab. `keys` are typed as Terminus-2 types them, through its session's methods, which return early."""

    def __init__(self, _muxwire: bool, folder: Path) -> None:
        """Where its shell begins."""
        self._folder, self._ends = folder, AsyncExitStack()
        self._tab: Tab | None = None
        self._session: HarnessSession | None = None

    async def do(self, step: Mapping[str, Any]) -> Found:
        """One command, or one guess of how long keys take."""
        if self._tab is None:
            terminals = await self._ends.enter_async_context(open_terminals(state_dir=self._folder.parent / "state"))
            self._session = HarnessSession(terminals, early=True, shell="bash")
            await self._session.start()
            self._tab = self._session.tab
        if step["do"] == "keys":
            return await self._typed(self._tab, step)
        if step["do"] == "interrupt":
            with suppress(TabUnavailable):
                await self._tab.stop_process()
            return {"output": "", "code": None, "ended": None}
        result = await self._tab.execute(step["text"], timeout=step["seconds"])
        ended = not (result.timed_out or result.running)
        return {"output": result.output, "code": result.exit_code, "ended": ended}

    async def _typed(self, tab: Tab, step: Mapping[str, Any]) -> Found:
        """Type them, and wait out the guess: whether anything came after the early return."""
        assert self._session is not None
        begun = time.perf_counter()
        await self._session.send_keys(step["text"], min_timeout_sec=step["seconds"])
        needed, end = time.perf_counter() - begun, tab.next_byte
        output = await self._session.get_incremental_output()
        await anyio.sleep(begun + step["seconds"] - time.perf_counter())
        return {"output": output, "needed": needed, "late": tab.next_byte - end, "state": tab.state}

    async def close(self) -> None:
        """End it."""
        await self._ends.aclose()


FRAMEWORKS |= {"bash": Bash, "pty": Pty, "blocking": Blocking, "muxwire": Muxwire}

if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], muxwire=False, folder=Path(sys.argv[3])))
