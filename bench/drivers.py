"""Runs commands in one way, in a process and with a Python of its own: for polling, and for libraries of others.

`python -m bench.drivers APPROACH FOLDER PAUSE` reads lines `{"command", "seconds"}` of JSON and answers each with a
line `{"output", "code", "took"}` or `{"error"}`. `took` is in seconds and measured here, without the pipe to us.
Every approach is driven as its documentation says, by the cheapest of its calls that can see what it must see.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.sandwich import between, end_mark, typed

# Runs a command for some seconds at most; returns its output and its exit code.
Run = Callable[[str, float], tuple[str, int | None]]
# A person's terminal, and a history that holds what a careful tool wants to read back.
SIZE, HISTORY = (200, 50), 50_000
# Nobody's start-up files, and no history expansion: who drives a shell by typing turns it off.
BASH = ("bash", "--norc", "+H")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Shell:
    """A bash in a pane of a tmux server of its own, driven by tmux processes."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        self.tmux = ["tmux", "-u", "-S", str(folder / "tmux"), "-f", "/dev/null"]
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


def until(seconds: float, pause: float, look: Callable[[], tuple[str, int] | None]) -> tuple[str, int]:
    """Look again and again."""
    end = time.monotonic() + seconds
    while (found := look()) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"no answer in {seconds:g} s")
        time.sleep(pause)
    return found


@contextmanager
def capture_pane(folder: Path, pause: float) -> Iterator[Run]:
    """send-keys by a process, then capture-pane by a process until the mark shows; the history only if it must be."""
    shell = Shell(folder)

    def run(command: str, seconds: float) -> tuple[str, int]:
        count = shell.press(command)

        def look() -> tuple[str, int] | None:
            screen = shell.call("capture-pane", "-p", "-J")
            if end_mark(count) not in screen:
                return None
            return between(screen, count) or between(shell.call("capture-pane", "-p", "-J", "-S", "-"), count)

        return until(seconds, pause, look)

    yield run


@contextmanager
def pipe_pane(folder: Path, pause: float) -> Iterator[Run]:
    """send-keys by a process, and a file that pipe-pane writes, read again and again."""
    shell, log = Shell(folder), folder / "pipe.log"
    log.touch()
    shell.call("pipe-pane", "-o", f"exec cat >>'{log}'")

    def run(command: str, seconds: float) -> tuple[str, int]:
        at = log.stat().st_size
        count, seen = shell.press(command), ""

        def look() -> tuple[str, int] | None:
            nonlocal at, seen
            with log.open("rb") as file:
                file.seek(at)
                new = file.read()
            at += len(new)
            seen += new.decode(errors="replace")
            return between(CONTROL.sub("", seen), count) if new else None

        return until(seconds, pause, look)

    yield run


@contextmanager
def wait_channel(folder: Path, _pause: float) -> Iterator[Run]:
    """As Harbor's TmuxSession: the shell signals a channel of wait-for, and what the last capture lacked is new.

    Three processes for a command, and one that the shell starts. There is no exit code.
    """
    shell = Shell(folder)
    last = shell.call("capture-pane", "-p", "-S", "-").strip()

    def run(command: str, seconds: float) -> tuple[str, None]:
        nonlocal last
        shell.call("send-keys", "-l", "--", f"{command}; tmux wait -S done\n")
        shell.call("wait-for", "done", seconds=seconds)
        now = shell.call("capture-pane", "-p", "-S", "-")
        before, last = last, now.strip()
        # The first capture is empty where the shell had not drawn its prompt yet.
        return now.partition(before)[2] if before and before in now else now, None

    yield run


