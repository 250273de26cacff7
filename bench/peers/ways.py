"""Ways to run a command in a terminal, each in a process of its own, with the Python that has its package.

`python -m bench.peers.ways WAY FOLDER PACKAGE` reads a line of JSON for each step, and answers it with one:

    {"command", "seconds"}   {"output", "code", "ended", "took"}, or an `error`; `ended` is false after those seconds
    {"runs", "command", "pause"}
                             {"took": [milliseconds of each, ...]}, with a pause in ms before each
    {"do": "interrupt"}      {}: what runs is stopped, as that way stops something
    {"do": "fresh"}          {}: it is ended, and begins anew
    {"do": "listed"}         {"bytes"}: the size of an MCP server's list of tools

Every way is driven as its documentation says, by the cheapest of its calls that can see what it must see. Packages
that need another Python are imported by name: nothing of them is known to the type checker here.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from abc import abstractmethod
from collections.abc import Callable  # noqa: TC003 - as an annotation of a table it is needed at run time
from contextlib import AsyncExitStack, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio

from bench.peers.cases import TRUE, Answer
from bench.peers.marks import between, end_mark, typed
from bench.stopwatch import timed

# A person's terminal, and a history that holds what a careful tool wants to read back.
SIZE, HISTORY = (160, 40), 50_000
# Nobody's start-up files, and no history expansion: who drives a shell by typing turns it off.
BASH = ("bash", "--norc", "+H")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SECONDS = 8.0
INTERRUPTED_SECONDS = 1.0
# Not counted, before each burst: what the way needs was pushed out of the caches by the others.
WARM_UP = 10
# Of so many tabs one runs commands.
IDLE_TABS = 50


class Way:
    """Runs commands in one terminal."""

    @abstractmethod
    async def run(self, command: str, seconds: float) -> Answer:
        """Run it to its end. TimeoutError after so many seconds: it may go on."""

    async def interrupt(self) -> None:
        """Stop what runs, where that can be asked for."""

    async def close(self) -> None:
        """End what stays."""

    def listed(self) -> int | str:
        """Bytes of JSON of an MCP server's list of tools: what a model reads before its first call."""
        return ""


