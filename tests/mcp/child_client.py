"""A raw client of a server in a process of its own, and the ways in which such a server is ended."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, cast

import anyio
import anyio.to_thread

from tests.mcp.raw_client import RawClient

# A host waits about 2 s before it kills; a loaded machine gets more.
END_SECONDS = 5


class ChildClient(RawClient):
    def __init__(self, argv: Sequence[str | Path], stderr: Path, **options: Any) -> None:
        with stderr.open("wb") as said:
            self.child = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, bufsize=0, **options
            )
        streams = cast("IO[bytes]", self.child.stdin), cast("IO[bytes]", self.child.stdout)
        super().__init__(os.dup(streams[0].fileno()), os.dup(streams[1].fileno()))
        for stream in streams:
            stream.close()

    async def ended(self) -> int:
        with anyio.fail_after(END_SECONDS):
            return await anyio.to_thread.run_sync(self.child.wait, abandon_on_cancel=True)

    def close(self) -> None:
        """Hang up, and see to it that the child ends."""
        self.hang_up()
        self.stop_reading()
        try:
            self.child.wait(END_SECONDS)
        finally:
            self.child.kill()
            self.child.wait()


def ends_with(number: signal.Signals) -> Callable[[ChildClient], None]:
    return lambda client: client.child.send_signal(number)


ENDINGS: dict[str, Callable[[ChildClient], None]] = {
    "eof": RawClient.hang_up,
    "closed_stdout": RawClient.stop_reading,
    "SIGTERM": ends_with(signal.SIGTERM),
    "SIGINT": ends_with(signal.SIGINT),
    "SIGHUP": ends_with(signal.SIGHUP),
    "SIGKILL": ends_with(signal.SIGKILL),
}