@contextmanager
def libtmux(folder: Path, pause: float) -> Iterator[Run]:
    """`Pane.send_keys`, then `Pane.capture_pane` in a loop."""
    from libtmux import Server  # type: ignore[import-not-found]

    width, height = SIZE
    server = Server(socket_path=str(folder / "tmux"), config_file="/dev/null")
    session = server.new_session(session_name="bench", window_command=" ".join(BASH), x=width, y=height)
    server.cmd("set-option", "-g", "history-limit", str(HISTORY))
    pane = session.new_window(window_shell=" ".join(BASH), attach=True).active_pane
    count = 0

    def run(command: str, seconds: float) -> tuple[str, int]:
        nonlocal count
        count += 1
        pane.send_keys(typed(command, count), literal=True)

        def look() -> tuple[str, int] | None:
            screen = "\n".join(pane.capture_pane(join_wrapped=True))
            if end_mark(count) not in screen:
                return None
            return between(screen, count) or between("\n".join(pane.capture_pane("-", join_wrapped=True)), count)

        return until(seconds, pause, look)

    yield run


@contextmanager
def pexpect(_folder: Path, _pause: float) -> Iterator[Run]:
    """A bash of its own on a pty and the same marks: the fastest way to use it."""
    import pexpect as library  # type: ignore[import-untyped]

    shell = library.spawn(BASH[0], list(BASH[1:]), echo=False, encoding="utf-8", dimensions=SIZE[::-1])
    shell.delaybeforesend = None  # else every line waits for 50 ms
    count = 0

    def run(command: str, seconds: float) -> tuple[str, int]:
        nonlocal count
        count += 1
        shell.sendline(typed(command, count))
        shell.expect(end_mark(count) + r"\d+\r?\n", timeout=seconds)
        found = between(CONTROL.sub("", shell.before + shell.after), count)
        if found is None:
            raise ValueError("the first mark is not there")
        return found

    yield run
    shell.close(force=True)


@contextmanager
def replwrap(_folder: Path, _pause: float) -> Iterator[Run]:
    """The wrapper of bash that pexpect brings; the exit code is a second command."""
    from pexpect import replwrap as library

    shell = library.bash()
    shell.child.delaybeforesend = None

    def run(command: str, seconds: float) -> tuple[str, int]:
        output = shell.run_command(command, timeout=seconds)
        return output, int(shell.run_command("echo $?", timeout=seconds))

    yield run
    shell.child.close(force=True)


@contextmanager
def swerex(_folder: Path, _pause: float) -> Iterator[Run]:
    """SWE-ReX's session: pexpect, a syntax check before and a question for the exit code behind each command."""
    abstract: Any = importlib.import_module("swerex.runtime.abstract")
    local: Any = importlib.import_module("swerex.runtime.local")
    loop = asyncio.new_event_loop()
    session = local.BashSession(abstract.CreateBashSessionRequest())
    loop.run_until_complete(session.start())

    def run(command: str, seconds: float) -> tuple[str, int | None]:
        action = abstract.BashAction(command=command, timeout=seconds, check="silent")
        found: Any = loop.run_until_complete(session.run(action))
        return found.output, found.exit_code

    yield run
    loop.run_until_complete(session.close())


@contextmanager
def bash_each(_folder: Path, _pause: float) -> Iterator[Run]:
    """No terminal and no state: a bash for each command, its output by a pipe. What exactness costs elsewhere."""

    def run(command: str, seconds: float) -> tuple[str, int]:
        done = subprocess.run(
            ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=seconds, cwd="/", check=False,
        )  # fmt: skip
        return done.stdout, done.returncode

    yield run


APPROACHES = {
    "capture-pane": capture_pane,
    "pipe-pane": pipe_pane,
    "wait-for": wait_channel,
    "libtmux": libtmux,
    "pexpect": pexpect,
    "replwrap": replwrap,
    "swerex": swerex,
    "subprocess": bash_each,
}


def answered(run: Run, request: dict[str, Any]) -> dict[str, object]:
    """One command, timed."""
    begun = time.perf_counter()
    try:
        output, code = run(request["command"], request["seconds"])
    except Exception as error:  # noqa: BLE001 - whatever a library raises is its answer
        return {"error": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"}
    return {"took": time.perf_counter() - begun, "output": output, "code": code}


def main() -> None:
    """Serve until standard input ends."""
    approach, folder, pause = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    replies = sys.stdout
    with contextlib.redirect_stdout(sys.stderr), APPROACHES[approach](folder, pause) as run:  # libraries may print
        for line in sys.stdin:
            print(json.dumps(answered(run, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
