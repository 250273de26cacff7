"""The floors: a line that is typed into bash, on a pty and through `tmux -C`, and read back, by nothing else.

No library can be quicker. Both print a number after each command, and have ended when it is there.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from typing import TYPE_CHECKING, Any

from bench.homes import clean_environment
from bench.peers.cases import Answer
from bench.peers.ways import BASH, Way
from muxwire.client.client import prepared

if TYPE_CHECKING:
    from pathlib import Path

# Not more: a larger buffer is mapped and given back for each read, 50 us of the floor's 170.
READ = 1 << 16
# tmux may run what it is told before it has made the session that it was started with.
ATTACHED = b"%session-changed"
# What stands in the middle of a text that tmux read from the pane in two pieces.
CUT = b"\n%output %0 "
NOTHING = Answer("", None)


def read_until(descriptor: int, wanted: bytes) -> None:
    """Read until `wanted` is there; what came before is not kept, only its last bytes."""
    seen = b""
    while wanted not in seen and wanted not in seen.replace(CUT, b""):
        chunk = os.read(descriptor, READ)
        if not chunk:
            raise RuntimeError("the terminal ended")
        seen = seen[-len(wanted) - len(CUT) :] + chunk


class BarePty(Way):
    """A bash on a pty, without any tmux: what the shell alone takes."""

    count = 0

    def __init__(self, folder: Path) -> None:
        """Start it."""
        self.pid, self.reader = pty.fork()
        self.writer = self.reader
        if self.pid == 0:
            os.execvpe(BASH[0], BASH, clean_environment(folder))

    def typed(self, line: bytes) -> bytes:
        """What is written, so that the line is typed."""
        return line

    async def run(self, command: str, seconds: float) -> Answer:
        """See `Way`; who asks looks at the clock. The line does not contain what it prints."""
        del seconds
        self.count += 1
        line = (b"" if command == "true" else command.encode() + b"; ") + b"echo '<'%d'>'\r" % self.count
        os.write(self.writer, self.typed(line))
        read_until(self.reader, b"<%d>" % self.count)
        return NOTHING

    async def close(self) -> None:
        """End the shell."""
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.reader)
        os.waitpid(self.pid, 0)  # noqa: ASYNC222 - it is dead


class BareLoop(BarePty):
    """A `tmux -C` with tabs of bash, of which the first runs commands; tmux types from a buffer."""

    def __init__(self, folder: Path, tabs: int = 1) -> None:
        """Start it, and wait until its first command has run."""
        self.tmux = ["tmux", "-u", "-S", str(folder / "floor"), "-f", "/dev/null"]
        process: Any = subprocess.Popen(
            [*self.tmux, "-C", "new-session", "--", *BASH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.process, self.writer, self.reader = process, process.stdin.fileno(), process.stdout.fileno()
        read_until(self.reader, ATTACHED)
        os.write(self.writer, b"new-window -d bash --norc\n" * (tabs - 1))

    def typed(self, line: bytes) -> bytes:
        """See `BarePty`."""
        return prepared(("set-buffer", "-b", "x", "--", line))[0].line + b" ; paste-buffer -r -d -b x -t %0\n"

    async def close(self) -> None:
        """End the server."""
        subprocess.run([*self.tmux, "kill-server"], check=False, capture_output=True)
        self.process.wait()