class Tmux(Way):
    """A bash in a pane of a tmux server of its own, driven by tmux processes: the base of three ways."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        # A server that was told to end still has its socket for a moment: each has one of its own.
        self.tmux = ["tmux", "-u", "-S", str(folder / f"tmux{time.monotonic_ns()}"), "-f", "/dev/null"]
        width, height = map(str, SIZE)
        # The first pane's history is as long as the option says when the pane is made.
        self.call("start-server", ";", "set-option", "-g", "history-limit", str(HISTORY), ";", "new-session", "-d",
                  "-x", width, "-y", height, *BASH)  # fmt: skip
        self.count = 0

    def call(self, *command: str, seconds: float | None = None) -> str:
        """One tmux process."""
        return subprocess.run(
            [*self.tmux, *command], check=True, capture_output=True, text=True, timeout=seconds
        ).stdout

    def press(self, command: str) -> int:
        """Type a command between marks; return their number."""
        self.count += 1
        self.call("send-keys", "-l", "--", typed(command, self.count) + "\n")
        return self.count

    async def interrupt(self) -> None:
        """C-c."""
        self.call("send-keys", "C-c")
        await anyio.sleep(INTERRUPTED_SECONDS)

    async def close(self) -> None:
        """End the server."""
        self.call("kill-server")


def until(seconds: float, pause: float, look: Callable[[], tuple[str, int] | None]) -> Answer:
    """Look again and again."""
    end = time.monotonic() + seconds
    while (found := look()) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"no answer in {seconds:g} s")
        time.sleep(pause)
    return Answer(*found)


class CapturePane(Tmux):
    """send-keys by a process, then capture-pane by a process until the mark shows; the history only if it must be."""

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        count = self.press(command)

        def look() -> tuple[str, int] | None:
            screen = self.call("capture-pane", "-p", "-J")
            if end_mark(count) not in screen:
                return None
            return between(screen, count) or between(self.call("capture-pane", "-p", "-J", "-S", "-"), count)

        return until(seconds, 0.0, look)


class PipePane(Tmux):
    """send-keys by a process, and a file that pipe-pane writes, read every millisecond."""

    def __init__(self, folder: Path) -> None:
        """Start the pipe."""
        super().__init__(folder)
        self.log = folder / "pipe.log"
        self.log.touch()
        self.call("pipe-pane", "-o", f"exec cat >>'{self.log}'")

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        at = self.log.stat().st_size
        count = self.press(command)

        def look() -> tuple[str, int] | None:
            with self.log.open("rb") as file:
                file.seek(at)
                return between(CONTROL.sub("", file.read().decode(errors="replace")), count)

        return until(seconds, 0.001, look)


class WaitFor(Tmux):
    """`COMMAND; tmux wait -S done`, then what is new on the screen and above it.

    It is written after the description of the first Terminal-Bench, and is not its code. There is no exit code.
    """

    def __init__(self, folder: Path) -> None:
        """See what stands there before."""
        super().__init__(folder)
        self.before = self.screen()

    def screen(self) -> str:
        """The screen and the history, without the empty rows at the end."""
        return self.call("capture-pane", "-p", "-S", "-").rstrip()

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        self.call("send-keys", "--", command, "; tmux wait -S done", "Enter")
        try:
            self.call("wait-for", "done", seconds=seconds)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"no answer in {seconds:g} s") from error
        shown = self.screen()
        output, self.before = shown.removeprefix(self.before), shown
        return Answer(output, None)


class Pexpect(Way):
    """A bash of its own on a pty and the same marks: the fastest way to use pexpect."""

    def __init__(self, _folder: Path) -> None:
        """Start it."""
        spawn = import_module("pexpect").spawn
        self.shell = spawn(BASH[0], list(BASH[1:]), echo=False, encoding="utf-8", dimensions=SIZE[::-1])
        self.shell.delaybeforesend = None  # else every line waits for 50 ms
        self.count = 0

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        self.count += 1
        self.shell.sendline(typed(command, self.count))
        self.shell.expect(end_mark(self.count) + r"\d+\r?\n", timeout=seconds)
        found = between(CONTROL.sub("", self.shell.before + self.shell.after), self.count)
        if found is None:
            raise ValueError("the first mark is not there")
        return Answer(*found)

    async def interrupt(self) -> None:
        """C-c."""
        self.shell.sendintr()

    async def close(self) -> None:
        """End the shell."""
        self.shell.close(force=True)


class Bash(Way):
    """No terminal and no state: `bash -c` with pipes for each command. What exactness costs elsewhere."""

    def __init__(self, folder: Path) -> None:
        """Where each shell begins."""
        self.folder = folder
        self.stdin = subprocess.DEVNULL

    def words(self, command: str) -> list[str]:
        """The program that runs it."""
        return ["bash", "-c", command]

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`; what is late is killed."""
        process = subprocess.Popen(
            self.words(command), cwd=self.folder, stdin=self.stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            raise TimeoutError(f"no answer in {seconds:g} s") from error
        return Answer(output.decode("utf-8", "replace"), process.returncode)


class Pty(Bash):
    """`bash -c` on a terminal on which nobody types: it has ended when the shell has, whoever holds the terminal."""

    def __init__(self, folder: Path) -> None:
        """Where each shell begins."""
        super().__init__(folder)
        self.stdin, self.never = os.pipe()

    def words(self, command: str) -> list[str]:
        """In a terminal of its own, by script(1)."""
        sized = f"stty rows {SIZE[1]} cols {SIZE[0]}; exec bash -c {shlex.quote(command)}"
        return ["script", "-qec", sized, "/dev/null"]


class Muxwire(Way):
    """A tab of the library; of so many, one runs commands."""

    def __init__(self, folder: Path, tabs: int = 1) -> None:
        """Nothing is started yet."""
        self.folder, self.tabs, self.ends = folder, tabs, AsyncExitStack()
        self.tab: Any = None

    async def opened(self) -> Any:  # noqa: ANN401 - only this way needs its type
        """The tab, which the first command makes."""
        if self.tab is None:
            muxwire = import_module("muxwire")
            terminals = await self.ends.enter_async_context(muxwire.open_terminals(state_dir=self.folder / "state"))
            for _ in range(self.tabs):
                self.tab = await terminals.create_tab(shell="bash", cwd=str(self.folder))
                await self.tab.execute(TRUE)
        return self.tab

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        result = await (await self.opened()).execute(command, timeout=seconds)
        if result.timed_out or result.running:
            raise TimeoutError(f"{result.state} after {seconds:g} s at most")
        return Answer(result.output, result.exit_code)

    async def interrupt(self) -> None:
        """stop_process."""
        with suppress(import_module("muxwire").TabUnavailable):
            await (await self.opened()).stop_process()

    async def close(self) -> None:
        """End it."""
        await self.ends.aclose()


class Keys(Muxwire):
    """What is typed as keys: it is over when what they began has ended, or waits for input."""

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`; a last line end is Enter, and what has none is a key by its name, or a text."""
        line = command.removesuffix("\n")
        keys = [line] if line == command else [line, "Enter"]
        sent = await (await self.opened()).send_keys(keys, wait=seconds)
        if sent.outcome == "timed_out":
            raise TimeoutError(f"it is not over after {seconds:g} s")
        return Answer(sent.output, sent.exit_code)


class SweRex(Way):
    """A session of SWE-ReX's `LocalRuntime`, or of muxwire's adapter in its place."""

    def __init__(self, folder: Path, *, ours: bool = False) -> None:
        """Whose runtime, and where its shell begins."""
        os.chdir(folder)
        os.environ.pop("TERM", None)  # LocalRuntime gives nothing right where the terminal can do more than none
        self.types = import_module("swerex.runtime.abstract")
        local, adapter = "swerex.runtime.local.LocalRuntime", "muxwire.adapters.swerex.MuxwireRuntime"
        module, _, name = (adapter if ours else local).rpartition(".")
        self.runtime, self.opened = getattr(import_module(module), name)(), False

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        if not self.opened:
            await self.runtime.create_session(self.types.CreateBashSessionRequest())
            self.opened = True
        action = self.types.BashAction(command=command, timeout=seconds, check="silent")
        seen = await self.runtime.run_in_session(action)
        return Answer(seen.output, seen.exit_code)

    async def interrupt(self) -> None:
        """Its own action."""
        await self.runtime.run_in_session(self.types.BashInterruptAction())

    async def close(self) -> None:
        """End its shell."""
        await self.runtime.close()


class OpenHands(Way):
    """The executor of OpenHands' `TerminalTool`, or muxwire's adapter in its place."""

    def __init__(self, folder: Path, *, ours: bool = False) -> None:
        """Whose executor, and where its shell begins."""
        self.action = import_module("openhands.tools.terminal.definition").TerminalAction
        if ours:
            self.executor = import_module("muxwire.adapters.openhands").MuxwireExecutor(str(folder))
        else:
            self.executor = import_module("openhands.tools.terminal.impl").TerminalExecutor(str(folder))

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        seen = self.executor(self.action(command=command, is_input=False, timeout=seconds))
        if seen.exit_code is None:
            raise RuntimeError(seen.text)  # it refuses several commands at once
        if seen.exit_code == -1:
            raise TimeoutError(f"no exit code in {seconds:g} s")
        return Answer(seen.text, seen.exit_code)

    async def interrupt(self) -> None:
        """Its own key."""
        self.executor(self.action(command="C-c", is_input=True, timeout=INTERRUPTED_SECONDS))

    async def close(self) -> None:
        """End its shell."""
        self.executor.close()


class _Here:
    """What Harbor's `TmuxSession` asks of an environment: this machine stands for the container."""

    session_id, default_user = "bench", None

    async def exec(self, command: str, **_given: object) -> object:
        """Run it."""
        done = await anyio.run_process(["bash", "-c", command], check=False)
        out, said = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        result = import_module("harbor.environments.base").ExecResult
        return result(stdout=out, stderr=said, return_code=done.returncode)


class Harbor(Way):
    """Harbor's `TmuxSession`, which Terminus-2 uses, or muxwire's adapter in its place. There is no exit code."""

    def __init__(self, folder: Path, *, ours: bool = False) -> None:
        """Whose session, and where its shell begins."""
        os.chdir(folder)
        self.here, self.ours, self.opened = _Here(), ours, False
        given: tuple[Any, ...] = (f"bench-{os.getpid()}", self.here, folder / "log", None, None)
        if ours:
            words = [f"{name}={os.environ[name]}" for name in ("HOME", "PATH", "SHELL", "TERM") if name in os.environ]

            async def carried(_environment: object, _user: object) -> object:
                carrier = import_module("muxwire").Carrier
                return carrier(["env", "-i", *words, f"TMPDIR={folder}"], cwd=str(folder))

            self.session = import_module("muxwire.adapters.harbor").MuxwireTmuxSession(*given, carrier=carried)
        else:
            self.session = import_module("harbor.agents.terminus_2.tmux_session").TmuxSession(*given)

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        if not self.opened:
            await self.session.start()
            await self.session.get_incremental_output()
            self.opened = True
        await self.session.send_keys([command, "Enter"], block=True, max_timeout_sec=seconds)
        return Answer(await self.session.get_incremental_output(), None)

    async def interrupt(self) -> None:
        """C-c."""
        await self.session.send_keys(["C-c"], min_timeout_sec=INTERRUPTED_SECONDS)

    async def close(self) -> None:
        """End it: its own `stop` ends a recording, and not the tmux session."""
        await (self.session.stop() if self.ours else self.here.exec("tmux kill-server"))


class Served(Way):
    """An MCP server of `servers.py`."""

    def __init__(self, folder: Path, name: str, package: str) -> None:
        """Start it, and what it needs before a command can be run."""
        from bench.peers.servers import SERVERS
        from bench.server import McpServer

        peer = SERVERS[name]
        environ = {"TMUX_TMPDIR": str(folder), "LANG": "C.UTF-8"} | peer.environ
        self.server = McpServer(folder, peer.words(Path(package)), environ=environ, cwd=folder)
        self.driver = peer.driver(self.server.call)

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`."""
        return self.driver.run(command, seconds)

    def listed(self) -> int:
        """See `Way`."""
        tools = self.server.request("tools/list", {})["tools"]
        return len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode())

    async def close(self) -> None:
        """Hang up."""
        self.server.close()


WAYS: dict[str, Callable[[Path], Way]] = {
    "bare-pty": lambda folder: import_module("bench.floors").BarePty(folder),
    "bare-loop": lambda folder: import_module("bench.floors").BareLoop(folder),
    "bare-loop-idle": lambda folder: import_module("bench.floors").BareLoop(folder, IDLE_TABS),
    "capture-pane": CapturePane,
    "pipe-pane": PipePane,
    "wait-for": WaitFor,
    "pexpect": Pexpect,
    "bash": Bash,
    "pty": Pty,
    "muxwire": Muxwire,
    "keys": Keys,
    "muxwire-idle": partial(Muxwire, tabs=IDLE_TABS),
    "swerex": SweRex,
    "swerex-muxwire": partial(SweRex, ours=True),
    "openhands": OpenHands,
    "openhands-muxwire": partial(OpenHands, ours=True),
    "harbor": Harbor,
    "harbor-muxwire": partial(Harbor, ours=True),
}


async def serve(name: str, folder: Path, package: str) -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print to their users
    make = partial(WAYS[name], folder) if name in WAYS else partial(Served, folder, name, package)
    way = make()
    for line in sys.stdin:
        found, took = dict[str, Any](), list[float]()
        try:
            match json.loads(line):
                case {"do": "interrupt"}:
                    await way.interrupt()
                case {"do": "fresh"}:
                    await way.close()
                    way = make()
                case {"do": "listed"}:
                    found = {"bytes": way.listed()}
                case {"runs": runs, "command": command, "pause": pause}:
                    for _ in range(min(WARM_UP, runs - 1) + runs):
                        await anyio.sleep(pause / 1000)
                        with timed(took):
                            await way.run(command, SECONDS)
                    found = {"took": took[-runs:]}
                case {"command": command, "seconds": seconds}:
                    with timed(took):
                        said = await way.run(command, seconds)
                    found = {"output": said.output, "code": said.code, "ended": True, "took": took[0]}
        except Exception as error:  # noqa: BLE001 - whatever a library or a server does is its answer
            late = isinstance(error, TimeoutError) or type(error).__name__ in ("TIMEOUT", "CommandTimeoutError")
            why = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            found = {"error": why, "ended": not late, "took": sum(took)}
        print(json.dumps(found), file=answers, flush=True)
    await way.close()


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], Path(sys.argv[2]), sys.argv[3])
