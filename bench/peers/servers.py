"""Other MCP servers: how each is asked to run a command, and what of its answer is output and exit code.

A driver gives a server what its own documentation asks for, and takes from the answer whatever may be called the
output; what is in front of it or behind it in the server's own frame is taken off, what is in the output is not.
"""

from __future__ import annotations

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - a dataclass names it
from typing import Any

from bench.peers.cases import Answer
from bench.peers.marks import between, end_mark, typed
from bench.server import BARE, MUXWIRE
from tests.stages.packages import FromNpm, FromPyPI, Package

# A tool's result as JSON, as the protocol has it.
Result = dict[str, Any]
Ask = Callable[..., Result]
# How long a shell that was just started may take for its first command.
START = 30
# The pause of a client that must poll with calls: a model's is a thousand times that.
POLL = 0.02
WIDTH, HEIGHT = 200, 50


class Driver(ABC):
    """Speaks to one server; what must be there before a command can be run is made at once."""

    def __init__(self, ask: Ask) -> None:
        """`ask(tool, **arguments)` returns the tool's result."""
        self.ask = ask

    @abstractmethod
    def run(self, command: str, seconds: float) -> Answer:
        """Run a command and return its answer."""


class PeerError(Exception):
    """A server refused a command, or said that it failed to run it; what it said."""


def text_of(result: Result) -> str:
    """The text of a result, its blocks one after the other."""
    return "".join(block.get("text", "") for block in result["content"])


def value_of(result: Result) -> Any:  # noqa: ANN401 - JSON
    """What a tool returned as JSON: structured if it is, else the JSON in its text; an error is raised."""
    if result.get("isError"):
        raise PeerError(text_of(result))
    return result["structuredContent"] if "structuredContent" in result else json.loads(text_of(result))


class Bare(Driver):
    """The floor: a tool that does nothing, whatever is to be run."""

    def run(self, command: str, seconds: float) -> Answer:
        """Nothing is run."""
        del command, seconds
        return Answer(text_of(self.ask("empty")), None)


class Muxwire(Driver):
    """Ours: `execute_command`."""

    def __init__(self, ask: Ask) -> None:
        """A tab."""
        super().__init__(ask)
        self.tab = value_of(ask("create_tab", shell="bash", cwd="/"))["window_id"]

    def run(self, command: str, seconds: float) -> Answer:
        """All of the output, which `max_chars` would shorten."""
        found = value_of(
            self.ask("execute_command", window_id=self.tab, command=command, max_chars=100_000,
                     timeout_ms=round(seconds * 1000))
        )  # fmt: skip
        return Answer(found["output"], found["exit_code"])


class LibtmuxMcp(Driver):
    """libtmux-mcp: `run_command`, which returns the rows of the screen.

    It says of `suppress_history`, which is on if nothing is said, that it takes single lines only, and that several
    remain available without it.
    """

    def __init__(self, ask: Ask) -> None:
        """A session of its own."""
        super().__init__(ask)
        made = value_of(ask("create_session", session_name="bench1", start_directory="/", x=WIDTH, y=HEIGHT))
        self.pane = made["active_pane_id"]

    def run(self, command: str, seconds: float) -> Answer:
        """The rows as they are given."""
        several = {"suppress_history": False} if "\n" in command else {}
        found = value_of(self.ask("run_command", command=command, pane_id=self.pane, timeout=seconds, **several))
        if found["timed_out"]:
            raise TimeoutError("timed out, by its own account")
        return Answer("\n".join(found["output"]), found["exit_status"])


class DesktopCommander(Driver):
    """Desktop Commander: `start_process` has the output so far, `read_process_output` the rest and the exit code."""

    RUNNING = "\n⏳ Process is running. Use read_process_output to get more output."

    def run(self, command: str, seconds: float) -> Answer:
        """Two calls; every command gets a shell of its own."""
        patience = round(seconds * 1000)
        started = self.ask("start_process", command=command, timeout_ms=patience)
        pid = re.search(r"PID (\d+)", text_of(started))
        if pid is None:
            raise PeerError(text_of(started))
        return self.answer(started, self.ask("read_process_output", pid=int(pid[1]), timeout_ms=patience))

    @classmethod
    def answer(cls, started: Result, read: Result) -> Answer:
        """What the first call has; where that is nothing, or only the beginning, what the second has."""
        output = text_of(started).partition("Initial output:\n")[2]
        later = re.fullmatch(
            r"\[Reading.*?\]\n\n(.*?)\n?✅ Process completed with exit code (-?\d+) .*", text_of(read), re.DOTALL
        )
        if later is None:
            return Answer(output, None)
        if output.endswith(cls.RUNNING) or not output:
            output = "" if later[1] == "(No output in requested range)" else later[1]
        return Answer(output, int(later[2]))


class TmuxKeys(Driver):
    """tmux-mcp of PyPI: it runs no commands; keys are sent and the pane is read until the end shows."""

    def __init__(self, ask: Ask) -> None:
        """A session, and no history expansion in its shell: who drives a shell by typing turns it off."""
        super().__init__(ask)
        self.count, self.session = 0, "bench1"
        ask("tmux_create_session", name=self.session)
        self.run("set +H", START)

    def run(self, command: str, seconds: float) -> Answer:
        """Three calls at least; the whole history is read only if the screen does not have the first mark."""
        self.count += 1
        self.ask("tmux_send_keys", target=self.session, keys=typed(command, self.count), literal=True)
        self.ask("tmux_send_keys", target=self.session, keys="Enter")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            screen = text_of(self.ask("tmux_read_pane", target=self.session))
            if end_mark(self.count) in screen:
                found = between(screen, self.count)
                if found is None:
                    found = between(
                        text_of(self.ask("tmux_read_pane", target=self.session, start_line=-100_000)), self.count
                    )
                if found is not None:
                    return Answer(*found)
            time.sleep(POLL)
        raise TimeoutError(f"no answer in {seconds:g} s")


@dataclass(frozen=True, slots=True)
class Server:
    """Its program in the folder that its package was installed in, its driver, and what its environment needs."""

    driver: type[Driver]
    argv: tuple[str, ...]
    package: Package | None = None
    environ: dict[str, str] = field(default_factory=dict)

    def words(self, folder: Path) -> list[str]:
        """The command that starts it."""
        return [word.replace("@", f"{folder}/", 1) if word.startswith("@") else word for word in self.argv]


_NODE = "@node_modules/"
# In exact versions: what was looked at when the driver was written. Those that need the SDK of their time get it.
SERVERS = {
    "a tool that does nothing (floor)": Server(Bare, BARE),
    "muxwire serve": Server(Muxwire, MUXWIRE),
    "libtmux-mcp": Server(LibtmuxMcp, ("@bin/libtmux-mcp",), FromPyPI(("libtmux-mcp==0.1.0a22",))),
    "tmux-mcp (PyPI)": Server(TmuxKeys, ("@bin/tmux-mcp",), FromPyPI(("tmux-mcp==0.3.3", "mcp<2"))),
    "Desktop Commander": Server(
        DesktopCommander, ("node", f"{_NODE}@wonderwhy-er/desktop-commander/dist/index.js", "--no-onboarding"),
        FromNpm("@wonderwhy-er/desktop-commander@0.2.52"), {"DESKTOP_COMMANDER_DISABLE_TELEMETRY": "1"},
    ),
}  # fmt: skip
